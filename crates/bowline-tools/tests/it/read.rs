//! Reading files.

use std::{fs, path::Path};

use bowline_tools::Access;
use serde_json::json;

use crate::rig::{Rig, refused};

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[tokio::test]
async fn lines_are_numbered_and_the_last_newline_starts_one_more() {
    let rig = Rig::new();
    let path = rig.file("a.txt", "alpha\nbeta\ngamma\n");
    let (text, object) = rig.ok("Read", json!({ "file_path": path })).await;
    assert_eq!(text, "1\talpha\n2\tbeta\n3\tgamma\n4\t");
    assert_eq!(
        object,
        json!({ "type": "text", "file": {
            "filePath": path, "content": "alpha\nbeta\ngamma\n",
            "numLines": 4, "startLine": 1, "totalLines": 4,
        } })
    );
    // Relative paths start in the current directory.
    assert_eq!(rig.text("Read", json!({ "file_path": "a.txt" })).await, text);
}

#[tokio::test]
async fn offset_and_limit_select_lines() {
    let rig = Rig::new();
    rig.file("a.txt", "a\nb\nc\nd");
    let part =
        |offset: i64, limit: i64| json!({ "file_path": "a.txt", "offset": offset, "limit": limit });
    let (text, object) = rig.ok("Read", part(2, 2)).await;
    assert_eq!(text, "2\tb\n3\tc");
    assert_eq!(object["file"]["content"], "b\nc");
    assert_eq!(object["file"]["startLine"], 2);
    assert_eq!(rig.text("Read", part(4, 100)).await, "4\td");
    assert_eq!(rig.text("Read", part(0, 1)).await, "0\ta");
    // Invalid values are treated as absent, and a number in quotes as a number.
    assert_eq!(rig.text("Read", part(-3, -1)).await, "1\ta\n2\tb\n3\tc\n4\td");
    let quoted = json!({ "file_path": "a.txt", "offset": "4" });
    assert_eq!(rig.text("Read", quoted).await, "4\td");
    let (text, object) = rig.ok("Read", part(50, 1)).await;
    assert!(
        text.contains("shorter than the provided offset (50). The file has 4 lines."),
        "{text}"
    );
    assert_eq!(object["file"]["numLines"], 0);
}

#[tokio::test]
async fn encodings_and_line_endings_are_hidden() {
    let rig = Rig::new();
    rig.file("crlf", "a\r\nb\r\n");
    assert_eq!(rig.text("Read", json!({ "file_path": "crlf" })).await, "1\ta\n2\tb\n3\t");
    rig.file("marked", b"\xEF\xBB\xBFa");
    assert_eq!(rig.text("Read", json!({ "file_path": "marked" })).await, "1\ta");
    rig.file("wide", b"\xFF\xFEa\0\n\0b\0");
    assert_eq!(rig.text("Read", json!({ "file_path": "wide" })).await, "1\ta\n2\tb");
    rig.file("damaged", b"a\xFFb");
    let text = rig.text("Read", json!({ "file_path": "damaged" })).await;
    assert!(text.starts_with("1\ta\u{FFFD}b\n[The file has bytes that are not text"), "{text}");
    rig.file("empty", "");
    let (text, object) = rig.ok("Read", json!({ "file_path": "empty" })).await;
    assert!(text.contains("the contents are empty."), "{text}");
    assert_eq!(object["file"]["numLines"], 1);
}

#[tokio::test]
async fn unreadable_paths_have_specific_errors() {
    let rig = Rig::new();
    let here = shown(&rig.project());
    assert_eq!(
        rig.error("Read", json!({ "file_path": "none.txt" })).await,
        format!("File does not exist. Note: your current working directory is {here}.")
    );
    rig.file("none.md", "");
    let text = rig.error("Read", json!({ "file_path": "none.txt" })).await;
    assert!(text.ends_with(" Did you mean none.md?"), "{text}");
    assert_eq!(
        rig.error("Read", json!({ "file_path": "" })).await,
        format!("EISDIR: illegal operation on a directory, read '{here}'")
    );
    let text = rig.error("Read", json!({ "file_path": "/dev/zero" })).await;
    assert!(text.contains("this path names a device"), "{text}");
    rig.file("x.zip", "PK");
    let text = rig.error("Read", json!({ "file_path": "x.zip" })).await;
    assert!(text.starts_with(
        "<tool_use_error>This tool cannot read binary files. The file appears to be a binary .zip \
         file."
    ));
    assert_eq!(
        rig.error("Read", json!({ "file_path": 7 })).await,
        refused(
            "InputValidationError: Read failed due to the following issue:\nThe parameter \
             `file_path` type is expected as `string` but provided as `number`"
        )
    );
}

#[tokio::test]
async fn large_files_are_read_in_parts() {
    let rig = Rig::options(|options| options.max_read_tokens = 100);
    rig.file("large", "0123456789\n".repeat(30_000));
    let text = rig.error("Read", json!({ "file_path": "large" })).await;
    assert!(text.starts_with("File content (322.3KB) exceeds maximum allowed size (256KB)."));
    let text =
        rig.text("Read", json!({ "file_path": "large", "offset": 29_999, "limit": 1 })).await;
    assert_eq!(text, "29999\t0123456789");
    let text = rig.error("Read", json!({ "file_path": "large", "limit": 1000 })).await;
    assert!(text.starts_with("File content (2750 tokens) exceeds maximum allowed tokens (100)."));

    rig.file("medium", "0123456789\n".repeat(100));
    let output = rig.call("Read", json!({ "file_path": "medium" })).await.unwrap();
    let object = output.structured.unwrap();
    assert_eq!(object["file"]["truncatedByTokenCap"], true);
    assert_eq!(object["file"]["numLines"], 36);
    assert_eq!(output.follow_up.len(), 1);
    let whole = json!({ "file_path": "medium", "allow_large": true });
    assert_eq!(rig.ok("Read", whole).await.1["file"]["numLines"], 101);
}

