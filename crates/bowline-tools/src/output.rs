//! Results of tool calls: content for the model and an object for programs, or a failure.

use bowline_protocol::{Content, ContentBlock};
use serde_json::Value;

/// Opens the text of a call that was refused before it ran.
const REFUSED_OPEN: &str = "<tool_use_error>";
const REFUSED_CLOSE: &str = "</tool_use_error>";

/// Error texts longer than this keep only their two ends: a model has no use for the middle.
const MAX_ERROR_CHARS: usize = 10_000;

/// Result of a successful call.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model sees.
    pub content: Content,
    /// What programs see (`tool_use_result`).
    pub structured: Option<Value>,
    /// The value of `is_error` in the tool result; most tools leave it out on success.
    pub is_error: Option<bool>,
    /// Blocks for the model that follow the result in a separate message.
    pub follow_up: Vec<ContentBlock>,
}

impl ToolOutput {
    /// A result in prose.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Content::Text(text.into()), ..Self::default() }
    }

    /// A result in blocks.
    pub fn blocks(blocks: Vec<ContentBlock>) -> Self {
        Self { content: Content::Blocks(blocks), ..Self::default() }
    }

    /// Adds the object that programs see.
    #[must_use]
    pub fn structured(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    /// Sets `is_error: false` explicitly.
    #[must_use]
    pub fn explicitly_ok(mut self) -> Self {
        self.is_error = Some(false);
        self
    }
}

/// Failure of a call. `content` goes to the model with `is_error: true`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolFailure {
    /// At which stage it failed.
    pub stage: FailureStage,
    /// What the model sees.
    pub content: String,
    /// What programs see (`tool_use_result`).
    pub structured: Value,
}

/// How far a failed call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureStage {
    /// There is no such tool.
    UnknownTool,
    /// The input does not fit the schema.
    Schema,
    /// The tool refused the input before running.
    Input,
    /// It ran and failed.
    Running,
    /// It was stopped before it was done.
    Interrupted,
}

impl ToolFailure {
    /// What is wrong with an input, without the words around it.
    pub fn complaint(&self) -> &str {
        let text = self.content.strip_prefix(REFUSED_OPEN).unwrap_or(&self.content);
        let text = text.strip_suffix(REFUSED_CLOSE).unwrap_or(text);
        text.strip_prefix("InputValidationError: ").unwrap_or(text)
    }

    /// The input is invalid for this tool; nothing was done.
    pub fn input(message: impl AsRef<str>) -> Self {
        Self::refused(FailureStage::Input, message.as_ref())
    }

    /// An error while the input was checked, as in `EISDIR: …`.
    pub(crate) fn checking(tool: &str, message: &str) -> Self {
        let message = format!("Error calling tool ({tool}): {message}");
        let structured = Value::String(message.clone());
        Self { structured, ..Self::refused(FailureStage::Input, &message) }
    }

    /// The call ran and failed.
    pub fn running(message: impl AsRef<str>) -> Self {
        let message = shorten_error(message.as_ref());
        Self {
            stage: FailureStage::Running,
            structured: Value::String(format!("Error: {message}")),
            content: message,
        }
    }

    /// There is no tool of this name; `hint` helps the model to find the right one.
    pub fn unknown_tool(name: &str, hint: Option<&str>) -> Self {
        let hint = hint.map(|hint| format!(" {hint}")).unwrap_or_default();
        let message = format!("Error: No such tool available: {name}{hint}");
        Self {
            stage: FailureStage::UnknownTool,
            content: format!("{REFUSED_OPEN}{message}{REFUSED_CLOSE}"),
            structured: Value::String(message),
        }
    }

    /// The input does not fit the schema: `message` for the model, `detail` for programs.
    pub fn schema(message: &str, detail: &str) -> Self {
        Self {
            stage: FailureStage::Schema,
            content: format!("{REFUSED_OPEN}InputValidationError: {message}{REFUSED_CLOSE}"),
            structured: Value::String(format!("InputValidationError: {detail}")),
        }
    }

    /// The arguments of the call were not JSON.
    pub fn not_json(tool: &str, raw: &str) -> Self {
        /// Enough to recognize what was sent.
        const SHOWN: usize = 200;
        let shown = &raw[..raw.floor_char_boundary(SHOWN)];
        let (shown_bytes, bytes) = (shown.len(), raw.len());
        Self::schema(
            &format!(
                "{tool} was called with input that could not be parsed as JSON.\nYou sent (first \
                 {shown_bytes} of {bytes} bytes): {shown}\nUsually a backslash or a control \
                 character is not escaped, or the input was cut off. Send valid JSON."
            ),
            &format!("JSON parse failed ({bytes} bytes)"),
        )
    }

    /// The person stopped the call, or everything.
    pub fn interrupted() -> Self {
        Self {
            stage: FailureStage::Interrupted,
            content: "The user doesn't want to proceed with this tool use. It was stopped before \
                      it finished, and what it did until then may be incomplete. Wait for the \
                      user to say how to go on."
                .to_owned(),
            structured: Value::String("User rejected tool use".to_owned()),
        }
    }

    fn refused(stage: FailureStage, message: &str) -> Self {
        let message = shorten_error(message);
        Self {
            stage,
            content: format!("{REFUSED_OPEN}{message}{REFUSED_CLOSE}"),
            structured: Value::String(format!("Error: {message}")),
        }
    }
}

/// Truncates a long error text in the middle.
fn shorten_error(message: &str) -> String {
    if message.len() <= MAX_ERROR_CHARS {
        return message.to_owned();
    }
    let chars = message.chars().count();
    if chars <= MAX_ERROR_CHARS {
        return message.to_owned();
    }
    let half = MAX_ERROR_CHARS / 2;
    let head: String = message.chars().take(half).collect();
    let tail: String = message.chars().skip(chars - half).collect();
    let cut = chars - MAX_ERROR_CHARS;
    format!("{head}\n\n... [{cut} characters truncated] ...\n\n{tail}")
}
