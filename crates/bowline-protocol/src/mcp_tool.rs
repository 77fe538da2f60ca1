//! MCP tools: their listing, and the result of a call.
//!
//! One type for each, whether it travels as JSON-RPC or is handed over within one process.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool as `tools/list` describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolListing {
    /// Its name on the server.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its purpose and use, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    #[serde(default)]
    pub input_schema: Map<String, Value>,
    /// Hints about its effects.
    #[serde(default, skip_serializing_if = "ToolAnnotations::are_empty")]
    pub annotations: ToolAnnotations,
    /// Fields that only some agents understand, as in `anthropic/alwaysLoad`.
    #[serde(default, rename = "_meta", skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// Hints about the effects of a tool, for those who decide whether it may run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    fn are_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The result of a tool call, as MCP has it.
///
/// ```
/// use bowline_protocol::{ToolContent, ToolResult};
/// use serde_json::json;
///
/// let chart = ToolResult::image("iVBORw0KGgo=", "image/png")
///     .with(ToolContent::Text { text: "Sales by knot".to_owned() })
///     .with_structured(json!({"bowline": 20, "clove hitch": 10}));
/// assert_eq!(chart.content.len(), 2);
/// assert!(ToolResult::error("there are no sales yet").is_error);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// The content for the model.
    #[serde(default)]
    pub content: Vec<ToolContent>,
    /// The same content as a value, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Metadata for clients that know its keys; the model does not see it.
    #[serde(default, rename = "_meta", skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// One piece of a tool's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ToolContent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Its bytes in base64.
        data: String,
        /// Its media type, as in `image/png`.
        mime_type: String,
    },
    /// A recording.
    Audio {
        /// Its bytes in base64.
        data: String,
        /// Its media type, as in `audio/wav`.
        mime_type: String,
    },
    /// A link to a resource.
    ResourceLink {
        /// Its address.
        uri: String,
        /// Its name; empty if the server gave none.
        #[serde(default)]
        name: String,
        /// Its description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its media type, as in `text/csv`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// A resource with its contents.
    Resource {
        /// The resource.
        resource: ResourceContents,
    },
    /// A piece that this version cannot read, as the server wrote it.
    #[serde(untagged)]
    Other(Value),
}

/// The contents of a resource: text, or bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// Its address.
    pub uri: String,
    /// Its media type, as in `text/csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

impl ResourceContents {
    /// A text resource.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), text: Some(text.into()), ..Self::default() }
    }

    /// A binary resource, its bytes in base64.
    pub fn blob(uri: impl Into<String>, data: impl Into<String>) -> Self {
        Self { uri: uri.into(), blob: Some(data.into()), ..Self::default() }
    }

    /// Sets the media type, as in `text/csv`.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl ToolResult {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ToolContent::Text { text: text.into() }], ..Self::default() }
    }

    /// An image: its bytes in base64 and its media type, as in `image/png`.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::default().with(ToolContent::Image { data: data.into(), mime_type: mime_type.into() })
    }

    /// A recording: its bytes in base64 and its media type, as in `audio/wav`.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::default().with(ToolContent::Audio { data: data.into(), mime_type: mime_type.into() })
    }

    /// A link to a resource, by its address and name.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::default().with(ToolContent::ResourceLink {
            uri: uri.into(),
            name: name.into(),
            description: None,
            mime_type: None,
        })
    }

    /// A resource with its contents.
    pub fn resource(resource: ResourceContents) -> Self {
        Self::default().with(ToolContent::Resource { resource })
    }

    /// A failure, with a text that helps the model to recover.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Its texts, one piece per line. A piece of an unknown kind counts if it has a `text` field.
    pub fn to_text(&self) -> String {
        let texts = self.content.iter().filter_map(|piece| match piece {
            ToolContent::Text { text } => Some(text.as_str()),
            ToolContent::Other(piece) => piece.get("text")?.as_str(),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Adds a piece.
    #[must_use]
    pub fn with(mut self, content: ToolContent) -> Self {
        self.content.push(content);
        self
    }

    /// Adds the content as a value, for programs.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured_content = Some(value);
        self
    }

    /// Adds a field to the result's `_meta`.
    #[must_use]
    pub fn with_meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(name.into(), value.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unreadable_content_is_kept_as_written() {
        let strange = [
            json!({"type": "hologram", "text": "in thin air"}),
            json!({"type": "image", "data": "AAAA"}),
            json!("not even an object"),
        ];
        let text = json!({"type": "text", "text": "a knot", "annotations": {}});
        let content: Vec<_> = [text].into_iter().chain(strange.clone()).collect();
        let result = json!({"content": content, "isError": true});
        let result: ToolResult = serde_json::from_value(result).unwrap();
        let others = strange.clone().map(ToolContent::Other);
        let text = ToolContent::Text { text: "a knot".to_owned() };
        assert_eq!(result.content, [vec![text], others.to_vec()].concat());
        assert_eq!(result.to_text(), "a knot\nin thin air");
        assert_eq!(serde_json::to_value(&result.content[1..]).unwrap(), json!(strange));
    }

    #[test]
    fn result_survives_its_json() {
        let resource = ResourceContents::blob("knot://1", "AAAA").with_mime_type("image/png");
        let results = [
            ToolResult::text("tied").with_structured(json!({"loops": 1})).with_meta("a", 1),
            ToolResult::image("AAAA", "image/png").with(ToolContent::Resource { resource }),
            ToolResult::audio("AAAA", "audio/wav"),
            ToolResult::resource(ResourceContents::text("knot://2", "a bowline")),
            ToolResult::resource_link("knot://3", "bight"),
            ToolResult::error("slipped"),
            ToolResult::default(),
        ];
        for result in results {
            let read: ToolResult =
                serde_json::from_value(serde_json::to_value(&result).unwrap()).unwrap();
            assert_eq!(read, result);
        }
    }
}
