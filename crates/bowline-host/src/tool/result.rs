//! What a tool returns.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// What a tool returns to the model. Handlers may also return a text, a [`Structured`] value, or a
/// [`Result`] of any of these.
///
/// ```
/// use bowline_host::{ToolContent, ToolResult};
/// use serde_json::json;
///
/// let chart = ToolResult::image("iVBORw0KGgo=", "image/png")
///     .with(ToolContent::Text { text: "Sales by knot".to_owned() })
///     .with_structured(json!({"bowline": 20, "clove hitch": 10}));
/// assert_eq!(chart.content.len(), 2);
/// assert!(ToolResult::error("there are no sales yet").is_error);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// What the model sees.
    pub content: Vec<ToolContent>,
    /// The same for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the call failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// What is neither for the model nor a result, for whoever knows its names.
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A piece of what a tool returns.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ToolContent {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes in base 64.
        data: String,
        /// As in `image/png`.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes in base 64.
        data: String,
        /// As in `audio/wav`.
        mime_type: String,
    },
    /// Something that is elsewhere.
    ResourceLink {
        /// Where.
        uri: String,
        /// What it is called.
        name: String,
        /// What it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// As in `text/csv`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// Something that is elsewhere, and all of it here as well.
    Resource {
        /// What it is.
        resource: ResourceContents,
    },
}

/// What is in a resource: a text, or bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// Where it is.
    pub uri: String,
    /// As in `text/csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in base 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

impl ResourceContents {
    /// A resource that is a text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), text: Some(text.into()), ..Self::default() }
    }

    /// A resource that is bytes, in base 64.
    pub fn blob(uri: impl Into<String>, data: impl Into<String>) -> Self {
        Self { uri: uri.into(), blob: Some(data.into()), ..Self::default() }
    }

    /// Says what kind it is, as in `text/csv`.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl ToolResult {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![ToolContent::Text { text: text.into() }], ..Self::default() }
    }

    /// A picture: its bytes in base 64, and what it is, as in `image/png`.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::default().with(ToolContent::Image { data: data.into(), mime_type: mime_type.into() })
    }

    /// A sound: its bytes in base 64, and what it is, as in `audio/wav`.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::default().with(ToolContent::Audio { data: data.into(), mime_type: mime_type.into() })
    }

    /// A link to something: where it is, and what it is called.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::default().with(ToolContent::ResourceLink {
            uri: uri.into(),
            name: name.into(),
            description: None,
            mime_type: None,
        })
    }

    /// A resource itself.
    pub fn resource(resource: ResourceContents) -> Self {
        Self::default().with(ToolContent::Resource { resource })
    }

    /// A failure, in words that help the model to do better.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Its words, those of one piece after those of another.
    pub(super) fn words(&self) -> String {
        let words = self.content.iter().filter_map(|piece| match piece {
            ToolContent::Text { text } => Some(text.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join("\n")
    }

    /// Adds a piece.
    #[must_use]
    pub fn with(mut self, content: ToolContent) -> Self {
        self.content.push(content);
        self
    }

    /// Adds the same for programs.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured_content = Some(value);
        self
    }

    /// Adds a note for whoever knows its name: a field of the result's `_meta`.
    #[must_use]
    pub fn with_meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(name.into(), value.into());
        self
    }
}

/// A value of a type of yours: JSON for the model and structured content for programs.
///
/// ```
/// use bowline_host::{Structured, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// #[derive(serde::Serialize)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// let weather = Tool::new("weather", "Says how warm it is", async |_: Nothing| {
///     Structured(Weather { celsius: 24.5 })
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structured<T>(pub T);

/// What a handler may return.
pub trait IntoToolResult: Send {
    /// The result.
    fn into_tool_result(self) -> ToolResult;
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> ToolResult {
        self
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::text(self)
    }
}

impl IntoToolResult for ToolContent {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::default().with(self)
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::text(self)
    }
}

impl<T: Serialize + Send> IntoToolResult for Structured<T> {
    fn into_tool_result(self) -> ToolResult {
        match serde_json::to_value(self.0) {
            Ok(value) => ToolResult::text(value.to_string()).with_structured(value),
            Err(error) => ToolResult::error(format!("the result has no form in JSON: {error}")),
        }
    }
}

/// An error is a result as well: the model reads it.
impl<T: IntoToolResult, E: fmt::Display + Send> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolResult {
        match self {
            Ok(result) => result.into_tool_result(),
            Err(error) => ToolResult::error(format!("{error:#}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_have_the_names_of_the_wire() {
        let result = ToolResult::image("AAAA", "image/png")
            .with(ToolContent::Text { text: "a knot".to_owned() })
            .with_structured(json!({"loops": 1}))
            .with_meta("knots/tied", true);
        let wire = json!({
            "content": [
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "text", "text": "a knot"},
            ],
            "structuredContent": {"loops": 1},
            "_meta": {"knots/tied": true},
        });
        assert_eq!(serde_json::to_value(&result).unwrap(), wire);
        let failed = json!({"content": [{"type": "text", "text": "slipped"}], "isError": true});
        assert_eq!(serde_json::to_value(ToolResult::error("slipped")).unwrap(), failed);
        let link = serde_json::to_value(ToolResult::resource_link("file:///a", "a")).unwrap();
        assert_eq!(link["content"][0]["type"], "resource_link");
    }
}
