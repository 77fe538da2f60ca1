//! Checks the input of a call against the tool's schema and says what is wrong in words that a
//! model can act on.

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Map, Value, json};

use crate::output::ToolFailure;

/// Brings an input into the form the schema asks for, or says why that cannot be done.
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

/// One thing that is wrong with an input.
struct Issue {
    /// For the model; `None` where only the detail says it.
    sentence: Option<String>,
    /// The order in which sentences are told.
    rank: u8,
    /// For programs.
    detail: Value,
}

impl Issue {
    fn from_error(schema: &Value, error: &ValidationError<'_>) -> Vec<Self> {
        let path: Vec<Value> = error
            .instance_path()
            .as_str()
            .split('/')
            .skip(1)
            .map(|part| match part.parse::<u64>() {
                Ok(index) => index.into(),
                Err(_) => part.replace("~1", "/").replace("~0", "~").into(),
            })
            .collect();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let mut path = path;
                path.push(property.clone());
                let expected = expected_type(schema, &path);
                vec![Self {
                    sentence: Some(format!(
                        "The required parameter `{}` is missing",
                        written(&path)
                    )),
                    rank: 0,
                    detail: json!({
                        "expected": expected,
                        "code": "invalid_type",
                        "path": path,
                        "message": format!("Invalid input: expected {expected}, received undefined"),
                    }),
                }]
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let sentence = |name: &String| Self {
                    sentence: Some(format!("An unexpected parameter `{name}` was provided")),
                    rank: 1,
                    detail: json!({
                        "code": "unrecognized_keys",
                        "keys": [name],
                        "path": path,
                        "message": format!("Unrecognized key: \"{name}\""),
                    }),
                };
                unexpected.iter().map(sentence).collect()
            }
            ValidationErrorKind::Type { kind } => {
                let expected = match kind {
                    TypeKind::Single(kind) => type_name(*kind).to_owned(),
                    TypeKind::Multiple(kinds) => {
                        kinds.iter().map(type_name).collect::<Vec<_>>().join(" | ")
                    }
                };
                let received = received_type(error.instance());
                vec![Self {
                    sentence: Some(format!(
                        "The parameter `{}` type is expected as `{expected}` but provided as \
                         `{received}`",
                        written(&path)
                    )),
                    rank: 2,
                    detail: json!({
                        "expected": expected,
                        "code": "invalid_type",
                        "path": path,
                        "message": format!("Invalid input: expected {expected}, received {received}"),
                    }),
                }]
            }
            kind => {
                let code = match kind.keyword() {
                    "enum" | "const" => "invalid_value",
                    "minimum" | "minLength" | "minItems" | "exclusiveMinimum" => "too_small",
                    "maximum" | "maxLength" | "maxItems" | "exclusiveMaximum" => "too_big",
                    "format" | "pattern" => "invalid_format",
                    "anyOf" | "oneOf" => "invalid_union",
                    _ => "custom",
                };
                let detail = json!({ "code": code, "path": path, "message": error.to_string() });
                vec![Self { sentence: None, rank: 3, detail }]
            }
        }
    }
}

fn failure(tool: &str, mut issues: Vec<Issue>) -> ToolFailure {
    issues.sort_by_key(|issue| issue.rank);
    let details: Vec<&Value> = issues.iter().map(|issue| &issue.detail).collect();
    let details = serde_json::to_string_pretty(&details).expect("a JSON tree always serializes");
    let sentences: Option<Vec<&str>> =
        issues.iter().map(|issue| issue.sentence.as_deref()).collect();
    let message = match sentences {
        Some(sentences) => {
            let noun = if sentences.len() == 1 { "issue" } else { "issues" };
            format!("{tool} failed due to the following {noun}:\n{}", sentences.join("\n"))
        }
        None => details.clone(),
    };
    ToolFailure::schema(&message, &details)
}

/// `["todos", 0, "content"]` as `todos[0].content`.
fn written(path: &[Value]) -> String {
    let mut text = String::new();
    for part in path {
        match part {
            Value::String(name) if text.is_empty() => text.push_str(name),
            Value::String(name) => text.extend([".", name]),
            index => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// The type the schema has for the value at a path.
fn expected_type<'a>(schema: &'a Value, path: &[Value]) -> &'a str {
    let at = path.iter().fold(schema, |schema, part| match part {
        Value::String(name) => &schema["properties"][name],
        _ => &schema["items"],
    });
    at["type"].as_str().unwrap_or("string")
}

fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "int",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    }
}

fn received_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
