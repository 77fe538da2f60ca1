//! Finding text in files.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::rig::Rig;

fn tree() -> Rig {
    let rig = Rig::new();
    // Ignore files count where there is a repository.
    fs::create_dir(rig.path(".git")).unwrap();
    rig.file(".git/config", "import git\n");
    rig.file(".gitignore", "ignored/\n");
    rig.file("ignored/x.py", "import ignored\n");
    for (name, content, age) in [
        ("src/a.py", "import os\nx = 1\ny = 2\nimport sys\n", 10),
        ("src/b.rs", "// import\nfn main() {}\n", 30),
        (".hidden.txt", "Import hidden\n", 20),
    ] {
        let path = rig.file(name, content);
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    rig
}

async fn grep(rig: &Rig, fields: Value) -> (String, Value) {
    let mut input = json!({ "pattern": "import" });
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    rig.ok("Grep", input).await
}

#[tokio::test]
async fn files_are_listed_newest_first_without_ignored_ones() {
    let rig = tree();
    let (text, object) = grep(&rig, json!({})).await;
    assert_eq!(text, "Found 2 files\nsrc/a.py\nsrc/b.rs");
    assert_eq!(
        object,
        json!({ "mode": "files_with_matches", "filenames": ["src/a.py", "src/b.rs"],
                "numFiles": 2, "totalFiles": 2 })
    );
    let (text, _) = grep(&rig, json!({ "-i": true })).await;
    assert_eq!(text, "Found 3 files\nsrc/a.py\n.hidden.txt\nsrc/b.rs");
    let (text, object) = grep(&rig, json!({ "-i": true, "head_limit": 1, "offset": 1 })).await;
    assert_eq!(text, "Found 1 file limit: 1, offset: 1\n.hidden.txt");
    assert_eq!((&object["appliedLimit"], &object["appliedOffset"]), (&json!(1), &json!(1)));
    assert_eq!(object["totalFiles"], 3);
    let (text, _) = grep(&rig, json!({ "offset": 9 })).await;
    assert_eq!(text, "No entries at this offset. [Showing results with pagination = offset: 9]");
    let (text, _) = grep(&rig, json!({ "pattern": "nowhere_to_be_found" })).await;
    assert_eq!(text, "No files found");
}

#[tokio::test]
async fn lines_are_listed_with_path_and_number() {
    let rig = tree();
    let (text, object) = grep(&rig, json!({ "output_mode": "content", "type": "py" })).await;
    assert_eq!(text, "src/a.py:1:import os\nsrc/a.py:4:import sys");
    assert_eq!(
        object,
        json!({ "mode": "content", "numFiles": 0, "filenames": [], "content": text,
                "numLines": 2, "totalLines": 2 })
    );
    let (text, _) =
        grep(&rig, json!({ "output_mode": "content", "-n": false, "path": "src/a.py" })).await;
    assert_eq!(text, "import os\nimport sys");
    let (text, _) = grep(
        &rig,
        json!({ "output_mode": "content", "pattern": "[a-z]+s$", "-o": true, "glob": "*.py" }),
    )
    .await;
    assert_eq!(text, "src/a.py:1:os\nsrc/a.py:4:sys");
    let (text, _) = grep(&rig, json!({ "output_mode": "content", "pattern": "zzz" })).await;
    assert_eq!(text, "No matches found");
}

#[tokio::test]
async fn context_surrounds_matches() {
    let rig = Rig::new();
    rig.file("a", "1\n2\nhit\n4\n5\n6\n7\nhit\n9\n");
    rig.file("b", "hit\n");
    let around = async |fields: Value| {
        let mut input = json!({ "pattern": "hit", "output_mode": "content" });
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        rig.ok("Grep", input).await
    };
    let (text, _) = around(json!({ "-C": 1 })).await;
    assert_eq!(text, "a-2-2\na:3:hit\na-4-4\n--\na-7-7\na:8:hit\na-9-9\n--\nb:1:hit");
    assert_eq!(around(json!({ "context": 1 })).await.0, text);
    let (text, _) = around(json!({ "-A": 1, "path": "a" })).await;
    assert_eq!(text, "3:hit\n4-4\n--\n8:hit\n9-9");
    let (text, _) = around(json!({ "-B": 1, "head_limit": 2, "offset": 1 })).await;
    assert_eq!(text, "a:3:hit\n--\n\n[Showing results with pagination = limit: 2, offset: 1]");
}

#[tokio::test]
async fn matches_are_counted() {
    let rig = tree();
    let (text, object) = grep(&rig, json!({ "output_mode": "count" })).await;
    assert_eq!(text, "src/a.py:2\nsrc/b.rs:1\n\nFound 3 total occurrences across 2 files.");
    assert_eq!((&object["numMatches"], &object["numFiles"]), (&json!(3), &json!(2)));
    let (text, _) = grep(&rig, json!({ "output_mode": "count", "head_limit": 1 })).await;
    assert_eq!(
        text,
        "src/a.py:2\n\nFound 3 total occurrences across 2 files. with pagination = limit: 1"
    );
    let (text, object) =
        grep(&rig, json!({ "output_mode": "count", "pattern": "nothing_here" })).await;
    assert_eq!(text, "No matches found\n\nFound 0 total occurrences across 0 files.");
    assert_eq!(
        object,
        json!({ "mode": "count", "numFiles": 0, "filenames": [], "content": "", "numMatches": 0 })
    );
}

#[tokio::test]
async fn multiline_match_spans_lines() {
    let rig = tree();
    let across = json!({ "pattern": "os.x = 1", "multiline": true, "output_mode": "content" });
    let (text, _) = grep(&rig, across).await;
    assert_eq!(text, "src/a.py:1:import os\nsrc/a.py:2:x = 1");
    let (text, _) = grep(&rig, json!({ "pattern": "os.x = 1" })).await;
    assert_eq!(text, "No files found");
}

#[tokio::test]
async fn globs_include_and_exclude() {
    let rig = tree();
    let (text, _) = grep(&rig, json!({ "glob": "*.{py,txt}, *.rs !src/b.rs", "-i": true })).await;
    assert_eq!(text, "Found 2 files\nsrc/a.py\n.hidden.txt");
    let (text, _) = grep(&rig, json!({ "glob": "*.rs", "path": "src" })).await;
    assert_eq!(text, "Found 1 file\nsrc/b.rs");
}

#[tokio::test]
async fn long_lines_and_binary_files_are_not_shown() {
    let rig = Rig::new();
    rig.file("long", format!("hit {}\n", "x".repeat(600)));
    rig.file("zero.dat", b"hit\n\0\n");
    // A binary file is reported only if the call names it.
    let (text, _) = rig.ok("Grep", json!({ "pattern": "hit", "output_mode": "content" })).await;
    assert_eq!(text, "long:1:[Omitted long matching line]");
    let named = json!({ "pattern": "hit", "output_mode": "content", "path": "zero.dat" });
    let (text, _) = rig.ok("Grep", named).await;
    assert_eq!(text, "binary file matches (found \"\\0\" byte around offset 4)");
}

#[tokio::test]
async fn long_list_of_matches_is_paged_and_saved() {
    let rig = Rig::new();
    rig.file("a", "match me please, I am a line of some length\n".repeat(5000));
    let call =
        |limit: u32| json!({ "pattern": "me", "output_mode": "content", "head_limit": limit });
    let mut first = call(0);
    first.as_object_mut().unwrap().remove("head_limit");
    let (_, object) = rig.ok("Grep", first).await;
    assert_eq!((&object["numLines"], &object["totalLines"]), (&json!(250), &json!(5000)));
    let (text, object) = rig.ok("Grep", call(0)).await;
    assert_eq!(object["numLines"], 5000);
    assert!(text.starts_with("<persisted-output>\nOutput too large ("), "{text}");
    let saved = rig.outside().join("results/toolu_test.txt");
    assert_eq!(fs::read_to_string(saved).unwrap().lines().count(), 5000);
}

#[tokio::test]
async fn invalid_searches_have_specific_errors() {
    let rig = tree();
    let error = async |fields: Value| {
        let mut input = json!({ "pattern": "import" });
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        rig.error("Grep", input).await
    };
    assert!(
        error(json!({ "path": "none" })).await.starts_with("Path does not exist: none. Note: ")
    );
    assert!(error(json!({ "pattern": "(" })).await.starts_with("Search failed — "));
    assert!(error(json!({ "type": "klingon" })).await.contains("unrecognized file type: klingon"));
    assert!(error(json!({ "glob": "{a" })).await.starts_with("Search failed — "));
    let text = error(json!({ "pattern": "a\\nb" })).await;
    assert!(text.contains("Set multiline"), "{text}");
    let limit = "head_limit must be a whole number of 0 or more, got -1. Pass 0 for unlimited.";
    assert!(error(json!({ "head_limit": -1 })).await.contains(limit));
    assert!(error(json!({ "offset": 0.5 })).await.contains("got 0.5."));
    let text = error(json!({ "output_mode": "poem" })).await;
    assert!(text.contains("invalid_value"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_searches_run_concurrently() {
    let rig = Rig::new();
    for number in 0..300 {
        rig.file(&format!("d{}/f{number}", number % 7), format!("number {number}\n"));
    }
    let search = |number: u32| {
        let pattern = format!("^number {number}$");
        rig.ok("Grep", json!({ "pattern": pattern, "output_mode": "content" }))
    };
    let found = futures_util::future::join_all((0..40).map(search)).await;
    for (number, (text, _)) in found.iter().enumerate() {
        assert_eq!(*text, format!("d{}/f{number}:1:number {number}", number % 7));
    }
}

#[tokio::test]
async fn unreadable_files_are_left_out_of_searches() {
    struct Secrets;
    impl bowline_tools::HiddenFiles for Secrets {
        fn hidden(&self) -> Option<bowline_tools::IsHidden> {
            Some(std::sync::Arc::new(|path| path.ends_with("secret.txt")))
        }
    }
    let rig = Rig::with(|setup| setup.hidden_files = Some(std::sync::Arc::new(Secrets)));
    rig.file("open.txt", "word");
    rig.file("deep/secret.txt", "word");
    let (text, _) = rig.ok("Grep", json!({ "pattern": "word" })).await;
    assert_eq!(text, "Found 1 file\nopen.txt");
    let (text, _) = rig.ok("Glob", json!({ "pattern": "**/*.txt" })).await;
    assert_eq!(text, "open.txt");
}

/// The memory that this process has used at most, in bytes.
fn peak_memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_is_not_held_in_memory() {
    use std::io::Write;

    let rig = Rig::new();
    let mut file = fs::File::create(rig.path("long")).unwrap();
    file.write_all(b"import first\n").unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        file.write_all(&piece).unwrap();
    }
    file.write_all(b"\nimport last\n").unwrap();
    drop(file);
    rig.file("short", "import short\n");
    let before = peak_memory();
    for fields in [
        json!({ "pattern": "last" }),
        json!({ "pattern": "last", "path": "long" }),
        json!({ "output_mode": "count" }),
        json!({ "output_mode": "content", "-C": 2 }),
        json!({ "output_mode": "content", "-B": 1_000_000_000 }),
        json!({ "output_mode": "content", "-A": 1_000_000_000 }),
        json!({ "output_mode": "content", "-o": true }),
        json!({ "pattern": "first\\n.*last", "multiline": true }),
        json!({ "pattern": "x\\n", "multiline": true, "output_mode": "content", "path": "long" }),
    ] {
        let (text, _) = grep(&rig, fields.clone()).await;
        assert!(text.contains("Not searched to the end"), "{fields} {text}");
        assert!(text.contains("long]"), "{fields} {text}");
    }
    // Each thread may hold one line of 16 MiB, or a file of 64 MiB; other tests run beside this one.
    let used = peak_memory() - before;
    assert!(used < 400 << 20, "{used}");
    let (text, _) = grep(&rig, json!({ "output_mode": "content", "path": "long" })).await;
    assert!(text.starts_with("1:import first\n"), "what comes before is found: {text}");
}

#[tokio::test]
async fn one_file_with_millions_of_matches_is_counted_and_not_kept() {
    let rig = Rig::new();
    rig.file("many", "x".repeat(3_000_000));
    rig.file("lines", "x\n".repeat(1_000_000));
    let all = json!({ "pattern": "x", "output_mode": "content", "-o": true, "path": "many" });
    let (_, object) = grep(&rig, all).await;
    assert_eq!(object["totalLines"], 200_000);
    let all = json!({ "pattern": "x", "output_mode": "content", "path": "lines" });
    let (_, object) = grep(&rig, all).await;
    assert_eq!(object["totalLines"], 200_000);
    let count = json!({ "pattern": "x", "output_mode": "count", "path": "lines" });
    let (_, object) = grep(&rig, count).await;
    assert_eq!(object["numMatches"], 1_000_000);
}
