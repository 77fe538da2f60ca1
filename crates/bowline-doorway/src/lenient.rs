//! Lenient parsing of lines with invalid fields.
//!
//! A host may be older or newer than this version, or careless. Its prompts are accepted without their
//! invalid fields, and one invalid agent does not invalidate a whole `initialize`.

use bowline_protocol::{Content, ContentBlock, HostRequest, RawJson, ReadError, UserMessage};
use serde_json::{Map, Value, json};

/// How many parts of an `initialize` are dropped before it is refused after all.
const MAX_DROPPED: usize = 16;

/// A prompt without its invalid fields. `None` if its content is neither text nor blocks.
pub(crate) fn prompt(line: &str) -> Option<UserMessage> {
    let mut fields: Map<String, Value> = serde_json::from_str(line).ok()?;
    let mut body: Map<String, Value> = serde_json::from_value(fields.remove("message")?).ok()?;
    let content = content(body.remove("content").unwrap_or_default())?;
    fields.remove("type");
    fields.retain(|name, value| {
        let probe = json!({"message": {"role": "user", "content": ""}, name: value});
        serde_json::from_value::<UserMessage>(probe).is_ok()
    });
    fields.insert("message".to_owned(), json!({"role": "user", "content": ""}));
    let mut prompt: UserMessage = serde_json::from_value(Value::Object(fields)).ok()?;
    prompt.message.content = content;
    Some(prompt)
}

/// Blocks with invalid fields are passed on as they are: the model's API decides.
fn content(value: Value) -> Option<Content> {
    match value {
        Value::Null => Some(Content::from("")),
        Value::String(text) => Some(Content::Text(text)),
        Value::Array(blocks) if blocks.iter().all(Value::is_object) => {
            let block = |value: Value| {
                let raw = RawJson::from(value);
                raw.parse().unwrap_or(ContentBlock::Unknown(raw))
            };
            Some(Content::Blocks(blocks.into_iter().map(block).collect()))
        }
        _ => None,
    }
}

/// The request without its dispensable invalid parts, or the error of one that is not dispensable.
pub(crate) fn request(json: &str, mut error: ReadError) -> Result<HostRequest, ReadError> {
    let mut request: Value = serde_json::from_str(json).unwrap_or_default();
    for _ in 0..MAX_DROPPED {
        let ReadError::BadBody { tag, field, .. } = &error else { break };
        let Some(pointer) = dispensable(tag, field) else { break };
        tracing::warn!(%error, "dropped an invalid part of a request");
        drop_part(&mut request, &pointer);
        match HostRequest::parse(&request.to_string()) {
            Ok(request) => return Ok(request),
            Err(next) => error = next,
        }
    }
    Err(error)
}

/// The part of a request to drop with this field, unless it is a safeguard: hooks are never dropped.
fn dispensable(tag: &str, field: &str) -> Option<String> {
    let path: Vec<&str> =
        field.split(['.', '[', ']']).filter(|segment| !segment.is_empty()).collect();
    let kept = match (tag, path.as_slice()) {
        ("initialize", ["agents", _, ..]) => 2,
        ("initialize", ["agents" | "title" | "systemPrompt" | "appendSystemPrompt", ..]) => 1,
        ("initialize", ["hooks", _, _, "timeout"]) => 4,
        ("interrupt", ["cancel_queued"]) => 1,
        _ => return None,
    };
    Some(path[..kept].iter().flat_map(|segment| ["/", segment]).collect())
}

fn drop_part(request: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(fields)) = request.pointer_mut(parent) {
        fields.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_keeps_its_valid_fields() {
        let line = r#"{"type":"user","uuid":7,"priority":"next","shouldQuery":"no","x":1,
            "message":{"role":"user","content":"hello"}}"#;
        let prompt = prompt(line).unwrap();
        assert_eq!(prompt.message.content, Content::from("hello"));
        assert_eq!((prompt.uuid, prompt.should_query), (None, None));
        assert_eq!(prompt.priority.unwrap().as_str(), "next");
        assert_eq!(prompt.extra["x"], json!(1));
    }

    #[test]
    fn duplicate_message_key_last_wins() {
        let line =
            r#"{"message":{"role":"user","content":"a"},"message":{"role":"user","content":"b"}}"#;
        assert_eq!(prompt(line).unwrap().message.content, Content::from("b"));
    }

    #[test]
    fn content_is_text_or_objects() {
        let content_of = |content: Value| {
            let line = json!({"type": "user", "message": {"role": "user", "content": content}});
            prompt(&line.to_string()).map(|prompt| prompt.message.content)
        };
        assert_eq!(content_of(Value::Null), Some(Content::from("")));
        assert_eq!(content_of(json!(5)), None);
        assert_eq!(content_of(json!({"type": "text", "text": "x"})), None);
        assert_eq!(content_of(json!(["x"])), None);
        let Some(Content::Blocks(blocks)) = content_of(json!([{"type": "image"}])) else {
            panic!("no blocks")
        };
        assert!(
            matches!(&blocks[..], [ContentBlock::Unknown(raw)] if raw.get() == r#"{"type":"image"}"#)
        );
    }

    fn read(request: Value) -> Result<Value, String> {
        let json = request.to_string();
        let error = HostRequest::parse(&json).unwrap_err();
        let request = super::request(&json, error).map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(request).unwrap())
    }

    #[test]
    fn invalid_agent_is_dropped() {
        let request = read(json!({"subtype": "initialize", "title": 5, "agents": {
            "good": {"description": "d", "prompt": "p"},
            "no prompt": {"description": "d"},
            "bad tools": {"description": "d", "prompt": "p", "tools": "Read"},
        }}));
        let expected = json!({"subtype": "initialize",
            "agents": {"good": {"description": "d", "prompt": "p"}}});
        assert_eq!(request, Ok(expected));
    }

    #[test]
    fn hook_is_never_dropped() {
        let hooks =
            |matcher: Value| json!({"subtype": "initialize", "hooks": {"PreToolUse": [matcher]}});
        let request = read(hooks(json!({"hookCallbackIds": ["a"], "timeout": "long"})));
        assert_eq!(request, Ok(hooks(json!({"hookCallbackIds": ["a"]}))));
        let refused = read(hooks(json!({"hookCallbackIds": "a"}))).unwrap_err();
        assert!(refused.contains("hookCallbackIds"), "{refused}");
    }

    #[test]
    fn interrupt_is_accepted_without_its_invalid_field() {
        let request = read(json!({"subtype": "interrupt", "cancel_queued": "x"}));
        assert_eq!(request, Ok(json!({"subtype": "interrupt"})));
    }
}
