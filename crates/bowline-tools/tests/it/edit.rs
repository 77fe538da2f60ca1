//! Editing parts of files.

use serde_json::{Value, json};

use crate::rig::{Rig, refused};

const NOTE: &str = " (file state is current in your context — no need to Read it back)";

fn edit(old: &str, new: &str) -> Value {
    json!({ "file_path": "a.txt", "old_string": old, "new_string": new })
}

async fn read(rig: &Rig) {
    rig.text("Read", json!({ "file_path": "a.txt" })).await;
}

#[tokio::test]
async fn exact_text_is_replaced() {
    let rig = Rig::new();
    rig.file("a.txt", "alpha\nbeta\n");
    read(&rig).await;
    let (text, object) = rig.ok("Edit", edit("beta", "BETA")).await;
    assert_eq!(text, format!("The file a.txt has been updated successfully.{NOTE}"));
    assert_eq!(
        object,
        json!({
            "filePath": "a.txt", "oldString": "beta", "newString": "BETA",
            "originalFile": "alpha\nbeta\n",
            "structuredPatch": [{ "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
                                  "lines": [" alpha", "-beta", "+BETA"] }],
            "userModified": false, "replaceAll": false,
        })
    );
    assert_eq!(rig.content("a.txt"), "alpha\nBETA\n");
    // An edited file is treated as read.
    rig.ok("Edit", edit("alpha", "ALPHA")).await;
}

#[tokio::test]
async fn invalid_edits_have_specific_errors() {
    let rig = Rig::new();
    rig.file("a.txt", "x\nx\n");
    assert_eq!(
        rig.error("Edit", edit("x", "y")).await,
        refused("File has not been read yet. Read it first before writing to it.")
    );
    read(&rig).await;
    assert_eq!(
        rig.error("Edit", edit("z", "y")).await,
        refused("String to replace not found in file.\nString: z")
    );
    let text = rig.error("Edit", edit("x", "y")).await;
    assert!(text.starts_with(
        "<tool_use_error>Found 2 matches of the string to replace, but replace_all is false. "
    ));
    assert!(text.ends_with("\nString: x</tool_use_error>"));
    assert_eq!(
        rig.error("Edit", edit("x", "x")).await,
        refused("No changes to make: old_string and new_string are exactly the same.")
    );
    assert_eq!(
        rig.error("Edit", edit("", "y")).await,
        refused("Cannot create new file - file already exists.")
    );
    let mut missing = edit("x", "y");
    missing["file_path"] = "none".into();
    let text = rig.error("Edit", missing).await;
    assert!(text.starts_with("<tool_use_error>File does not exist. Note: "), "{text}");
    let mut dir = edit("x", "y");
    dir["file_path"] = ".".into();
    assert!(rig.error("Edit", dir).await.contains("EISDIR"));
    rig.file("n.ipynb", "{}");
    let mut notebook = edit("x", "y");
    notebook["file_path"] = "n.ipynb".into();
    assert!(rig.error("Edit", notebook).await.contains("Use the NotebookEdit"));
    assert_eq!(rig.content("a.txt"), "x\nx\n");
}

#[tokio::test]
async fn replace_all_replaces_every_occurrence() {
    let rig = Rig::new();
    rig.file("a.txt", "x 1\nx 2\n");
    read(&rig).await;
    let mut all = edit("x", "y");
    all["replace_all"] = true.into();
    let text = rig.text("Edit", all).await;
    assert!(text.starts_with(
        "The file a.txt has been updated. All occurrences were successfully replaced."
    ));
    assert_eq!(rig.content("a.txt"), "y 1\ny 2\n");
}

#[tokio::test]
async fn empty_old_string_creates_or_fills_a_file() {
    let rig = Rig::new();
    let (_, object) = rig.ok("Edit", edit("", "new\n")).await;
    assert_eq!(object["originalFile"], "");
    assert_eq!(rig.content("a.txt"), "new\n");
    rig.file("a.txt", "");
    rig.ok("Edit", edit("", "filled\n")).await;
    assert_eq!(rig.content("a.txt"), "filled\n");
}

#[tokio::test]
async fn trailing_blanks_of_new_lines_are_trimmed() {
    let rig = Rig::new();
    rig.workspace.set_reads_before_writing(false);
    for (name, kept) in [("a.txt", "x\n y\n"), ("a.md", "x  \n y\t\n")] {
        rig.file(name, "old\n");
        let edit = json!({ "file_path": name, "old_string": "old", "new_string": "x  \n y\t" });
        rig.ok("Edit", edit).await;
        assert_eq!(rig.content(name), kept);
    }
}

#[tokio::test]
async fn line_endings_and_quotes_of_the_file_are_preserved() {
    let rig = Rig::new();
    rig.file("a.txt", "a\r\nb\r\nc\r\n");
    read(&rig).await;
    rig.ok("Edit", edit("a\nb", "1\n2\n3")).await;
    assert_eq!(rig.content("a.txt"), "1\r\n2\r\n3\r\nc\r\n");

    rig.file("a.txt", "mixed\r\nends\nhere\r\n");
    read(&rig).await;
    rig.ok("Edit", edit("ends", "ENDS")).await;
    assert_eq!(rig.content("a.txt"), "mixed\r\nENDS\nhere\r\n");

    rig.file("a.txt", "it’s “so”\n");
    read(&rig).await;
    let (_, object) = rig.ok("Edit", edit("it's \"so\"", "it is")).await;
    assert_eq!(object["oldString"], "it’s “so”");
    assert_eq!(rig.content("a.txt"), "it is\n");
    rig.file("a.txt", "he said “no”\n");
    read(&rig).await;
    rig.ok("Edit", edit("\"no\"", "\"yes\" and 'more'")).await;
    assert_eq!(rig.content("a.txt"), "he said “yes” and ‘more’\n");
}

#[tokio::test]
async fn changed_file_is_edited_only_where_it_is_unchanged() {
    let rig = Rig::new();
    rig.file("a.txt", "one\ntwo\n");
    read(&rig).await;
    rig.file("a.txt", "zero\none\ntwo\n");
    let text = rig.error("Edit", edit("gone", "x")).await;
    assert!(text.contains("File has been modified since read"), "{text}");
    let (text, object) = rig.ok("Edit", edit("two", "2")).await;
    assert!(text.contains("somebody else had changed the file"), "{text}");
    assert_eq!(object["staleRecovered"], true);
    assert_eq!(object["contentNotInModelContext"], true);
    assert_eq!(rig.content("a.txt"), "zero\none\n2\n");
}

#[tokio::test]
async fn partially_read_file_is_edited_and_stays_partially_read() {
    let rig = Rig::new();
    rig.file("a.txt", "one\ntwo\nthree\n");
    rig.text("Read", json!({ "file_path": "a.txt", "limit": 1 })).await;
    let (text, object) = rig.ok("Edit", edit("three", "3")).await;
    assert_eq!(text, "The file a.txt has been updated successfully.");
    assert_eq!(object["contentNotInModelContext"], true);
}

#[tokio::test]
async fn subagent_starts_without_files_it_has_read() {
    let rig = Rig::new();
    let path = rig.file("a.txt", "one\n");
    read(&rig).await;
    let fork = rig.workspace.fork();
    assert!(rig.workspace.seen().get(&path).is_some());
    assert!(fork.seen().get(&path).is_none());
    fork.set_current_dir("/");
    assert_eq!(rig.workspace.current_dir(), rig.project());
}
