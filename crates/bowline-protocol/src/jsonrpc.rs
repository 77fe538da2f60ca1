//! JSON-RPC 2.0 envelopes: requests, notifications, responses and errors.
//!
//! MCP and the JSON-RPC door use them. Params and results stay JSON text here; their types belong to
//! the protocol that is spoken.

use std::fmt::{self, Display};

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use crate::raw::RawJson;

/// The value of `jsonrpc` in every message.
pub const VERSION: &str = "2.0";

/// The text is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a message.
pub const INVALID_REQUEST: i64 = -32600;
/// The method is unknown.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The params do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The request failed for a reason of the server's own.
pub const INTERNAL_ERROR: i64 = -32603;

/// The id of a request, as its sender wrote it: a number may have more digits than any type holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Id(RawJson);

impl Id {
    /// The id in a response to a message whose id could not be read.
    pub fn null() -> Self {
        Self(RawJson::from(Value::Null))
    }

    /// A string, a number or null; anything else is no id.
    pub fn new(json: RawJson) -> Option<Self> {
        (!json.get().starts_with(['{', '[', 't', 'f'])).then_some(Self(json))
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        self.0.get() == "null"
    }

    /// The JSON text of the id.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The id as a string, if it is one.
    pub fn text(&self) -> Option<String> {
        self.0.parse().ok()
    }
}

impl Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// A received message before it is judged: which fields it has.
///
/// How strict to be is left to the receiver. `id` and `result` may be present and null.
#[derive(Debug, Default, Deserialize)]
pub struct Envelope {
    /// The version.
    #[serde(default)]
    pub jsonrpc: Option<Value>,
    /// The id of a request or of its response.
    #[serde(default, deserialize_with = "present")]
    pub id: Option<RawJson>,
    /// The method of a request or notification.
    #[serde(default)]
    pub method: Option<Value>,
    /// Its params.
    #[serde(default)]
    pub params: Option<RawJson>,
    /// The result in a response.
    #[serde(default, deserialize_with = "present")]
    pub result: Option<RawJson>,
    /// The error in a response.
    #[serde(default)]
    pub error: Option<RawJson>,
}

impl Envelope {
    /// The method, if it is a string.
    pub fn method(&self) -> Option<&str> {
        self.method.as_ref()?.as_str()
    }

    /// The id, unless it is absent, null or invalid.
    pub fn request_id(&self) -> Option<Id> {
        self.id.clone().and_then(Id::new).filter(|id| !id.is_null())
    }
}

/// A field that is present, even if it is null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(from).map(Some)
}

/// A message to send that expects a response.
#[derive(Debug, Serialize)]
pub struct Request<'a, I, P> {
    /// The version.
    pub jsonrpc: &'static str,
    /// The id of the response.
    pub id: I,
    /// The method.
    pub method: &'a str,
    /// Its params.
    pub params: &'a P,
}

impl<'a, I, P> Request<'a, I, P> {
    /// A request.
    pub fn new(id: I, method: &'a str, params: &'a P) -> Self {
        Self { jsonrpc: VERSION, id, method, params }
    }
}

/// A request in the key order of the official MCP client, which is what servers inside hosts have
/// been sent so far.
#[derive(Debug, Serialize)]
pub struct McpRequest<'a, P> {
    /// The method.
    pub method: &'a str,
    /// Its params.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<&'a P>,
    /// The version.
    pub jsonrpc: &'static str,
    /// The id of the response.
    pub id: u64,
}

impl<'a, P> McpRequest<'a, P> {
    /// A request.
    pub fn new(id: u64, method: &'a str, params: Option<&'a P>) -> Self {
        Self { method, params, jsonrpc: VERSION, id }
    }
}

/// A message to send that expects no response.
#[derive(Debug, Serialize)]
pub struct Notification<'a, P> {
    /// The version.
    pub jsonrpc: &'static str,
    /// The method.
    pub method: &'a str,
    /// Its params.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<P>,
}

impl<'a, P> Notification<'a, P> {
    /// A notification.
    pub fn new(method: &'a str, params: Option<P>) -> Self {
        Self { jsonrpc: VERSION, method, params }
    }
}

/// A response to send. Without an id it stands for the response that a notification does not have,
/// for transports that need one.
#[derive(Debug)]
pub struct Response<T> {
    /// The id of the request.
    pub id: Option<Id>,
    /// The result or the error.
    pub outcome: Result<T, ErrorObject>,
}

impl<T: Serialize> Serialize for Response<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2 + usize::from(self.id.is_some())))?;
        map.serialize_entry("jsonrpc", VERSION)?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        match &self.outcome {
            Ok(result) => map.serialize_entry("result", result)?,
            Err(error) => map.serialize_entry("error", error)?,
        }
        map.end()
    }
}

/// The error of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// The kind of error, for programs.
    #[serde(default)]
    pub code: i64,
    /// The error, for people.
    #[serde(default)]
    pub message: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// An error.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(message: &impl Serialize) -> String {
        serde_json::to_string(message).unwrap()
    }

    #[test]
    fn messages_are_written_in_their_key_order() {
        let params = json!({"a": 1});
        assert_eq!(
            text(&Request::new("x", "run", &params)),
            r#"{"jsonrpc":"2.0","id":"x","method":"run","params":{"a":1}}"#
        );
        assert_eq!(
            text(&McpRequest::new(7, "tools/call", Some(&params))),
            r#"{"method":"tools/call","params":{"a":1},"jsonrpc":"2.0","id":7}"#
        );
        assert_eq!(
            text(&McpRequest::<Value>::new(7, "ping", None)),
            r#"{"method":"ping","jsonrpc":"2.0","id":7}"#
        );
        assert_eq!(
            text(&Notification::new("note", Some(&params))),
            r#"{"jsonrpc":"2.0","method":"note","params":{"a":1}}"#
        );
        let id = Id::new(RawJson::from(json!(3)));
        assert_eq!(
            text(&Response { id: id.clone(), outcome: Ok(1) }),
            r#"{"jsonrpc":"2.0","id":3,"result":1}"#
        );
        let error = ErrorObject::new(METHOD_NOT_FOUND, "no");
        assert_eq!(
            text(&Response::<()> { id, outcome: Err(error) }),
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#
        );
        assert_eq!(
            text(&Response { id: None, outcome: Ok(json!({})) }),
            r#"{"jsonrpc":"2.0","result":{}}"#
        );
    }

    #[test]
    fn null_id_is_present_but_names_no_request() {
        let envelope: Envelope = serde_json::from_str(r#"{"id":null,"result":null}"#).unwrap();
        assert!(envelope.id.is_some() && envelope.result.is_some());
        assert_eq!(envelope.request_id(), None);
        assert_eq!(Id::new(RawJson::from(json!({}))), None);
        let digits = "123456789012345678901234567890";
        let envelope: Envelope = serde_json::from_str(&format!("{{\"id\":{digits}}}")).unwrap();
        assert_eq!(envelope.request_id().unwrap().get(), digits);
    }
}
