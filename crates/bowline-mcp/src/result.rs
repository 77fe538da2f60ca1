//! Conversion of an MCP tool result into content of the conversation.

use std::{
    io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bowline_protocol::{
    Content, ContentBlock, Extra, ImageBlock, ResourceContents, Source, ToolContent, ToolResult,
};
use bowline_tools::{ToolFailure, ToolOutput};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::name::public_name;

/// The media types of images that models accept.
const IMAGES_FOR_MODELS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The result of a tool as content of the conversation. Images and other bytes are also saved under
/// `results_dir`; a text of more than `max_chars` becomes prose, which is saved and truncated by
/// `bowline_tools::run`.
pub(crate) async fn output(
    result: ToolResult,
    server: &str,
    results_dir: &Path,
    max_chars: usize,
) -> Result<ToolOutput, ToolFailure> {
    if result.is_error {
        return Err(ToolFailure::running(error_text(&result)));
    }
    let files = Files { server, dir: results_dir };
    let mut blocks = Vec::with_capacity(result.content.len());
    for piece in result.content {
        add(piece, &files, &mut blocks).await;
    }
    let structured = result.structured_content.filter(|value| !value.is_null());
    if let Some(structured) = &structured {
        add_structured(structured, &mut blocks);
    }
    let chars: usize = blocks.iter().filter_map(ContentBlock::as_text).map(str::len).sum();
    if chars > max_chars {
        return Ok(ToolOutput::text(Content::Blocks(blocks).to_text()));
    }
    let shown = serde_json::to_value(&blocks).unwrap_or_default();
    let output = match blocks.is_empty() {
        true => ToolOutput::text(""),
        false => ToolOutput::blocks(blocks),
    };
    Ok(output.structured(match structured {
        Some(structured) => json!({"content": shown, "structuredContent": structured}),
        None => shown,
    }))
}

/// The error text of a failed call.
pub(crate) fn error_text(result: &ToolResult) -> String {
    let text = result.to_text();
    match (text.is_empty(), &result.structured_content) {
        (false, _) => text,
        (true, Some(structured)) => structured.to_string(),
        (true, None) => "the tool failed without an error message".to_owned(),
    }
}

/// Servers should also send it as text, for clients that know no better.
fn add_structured(structured: &Value, blocks: &mut Vec<ContentBlock>) {
    let repeated = blocks
        .iter()
        .filter_map(ContentBlock::as_text)
        .any(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured));
    if !repeated {
        blocks.push(ContentBlock::text(structured.to_string()));
    }
}

/// One piece of content as MCP has it, as a conversation takes it.
pub(crate) async fn add(piece: ToolContent, files: &Files<'_>, blocks: &mut Vec<ContentBlock>) {
    match piece {
        ToolContent::Text { text } => blocks.push(ContentBlock::text(text)),
        ToolContent::Image { data, mime_type } => add_image(data, &mime_type, files, blocks).await,
        ToolContent::Audio { data, mime_type } => {
            blocks.push(saved("Audio", &data, Some(&mime_type), files).await);
        }
        ToolContent::Resource { resource: ResourceContents { uri, mime_type, text, blob, .. } } => {
            let mime = mime_type.as_deref();
            match (text, blob) {
                (Some(text), _) => {
                    blocks.push(ContentBlock::text(format!("[Resource: {uri}]\n{text}")));
                }
                (None, Some(data)) if mime.is_some_and(|mime| mime.starts_with("image/")) => {
                    add_image(data, mime.unwrap_or_default(), files, blocks).await;
                }
                (None, Some(data)) => {
                    blocks.push(saved(&format!("Resource {uri}"), &data, mime, files).await);
                }
                (None, None) => blocks.push(ContentBlock::text(format!("[Resource: {uri}]"))),
            }
        }
        ToolContent::ResourceLink { uri, name, description, .. } => {
            let name = if name.is_empty() { name } else { format!(" {name}") };
            let description = description.map(|text| format!(" ({text})")).unwrap_or_default();
            let text = format!("[Resource link:{name} {uri}]{description}");
            blocks.push(ContentBlock::text(text));
        }
        // The model may understand it all the same.
        ToolContent::Other(piece) => blocks.push(ContentBlock::text(piece.to_string())),
        other => {
            let piece = serde_json::to_string(&other).unwrap_or_default();
            blocks.push(ContentBlock::text(piece));
        }
    }
}

async fn add_image(data: String, mime: &str, files: &Files<'_>, blocks: &mut Vec<ContentBlock>) {
    let note = saved("Image", &data, Some(mime), files).await;
    // The model's API would refuse the whole request for a picture that cannot be decoded.
    if IMAGES_FOR_MODELS.contains(&mime) && BASE64_STANDARD.decode(&data).is_ok() {
        let source = Source::base64(mime, data);
        blocks.push(ContentBlock::Image(ImageBlock { source, extra: Extra::new() }));
    }
    blocks.push(note);
}

/// Saves bytes and says where.
async fn saved(what: &str, data: &str, mime: Option<&str>, files: &Files<'_>) -> ContentBlock {
    ContentBlock::text(match files.save(data, mime).await {
        Ok(path) => format!("[{what}: source: {}]", path.display()),
        Err(error) => format!("[{what}: could not be saved: {error}]"),
    })
}

/// Where the bytes that a server sends are kept.
pub(crate) struct Files<'a> {
    pub(crate) server: &'a str,
    pub(crate) dir: &'a Path,
}

impl Files<'_> {
    /// Saves bytes that came in base 64.
    pub(crate) async fn save(&self, data: &str, mime: Option<&str>) -> io::Result<PathBuf> {
        let bytes = BASE64_STANDARD.decode(data);
        let bytes = bytes.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let unique = &Uuid::new_v4().simple().to_string()[..6];
        let server = public_name(self.server);
        let name = format!("mcp-{server}-blob-{}-{unique}.{}", since.as_millis(), extension(mime));
        let path = self.dir.join(name);
        bowline_private::folder(self.dir)?;
        bowline_private::write(&path, bytes)?;
        Ok(path)
    }
}

/// What files of a kind end with.
fn extension(mime: Option<&str>) -> &'static str {
    let kind = mime.and_then(|mime| mime.split(';').next()).unwrap_or_default().trim();
    match kind {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/ogg" => "ogg",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "text/html" => "html",
        "text/csv" => "csv",
        "text/markdown" => "md",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn undecodable_image_is_not_sent_to_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files { server: "s", dir: folder.path() };
        for (data, blocks) in [("AAAA", 2), ("%%%%", 1)] {
            let mut shown = Vec::new();
            add_image(data.to_owned(), "image/png", &files, &mut shown).await;
            assert_eq!(shown.len(), blocks, "{shown:?}");
        }
    }
}
