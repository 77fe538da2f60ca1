//! A call of one of our tools by an embedded engine: both sides have types for it, and they differ.

use bowline_engine::{McpCallResult, McpContent, McpEmbedded, McpToolCall};
use bowline_protocol::RawJson;

use crate::tool::{CallMeta, CallParams, ResourceContents, ToolContent, ToolResult};

/// The call as our tools take it.
pub(super) fn params(call: &McpToolCall, progress_token: u64) -> serde_json::Result<CallParams> {
    Ok(CallParams {
        name: call.name.clone(),
        arguments: RawJson::from_value(&call.arguments)?,
        meta: CallMeta {
            tool_use_id: call.tool_use_id.clone(),
            progress_token: Some(progress_token.into()),
        },
    })
}

impl From<ToolResult> for McpCallResult {
    fn from(result: ToolResult) -> Self {
        Self {
            content: result.content.into_iter().map(McpContent::from).collect(),
            structured_content: result.structured_content.filter(|it| !it.is_null()),
            is_error: result.is_error,
        }
    }
}

impl From<ToolContent> for McpContent {
    fn from(content: ToolContent) -> Self {
        match content {
            ToolContent::Text { text } => Self::Text { text },
            ToolContent::Image { data, mime_type } => Self::Image { data, mime_type },
            ToolContent::Audio { data, mime_type } => Self::Audio { data, mime_type },
            ToolContent::ResourceLink { uri, name, description, mime_type: _ } => {
                Self::ResourceLink { uri, name: Some(name), description }
            }
            ToolContent::Resource { resource } => {
                let ResourceContents { uri, mime_type, text, blob } = resource;
                Self::Resource { resource: McpEmbedded { uri, mime_type, text, blob } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// By the one what the tool reports is known to be about the call, by the other the call is stopped.
    #[test]
    fn a_call_keeps_its_names() {
        let call = McpToolCall {
            name: "tie".to_owned(),
            arguments: json!({"knot": "bowline"}).as_object().cloned().unwrap(),
            tool_use_id: Some("toolu_1".into()),
        };
        let CallParams { name, arguments, meta } = params(&call, 7).unwrap();
        assert_eq!((&*name, arguments.get()), ("tie", r#"{"knot":"bowline"}"#));
        assert_eq!(
            (meta.tool_use_id, meta.progress_token),
            (Some("toolu_1".into()), Some(7.into()))
        );
    }

    /// Whoever calls a tool as it is gets what it would have got as JSON.
    #[test]
    fn a_result_says_the_same_as_its_json() {
        let resource = ResourceContents::blob("knot://1", "AAAA").with_mime_type("image/png");
        let results = [
            ToolResult::text("tied").with_structured(json!({"loops": 1})).with_meta("a", 1),
            ToolResult::image("AAAA", "image/png").with(ToolContent::Resource { resource }),
            ToolResult::audio("AAAA", "audio/wav"),
            ToolResult::resource(ResourceContents::text("knot://2", "a bowline")),
            ToolResult::resource_link("knot://3", "bight"),
            ToolResult::error("slipped"),
            ToolResult::error("").with_structured(json!(null)),
            ToolResult::default(),
        ];
        for result in results {
            let read = serde_json::from_value(serde_json::to_value(&result).unwrap()).unwrap();
            assert_eq!(McpCallResult::from(result), read);
        }
    }
}
