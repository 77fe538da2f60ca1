//! One JSON-RPC message of a server, from its text.

use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerRequest,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The parameters of an elicitation exactly as the server wrote them, since the order of its
/// fields is the order in which to prompt. Travels in the extensions of the request.
#[derive(Debug, Clone)]
pub(super) struct RawParams(pub(super) Box<RawValue>);

/// Reads a message. An invalid message is dropped, but an invalid response becomes an error, so that
/// its caller does not wait for the timeout.
pub(super) fn read_message(text: &str) -> Option<ServerJsonRpcMessage> {
    match serde_json::from_str::<ServerJsonRpcMessage>(text) {
        Ok(mut message) => {
            if let JsonRpcMessage::Request(request) = &mut message
                && let ServerRequest::ElicitRequest(elicitation) = &mut request.request
                && let Ok(raw) = serde_json::from_str::<WithParams>(text)
            {
                elicitation.extensions.insert(RawParams(raw.params));
            }
            Some(message)
        }
        Err(error) => {
            tracing::debug!(%error, "invalid message from a server");
            let head = serde_json::from_str::<ResponseHead>(text).ok()?;
            let id = head.id.filter(|_| head.method.is_none())?;
            let error =
                ErrorData::new(ErrorCode::INTERNAL_ERROR, "invalid response from the server", None);
            Some(ServerJsonRpcMessage::error(error, Some(id)))
        }
    }
}

#[derive(Deserialize)]
struct WithParams {
    params: Box<RawValue>,
}

#[derive(Deserialize)]
struct ResponseHead {
    id: Option<RequestId>,
    method: Option<String>,
}
