//! JSON schemas of Rust types, as models read them.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

/// The JSON schema of a type.
pub(crate) fn schema_of_type<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft07();
    settings.inline_subschemas = true;
    // `uint32` is a format of Rust's; some agents reject a schema with a format they do not know.
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
    fn schema_has_no_rust_number_formats() {
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
