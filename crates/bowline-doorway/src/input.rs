//! Classification of the host's lines, and the errors that end the session.
//!
//! | line | result |
//! |---|---|
//! | not JSON | the session ends |
//! | JSON, but not an object; an unknown `type` | ignored |
//! | `user` without a message of the role `user` | the session ends |
//! | `user` with other invalid fields | accepted without them |
//! | `user` whose content is neither text nor blocks | ignored |
//! | `control_request` without `request` | the session ends |
//! | `control_request` without `request_id` | handled; the response has none either |
//! | `control_request` with invalid fields | refused, or accepted without them (see [`lenient`]) |
//! | other known lines with invalid fields | ignored |
//!
//! White space and a byte order mark around a line are ignored.

use bowline_protocol::{
    ControlCancelRequest, HostLine, HostRequest, LineFault, RawJson, ReadError, RequestId,
    UpdateEnvironmentVariables, UserMessage,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, error::Category};

use crate::lenient;

/// Input that ends the session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A line is not JSON.
    #[error("Error parsing streaming input line (type=unknown, {length} chars): SyntaxError")]
    NotJson {
        /// The length of the line, in UTF-16 units as the official CLI counts.
        length: usize,
    },
    /// A line is not UTF-8, or too long.
    #[error("Error reading streaming input: {0}")]
    Unreadable(LineFault),
    /// A prompt with another role than `user`.
    #[error("Error: Expected message role 'user', got '{role}'")]
    WrongRole {
        /// The role.
        role: String,
    },
    /// A control request without its `request`.
    #[error("Error: Missing request on control_request")]
    MissingRequest,
    /// The first line is not `initialize`, as it has to be.
    #[error(
        "Error: --await-initialize requires the initialize control request as the first stdin line, \
         and the first line is a different message."
    )]
    InitializeNotFirst,
}

/// A line of the host.
#[derive(Debug)]
pub(crate) enum Input {
    /// A prompt.
    Prompt(Box<UserMessage>),
    /// A control request. Without an id it gets a response all the same.
    Request(Option<RequestId>, Box<HostRequest>),
    /// A control request with invalid fields.
    InvalidRequest(Option<RequestId>, ReadError),
    /// The cancellation of a control request.
    Cancellation(RequestId),
    /// New variables.
    Environment(UpdateEnvironmentVariables),
    /// A line without a meaning for the agent.
    Ignored,
}

impl Input {
    pub(crate) fn read(line: &str) -> Result<Self, InputError> {
        match HostLine::parse(line) {
            Ok(HostLine::User(prompt)) => match prompt.message.role.as_str() {
                "user" => Ok(Self::Prompt(prompt)),
                other => Err(InputError::WrongRole { role: other.to_owned() }),
            },
            Ok(HostLine::ControlRequest(control)) => {
                Ok(Self::Request(Some(control.request_id), Box::new(control.request)))
            }
            Ok(HostLine::ControlCancelRequest(ControlCancelRequest { request_id, .. })) => {
                Ok(Self::Cancellation(request_id))
            }
            Ok(HostLine::UpdateEnvironmentVariables(update)) => Ok(Self::Environment(update)),
            Ok(_) => Ok(Self::Ignored),
            Err(error) => match line.trim_matches(is_padding) {
                bare if bare.len() < line.len() => Self::read(bare),
                _ => Self::invalid(line, error),
            },
        }
    }

    /// A line with fields that are invalid for its type.
    fn invalid(line: &str, error: ReadError) -> Result<Self, InputError> {
        check_syntax(line)?;
        match error {
            ReadError::BadBody { ref tag, .. } if tag == "user" => invalid_prompt(line, &error),
            ReadError::BadBody { ref tag, .. } if tag == "control_request" => invalid_request(line),
            error => {
                tracing::warn!(%error, "ignored a line");
                Ok(Self::Ignored)
            }
        }
    }
}

pub(crate) fn check_syntax(line: &str) -> Result<(), InputError> {
    match serde_json::from_str::<IgnoredAny>(line) {
        Err(error) if error.classify() != Category::Io => {
            Err(InputError::NotJson { length: line.encode_utf16().count() })
        }
        _ => Ok(()),
    }
}

