//! Conversion of the results of calls to MCP's types.

use bowline_engine::DirectResult;
use bowline_protocol::{ContentBlock, DocumentBlock, Source};
use rmcp::model::{CallToolResult, ContentBlock as Block, EmbeddedResource, ResourceContents};
use serde_json::Value;

/// A structured result with more bytes than this is left out: a client that reads both forms
/// has the text, which is capped.
const MAX_STRUCTURED_BYTES: usize = 100_000;

/// The result of a call.
pub(crate) fn result(result: DirectResult) -> CallToolResult {
    let content = result.content.into_iter().map(block).collect();
    let mut told = match result.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    told.structured_content = result.structured.filter(fits);
    told
}

/// A failure in words.
pub(crate) fn failure(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![Block::text(text)])
}

/// Clients of older versions take objects only.
fn fits(structured: &Value) -> bool {
    structured.is_object() && structured.to_string().len() <= MAX_STRUCTURED_BYTES
}

fn block(block: ContentBlock) -> Block {
    match block {
        ContentBlock::Text(text) => Block::text(text.text),
        ContentBlock::Image(image) => match image.source {
            Source::Base64(inline) => Block::image(inline.data, inline.media_type),
            source => json(&source),
        },
        ContentBlock::Document(document) => file(document),
        other => json(&other),
    }
}

fn file(document: DocumentBlock) -> Block {
    let name = document.title.clone().unwrap_or_else(|| "document".to_owned());
    let uri = format!("bowline:///{name}");
    let contents = match document.source {
        Source::Base64(inline) => ResourceContents::BlobResourceContents {
            uri,
            mime_type: Some(inline.media_type),
            blob: inline.data,
            meta: None,
        },
        Source::Text(inline) => ResourceContents::TextResourceContents {
            uri,
            mime_type: Some(inline.media_type),
            text: inline.data,
            meta: None,
        },
        source => return json(&source),
    };
    Block::Resource(EmbeddedResource::new(contents))
}

/// What MCP has no form for, as it is.
fn json(value: &impl serde::Serialize) -> Block {
    Block::text(serde_json::to_string(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use bowline_protocol::{Extra, ImageBlock};
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_keep_their_meaning() {
        let image = ContentBlock::Image(ImageBlock {
            source: Source::base64("image/png", "aGk="),
            extra: Extra::new(),
        });
        let told: Vec<_> = [ContentBlock::text("words"), image]
            .map(block)
            .iter()
            .map(|block| serde_json::to_value(block).unwrap())
            .collect();
        assert_eq!(
            told,
            [
                json!({"type": "text", "text": "words"}),
                json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
            ]
        );
    }

    #[test]
    fn only_objects_of_a_reasonable_size_are_structured() {
        assert!(fits(&json!({"stdout": "a"})));
        assert!(!fits(&json!("a")));
        assert!(!fits(&json!({"stdout": "a".repeat(MAX_STRUCTURED_BYTES)})));
    }
}
