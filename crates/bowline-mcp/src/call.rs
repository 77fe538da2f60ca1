//! A call of a tool and its answer: what MCP says of them, before it is JSON.

use bowline_protocol::ToolUseId;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::connection::RequestError;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct McpToolCall {
    /// The tool's name on its server.
    pub name: String,
    /// What it is called with.
    pub arguments: Map<String, Value>,
    /// The model's name of the call, if a model makes it.
    pub tool_use_id: Option<ToolUseId>,
}

/// The answer to a call.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct McpCallResult {
    /// What the tool says.
    #[serde(deserialize_with = "contents")]
    pub content: Vec<McpContent>,
    /// The same for programs.
    pub structured_content: Option<Value>,
    /// Whether it failed.
    pub is_error: bool,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum McpContent {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes in base 64.
        data: String,
        /// What kind of picture.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes in base 64.
        data: String,
        /// What kind of sound.
        mime_type: String,
    },
    /// Something that can also be read from the server.
    Resource {
        /// What would be read.
        resource: McpEmbedded,
    },
    /// Where something can be read.
    ResourceLink {
        /// Its address.
        uri: String,
        /// What it is called.
        name: Option<String>,
        /// What it is.
        description: Option<String>,
    },
    /// A piece that this version does not know, as the server wrote it.
    #[serde(skip)]
    Other(Value),
}

/// What is in a resource: text, or bytes in base 64.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpEmbedded {
    /// Its address.
    pub uri: String,
    /// What kind of thing it is.
    pub mime_type: Option<String>,
    /// Its text.
    pub text: Option<String>,
    /// Its bytes.
    pub blob: Option<String>,
}

impl From<Value> for McpContent {
    fn from(piece: Value) -> Self {
        Self::deserialize(&piece).unwrap_or(Self::Other(piece))
    }
}

fn contents<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<McpContent>, D::Error> {
    let pieces = Vec::<Value>::deserialize(deserializer)?;
    Ok(pieces.into_iter().map(McpContent::from).collect())
}

impl McpCallResult {
    /// The result of a call as a server wrote it.
    pub(crate) fn read(answer: Value) -> Result<Self, RequestError> {
        serde_json::from_value(answer).map_err(|error| {
            RequestError::Undelivered(format!("the answer makes no sense: {error}"))
        })
    }

    /// What a failed call says.
    pub(crate) fn error_text(&self) -> String {
        let texts = self.content.iter().filter_map(|piece| match piece {
            McpContent::Text { text } => Some(text.as_str()),
            McpContent::Other(piece) => piece.get("text")?.as_str(),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        match (text.is_empty(), &self.structured_content) {
            (false, _) => text,
            (true, Some(structured)) => structured.to_string(),
            (true, None) => "the tool failed and did not say why".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_piece_that_makes_no_sense_is_kept_as_it_is() {
        let strange = [
            json!({"type": "hologram", "text": "behind you"}),
            json!({"type": "image", "data": "AAAA"}),
            json!("not even an object"),
        ];
        let text = json!({"type": "text", "text": "a knot", "annotations": {}});
        let content: Vec<_> = [text].into_iter().chain(strange.clone()).collect();
        let result = McpCallResult::read(json!({"content": content, "isError": true})).unwrap();
        let others = strange.map(McpContent::Other);
        let text = McpContent::Text { text: "a knot".to_owned() };
        assert_eq!(result.content, [vec![text], others.to_vec()].concat());
        assert_eq!(result.error_text(), "a knot\nbehind you");
    }
}
