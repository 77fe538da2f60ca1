//! PDFs: whole as a document, or single pages as pictures.

use std::{path::Path, process::Stdio};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bowline_protocol::{ContentBlock, DocumentBlock, Source};
use serde_json::json;

use super::{Input, bytes, media::image_block, pages_dir};
use crate::{
    files,
    output::{ToolFailure, ToolOutput},
    run::size,
    workspace::Workspace,
};

/// What model APIs take, with room for the rest of the conversation.
const MAX_PDF_BYTES: u64 = 20 * 1024 * 1024;

/// Pages are pictures, and each costs as much as one.
const MAX_PAGES: u32 = 20;

/// Dots per inch: text is legible, and a page stays well below a model's largest picture.
const RESOLUTION: &str = "100";

/// A range of pages, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pages {
    first: u32,
    last: u32,
}

impl Pages {
    pub(super) fn parse(text: &str) -> Result<Self, ToolFailure> {
        let bad = || {
            ToolFailure::input(format!(
                "Invalid pages parameter: \"{text}\". Write a page or a range, as in \"3\" or \
                 \"1-5\"."
            ))
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|page| *page > 0);
        let (Some(first), Some(last)) = (number(first), number(last)) else { return Err(bad()) };
        if last < first {
            return Err(bad());
        }
        if last - first >= MAX_PAGES {
            return Err(ToolFailure::input(format!(
                "Page range \"{text}\" has more than {MAX_PAGES} pages. Read fewer at a time."
            )));
        }
        Ok(Self { first, last })
    }
}

pub(super) async fn read(
    input: &Input,
    path: &Path,
    bytes_on_disk: u64,
    workspace: &Workspace,
) -> Result<ToolOutput, ToolFailure> {
    if bytes_on_disk == 0 {
        return Err(ToolFailure::running(format!("PDF file is empty: {}", path.display())));
    }
    if let Some(pages) = &input.pages {
        return read_pages(Pages::parse(pages)?, input, path, bytes_on_disk, workspace).await;
    }
    if bytes_on_disk > MAX_PDF_BYTES {
        return Err(ToolFailure::running(
            "PDF file exceeds maximum allowed size of 20MB. Read some of its pages with the \
             pages parameter.",
        ));
    }
    let file = bytes(path).await?;
    if !file.bytes.starts_with(b"%PDF-") {
        return Err(ToolFailure::running(format!(
            "File is not a valid PDF (missing %PDF- header): {}",
            path.display()
        )));
    }
    let data = BASE64_STANDARD.encode(&file.bytes);
    let structured = json!({
        "type": "pdf",
        "file": {
            "filePath": input.file_path,
            "base64": data,
            "originalSize": file.bytes.len(),
        },
    });
    let shown = size(bytes_on_disk);
    Ok(ToolOutput::blocks(vec![
        ContentBlock::text(format!("PDF file read: {} ({shown})", input.file_path)),
        ContentBlock::Document(DocumentBlock {
            source: Source::base64("application/pdf", data),
            title: None,
            context: None,
            extra: Default::default(),
        }),
    ])
    .structured(structured))
}

/// Renders pages with poppler's `pdftoppm`, where it is installed.
async fn read_pages(
    pages: Pages,
    input: &Input,
    path: &Path,
    bytes_on_disk: u64,
    workspace: &Workspace,
) -> Result<ToolOutput, ToolFailure> {
    let dir = pages_dir(workspace);
    bowline_private::folder(&dir).map_err(|error| files::failed(&error, "write", &dir))?;
    let rendered = bowline_process::command("pdftoppm")
        .args(["-jpeg", "-r", RESOLUTION])
        .args(["-f", &pages.first.to_string(), "-l", &pages.last.to_string()])
        .arg(path)
        .arg(dir.join("page"))
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|error| {
            ToolFailure::running(format!(
                "Cannot read single pages of a PDF: pdftoppm (of poppler) could not be started \
                 ({error}). Leave out pages to read the whole file."
            ))
        })?;
    let mut files = Vec::new();
    let mut entries =
        tokio::fs::read_dir(&dir).await.map_err(|error| files::failed(&error, "read", &dir))?;
    while let Ok(Some(entry)) = entries.next_entry().await {
        files.push(entry.path());
    }
    files.sort();
    if !rendered.status.success() || files.is_empty() {
        return Err(ToolFailure::running(format!(
            "Cannot read these pages of {}: {}",
            path.display(),
            String::from_utf8_lossy(&rendered.stderr).trim()
        )));
    }
    let count = files.len();
    let mut blocks = vec![ContentBlock::text(format!(
        "PDF pages extracted: {count} page(s) from {} ({})",
        input.file_path,
        size(bytes_on_disk)
    ))];
    for file in &files {
        let page = bytes(file).await?;
        blocks.push(image_block("image/jpeg", BASE64_STANDARD.encode(&page.bytes)));
    }
    Ok(ToolOutput::blocks(blocks).structured(json!({
        "type": "parts",
        "file": {
            "filePath": input.file_path,
            "originalSize": bytes_on_disk,
            "count": count,
            "outputDir": dir,
        },
        "firstPage": pages.first,
    })))
}
