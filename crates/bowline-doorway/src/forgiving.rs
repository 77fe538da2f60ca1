//! What can be made of a line that does not fit its type.
//!
//! A host may be older or newer than this version, or careless. Its prompts are taken as far as they make
//! sense, and an `initialize` with one agent that does not is no reason to have none of it.

use bowline_protocol::{Content, ContentBlock, HostRequest, RawJson, ReadError, UserMessage};
use serde_json::{Map, Value, json};

/// How many parts of an `initialize` are left out before it is refused after all.
const LEFT_OUT: usize = 16;

/// A prompt without the fields that do not fit. `None` if nothing was said that a model could read.
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

/// Blocks that do not fit their kind are passed on as they are: the model's API decides.
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

/// The request without what may be left out of it, or why it makes no sense.
pub(crate) fn request(json: &str, mut error: ReadError) -> Result<HostRequest, ReadError> {
    let mut request: Value = serde_json::from_str(json).unwrap_or_default();
    for _ in 0..LEFT_OUT {
        let ReadError::BadBody { tag, field, .. } = &error else { break };
        let Some(pointer) = dispensable(tag, field) else { break };
        tracing::warn!(%error, "left out a part of a request");
        leave_out(&mut request, &pointer);
        match HostRequest::parse(&request.to_string()) {
            Ok(request) => return Ok(request),
            Err(next) => error = next,
        }
    }
    Err(error)
}

/// The part of a request to leave out for this field not to be in the way, if nothing that protects
/// anybody goes with it.
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

fn leave_out(request: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(fields)) = request.pointer_mut(parent) {
        fields.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_keeps_what_fits() {
        let line = r#"{"type":"user","uuid":7,"priority":"next","shouldQuery":"no","x":1,
            "message":{"role":"user","content":"hello"}}"#;
        let prompt = prompt(line).unwrap();
        assert_eq!(prompt.message.content, Content::from("hello"));
        assert_eq!((prompt.uuid, prompt.should_query), (None, None));
        assert_eq!(prompt.priority.unwrap().as_str(), "next");
        assert_eq!(prompt.extra["x"], json!(1));
    }

    #[test]
    fn what_is_said_twice_is_said_the_second_time() {
        let line =
            r#"{"message":{"role":"user","content":"a"},"message":{"role":"user","content":"b"}}"#;
        assert_eq!(prompt(line).unwrap().message.content, Content::from("b"));
    }

    #[test]
    fn content_is_text_or_objects() {
        let says = |content: Value| {
            let line = json!({"type": "user", "message": {"role": "user", "content": content}});
            prompt(&line.to_string()).map(|prompt| prompt.message.content)
        };
        assert_eq!(says(Value::Null), Some(Content::from("")));
        assert_eq!(says(json!(5)), None);
        assert_eq!(says(json!({"type": "text", "text": "x"})), None);
        assert_eq!(says(json!(["x"])), None);
        let Some(Content::Blocks(blocks)) = says(json!([{"type": "image"}])) else {
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
    fn an_agent_that_makes_no_sense_is_left_out() {
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
    fn a_hook_is_never_left_out() {
        let hooks =
            |matcher: Value| json!({"subtype": "initialize", "hooks": {"PreToolUse": [matcher]}});
        let request = read(hooks(json!({"hookCallbackIds": ["a"], "timeout": "long"})));
        assert_eq!(request, Ok(hooks(json!({"hookCallbackIds": ["a"]}))));
        let refused = read(hooks(json!({"hookCallbackIds": "a"}))).unwrap_err();
        assert!(refused.contains("hookCallbackIds"), "{refused}");
    }

    #[test]
    fn an_interrupt_is_never_refused_for_a_detail() {
        let request = read(json!({"subtype": "interrupt", "cancel_queued": "x"}));
        assert_eq!(request, Ok(json!({"subtype": "interrupt"})));
    }
}
