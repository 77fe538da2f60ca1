//! What a line of the host is, and which lines end the session.
//!
//! | line | what becomes of it |
//! |---|---|
//! | not JSON | the session ends |
//! | JSON, but no object; an unknown `type` | ignored |
//! | `user` without a message of the role `user` | the session ends |
//! | `user` whose other fields do not fit | taken without them |
//! | `user` whose content is neither text nor blocks | ignored |
//! | `control_request` without `request` | the session ends |
//! | `control_request` without `request_id` | answered without one |
//! | `control_request` whose fields do not fit | refused, or taken without them (see [`forgiving`]) |
//! | other known lines whose fields do not fit | ignored |
//!
//! Around a line may be any white space, and the mark that some programs put at the beginning of a file.

use bowline_protocol::{
    ControlCancelRequest, HostLine, HostRequest, LineFault, RawJson, ReadError, RequestId,
    UpdateEnvironmentVariables, UserMessage,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, error::Category};

use crate::forgiving;

/// Why a session cannot go on with what its host says.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A line is not JSON.
    #[error("Error parsing streaming input line (type=unknown, {length} chars): SyntaxError")]
    NotJson {
        /// How long the line is, in UTF-16 units as the official CLI counts.
        length: usize,
    },
    /// A line is no text, or too long.
    #[error("Error reading streaming input: {0}")]
    Unreadable(LineFault),
    /// A prompt in somebody else's name.
    #[error("Error: Expected message role 'user', got '{role}'")]
    WrongRole {
        /// Whose name it is in.
        role: String,
    },
    /// A question that asks nothing.
    #[error("Error: Missing request on control_request")]
    MissingRequest,
    /// `initialize` was to come first.
    #[error(
        "Error: --await-initialize requires the initialize control request as the first stdin line, \
         and the first line is a different message."
    )]
    InitializeNotFirst,
}

/// What a line of the host says.
#[derive(Debug)]
pub(crate) enum Input {
    /// A prompt.
    Prompt(Box<UserMessage>),
    /// A question. Without an id it is answered all the same.
    Question(Option<RequestId>, Box<HostRequest>),
    /// A question that makes no sense, and why.
    BadQuestion(Option<RequestId>, ReadError),
    /// An answer is no longer wanted.
    Withdrawal(RequestId),
    /// New variables.
    Environment(UpdateEnvironmentVariables),
    /// Nothing that concerns us.
    Nothing,
}

impl Input {
    pub(crate) fn read(line: &str) -> Result<Self, InputError> {
        match HostLine::parse(line) {
            Ok(HostLine::User(prompt)) => match prompt.message.role.as_str() {
                "user" => Ok(Self::Prompt(prompt)),
                other => Err(InputError::WrongRole { role: other.to_owned() }),
            },
            Ok(HostLine::ControlRequest(asked)) => {
                Ok(Self::Question(Some(asked.request_id), Box::new(asked.request)))
            }
            Ok(HostLine::ControlCancelRequest(ControlCancelRequest { request_id, .. })) => {
                Ok(Self::Withdrawal(request_id))
            }
            Ok(HostLine::UpdateEnvironmentVariables(update)) => Ok(Self::Environment(update)),
            Ok(_) => Ok(Self::Nothing),
            Err(error) => match line.trim_matches(is_padding) {
                bare if bare.len() < line.len() => Self::read(bare),
                _ => Self::odd(line, error),
            },
        }
    }

