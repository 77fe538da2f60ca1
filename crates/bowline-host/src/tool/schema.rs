//! Arguments whose shape is written down rather than taken from a type.

use bowline_protocol::RawJson;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// How many things that are wrong with its arguments a model is told at once.
const MOST_COMPLAINTS: usize = 5;

/// The type of one argument, where no more than that is to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Text.
    String,
    /// Any number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Boolean,
    /// Named values.
    Object,
    /// Values in a row.
    Array,
}

impl Field {
    fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
        }
    }
}

/// The schema of arguments that are all required and of simple types.
pub(super) fn schema_of<Name: Into<String>>(
    fields: impl IntoIterator<Item = (Name, Field)>,
) -> Value {
    let mut properties = Map::new();
    for (name, field) in fields {
        properties.insert(name.into(), json!({"type": field.as_str()}));
    }
    let required: Vec<_> = properties.keys().cloned().collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// Checks arguments before a handler sees them.
#[derive(Debug)]
pub(super) struct Check(Validator);

impl Check {
    /// A check against a schema, or what is wrong with the schema.
    pub(super) fn against(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema).map(Self).map_err(|error| error.to_string())
    }

    /// Says what is wrong with the arguments.
    pub(super) fn complaint(&self, arguments: &RawJson) -> Option<String> {
        let arguments = arguments.to_value();
        let complaints: Vec<_> = self
            .0
            .iter_errors(&arguments)
            .take(MOST_COMPLAINTS)
            .map(|error| match error.instance_path().as_str() {
                "" => error.to_string(),
                place => format!("{error} (at {place})"),
            })
            .collect();
        (!complaints.is_empty()).then(|| complaints.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_fields_are_all_required() {
        let schema = schema_of([("sql", Field::String), ("params", Field::Array)]);
        let expected = json!({
            "type": "object",
            "properties": {"sql": {"type": "string"}, "params": {"type": "array"}},
            "required": ["sql", "params"],
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let check = Check::against(&json!({
            "type": "object",
            "properties": {"point": {"type": "object", "properties": {"x": {"minimum": 0}}}},
            "required": ["point", "name"],
        }));
        let check = check.expect("the schema is one");
        assert_eq!(check.complaint(&json!({"point": {"x": 1}, "name": ""}).into()), None);
        let complaint = check.complaint(&json!({"point": {"x": -1}}).into());
        let complaint = complaint.expect("two things are wrong");
        assert!(complaint.contains("(at /point/x)"), "{complaint}");
        assert!(complaint.contains("\"name\" is a required property"), "{complaint}");
        assert!(Check::against(&json!({"type": "nothing"})).is_err());
    }
}
