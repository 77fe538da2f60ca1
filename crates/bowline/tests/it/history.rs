//! Validity of conversations for the API, checked without any code of ours.

use std::collections::HashSet;

use serde_json::Value;

/// Describes the first fault in the messages of a request.
pub(crate) fn check(messages: &Value) -> Result<(), String> {
    let messages = messages.as_array().ok_or("no messages")?;
    let none = Vec::new();
    let mut calls: HashSet<&str> = HashSet::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for (position, message) in messages.iter().enumerate() {
        let expected = if position % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Err(format!("message {position} is not the {expected}'s"));
        }
        let blocks = message["content"].as_array().unwrap_or(&none);
        if blocks.is_empty() && message["content"].as_str().is_none_or(str::is_empty) {
            return Err(format!("message {position} is empty"));
        }
        for block in blocks {
            match block["type"].as_str() {
                Some("tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    if !calls.remove(id) {
                        return Err(format!(
                            "message {position} has a result for {id}, which was not called"
                        ));
                    }
                }
                Some("text") if block["text"].as_str().is_none_or(|it| it.trim().is_empty()) => {
                    return Err(format!("message {position} has an empty text"));
                }
                _ => {}
            }
        }
        if let Some(open) = calls.iter().next() {
            return Err(format!("message {position} has no result for {open}"));
        }
        let asked = blocks.iter().filter(|block| block["type"] == "tool_use");
        for id in asked.filter_map(|block| block["id"].as_str()) {
            calls.insert(id);
            if !seen.insert(id) {
                return Err(format!("message {position} calls {id} a second time"));
            }
        }
    }
    match messages.last() {
        Some(last) if last["role"] == "user" => Ok(()),
        _ => Err("the last message is not the user's".to_owned()),
    }
}

#[test]
fn invalid_histories_are_detected() {
    let user = |content: &str| format!(r#"{{"role":"user","content":{content}}}"#);
    let model = |content: &str| format!(r#"{{"role":"assistant","content":{content}}}"#);
    let (call, result) =
        (r#"[{"type":"tool_use","id":"t"}]"#, r#"[{"type":"tool_result","tool_use_id":"t"}]"#);
    let hello = user(r#""hello""#);
    for (messages, fits) in [
        (vec![hello.clone()], true),
        (vec![hello.clone(), model(call), user(result)], true),
        (vec![], false),
        (vec![hello.clone(), hello.clone()], false),
        (vec![hello.clone(), model(r#""hi""#)], false),
        (vec![hello.clone(), model(call), hello.clone()], false),
        (vec![user(result)], false),
        (vec![hello.clone(), model(call), user(result), model(call), user(result)], false),
        (vec![hello, model(r#"[{"type":"text","text":" "}]"#), user(r#""so""#)], false),
    ] {
        let text = format!("[{}]", messages.join(","));
        let parsed = serde_json::from_str(&text).unwrap();
        assert_eq!(check(&parsed).is_ok(), fits, "{text}");
    }
}
