//! Validation of a call's input against the tool's schema, with issues in words that a model can act
//! on.

mod issue;

use jsonschema::Validator;
use serde_json::{Map, Value};

use self::issue::Issue;
use crate::output::ToolFailure;

/// Converts an input to the form that the schema requires, and validates it.
pub(crate) fn check(
    tool: &str,
    schema: &Value,
    validator: &Validator,
    input: Value,
) -> Result<Value, ToolFailure> {
    let mut input = match input {
        // A call without arguments.
        Value::Null => Value::Object(Map::new()),
        input => input,
    };
    convert(schema, &mut input);
    let issues: Vec<Issue> =
        validator.iter_errors(&input).flat_map(|error| Issue::from_error(schema, &error)).collect();
    if issues.is_empty() { Ok(input) } else { Err(failure(tool, issues)) }
}

/// Models write numbers, truth values and lists as strings now and then. What clearly is one
/// becomes one.
fn convert(schema: &Value, input: &mut Value) {
    let (Some(properties), Some(fields)) =
        (schema.get("properties").and_then(Value::as_object), input.as_object_mut())
    else {
        return;
    };
    for (name, field) in fields {
        let Some(kind) = properties.get(name).and_then(|property| property["type"].as_str()) else {
            continue;
        };
        let Value::String(text) = field else { continue };
        let Ok(parsed) = serde_json::from_str::<Value>(text) else { continue };
        let fits = match kind {
            "number" | "integer" => parsed.is_number(),
            "boolean" => parsed.is_boolean(),
            "array" => parsed.is_array(),
            "object" => parsed.is_object(),
            _ => false,
        };
        if fits {
            *field = parsed;
        }
    }
}

/// The failure of an input that does not fit. Issues without a sentence are a list of details for the
/// model as well, unless another issue needs a sentence anyway.
fn failure(tool: &str, issues: Vec<Issue>) -> ToolFailure {
    let details: Vec<&Value> = issues.iter().map(|issue| &issue.detail).collect();
    let details = serde_json::to_string_pretty(&details).expect("a JSON tree always serializes");
    if issues.iter().all(|issue| issue.sentence.is_none()) {
        return ToolFailure::schema(&details, &details);
    }
    let mut told: Vec<&Issue> = issues.iter().collect();
    told.sort_by_key(|issue| issue.rank);
    let sentences: Vec<String> = told.into_iter().map(Issue::in_words).collect();
    let noun = if sentences.len() == 1 { "issue" } else { "issues" };
    let message = format!("{tool} failed due to the following {noun}:\n{}", sentences.join("\n"));
    ToolFailure::schema(&message, &details)
}

impl ToolFailure {
    /// An issue of an input that its schema cannot express.
    pub fn issue(message: &str) -> Self {
        let issues = serde_json::json!([{ "code": "custom", "path": [], "message": message }]);
        let details = serde_json::to_string_pretty(&issues).expect("a JSON tree always serializes");
        Self::schema(&details, &details)
    }
}
