//! Identity of a line across connections: message uuid, or request id and direction.

use bowline_protocol::{Head, RequestId};
use serde::Deserialize;

/// Identity of a line across connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// A message with a uuid.
    Message(Box<str>),
    /// A prompt. The session that runs prompts deduplicates them itself.
    Prompt(Box<str>),
    /// A control request.
    Request(RequestId),
    /// An `initialize` request, which may be repeated at will.
    Initialize(RequestId),
    /// The response to the request with this id.
    Response(RequestId),
    /// The cancellation of a request.
    Cancel(RequestId),
    /// None: every copy is delivered.
    None,
}

impl Identity {
    pub(crate) fn of(head: &Head<'_>, line: &str) -> Self {
        let id = |id: &str| RequestId(id.to_owned());
        match (&*head.kind, head.request_id.as_deref(), head.uuid.as_deref()) {
            ("control_request", Some(request), _) => match subtype(line).as_deref() {
                Some("initialize") => Self::Initialize(id(request)),
                _ => Self::Request(id(request)),
            },
            ("control_cancel_request", Some(request), _) => Self::Cancel(id(request)),
            ("control_response", ..) => responded_id(line).map_or(Self::None, Self::Response),
            ("user", _, Some(uuid)) => Self::Prompt(uuid.into()),
            (_, _, Some(uuid)) => Self::Message(uuid.into()),
            _ => Self::None,
        }
    }

    /// The uuid of a message.
    pub(crate) fn uuid(&self) -> Option<&str> {
        match self {
            Self::Message(uuid) | Self::Prompt(uuid) => Some(uuid),
            _ => None,
        }
    }

    /// Whether delivery of the line is progress of the session. To initialize it over and over is not.
    pub(crate) fn is_progress(&self) -> bool {
        match self {
            Self::Message(_) | Self::Prompt(_) | Self::Request(_) => true,
            Self::Initialize(_) | Self::Response(_) | Self::Cancel(_) | Self::None => false,
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

fn responded_id(line: &str) -> Option<RequestId> {
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
    fn each_kind_of_line_has_its_identity() {
        let id = |id: &str| RequestId(id.to_owned());
        let cases = [
            (r#"{"type":"assistant","uuid":"u"}"#, Identity::Message("u".into())),
            (r#"{"type":"user","uuid":"u"}"#, Identity::Prompt("u".into())),
            (r#"{"type":"user"}"#, Identity::None),
            (r#"{"type":"keep_alive"}"#, Identity::None),
            (
                r#"{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"}}"#,
                Identity::Request(id("a")),
            ),
            (
                r#"{"type":"control_request","request_id":"a","request":{"subtype":"initialize"}}"#,
                Identity::Initialize(id("a")),
            ),
            (
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"a"}}"#,
                Identity::Response(id("a")),
            ),
            (r#"{"type":"control_cancel_request","request_id":"a"}"#, Identity::Cancel(id("a"))),
        ];
        for (line, expected) in cases {
            let head = Head::read(line).unwrap();
            assert_eq!(Identity::of(&head, line), expected, "{line}");
        }
    }
}
