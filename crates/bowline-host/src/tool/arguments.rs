//! The arguments of a tool call, read once, by the type that a handler takes.

#[cfg(feature = "schema")]
use std::borrow::Cow;

use bowline_protocol::RawJson;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments of a call, as its caller has them.
pub(crate) enum Arguments {
    /// The JSON text of a message.
    Json(RawJson),
    /// A value from a caller in this process.
    Value(Value),
}

impl Arguments {
    /// Reads them into a handler's type. The error is the same in either form, so that a model
    /// reads the same text wherever the agent runs.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, String> {
        match self {
            Self::Json(json) => json.parse().map_err(|error| {
                let error = error.to_string();
                // The position is one in a text that the model has not seen.
                error.rsplit_once(" at line ").map_or(error.as_str(), |(text, _)| text).to_owned()
            }),
            Self::Value(value) => T::deserialize(value).map_err(|error| error.to_string()),
        }
    }

    /// The arguments as a value, for a check against a schema.
    #[cfg(feature = "schema")]
    pub(super) fn value(&self) -> Cow<'_, Value> {
        match self {
            Self::Json(json) => Cow::Owned(json.to_value()),
            Self::Value(value) => Cow::Borrowed(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Pair {
        a: i64,
        b: i64,
    }

    #[test]
    fn error_text_does_not_depend_on_the_form() {
        for (arguments, error) in [
            (json!({"a": 1}), "missing field `b`"),
            (json!({"a": "x", "b": 1}), "invalid type: string \"x\", expected i64"),
        ] {
            let json = Arguments::Json(RawJson::from(arguments.clone()));
            assert_eq!(json.read::<Pair>().unwrap_err(), error);
            assert_eq!(Arguments::Value(arguments).read::<Pair>().unwrap_err(), error);
        }
    }
}