#[tokio::test]
async fn images_and_documents_are_content_blocks() {
    let rig = Rig::new();
    rig.file("a.png", b"\x89PNG\r\n\x1a\nrest");
    let output = rig.call("Read", json!({ "file_path": "a.png" })).await.unwrap();
    let data = "iVBORw0KGgpyZXN0";
    assert_eq!(
        serde_json::to_value(&output.content).unwrap(),
        json!([{ "type": "image",
                 "source": { "type": "base64", "media_type": "image/png", "data": data } }])
    );
    assert_eq!(
        output.structured.unwrap(),
        json!({ "type": "image",
                "file": { "base64": data, "type": "image/png", "originalSize": 12 } })
    );
    assert!(output.follow_up.is_empty());
    rig.file("b.png", "no picture");
    let text = rig.error("Read", json!({ "file_path": "b.png" })).await;
    assert!(text.contains("not a valid PNG/JPEG/GIF/WebP"), "{text}");
    let path = rig.file("c.gif", "");
    let text = rig.error("Read", json!({ "file_path": "c.gif" })).await;
    assert_eq!(text, format!("Image file is empty: {}", shown(&path)));

    rig.file("d.pdf", "%PDF-1.4 and so on");
    let output = rig.call("Read", json!({ "file_path": "d.pdf" })).await.unwrap();
    let blocks = serde_json::to_value(&output.content).unwrap();
    assert_eq!(blocks[0]["text"], "PDF file read: d.pdf (18 bytes)");
    assert_eq!(blocks[1]["type"], "document");
    assert_eq!(blocks[1]["source"]["media_type"], "application/pdf");
    let text = rig.error("Read", json!({ "file_path": "d.pdf", "pages": "x" })).await;
    assert!(text.starts_with("<tool_use_error>Invalid pages parameter: \"x\"."), "{text}");
    let text = rig.error("Read", json!({ "file_path": "d.pdf", "pages": "1-30" })).await;
    assert!(text.contains("more than 20 pages"), "{text}");
    rig.file("e.pdf", "no document");
    assert!(rig.error("Read", json!({ "file_path": "e.pdf" })).await.contains("not a valid PDF"));
}

#[tokio::test]
async fn read_access_covers_its_file() {
    let rig = Rig::new();
    let read = rig.registry.find("Read").unwrap();
    let access = |path: &str| read.access(&json!({ "file_path": path }), &rig.workspace);
    assert_eq!(access("./a/../b"), Access::Read(vec![rig.path("b")]));
    assert_eq!(access("/../etc/passwd"), Access::Read(vec!["/etc/passwd".into()]));
    assert!(read.is_concurrency_safe(&json!({})));
}

#[tokio::test]
async fn file_without_read_permission_is_reported() {
    let rig = Rig::new();
    fs::create_dir(rig.path("dir.txt")).unwrap();
    let text = rig.error("Read", json!({ "file_path": "dir.txt" })).await;
    assert!(text.starts_with("EISDIR"), "{text}");
    let text = rig.error("Read", json!({ "file_path": "dir.txt/below/x" })).await;
    assert!(text.starts_with("File does not exist."), "{text}");
}

#[tokio::test]
async fn image_that_is_too_wide_is_scaled_and_noted() {
    let rig = Rig::new();
    let picture = image::RgbImage::from_fn(4000, 100, |x, _| image::Rgb([(x % 251) as u8, 7, 7]));
    picture.save(rig.file("wide.png", "")).unwrap();
    let output = rig.call("Read", json!({ "file_path": "wide.png" })).await.unwrap();
    assert_eq!(
        output.structured.unwrap()["file"]["dimensions"],
        json!({
            "originalWidth": 4000, "originalHeight": 100,
            "displayWidth": 2000, "displayHeight": 50,
        })
    );
    let told = output.follow_up[0].as_text().unwrap();
    assert!(told.contains("original 4000x100, displayed at 2000x50"), "{told}");
    assert!(told.contains("by 2.00"), "{told}");
}

#[tokio::test]
async fn image_with_too_many_bytes_is_compressed_for_the_api() {
    let rig = Rig::new();
    // Noise, which no format can pack.
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let picture =
        image::RgbImage::from_fn(1500, 1000, |_, _| image::Rgb([noise(), noise(), noise()]));
    let path = rig.file("noise.png", "");
    picture.save(&path).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 4_000_000);
    let output = rig.call("Read", json!({ "file_path": "noise.png" })).await.unwrap();
    let file = &output.structured.unwrap()["file"];
    assert_eq!(file["type"], "image/jpeg");
    assert!(file["base64"].as_str().unwrap().len() <= 5 * 1024 * 1024);
    assert_eq!(file["dimensions"]["displayWidth"], 1500, "only as small as it must be");
    assert!(output.follow_up.is_empty());
}
