//! JSON-RPC 2.0: what a line is, and how answers are written.

use std::fmt::{self, Display};

use bowline_protocol::RawJson;
use serde::{Deserialize, Serialize, Serializer, de::IgnoredAny, ser::SerializeMap};
use serde_json::{Map, Value, json};

/// What every message says it is.
pub(crate) const VERSION: &str = "2.0";

/// Messages in one batch: more than any script has to say at once, and few enough to keep in memory.
const MAX_BATCH: usize = 1_000;

/// What the client sent.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// One message.
    One(Message),
    /// Several, to be answered together.
    Batch(Vec<Message>),
    /// Nothing that can be understood; the answer says why.
    Nonsense(Failure),
}

/// One message of the client.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request, or a notification if it has no id.
    Call { id: Option<Id>, method: String, params: Params },
    /// The answer to a request of ours.
    Answer { id: Id, outcome: Result<RawJson, RawJson> },
    /// Something else.
    Invalid { id: Id, failure: Failure },
}

/// What names a request, as the client wrote it: it may be a number of more digits than any type has.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Id(RawJson);

impl Id {
    /// The id of a request that nobody could read.
    pub(crate) fn null() -> Self {
        Self(RawJson::from(Value::Null))
    }

    /// Takes a string, a number or null.
    fn new(json: RawJson) -> Option<Self> {
        (!json.get().starts_with(['{', '[', 't', 'f'])).then_some(Self(json))
    }

    /// The id of a message of which nothing else can be read.
    fn alone(message: &RawJson) -> Option<Self> {
        #[derive(Deserialize)]
        struct Named {
            id: RawJson,
        }
        message.parse::<Named>().ok().and_then(|named| Self::new(named.id))
    }

    /// The id, if it is a string as ours are.
    pub(crate) fn text(&self) -> Option<String> {
        self.0.parse().ok()
    }
}

impl Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
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
    pub(crate) fn named(self, names: &[&str]) -> Result<Value, Failure> {
        match self {
            Self::None => Ok(json!({})),
            Self::Named(params) => Ok(Value::Object(params)),
            Self::Positional(values) if values.len() > names.len() => {
                Err(Failure::params(format!("at most {} arguments are taken", names.len())))
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
            Err(error) => return Self::Nonsense(Failure::parse(error)),
            Ok(json) => json,
        };
        // Counting them takes no memory.
        match json.parse::<Vec<IgnoredAny>>().map(|items| items.len()) {
            Err(_) => Self::One(Message::read(&json)),
            Ok(0) => Self::Nonsense(Failure::invalid("an empty batch")),
            Ok(1..=MAX_BATCH) => {
                let items: Vec<RawJson> = json.parse().unwrap_or_default();
                Self::Batch(items.iter().map(Message::read).collect())
            }
            Ok(many) => Self::Nonsense(Failure::invalid(format!(
                "a batch of {many} messages; at most {MAX_BATCH} are taken"
            ))),
        }
    }
}

impl Message {
    fn read(json: &RawJson) -> Self {
        #[derive(Deserialize)]
        struct Fields {
            jsonrpc: Option<Value>,
            #[serde(default, deserialize_with = "present")]
            id: Option<RawJson>,
            method: Option<Value>,
            params: Option<Value>,
            #[serde(default, deserialize_with = "present")]
            result: Option<RawJson>,
            error: Option<RawJson>,
        }
        if !json.get().starts_with('{') {
            return Self::invalid(None, "a request is an object");
        }
        let fields: Fields = match json.parse() {
            Ok(fields) => fields,
            Err(error) => return Self::invalid(Id::alone(json), error),
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
            (None, Some(id), Some(result), None) => Self::Answer { id, outcome: Ok(result) },
            (None, Some(id), None, Some(error)) => Self::Answer { id, outcome: Err(error) },
            (None, id, ..) => Self::invalid(id, "neither a request nor a response"),
        }
    }

    fn invalid(id: Option<Id>, why: impl Display) -> Self {
        Self::Invalid { id: id.unwrap_or_else(Id::null), failure: Failure::invalid(why) }
    }
}

fn params(params: Option<Value>) -> Result<Params, &'static str> {
    match params {
        None => Ok(Params::None),
        Some(Value::Object(params)) => Ok(Params::Named(params)),
        Some(Value::Array(params)) => Ok(Params::Positional(params)),
        Some(_) => Err("params must be an object or an array"),
    }
}

