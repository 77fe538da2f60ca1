//! What a question's schema takes for granted where the answer says nothing.

use bowline_protocol::RawJson;
use serde::Deserialize;
use serde_json::{Map, Value};

/// An answer that was accepted, with the defaults of the fields it leaves out.
pub(super) fn complete(content: Option<RawJson>, schema: &RawJson) -> Option<RawJson> {
    #[derive(Deserialize)]
    struct Schema {
        #[serde(default)]
        properties: Map<String, Value>,
    }
    let Ok(Schema { properties }) = schema.parse() else { return content };
    let mut answer: Map<String, Value> = match &content {
        None => Map::new(),
        Some(content) => match content.parse() {
            Ok(answer) => answer,
            Err(_) => return Some(content.clone()),
        },
    };
    for (name, property) in properties {
        if let (None, Some(default)) = (answer.get(&name), property.get("default")) {
            answer.insert(name, default.clone());
        }
    }
    Some(RawJson::from(Value::Object(answer)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_left_out_is_what_the_schema_says() {
        let schema = json!({"properties": {
            "name": {"type": "string", "default": "Ann"},
            "age": {"type": "integer", "default": 30},
            "note": {"type": "string"},
        }});
        let schema = RawJson::from(schema);
        for (answer, completed) in [
            (None, json!({"name": "Ann", "age": 30})),
            (Some(json!({"age": 7, "note": "x"})), json!({"age": 7, "note": "x", "name": "Ann"})),
            (Some(json!({"name": null})), json!({"name": null, "age": 30})),
            (Some(json!("odd")), json!("odd")),
        ] {
            let completed_answer = complete(answer.map(RawJson::from), &schema);
            assert_eq!(completed_answer.unwrap().to_value(), completed);
        }
        let free = RawJson::from(json!({"type": "object"}));
        assert_eq!(complete(None, &free).unwrap().to_value(), json!({}));
    }
}
