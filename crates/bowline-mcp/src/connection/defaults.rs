//! Defaults of an elicitation's schema for fields that the response omits.

use bowline_protocol::RawJson;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The content of an accepted response, with the defaults of the fields it omits.
pub(super) fn complete(content: Option<RawJson>, schema: &RawJson) -> Option<RawJson> {
    #[derive(Deserialize)]
    struct Schema {
        #[serde(default)]
        properties: Map<String, Value>,
    }
    let Ok(Schema { properties }) = schema.parse() else { return content };
    let mut response: Map<String, Value> = match &content {
        None => Map::new(),
        Some(content) => match content.parse() {
            Ok(response) => response,
            Err(_) => return Some(content.clone()),
        },
    };
    for (name, property) in properties {
        if let (None, Some(default)) = (response.get(&name), property.get("default")) {
            response.insert(name, default.clone());
        }
    }
    Some(RawJson::from(Value::Object(response)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn omitted_fields_get_the_defaults_of_the_schema() {
        let schema = json!({"properties": {
            "name": {"type": "string", "default": "Ann"},
            "age": {"type": "integer", "default": 30},
            "note": {"type": "string"},
        }});
        let schema = RawJson::from(schema);
        for (response, completed) in [
            (None, json!({"name": "Ann", "age": 30})),
            (Some(json!({"age": 7, "note": "x"})), json!({"age": 7, "note": "x", "name": "Ann"})),
            (Some(json!({"name": null})), json!({"name": null, "age": 30})),
            (Some(json!("odd")), json!("odd")),
        ] {
            let completed_response = complete(response.map(RawJson::from), &schema);
            assert_eq!(completed_response.unwrap().to_value(), completed);
        }
        let free = RawJson::from(json!({"type": "object"}));
        assert_eq!(complete(None, &free).unwrap().to_value(), json!({}));
    }
}