/// A field that is there, even if it is null.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(deserializer).map(Some)
}

/// What went wrong, in numbers and in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<RawJson>,
}

impl Failure {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn parse(why: impl Display) -> Self {
        Self::new(-32700, format!("Parse error: {why}"))
    }

    pub(crate) fn invalid(why: impl Display) -> Self {
        Self::new(-32600, format!("Invalid Request: {why}"))
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("Method not found: {method}; there are run, cancel and status"))
    }

    pub(crate) fn params(why: impl Display) -> Self {
        Self::new(-32602, format!("Invalid params: {why}"))
    }

    pub(crate) fn internal(why: impl Display) -> Self {
        Self::new(-32603, format!("Internal error: {why}"))
    }

    pub(crate) fn already_running(run: Option<&Id>) -> Self {
        #[derive(Serialize)]
        struct Running<'a> {
            run_id: &'a Id,
        }
        let data = run.and_then(|run_id| RawJson::from_value(&Running { run_id }).ok());
        Self { data, ..Self::new(-32001, "Already running: cancel it, or wait for its result") }
    }

    pub(crate) fn not_running() -> Self {
        Self::new(-32002, "Not running")
    }

    /// `result` is what the run came to until then.
    pub(crate) fn cancelled(result: Option<RawJson>) -> Self {
        Self { data: result, ..Self::new(-32003, "Cancelled") }
    }
}

/// A request of ours.
#[derive(Debug, Serialize)]
pub(crate) struct Request<'a, P> {
    pub(crate) jsonrpc: &'static str,
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    pub(crate) params: &'a P,
}

/// A notification of ours.
#[derive(Debug, Serialize)]
pub(crate) struct Notification<'a, P> {
    pub(crate) jsonrpc: &'static str,
    pub(crate) method: &'a str,
    pub(crate) params: &'a P,
}

/// An answer of ours.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) jsonrpc: &'static str,
    pub(crate) id: Id,
    pub(crate) outcome: Result<RawJson, Failure>,
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("jsonrpc", self.jsonrpc)?;
        map.serialize_entry("id", &self.id)?;
        match &self.outcome {
            Ok(result) => map.serialize_entry("result", result)?,
            Err(failure) => map.serialize_entry("error", failure)?,
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line comes to, in short.
    fn read(line: &str) -> String {
        match Incoming::read(line) {
            Incoming::One(message) => one(&message),
            Incoming::Batch(messages) => {
                format!("[{}]", messages.iter().map(one).collect::<Vec<_>>().join(", "))
            }
            Incoming::Nonsense(failure) => failure.code.to_string(),
        }
    }

    fn one(message: &Message) -> String {
        match message {
            Message::Call { id: Some(id), method, .. } => format!("{method} {id}"),
            Message::Call { id: None, method, .. } => method.clone(),
            Message::Answer { id, outcome } => format!("answer {id} {}", outcome.is_ok()),
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
            (r#"{"jsonrpc":"2.0","id":"a","result":null}"#, "answer \"a\" true"),
            (r#"{"jsonrpc":"2.0","id":"a","error":{"code":1}}"#, "answer \"a\" false"),
            (r#"[1,{"jsonrpc":"2.0","method":"x"}]"#, "[-32600 null, x]"),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn a_batch_may_be_large_but_not_endless() {
        let batch = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(
            matches!(Incoming::read(&batch(1_000)), Incoming::Batch(all) if all.len() == 1_000)
        );
        let Incoming::Nonsense(failure) = Incoming::read(&batch(1_001)) else {
            panic!("there are too many");
        };
        let why = "Invalid Request: a batch of 1001 messages; at most 1000 are taken";
        assert_eq!((failure.code, &*failure.message), (-32600, why));
    }

    #[test]
    fn what_cannot_be_read_is_said_with_the_name_of_the_request() {
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
    fn positions_have_names() {
        let params = Params::Positional(vec![json!("hello")]);
        assert_eq!(params.named(&["prompt", "session_id"]), Ok(json!({"prompt": "hello"})));
        let params = Params::Positional(vec![json!(1), json!(2)]);
        assert_eq!(params.named(&["prompt"]).unwrap_err().code, -32602);
    }
}
