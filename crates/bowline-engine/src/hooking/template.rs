//! Templates of hooks: variables in headers, fields of the input in arguments.

use serde_json::Value;

/// `text` with `$NAME` and `${NAME}` replaced; a variable without a value becomes empty.
pub(super) fn expanded(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, after_name) = match after.strip_prefix('{').and_then(|it| it.split_once('}')) {
            Some(braced) => braced,
            None => after.split_at(after.find(|c: char| !is_name(c)).unwrap_or(after.len())),
        };
        if name.is_empty() {
            filled.push('$');
        } else {
            filled.push_str(&value(name).unwrap_or_default());
        }
        rest = after_name;
    }
    filled.push_str(rest);
    filled
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `template` with every `${path.to.field}` in its texts replaced by that field of `input`. A text
/// that is only a placeholder becomes the field itself, with its type.
pub(super) fn filled(template: Value, input: &Value) -> Value {
    match template {
        Value::String(text) => match whole_reference(&text) {
            Some(path) => field(input, path).cloned().unwrap_or(Value::Null),
            None => Value::String(with_fields(&text, input)),
        },
        Value::Array(items) => items.into_iter().map(|item| filled(item, input)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, filled(value, input))).collect()
        }
        other => other,
    }
}

fn whole_reference(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.strip_suffix('}').filter(|path| !path.contains('}'))
}

fn with_fields(text: &str, input: &Value) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((path, after_path)) = after.split_once('}') else { break };
        filled.push_str(before);
        match field(input, path) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => filled.push_str(text),
            Some(value) => filled.push_str(&value.to_string()),
        }
        rest = after_path;
    }
    filled.push_str(rest);
    filled
}

fn field<'a>(input: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(input, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables() {
        let value = |name: &str| (name == "TOKEN").then(|| "abc".to_owned());
        assert_eq!(expanded("Bearer $TOKEN", value), "Bearer abc");
        assert_eq!(expanded("${TOKEN}x $OTHER! $", value), "abcx ! $");
        assert_eq!(expanded("${unfinished", value), "${unfinished");
    }

    #[test]
    fn fields() {
        let input = json!({"tool_input": {"command": "ls", "n": 2, "list": ["a"]}});
        let template = json!({
            "text": "run ${tool_input.command} ${tool_input.n} times",
            "whole": "${tool_input.n}",
            "first": ["${tool_input.list.0}"],
            "missing": "${nothing.here}",
            "open": "${tool_input.command",
            "kept": 7,
        });
        assert_eq!(
            filled(template, &input),
            json!({
                "text": "run ls 2 times",
                "whole": 2,
                "first": ["a"],
                "missing": null,
                "open": "${tool_input.command",
                "kept": 7,
            })
        );
    }
}
