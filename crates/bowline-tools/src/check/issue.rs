//! Validation issue of an input: a sentence for the model, details for programs.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Value, json};

/// A validation issue of an input.
pub(super) struct Issue {
    /// For the model; `None` where only the facts say it.
    pub(super) sentence: Option<String>,
    /// The order of the sentences.
    pub(super) rank: u8,
    /// For programs.
    pub(super) detail: Value,
    /// What it is about, as `todos[0].content`.
    place: String,
}

impl Issue {
    /// The sentence for the model, where there are other issues.
    pub(super) fn in_words(&self) -> String {
        self.sentence.clone().unwrap_or_else(|| {
            let message = self.detail["message"].as_str().unwrap_or_default();
            format!("The parameter `{}` is invalid: {message}", self.place)
        })
    }

    pub(super) fn from_error(schema: &Value, error: &ValidationError<'_>) -> Vec<Self> {
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
                vec![Self::missing(schema, path)]
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                unexpected.iter().map(|name| Self::unexpected(name, &path)).collect()
            }
            ValidationErrorKind::Type { kind } => vec![Self::of_type(kind, error, path)],
            kind => {
                let mut detail = facts(kind, schema_at(schema, &path), error.instance());
                detail["path"] = path.clone().into();
                let message = message(&detail, &path).unwrap_or_else(|| error.to_string());
                detail["message"] = message.into();
                vec![Self { sentence: None, rank: 3, detail, place: written(&path) }]
            }
        }
    }

    fn missing(schema: &Value, path: Vec<Value>) -> Self {
        let (place, at) = (written(&path), schema_at(schema, &path));
        if let Some(values) = at.get("enum") {
            let mut detail = json!({ "code": "invalid_value", "values": values, "path": path });
            detail["message"] = message(&detail, &path).unwrap_or_default().into();
            return Self { sentence: None, rank: 3, detail, place };
        }
        let expected = at["type"].as_str().unwrap_or("string");
        let expected = if expected == "integer" { "number" } else { expected };
        Self {
            sentence: Some(format!("The required parameter `{place}` is missing")),
            rank: 0,
            detail: json!({
                "expected": expected,
                "code": "invalid_type",
                "path": path,
                "message": format!("Invalid input: expected {expected}, received undefined"),
            }),
            place,
        }
    }

    fn unexpected(name: &str, path: &[Value]) -> Self {
        Self {
            sentence: Some(format!("An unexpected parameter `{name}` was provided")),
            rank: 1,
            detail: json!({
                "code": "unrecognized_keys",
                "keys": [name],
                "path": path,
                "message": format!("Unrecognized key: \"{name}\""),
            }),
            place: name.to_owned(),
        }
    }

    fn of_type(kind: &TypeKind, error: &ValidationError<'_>, path: Vec<Value>) -> Self {
        let instance = error.instance();
        let name = |kind: JsonType| type_name(kind, instance);
        let expected = match kind {
            TypeKind::Single(kind) => name(*kind).to_owned(),
            TypeKind::Multiple(kinds) => kinds.iter().map(name).collect::<Vec<_>>().join(" | "),
        };
        let (received, place) = (received_type(instance), written(&path));
        let mut detail = json!({ "expected": expected });
        if expected == "int" {
            detail["format"] = "safeint".into();
        }
        detail["code"] = "invalid_type".into();
        detail["path"] = path.into();
        detail["message"] =
            format!("Invalid input: expected {expected}, received {received}").into();
        Self {
            sentence: Some(format!(
                "The parameter `{place}` type is expected as `{expected}` but provided as \
                 `{received}`"
            )),
            rank: 2,
            detail,
            place,
        }
    }
}

/// Details, without path and message, of a value that has the right type.
fn facts(kind: &ValidationErrorKind, schema: &Value, instance: &Value) -> Value {
    let origin = match instance {
        Value::Array(_) => "array",
        Value::Number(_) => "number",
        _ => "string",
    };
    let keyword = kind.keyword();
    let bound = || schema[keyword].clone();
    match keyword {
        "enum" => json!({ "code": "invalid_value", "values": bound() }),
        "const" => json!({ "code": "invalid_value", "values": [bound()] }),
        "minimum" | "minLength" | "minItems" => {
            json!({ "origin": origin, "code": "too_small", "minimum": bound(), "inclusive": true })
        }
        "exclusiveMinimum" => {
            json!({ "origin": origin, "code": "too_small", "minimum": bound(), "inclusive": false })
        }
        "maximum" | "maxLength" | "maxItems" => {
            json!({ "origin": origin, "code": "too_big", "maximum": bound(), "inclusive": true })
        }
        "exclusiveMaximum" => {
            json!({ "origin": origin, "code": "too_big", "maximum": bound(), "inclusive": false })
        }
        "format" if schema["format"] == "uri" => {
            json!({ "code": "invalid_format", "format": "url" })
        }
        "format" | "pattern" => json!({ "code": "invalid_format" }),
        "anyOf" | "oneOf" => json!({ "code": "invalid_union" }),
        _ => json!({ "code": "custom" }),
    }
}

/// The facts in words, where they say enough.
fn message(facts: &Value, path: &[Value]) -> Option<String> {
    let more =
        |word: &str| if facts["inclusive"] == true { format!("{word}=") } else { word.into() };
    let size = |bound: &str, word: &str| {
        let bound = &facts[bound];
        Some(match facts["origin"].as_str()? {
            "array" => format!("expected array to have {}{bound} items", more(word)),
            "string" => format!("expected string to have {}{bound} characters", more(word)),
            _ => format!("expected number to be {}{bound}", more(word)),
        })
    };
    match facts["code"].as_str()? {
        "invalid_value" => {
            let values = facts["values"].as_array()?.iter().map(Value::to_string);
            Some(format!(
                "Invalid option: expected one of {}",
                values.collect::<Vec<_>>().join("|")
            ))
        }
        "too_small" if facts["origin"] == "string" && facts["minimum"] == 1 => {
            Some(format!("{} cannot be empty", in_prose(path.last()?.as_str()?)))
        }
        "too_small" => Some(format!("Too small: {}", size("minimum", ">")?)),
        "too_big" => Some(format!("Too big: {}", size("maximum", "<")?)),
        "invalid_format" if facts["format"] == "url" => Some("Invalid URL".to_owned()),
        _ => None,
    }
}

/// `activeForm` as `Active form`.
fn in_prose(name: &str) -> String {
    let mut prose = String::new();
    for (index, letter) in name.chars().enumerate() {
        match letter {
            letter if index == 0 => prose.extend(letter.to_uppercase()),
            letter if letter.is_uppercase() => {
                prose.push(' ');
                prose.extend(letter.to_lowercase());
            }
            letter => prose.push(letter),
        }
    }
    prose
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

/// The schema of the value at a path.
fn schema_at<'a>(schema: &'a Value, path: &[Value]) -> &'a Value {
    path.iter().fold(schema, |schema, part| match part {
        Value::String(name) => &schema["properties"][name],
        _ => &schema["items"],
    })
}

/// An integer is called a number, unless the value is a number that is not whole.
fn type_name(kind: JsonType, instance: &Value) -> &'static str {
    match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer if instance.is_number() => "int",
        JsonType::Integer | JsonType::Number => "number",
        JsonType::Null => "null",
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
