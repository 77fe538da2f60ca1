//! Nested values in the front matter of a Markdown file: maps and lists by indentation, read as JSON.
//!
//! Like the rest of the front matter it is a small part of YAML: enough for hooks and servers.

use serde_json::{Map, Value};

/// Reads the lines below a key.
pub(super) fn read(lines: &[&str]) -> Value {
    let mut lines: Vec<(usize, &str)> = lines
        .iter()
        .map(|line| (line.len() - line.trim_start().len(), line.trim()))
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
        .collect();
    let mut place = 0;
    block(&mut lines, &mut place)
}

/// The map or list that begins at `place`; moves `place` past it.
fn block(lines: &mut [(usize, &str)], place: &mut usize) -> Value {
    match lines.get(*place) {
        None => Value::Null,
        Some((indent, text)) if is_item(text) => list(lines, place, *indent),
        Some((indent, _)) => map(lines, place, *indent),
    }
}

fn list(lines: &mut [(usize, &str)], place: &mut usize, indent: usize) -> Value {
    let mut items = Vec::new();
    while let Some((_, text)) = lines.get(*place).filter(|(at, it)| *at == indent && is_item(it)) {
        let rest = text[1..].trim_start();
        if rest.is_empty() {
            *place += 1;
            items.push(deeper(lines, place, indent));
        } else if entry(rest).is_some() {
            // A map whose first entry is on the line of the dash.
            lines[*place] = (indent + text.len() - rest.len(), rest);
            items.push(block(lines, place));
        } else {
            *place += 1;
            items.push(scalar(rest));
        }
    }
    Value::Array(items)
}

fn map(lines: &mut [(usize, &str)], place: &mut usize, indent: usize) -> Value {
    let mut fields = Map::new();
    while let Some((at, text)) = lines.get(*place).copied() {
        let Some((key, value)) = entry(text).filter(|_| at == indent && !is_item(text)) else {
            break;
        };
        *place += 1;
        let value = match value {
            "" if lines.get(*place).is_some_and(|(at, it)| *at == indent && is_item(it)) => {
                list(lines, place, indent)
            }
            "" => deeper(lines, place, indent),
            "|" | "|-" | "|+" | ">" | ">-" | ">+" => {
                let between = if value.starts_with('|') { "\n" } else { " " };
                let rest = &lines[*place..];
                let count = rest.iter().take_while(|(at, _)| *at > indent).count();
                let texts: Vec<_> = rest[..count].iter().map(|(_, text)| *text).collect();
                *place += count;
                Value::String(texts.join(between))
            }
            value => scalar(value),
        };
        fields.insert(unquoted(key), value);
    }
    if fields.is_empty() {
        // An invalid line; without this step the loop would never get past it.
        *place += 1;
    }
    Value::Object(fields)
}

/// The value below a key or a dash; null if there is no deeper line.
fn deeper(lines: &mut [(usize, &str)], place: &mut usize, indent: usize) -> Value {
    match lines.get(*place) {
        Some((at, _)) if *at > indent => block(lines, place),
        _ => Value::Null,
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

fn entry(text: &str) -> Option<(&str, &str)> {
    // JSON in one line, or a quoted text, is not an entry.
    let is_text = text.starts_with(['"', '\'']) && !text.contains("\": ") && !text.contains("': ");
    if text.starts_with(['{', '[']) || is_text {
        return None;
    }
    let (key, value) = text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?;
    Some((key.trim(), value.trim()))
}

fn scalar(text: &str) -> Value {
    let listed = || text.strip_prefix('[')?.strip_suffix(']');
    match (serde_json::from_str(text), listed()) {
        (Ok(value), _) => value,
        (Err(_), Some(items)) => Value::Array(split(items).map(|it| scalar(it.trim())).collect()),
        (Err(_), None) => Value::String(unquoted(text)),
    }
}

/// The items of a one-line list, split at commas outside of quotes.
fn split(items: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    items.split(move |letter: char| {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => return false,
            (None, _) => {}
        }
        letter == ','
    })
}

fn unquoted(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match (inner('"'), inner('\'')) {
        (Some(_), _) => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()),
        (None, Some(inner)) => inner.replace("''", "'"),
        (None, None) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: &Value) {
        assert_eq!(read(&text.lines().collect::<Vec<_>>()), *expected, "{text}");
    }

    #[test]
    fn hooks_as_people_write_them() {
        let text = "  PreToolUse:
    - matcher: \"Bash|Write\"
      hooks:
        - type: command
          command: './check.sh: \"all\"'
          timeout: 5
  # nothing else
  Stop:
  - hooks:
    - {\"type\": \"command\", \"command\": \"true\"}";
        check(
            text,
            &json!({
                "PreToolUse": [{"matcher": "Bash|Write", "hooks": [
                    {"type": "command", "command": "./check.sh: \"all\"", "timeout": 5},
                ]}],
                "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
            }),
        );
    }

    #[test]
    fn odd_ones_come_to_an_end() {
        check("", &Value::Null);
        check("  just words", &json!({}));
        check("  - one\n  - two", &json!(["one", "two"]));
        check("  a: |\n    x\n    y\n  b:", &json!({"a": "x\ny", "b": null}));
        check("  a: [-y, 'b, c', 3]\n  d: []", &json!({"a": ["-y", "b, c", 3], "d": []}));
        check("  -\n    a: true\n  - - x", &json!([{"a": true}, "- x"]));
    }
}
