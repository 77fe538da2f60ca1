//! The envelope of a line: all that a relay needs to route it.

use std::borrow::Cow;

use serde::Deserialize;

use crate::wire::ReadError;

/// What a relay reads of a line: where it belongs, nothing of what it says.
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
    /// `request_id` of a control request or its withdrawal.
    #[serde(borrow, default)]
    pub request_id: Option<Cow<'a, str>>,
    /// `session_id`.
    #[serde(borrow, default)]
    pub session_id: Option<Cow<'a, str>>,
}

impl<'a> Head<'a> {
    /// Reads the head of a line.
    pub fn read(line: &'a str) -> Result<Self, ReadError> {
        serde_json::from_str(line).map_err(ReadError::NotAMessage)
    }
}
