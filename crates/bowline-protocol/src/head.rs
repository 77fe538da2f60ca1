//! The head of a line: the fields that a relay needs to route it.

use std::borrow::Cow;

use serde::Deserialize;

use crate::wire::ReadError;

/// The routing fields of a line, without its body.
///
/// Bodies are skipped, not parsed, and strings borrow from the line unless they
/// hold escapes.
///
/// ```
/// use bowline_protocol::Head;
///
/// let line = r#"{"session_id":"s1","type":"system","subtype":"init","cwd":"/"}"#;
/// let head = Head::read(line)?;
/// assert_eq!((&*head.kind, head.subtype.as_deref()), ("system", Some("init")));
/// # Ok::<(), bowline_protocol::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Head<'a> {
    /// `type`.
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
    /// `subtype`, where the message itself has one (a control request has it inside).
    #[serde(borrow, default)]
    pub subtype: Option<Cow<'a, str>>,
    /// `request_id` of a control request or its cancellation.
    #[serde(borrow, default)]
    pub request_id: Option<Cow<'a, str>>,
    /// `session_id`.
    #[serde(borrow, default)]
    pub session_id: Option<Cow<'a, str>>,
    /// `uuid` of a message.
    #[serde(borrow, default)]
    pub uuid: Option<Cow<'a, str>>,
}

impl<'a> Head<'a> {
    /// Reads the head of a line.
    ///
    /// Bodies are skipped without being checked: whether they are JSON is found out by the parser of
    /// the whole line.
    pub fn read(line: &'a str) -> Result<Self, ReadError> {
        let fields = fields(line);
        match fields.and_then(|[kind, subtype, request_id, session_id, uuid]| {
            Some(Self {
                kind: text(kind?)?,
                subtype: optional(subtype)?,
                request_id: optional(request_id)?,
                session_id: optional(session_id)?,
                uuid: optional(uuid)?,
            })
        }) {
            Some(head) => Ok(head),
            // For an unusual line the parser's error is better.
            None => serde_json::from_str(line).map_err(ReadError::NotAMessage),
        }
    }
}

/// The fields of a head, each as the JSON text of its value.
fn fields(line: &str) -> Option<[Option<&str>; 5]> {
    let mut fields = [None; 5];
    let mut rest = after(line, "{")?;
    loop {
        let key = &rest[..string_end(rest)?];
        rest = after(&rest[key.len()..], ":")?.trim_ascii_start();
        let value = &rest[..value_end(rest)?];
        match key {
            r#""type""# => fields[0] = Some(value),
            r#""subtype""# => fields[1] = Some(value),
            r#""request_id""# => fields[2] = Some(value),
            r#""session_id""# => fields[3] = Some(value),
            r#""uuid""# => fields[4] = Some(value),
            // A key with escapes may be any of them.
            _ if key.contains('\\') => return None,
            _ => {}
        }
        rest = rest[value.len()..].trim_ascii_start();
        match after(rest, ",") {
            Some(next) => rest = next.trim_ascii_start(),
            None => return after(rest, "}")?.trim_ascii().is_empty().then_some(fields),
        }
    }
}

fn after<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    text.trim_ascii_start().strip_prefix(token).map(str::trim_ascii_start)
}

/// The end of the string that `text` begins with.
fn string_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = (*bytes.first()? == b'"').then_some(1)?;
    loop {
        at += memchr::memchr(b'"', bytes.get(at..)?)? + 1;
        // Backslashes come in pairs but for one that escapes the quote. To look back from the
        // few quotes is faster than to stop at each escape.
        let escapes = bytes[..at - 1].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes % 2 == 0 {
            return Some(at);
        }
    }
}

/// The end of the value that `text` begins with.
fn value_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => at += string_end(&text[at..])?,
            b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
            b'}' | b']' if depth > 0 => (depth, at) = (depth - 1, at + 1),
            b',' | b':' if depth > 0 => at += 1,
            b'}' | b']' | b',' | b':' => return None,
            // A number, a literal or white space, up to the next delimiter.
            _ => {
                let length = bytes[at..].iter().position(|byte| b",:]}[{\"".contains(byte))?;
                at += length;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn text(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    match inner.contains('\\') {
        true => serde_json::from_str(value).ok().map(Cow::Owned),
        false => Some(Cow::Borrowed(inner)),
    }
}

fn optional(value: Option<&str>) -> Option<Option<Cow<'_, str>>> {
    match value.map(str::trim_ascii_end) {
        None | Some("null") => Some(None),
        Some(value) => text(value).map(Some),
    }
}
