//! Lines of the client as JSON-RPC messages, and the errors of this door.

use std::fmt::Display;

use bowline_protocol::{
    RawJson,
    jsonrpc::{self, Envelope, ErrorObject, Id, VERSION},
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value, json};

/// Messages in one batch: more than any script sends at once, and few enough to keep in memory.
const MAX_BATCH: usize = 1_000;

/// What the client sent.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// One message.
    One(Message),
    /// Several, whose responses go together.
    Batch(Vec<Message>),
    /// Neither; the response says why.
    Invalid(ErrorObject),
}

/// One message of the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request, or a notification if it has no id.
    Call { id: Option<Id>, method: String, params: Params },
    /// The response to a request of ours.
    Response { id: Id, outcome: Result<RawJson, RawJson> },
    /// Something else.
    Invalid { id: Id, failure: ErrorObject },
}

/// The arguments of a request.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Params {
    #[default]
    None,
    Named(Map<String, Value>),
    Positional(Vec<Value>),
}

impl Params {
    /// The arguments by name; `names` are those of the positions.
    pub(crate) fn named(self, names: &[&str]) -> Result<Value, ErrorObject> {
        match self {
            Self::None => Ok(json!({})),
            Self::Named(params) => Ok(Value::Object(params)),
            Self::Positional(values) if values.len() > names.len() => {
                Err(invalid_params(format!("at most {} arguments are taken", names.len())))
            }
            Self::Positional(values) => {
                let names = names.iter().map(|name| (*name).to_owned());
                Ok(Value::Object(names.zip(values).collect()))
            }
        }
    }
}

impl Incoming {
    /// Reads a line.
    pub(crate) fn read(line: &str) -> Self {
        let json: RawJson = match serde_json::from_str(line) {
            Err(error) => return Self::Invalid(parse_error(error)),
            Ok(json) => json,
        };
        // Counting them takes no memory.
        match json.parse::<Vec<IgnoredAny>>().map(|items| items.len()) {
            Err(_) => Self::One(Message::read(&json)),
            Ok(0) => Self::Invalid(invalid_request("an empty batch")),
            Ok(1..=MAX_BATCH) => {
                let items: Vec<RawJson> = json.parse().unwrap_or_default();
                Self::Batch(items.iter().map(Message::read).collect())
            }
            Ok(many) => Self::Invalid(invalid_request(format!(
                "a batch of {many} messages; at most {MAX_BATCH} are taken"
            ))),
        }
    }
}

impl Message {
    fn read(json: &RawJson) -> Self {
        if !json.get().starts_with('{') {
            return Self::invalid(None, "a request is an object");
        }
        let fields: Envelope = match json.parse() {
            Ok(fields) => fields,
            Err(error) => return Self::invalid(id_alone(json), error),
        };
        let id = match fields.id.map(Id::new) {
            None => None,
            Some(Some(id)) => Some(id),
            Some(None) => return Self::invalid(None, "id must be a string, a number or null"),
        };
        if fields.jsonrpc != Some(Value::from(VERSION)) {
            return Self::invalid(id, "jsonrpc must be \"2.0\"");
        }
        match (fields.method, id, fields.result, fields.error) {
            (Some(Value::String(method)), id, ..) => match params(fields.params) {
                Ok(params) => Self::Call { id, method, params },
                Err(why) => Self::invalid(id, why),
            },
            (Some(_), id, ..) => Self::invalid(id, "method must be a string"),
            (None, Some(id), Some(result), None) => Self::Response { id, outcome: Ok(result) },
            (None, Some(id), None, Some(error)) => Self::Response { id, outcome: Err(error) },
            (None, id, ..) => Self::invalid(id, "neither a request nor a response"),
        }
    }

    fn invalid(id: Option<Id>, why: impl Display) -> Self {
        Self::Invalid { id: id.unwrap_or_else(Id::null), failure: invalid_request(why) }
    }
}

