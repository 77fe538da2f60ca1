//! Argument schemas written by hand, and the check of arguments against them.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// How many violations a model is shown at once.
const MAX_VIOLATIONS: usize = 5;

/// The type of one argument of [`Tool::with_fields`](crate::Tool::with_fields).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Text.
    String,
    /// Any number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A JSON object.
    Object,
    /// A JSON array.
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

/// The check of arguments before a handler gets them.
#[derive(Debug)]
pub(super) struct Check(Validator);

impl Check {
    /// A check against a schema, or why the schema is invalid.
    pub(super) fn against(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema).map(Self).map_err(|error| error.to_string())
    }

    /// The violations of the schema, with their paths.
    pub(super) fn violations(&self, arguments: &Value) -> Option<String> {
        let violations: Vec<_> = self
            .0
            .iter_errors(arguments)
            .take(MAX_VIOLATIONS)
            .map(|error| match error.instance_path().as_str() {
                "" => error.to_string(),
                path => format!("{error} (at {path})"),
            })
            .collect();
        (!violations.is_empty()).then(|| violations.join("; "))
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
    fn violations_name_their_paths() {
        let check = Check::against(&json!({
            "type": "object",
            "properties": {"point": {"type": "object", "properties": {"x": {"minimum": 0}}}},
            "required": ["point", "name"],
        }));
        let check = check.expect("the schema is valid");
        assert_eq!(check.violations(&json!({"point": {"x": 1}, "name": ""})), None);
        let violations = check.violations(&json!({"point": {"x": -1}}));
        let violations = violations.expect("there are two");
        assert!(violations.contains("(at /point/x)"), "{violations}");
        assert!(violations.contains("\"name\" is a required property"), "{violations}");
        assert!(Check::against(&json!({"type": "nothing"})).is_err());
    }
}
