//! The host as the engine sees it: messages are written, questions are asked over the wire.

use bowline_engine::{Answer, BoxFuture, Host, HostError};
use bowline_peer::{AskError, Peer, TellError};
use bowline_protocol::{
    AgentRequest, Call, CanUseTool, Elicitation, ElicitationResponse, HookCallback, McpMessage,
    Message, PermissionResult, RawJson,
};

use serde_json::json;

use crate::unanswered::{Kind, Unanswered};

/// The host on the other end of the wire.
#[derive(Debug)]
pub(crate) struct PeerHost {
    pub(crate) peer: Peer,
    pub(crate) unanswered: Unanswered,
}

impl Host for PeerHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match self.peer.tell(&message).await {
                // That nobody listens is noticed elsewhere.
                Ok(()) | Err(TellError::Closed) => {}
                Err(error) => tracing::error!(%error, "a message is lost"),
            }
        })
    }

    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        Box::pin(self.ask_person(question, Kind::Permission))
    }

    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        // What a hook answers is checked by whoever knows which fields count.
        Box::pin(async move {
            let answer = self.peer.ask_raw(&AgentRequest::from(call)).await.map_err(why)?;
            // A mere acknowledgement is no opinion; an answer that is nothing is no answer.
            Ok(answer.unwrap_or_else(|| RawJson::from(json!({}))))
        })
    }

    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        Box::pin(async move {
            let answer = self.peer.ask(message).await.map_err(why)?;
            Ok(answer.mcp_response)
        })
    }

    fn elicit(&self, question: Elicitation) -> Answer<'_, ElicitationResponse> {
        Box::pin(self.ask_person(question, Kind::Elicitation))
    }
}

impl PeerHost {
    /// Asks something that a person may take long to answer.
    async fn ask_person<C: Call>(&self, question: C, kind: Kind) -> Result<C::Response, HostError> {
        let place = self.unanswered.place(kind);
        self.peer.ask_aloud(question, |line| place.fill(line)).await.map_err(why)
    }
}

fn why(error: AskError) -> HostError {
    match error {
        AskError::Refused(failure) => HostError::Refused(failure.error),
        AskError::TimedOut(_) => HostError::TimedOut,
        AskError::Unwritable(error) => HostError::Malformed(error.to_string()),
        AskError::Unreadable(error) => HostError::Malformed(error.to_string()),
        _ => HostError::Closed,
    }
}