fn params(params: Option<RawJson>) -> Result<Params, String> {
    match params.map(|params| params.parse::<Value>()).transpose() {
        Ok(None) => Ok(Params::None),
        Ok(Some(Value::Object(params))) => Ok(Params::Named(params)),
        Ok(Some(Value::Array(params))) => Ok(Params::Positional(params)),
        Ok(Some(_)) => Err("params must be an object or an array".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The id of a message of which nothing else can be read.
fn id_alone(message: &RawJson) -> Option<Id> {
    #[derive(Deserialize)]
    struct Named {
        id: RawJson,
    }
    message.parse::<Named>().ok().and_then(|named| Id::new(named.id))
}

/// The text is not JSON.
pub(crate) fn parse_error(why: impl Display) -> ErrorObject {
    ErrorObject::new(jsonrpc::PARSE_ERROR, format!("Parse error: {why}"))
}

/// The JSON is not a message.
pub(crate) fn invalid_request(why: impl Display) -> ErrorObject {
    ErrorObject::new(jsonrpc::INVALID_REQUEST, format!("Invalid Request: {why}"))
}

/// The door has no such method.
pub(crate) fn unknown_method(method: &str) -> ErrorObject {
    let message = format!("Method not found: {method}; there are run, cancel and status");
    ErrorObject::new(jsonrpc::METHOD_NOT_FOUND, message)
}

/// The params do not fit the method.
pub(crate) fn invalid_params(why: impl Display) -> ErrorObject {
    ErrorObject::new(jsonrpc::INVALID_PARAMS, format!("Invalid params: {why}"))
}

/// The request failed for a reason of the door's own.
pub(crate) fn internal_error(why: impl Display) -> ErrorObject {
    ErrorObject::new(jsonrpc::INTERNAL_ERROR, format!("Internal error: {why}"))
}

/// One run at a time.
pub(crate) fn already_running(run: Option<&Id>) -> ErrorObject {
    #[derive(Serialize)]
    struct Running<'a> {
        run_id: &'a Id,
    }
    let data = run.and_then(|run_id| RawJson::from_value(&Running { run_id }).ok());
    let error = ErrorObject::new(-32001, "Already running: cancel it, or wait for its result");
    ErrorObject { data, ..error }
}

/// There is no run to cancel.
pub(crate) fn not_running() -> ErrorObject {
    ErrorObject::new(-32002, "Not running")
}

/// The run was cancelled; `result` is how far it came.
pub(crate) fn cancelled(result: Option<RawJson>) -> ErrorObject {
    ErrorObject { data: result, ..ErrorObject::new(-32003, "Cancelled") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line's message, in short.
    fn read(line: &str) -> String {
        match Incoming::read(line) {
            Incoming::One(message) => one(&message),
            Incoming::Batch(messages) => {
                format!("[{}]", messages.iter().map(one).collect::<Vec<_>>().join(", "))
            }
            Incoming::Invalid(failure) => failure.code.to_string(),
        }
    }

    fn one(message: &Message) -> String {
        match message {
            Message::Call { id: Some(id), method, .. } => format!("{method} {id}"),
            Message::Call { id: None, method, .. } => method.clone(),
            Message::Response { id, outcome } => format!("response {id} {}", outcome.is_ok()),
            Message::Invalid { id, failure } => format!("{} {id}", failure.code),
        }
    }

    #[test]
    fn every_kind_of_line() {
        let cases = [
            ("{", "-32700"),
            ("[]", "-32600"),
            ("7", "-32600 null"),
            ("{}", "-32600 null"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"run"}"#, "-32600 1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "-32600 1"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"run"}"#, "-32600 null"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"run","params":"x"}"#, "-32600 1"),
            (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, "-32600 1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"run"}"#, "run 1"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"run"}"#, "run null"),
            (
                r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"run"}"#,
                "run 123456789012345678901234567890",
            ),
            (r#"{"jsonrpc":"2.0","method":"run"}"#, "run"),
            (r#"{"jsonrpc":"2.0","id":"a","result":null}"#, "response \"a\" true"),
            (r#"{"jsonrpc":"2.0","id":"a","error":{"code":1}}"#, "response \"a\" false"),
            (r#"[1,{"jsonrpc":"2.0","method":"x"}]"#, "[-32600 null, x]"),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn batch_size_is_limited() {
        let batch = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(
            matches!(Incoming::read(&batch(1_000)), Incoming::Batch(all) if all.len() == 1_000)
        );
        let Incoming::Invalid(failure) = Incoming::read(&batch(1_001)) else {
            panic!("there are too many");
        };
        let why = "Invalid Request: a batch of 1001 messages; at most 1000 are taken";
        assert_eq!((failure.code, &*failure.message), (-32600, why));
    }

    #[test]
    fn unreadable_request_is_refused_under_its_id() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let line = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"run","params":{deep}}}"#);
        assert_eq!(read(&line), "-32600 \"a\"");
        let twice = r#"{"jsonrpc":"2.0","id":1,"method":"run","method":"run"}"#;
        assert_eq!(read(twice), "-32600 1");
        let Incoming::One(Message::Invalid { failure, .. }) = Incoming::read(twice) else {
            panic!("it has two methods");
        };
        assert!(failure.message.contains("duplicate field `method`"), "{failure:?}");
    }

    #[test]
    fn positional_params_are_named() {
        let params = Params::Positional(vec![json!("hello")]);
        assert_eq!(params.named(&["prompt", "session_id"]), Ok(json!({"prompt": "hello"})));
        let params = Params::Positional(vec![json!(1), json!(2)]);
        assert_eq!(params.named(&["prompt"]).unwrap_err().code, -32602);
    }
}
