//! What a line is recognized by, when it may have been said before.

use bowline_protocol::{Head, RequestId};
use serde::Deserialize;

/// What a line is recognized by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// A message with a name.
    Message(Box<str>),
    /// A prompt. Whoever runs prompts knows which it has run.
    Prompt(Box<str>),
    /// A question.
    Question(RequestId),
    /// The question that opens a session, which may be asked as often as one likes.
    Opening(RequestId),
    /// An answer to the question of this name.
    Answer(RequestId),
    /// A question is taken back.
    Withdrawal(RequestId),
    /// Nothing: it is taken as it comes.
    None,
}

impl Identity {
    pub(crate) fn of(head: &Head<'_>, line: &str) -> Self {
        let id = |id: &str| RequestId(id.to_owned());
        match (&*head.kind, head.request_id.as_deref(), head.uuid.as_deref()) {
            ("control_request", Some(name), _) => match subtype(line).as_deref() {
                Some("initialize") => Self::Opening(id(name)),
                _ => Self::Question(id(name)),
            },
            ("control_cancel_request", Some(name), _) => Self::Withdrawal(id(name)),
            ("control_response", ..) => answered(line).map_or(Self::None, Self::Answer),
            ("user", _, Some(uuid)) => Self::Prompt(uuid.into()),
            (_, _, Some(uuid)) => Self::Message(uuid.into()),
            _ => Self::None,
        }
    }

    /// The name of a message.
    pub(crate) fn uuid(&self) -> Option<&str> {
        match self {
            Self::Message(uuid) | Self::Prompt(uuid) => Some(uuid),
            _ => None,
        }
    }

    /// Whether a session is further once the other end has the line. Whoever only opens it, over
    /// and over, gets nowhere.
    pub(crate) fn moves_on(&self) -> bool {
        match self {
            Self::Message(_) | Self::Prompt(_) | Self::Question(_) => true,
            Self::Opening(_) | Self::Answer(_) | Self::Withdrawal(_) | Self::None => false,
        }
    }
}

fn subtype(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Request {
        request: Body,
    }
    #[derive(Deserialize)]
    struct Body {
        subtype: String,
    }
    serde_json::from_str::<Request>(line).ok().map(|line| line.request.subtype)
}

fn answered(line: &str) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Response {
        response: Body,
    }
    #[derive(Deserialize)]
    struct Body {
        request_id: RequestId,
    }
    serde_json::from_str::<Response>(line).ok().map(|line| line.response.request_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line() {
        let id = |id: &str| RequestId(id.to_owned());
        let cases = [
            (r#"{"type":"assistant","uuid":"u"}"#, Identity::Message("u".into())),
            (r#"{"type":"user","uuid":"u"}"#, Identity::Prompt("u".into())),
            (r#"{"type":"user"}"#, Identity::None),
            (r#"{"type":"keep_alive"}"#, Identity::None),
            (
                r#"{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"}}"#,
                Identity::Question(id("a")),
            ),
            (
                r#"{"type":"control_request","request_id":"a","request":{"subtype":"initialize"}}"#,
                Identity::Opening(id("a")),
            ),
            (
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"a"}}"#,
                Identity::Answer(id("a")),
            ),
            (
                r#"{"type":"control_cancel_request","request_id":"a"}"#,
                Identity::Withdrawal(id("a")),
            ),
        ];
        for (line, expected) in cases {
            let head = Head::read(line).unwrap();
            assert_eq!(Identity::of(&head, line), expected, "{line}");
        }
    }
}
