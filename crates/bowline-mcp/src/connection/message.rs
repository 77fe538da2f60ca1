//! One JSON-RPC message of a server, from its text.

use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerRequest,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The parameters of an elicitation exactly as the server wrote them, since the order of its
/// fields is the order in which to ask. Travels in the extensions of the request.
#[derive(Debug, Clone)]
pub(super) struct RawParams(pub(super) Box<RawValue>);

/// Reads a message. Nonsense is dropped, but an answer that makes no sense becomes an error, so
/// that whoever waits for it does not wait in vain.
pub(super) fn read_message(text: &str) -> Option<ServerJsonRpcMessage> {
    match serde_json::from_str::<ServerJsonRpcMessage>(text) {
        Ok(mut message) => {
            if let JsonRpcMessage::Request(request) = &mut message
                && let ServerRequest::ElicitRequest(question) = &mut request.request
                && let Ok(raw) = serde_json::from_str::<WithParams>(text)
            {
                question.extensions.insert(RawParams(raw.params));
            }
            Some(message)
        }
        Err(error) => {
            tracing::debug!(%error, "a server sent something that is not a message");
            let answer = serde_json::from_str::<Answer>(text).ok()?;
            let id = answer.id.filter(|_| answer.method.is_none())?;
            let error = ErrorData::new(
                ErrorCode::INTERNAL_ERROR,
                "the server's answer makes no sense",
                None,
            );
            Some(ServerJsonRpcMessage::error(error, Some(id)))
        }
    }
}

#[derive(Deserialize)]
struct WithParams {
    params: Box<RawValue>,
}

#[derive(Deserialize)]
struct Answer {
    id: Option<RequestId>,
    method: Option<String>,
}
