//! Comparison of a request with recorded ones.

use std::fmt;

use serde_json::{Value, json};

/// The part of a request that has to be the same.
pub(super) fn essence(request: &Value) -> Value {
    let messages = request["messages"].as_array().into_iter().flatten().map(|message| {
        let content = message["content"].as_array().into_iter().flatten();
        let kept: Vec<&Value> = content.filter(|block| !is_reminder(block)).collect();
        json!({ "role": message["role"], "content": kept })
    });
    let tools = request["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]);
    json!({
        "messages": messages.collect::<Vec<_>>(),
        "tools": tools.collect::<Vec<_>>(),
        "tool_choice": request["tool_choice"],
    })
}

/// Text that the engine adds about the machine and the day.
fn is_reminder(block: &Value) -> bool {
    let text = block["text"].as_str().unwrap_or_default();
    block["type"] == "text" && text.trim_start().starts_with("<system-reminder>")
}

/// The first path at which two values differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// As in `messages[2].content[0].text`.
    path: String,
    recorded: Option<Value>,
    requested: Option<Value>,
}

impl Difference {
    /// Compares two essences; `None` if they are the same.
    pub(super) fn find(recorded: &Value, requested: &Value) -> Option<Self> {
        find("", recorded, requested)
    }

    /// Number of common messages at the start.
    pub(super) fn common_messages(recorded: &Value, requested: &Value) -> usize {
        let list = |value: &Value| value["messages"].as_array().cloned().unwrap_or_default();
        list(recorded).iter().zip(&list(requested)).take_while(|(a, b)| a == b).count()
    }
}

fn find(path: &str, recorded: &Value, requested: &Value) -> Option<Difference> {
    let differ = |path: String, recorded: Option<&Value>, requested: Option<&Value>| Difference {
        path,
        recorded: recorded.cloned(),
        requested: requested.cloned(),
    };
    match (recorded, requested) {
        (Value::Object(old), Value::Object(new)) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            old.keys().chain(added).find_map(|key| {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{key}");
                match (old.get(key), new.get(key)) {
                    (Some(old), Some(new)) => find(&path, old, new),
                    (old, new) => Some(differ(path, old, new)),
                }
            })
        }
        (Value::Array(old), Value::Array(new)) => (0..old.len().max(new.len())).find_map(|index| {
            let path = format!("{path}[{index}]");
            match (old.get(index), new.get(index)) {
                (Some(old), Some(new)) => find(&path, old, new),
                (old, new) => Some(differ(path, old, new)),
            }
        }),
        (old, new) if old == new => None,
        (old, new) => Some(differ(path.to_owned(), Some(old), Some(new))),
    }
}

/// Length to which a value is truncated.
const LONGEST_VALUE: usize = 200;

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (recorded, requested) = excerpts(self.recorded.as_ref(), self.requested.as_ref());
        write!(f, "at {}: recorded {recorded}, requested {requested}", self.path)
    }
}

/// Both values, truncated around the first difference.
fn excerpts(recorded: Option<&Value>, requested: Option<&Value>) -> (String, String) {
    let [recorded, requested] = [recorded, requested].map(|value| match value {
        None => "nothing".to_owned(),
        Some(value) => value.to_string(),
    });
    let same = recorded.chars().zip(requested.chars()).take_while(|(a, b)| a == b).count();
    // A little of what is the same helps to find it.
    let skipped = if same > LONGEST_VALUE / 2 { same - LONGEST_VALUE / 4 } else { 0 };
    let excerpt = |text: &str| {
        let before = if skipped > 0 { "…" } else { "" };
        let shown: String = text.chars().skip(skipped).take(LONGEST_VALUE).collect();
        let after = if text.chars().count() > skipped + LONGEST_VALUE { "…" } else { "" };
        format!("{before}{shown}{after}")
    };
    (excerpt(&recorded), excerpt(&requested))
}