    /// A line that does not fit its type.
    fn odd(line: &str, error: ReadError) -> Result<Self, InputError> {
        check_syntax(line)?;
        match error {
            ReadError::BadBody { ref tag, .. } if tag == "user" => odd_prompt(line, &error),
            ReadError::BadBody { ref tag, .. } if tag == "control_request" => odd_question(line),
            error => {
                tracing::warn!(%error, "ignored a line");
                Ok(Self::Nothing)
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

/// What may stand around a line: any white space, and the mark at the beginning of a file.
fn is_padding(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

fn odd_prompt(line: &str, error: &ReadError) -> Result<Input, InputError> {
    let fields: Value = serde_json::from_str(line).unwrap_or_default();
    match fields["message"]["role"].as_str() {
        Some("user") => {}
        role => {
            let role = role.unwrap_or("undefined").to_owned();
            return Err(InputError::WrongRole { role });
        }
    }
    let prompt = forgiving::prompt(line);
    tracing::warn!(%error, taken = prompt.is_some(), "a prompt does not fit its type");
    Ok(prompt.map_or(Input::Nothing, |prompt| Input::Prompt(Box::new(prompt))))
}

fn odd_question(line: &str) -> Result<Input, InputError> {
    #[derive(Deserialize)]
    struct Odd {
        #[serde(default)]
        request_id: Value,
        #[serde(default)]
        request: Option<RawJson>,
    }
    let Ok(Odd { request_id, request: Some(request) }) = serde_json::from_str(line) else {
        return Err(InputError::MissingRequest);
    };
    let id = request_id.as_str().map(|id| RequestId(id.to_owned()));
    let json = request.get();
    let read = HostRequest::parse(json).or_else(|error| forgiving::request(json, error));
    Ok(match read {
        Ok(request) => Input::Question(id, Box::new(request)),
        Err(error) => Input::BadQuestion(id, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line comes to, in short.
    fn read(line: &str) -> String {
        match Input::read(line) {
            Ok(Input::Prompt(prompt)) => format!("prompt {:?}", prompt.message.content),
            Ok(Input::Question(id, request)) => {
                let request = serde_json::to_value(&request).unwrap();
                format!("question {} {}", id.map_or("-".to_owned(), |id| id.0), request["subtype"])
            }
            Ok(Input::BadQuestion(id, error)) => {
                format!("bad question {}: {error}", id.map_or("-".to_owned(), |id| id.0))
            }
            Ok(Input::Withdrawal(id)) => format!("withdrawal {id}"),
            Ok(Input::Environment(update)) => format!("environment {:?}", update.variables),
            Ok(Input::Nothing) => "nothing".to_owned(),
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
            ("[1,2]", "nothing".to_owned()),
            ("7", "nothing".to_owned()),
            ("{}", "nothing".to_owned()),
            (r#"{"type":7}"#, "nothing".to_owned()),
            (r#"{"type":"no_such_type","x":1}"#, "nothing".to_owned()),
            (r#"{"type":"assistant","message":{}}"#, "nothing".to_owned()),
            (r#"{"type":"keep_alive"}"#, "nothing".to_owned()),
            (r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#, role("assistant")),
            (r#"{"type":"user"}"#, role("undefined")),
            (r#"{"type":"user","uuid":7,"message":{"role":"user","content":"x"}}"#, {
                "prompt Text(\"x\")".to_owned()
            }),
            (r#"{"type":"user","message":{"role":"user","content":7}}"#, "nothing".to_owned()),
            ("\u{feff} {\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\t", {
                "withdrawal a".to_owned()
            }),
            ("\u{feff}{oops", syntax(5)),
            (r#"{"type":"control_request","request_id":"a"}"#, {
                "end: Error: Missing request on control_request".to_owned()
            }),
            (r#"{"type":"control_request","request_id":"a","request":null}"#, {
                "end: Error: Missing request on control_request".to_owned()
            }),
            (r#"{"type":"control_request","request":{"subtype":"mcp_status"}}"#, {
                "question - \"mcp_status\"".to_owned()
            }),
            (r#"{"request_id":"a","request":{"subtype":"new"},"type":"control_request"}"#, {
                "question a \"new\"".to_owned()
            }),
            (r#"{"type":"control_cancel_request","request_id":"a"}"#, "withdrawal a".to_owned()),
            (r#"{"type":"control_cancel_request"}"#, "nothing".to_owned()),
            (r#"{"type":"update_environment_variables","variables":{"A":"b"}}"#, {
                "environment {\"A\": \"b\"}".to_owned()
            }),
            (r#"{"type":"update_environment_variables","env":{"A":"b"}}"#, "nothing".to_owned()),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn a_question_whose_fields_do_not_fit_is_told_so() {
        let line = r#"{"type":"control_request","request_id":"a","request":{"subtype":"stop_task","task_id":7}}"#;
        let answer = read(line);
        assert!(answer.starts_with("bad question a: stop_task: task_id: invalid type"), "{answer}");
    }
}
