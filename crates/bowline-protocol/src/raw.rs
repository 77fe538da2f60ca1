//! Raw JSON: kept as the text it came in, parsed on demand.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};

use crate::surrogate::replace_lone_surrogates;

/// A JSON value kept byte for byte as it arrived.
///
/// ```
/// use bowline_protocol::RawJson;
///
/// let raw: RawJson = serde_json::from_str(r#"{"n":1.00}"#)?;
/// assert_eq!(serde_json::to_string(&raw)?, r#"{"n":1.00}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// The JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Takes JSON text as it is, if it is JSON.
    pub fn from_text(text: String) -> serde_json::Result<Self> {
        RawValue::from_string(text).map(Self)
    }

    /// Writes `value` as JSON.
    pub fn from_value(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Reads the JSON into `T`. Lone surrogates, which `T` could not hold, are
    /// [replaced](replace_lone_surrogates).
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.get()).or_else(|error| {
            match replace_lone_surrogates(Cow::Borrowed(self.get())) {
                Cow::Owned(text) => serde_json::from_str(&text),
                Cow::Borrowed(_) => Err(error),
            }
        })
    }

    /// The JSON as a tree.
    pub fn to_value(&self) -> Value {
        self.parse().unwrap_or(Value::Null)
    }

    /// `{}`.
    pub fn empty_object() -> Self {
        Self::from(Value::Object(Map::new()))
    }
}

impl Default for RawJson {
    /// `null`.
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        Self::from_value(&value).expect("a JSON tree always serializes")
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<RawJson> for Box<RawValue> {
    fn from(raw: RawJson) -> Self {
        raw.0
    }
}

/// Equal when the texts are.
impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(true)
    }
}
