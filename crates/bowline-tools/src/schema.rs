//! JSON schemas of tool inputs, made from Rust types and stripped of what models do not need.

use std::{any::TypeId, collections::BTreeMap};

use bowline_protocol::RawJson;
use parking_lot::Mutex;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// Schemas that were made before: every session has the same tools.
static MADE: Mutex<BTreeMap<TypeId, RawJson>> = Mutex::new(BTreeMap::new());

/// The schema of `T` as one object without references, titles or nullable types.
///
/// An optional field may be absent but not null: that is what models are used to.
pub fn schema_of<T: JsonSchema + 'static>() -> RawJson {
    MADE.lock().entry(TypeId::of::<T>()).or_insert_with(make::<T>).clone()
}

fn make<T: JsonSchema>() -> RawJson {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        // The type's own documentation is for readers of the code.
        object.remove("description");
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    RawJson::from(schema)
}

fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(object) => {
            take_null_out(object);
            name_the_values(object);
            object.retain(|key, value| match key.as_str() {
                "title" => !value.is_string(),
                "default" => !value.is_null(),
                // Only formats that say something about the text, not about Rust's numbers.
                "format" => value == "uri",
                _ => true,
            });
            object.values_mut().for_each(simplify);
        }
        _ => {}
    }
}

/// `T | null` becomes `T`.
fn take_null_out(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// A choice among documented constants becomes a plain list of strings.
fn name_the_values(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return };
    let mut values = Vec::new();
    for choice in choices {
        match (choice.get("const"), choice.get("enum")) {
            (Some(value), _) => values.push(value.clone()),
            (None, Some(Value::Array(several))) => values.extend(several.iter().cloned()),
            _ => return,
        }
    }
    object.remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), values.into());
}
