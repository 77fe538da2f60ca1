//! JSON-RPC requests to one of our servers, read once for all who look at them.

use bowline_protocol::{
    RawJson, ToolUseId,
    jsonrpc::{Envelope, ErrorObject, INVALID_PARAMS, INVALID_REQUEST, Id},
};
use serde::Deserialize;
use serde_json::Value;

/// A request or notification to a server.
pub(crate) struct ServerRequest {
    pub(super) id: Option<Id>,
    pub(super) body: Result<RequestBody, ErrorObject>,
}

/// The method of a request, and its params.
pub(super) enum RequestBody {
    /// `tools/call`
    Call(CallParams),
    Other {
        method: String,
        params: RawJson,
    },
}

/// The params of `tools/call`.
#[derive(Deserialize)]
pub(crate) struct CallParams {
    pub(crate) name: String,
    #[serde(default = "RawJson::empty_object")]
    pub(crate) arguments: RawJson,
    #[serde(default, rename = "_meta")]
    pub(crate) meta: CallMeta,
}

#[derive(Default, Deserialize)]
pub(crate) struct CallMeta {
    #[serde(default, rename = "claudecode/toolUseId")]
    pub(crate) tool_use_id: Option<ToolUseId>,
    #[serde(default, rename = "progressToken")]
    pub(crate) progress_token: Option<Value>,
}

impl ServerRequest {
    /// Reads a message. One that is invalid is refused with its response.
    pub(crate) fn read(message: &RawJson) -> Self {
        let refused = |code, message: String| Err(ErrorObject::new(code, message));
        let envelope: Envelope = match message.parse() {
            Ok(envelope) => envelope,
            Err(error) => {
                return Self { id: None, body: refused(INVALID_REQUEST, error.to_string()) };
            }
        };
        let id = envelope.request_id();
        let Envelope { method, params, .. } = envelope;
        let params = params.unwrap_or_else(RawJson::empty_object);
        let body = match method {
            Some(Value::String(method)) if method == "tools/call" => match params.parse() {
                Ok(call) => Ok(RequestBody::Call(call)),
                Err(error) => refused(INVALID_PARAMS, error.to_string()),
            },
            Some(Value::String(method)) => Ok(RequestBody::Other { method, params }),
            // A response; a server of tools sends no requests.
            _ => refused(INVALID_REQUEST, "not a request".to_owned()),
        };
        Self { id, body }
    }

    /// The tool call, if it is one.
    pub(crate) fn call(&self) -> Option<&CallParams> {
        match &self.body {
            Ok(RequestBody::Call(call)) => Some(call),
            _ => None,
        }
    }
}
