//! A JSON-RPC message to one of our servers, read once for all who look at it.

use bowline_protocol::{RawJson, ToolUseId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// A message to a server.
pub(crate) struct Incoming {
    pub(super) id: Option<RawJson>,
    pub(super) asked: Result<Asked, Refusal>,
}

/// What a message asks for.
pub(super) enum Asked {
    /// `tools/call`
    Call(CallParams),
    Other {
        method: String,
        params: RawJson,
    },
}

/// A call of a tool, as the agent names it.
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

/// Why a message is not answered with a result.
#[derive(Serialize)]
pub(super) struct Refusal {
    pub(super) code: i32,
    pub(super) message: String,
}

impl Incoming {
    /// Reads a message. One that makes no sense is refused by whoever answers it.
    pub(crate) fn read(message: &RawJson) -> Self {
        #[derive(Deserialize)]
        struct Envelope {
            #[serde(default)]
            id: Option<RawJson>,
            #[serde(default)]
            method: Option<String>,
            #[serde(default)]
            params: Option<RawJson>,
        }
        let refused = |code, message: String| Err(Refusal { code, message });
        let Envelope { id, method, params } = match message.parse() {
            Ok(envelope) => envelope,
            Err(error) => {
                return Self { id: None, asked: refused(INVALID_REQUEST, error.to_string()) };
            }
        };
        let params = params.unwrap_or_else(RawJson::empty_object);
        let asked = match method {
            Some(method) if method == "tools/call" => match params.parse() {
                Ok(call) => Ok(Asked::Call(call)),
                Err(error) => refused(INVALID_PARAMS, error.to_string()),
            },
            Some(method) => Ok(Asked::Other { method, params }),
            // An answer to a question; we ask none.
            None => refused(INVALID_REQUEST, "not a request".to_owned()),
        };
        Self { id, asked }
    }

    /// The call of a tool that it is, if it is one.
    pub(crate) fn call(&self) -> Option<&CallParams> {
        match &self.asked {
            Ok(Asked::Call(call)) => Some(call),
            _ => None,
        }
    }
}
