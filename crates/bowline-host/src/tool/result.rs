//! Handler return values as tool results.

use std::fmt;

use bowline_protocol::{ToolContent, ToolResult};
use serde::Serialize;

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
/// let weather = Tool::new("weather", "Reports the temperature", async |_: Nothing| {
///     Structured(Weather { celsius: 24.5 })
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structured<T>(pub T);

/// A type that a handler may return: a [`ToolResult`], a text, a [`ToolContent`], a [`Structured`]
/// value, or a [`Result`] of any of these.
pub trait IntoToolResult: Send {
    /// Converts it.
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
            Err(error) => {
                ToolResult::error(format!("the result cannot be written as JSON: {error}"))
            }
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
    fn result_has_the_field_names_of_mcp() {
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
