//! What the model is told of a tool.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::Serialize;
use serde_json::{Map, Value};

/// What the model is told of a tool, as the wire has it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input_schema: Value,
    #[serde(skip_serializing_if = "ToolAnnotations::are_empty")]
    pub(super) annotations: ToolAnnotations,
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    pub(super) meta: Map<String, Value>,
}

/// What calls of a tool do to the world, as hints for whoever decides about them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// What a person calls the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice is as good as once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    fn are_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a model is told of a type.
pub(crate) fn schema_of_type<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft07();
    settings.inline_subschemas = true;
    // `uint32` is a word of Rust's; some agents refuse a schema with a format that they do not know.
    settings = settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        if schema.get("type").is_some_and(|kind| kind == "integer" || kind == "number") {
            schema.remove("format");
        }
    }));
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_has_no_formats_of_rust() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is of interest")]
        struct Knot {
            loops: u32,
            lengths: Vec<f64>,
        }
        let schema = schema_of_type::<Knot>();
        assert_eq!(schema["properties"]["loops"], json!({"type": "integer", "minimum": 0}));
        assert_eq!(schema["properties"]["lengths"]["items"], json!({"type": "number"}));
    }
}