/// Whether a character may surround a line: white space, or a byte order mark.
fn is_padding(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

fn invalid_prompt(line: &str, error: &ReadError) -> Result<Input, InputError> {
    let fields: Value = serde_json::from_str(line).unwrap_or_default();
    match fields["message"]["role"].as_str() {
        Some("user") => {}
        role => {
            let role = role.unwrap_or("undefined").to_owned();
            return Err(InputError::WrongRole { role });
        }
    }
    let prompt = lenient::prompt(line);
    tracing::warn!(%error, accepted = prompt.is_some(), "a prompt has invalid fields");
    Ok(prompt.map_or(Input::Ignored, |prompt| Input::Prompt(Box::new(prompt))))
}

fn invalid_request(line: &str) -> Result<Input, InputError> {
    #[derive(Deserialize)]
    struct Envelope {
        #[serde(default)]
        request_id: Value,
        #[serde(default)]
        request: Option<RawJson>,
    }
    let Ok(Envelope { request_id, request: Some(request) }) = serde_json::from_str(line) else {
        return Err(InputError::MissingRequest);
    };
    let id = request_id.as_str().map(|id| RequestId(id.to_owned()));
    let json = request.get();
    let read = HostRequest::parse(json).or_else(|error| lenient::request(json, error));
    Ok(match read {
        Ok(request) => Input::Request(id, Box::new(request)),
        Err(error) => Input::InvalidRequest(id, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line's classification as text.
    fn read(line: &str) -> String {
        match Input::read(line) {
            Ok(Input::Prompt(prompt)) => format!("prompt {:?}", prompt.message.content),
            Ok(Input::Request(id, request)) => {
                let request = serde_json::to_value(&request).unwrap();
                format!("request {} {}", id.map_or("-".to_owned(), |id| id.0), request["subtype"])
            }
            Ok(Input::InvalidRequest(id, error)) => {
                format!("invalid request {}: {error}", id.map_or("-".to_owned(), |id| id.0))
            }
            Ok(Input::Cancellation(id)) => format!("cancel {id}"),
            Ok(Input::Environment(update)) => format!("environment {:?}", update.variables),
            Ok(Input::Ignored) => "ignored".to_owned(),
            Err(error) => format!("end: {error}"),
        }
    }

    #[test]
    fn each_row_of_the_table() {
        let syntax = |length| {
            format!(
                "end: Error parsing streaming input line (type=unknown, {length} chars): SyntaxError"
            )
        };
        let role = |role| format!("end: Error: Expected message role 'user', got '{role}'");
        let cases = [
            ("{this is not json", syntax(17)),
            (r#"{"type":"user","message":"#, syntax(25)),
            (r#"{"type":"control_request", é"#, syntax(28)),
            ("[1,2]", "ignored".to_owned()),
            ("7", "ignored".to_owned()),
            ("{}", "ignored".to_owned()),
            (r#"{"type":7}"#, "ignored".to_owned()),
            (r#"{"type":"no_such_type","x":1}"#, "ignored".to_owned()),
            (r#"{"type":"assistant","message":{}}"#, "ignored".to_owned()),
            (r#"{"type":"keep_alive"}"#, "ignored".to_owned()),
            (r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#, role("assistant")),
            (r#"{"type":"user"}"#, role("undefined")),
            (r#"{"type":"user","uuid":7,"message":{"role":"user","content":"x"}}"#, {
                "prompt Text(\"x\")".to_owned()
            }),
            (r#"{"type":"user","message":{"role":"user","content":7}}"#, "ignored".to_owned()),
            ("\u{feff} {\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\t", {
                "cancel a".to_owned()
            }),
            ("\u{feff}{oops", syntax(5)),
            (r#"{"type":"control_request","request_id":"a"}"#, {
                "end: Error: Missing request on control_request".to_owned()
            }),
            (r#"{"type":"control_request","request_id":"a","request":null}"#, {
                "end: Error: Missing request on control_request".to_owned()
            }),
            (r#"{"type":"control_request","request":{"subtype":"mcp_status"}}"#, {
                "request - \"mcp_status\"".to_owned()
            }),
            (r#"{"request_id":"a","request":{"subtype":"new"},"type":"control_request"}"#, {
                "request a \"new\"".to_owned()
            }),
            (r#"{"type":"control_cancel_request","request_id":"a"}"#, "cancel a".to_owned()),
            (r#"{"type":"control_cancel_request"}"#, "ignored".to_owned()),
            (r#"{"type":"update_environment_variables","variables":{"A":"b"}}"#, {
                "environment {\"A\": \"b\"}".to_owned()
            }),
            (r#"{"type":"update_environment_variables","env":{"A":"b"}}"#, "ignored".to_owned()),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn request_with_an_invalid_field_names_it() {
        let line = r#"{"type":"control_request","request_id":"a","request":{"subtype":"stop_task","task_id":7}}"#;
        let read = read(line);
        assert!(read.starts_with("invalid request a: stop_task: task_id: invalid type"), "{read}");
    }
}
