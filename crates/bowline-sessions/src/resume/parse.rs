//! Transcript lines: position and, read in the same pass, content.

use bowline_protocol::{Content, ContentBlock, MessageUuid};
use serde::Deserialize;

use crate::{
    head::{Id, Kind, LineHead, Present},
    line::{AttachmentLine, SystemLine},
    scan::Span,
};

/// A line of the conversation, parsed.
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    User(MessageLine),
    Assistant(MessageLine),
    Attachment(Box<AttachmentLine>),
    Boundary(Box<SystemLine>),
    /// Nothing for the conversation, or a line that does not fit: a hole that the fold closes.
    Nothing,
}

/// Needed fields of a conversation line; the rest is skipped.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageLine {
    #[serde(default)]
    pub(super) uuid: MessageUuid,
    pub(super) message: MessageBody,
    #[serde(default)]
    pub(super) is_meta: bool,
    #[serde(default)]
    pub(super) is_compact_summary: bool,
    #[serde(default)]
    pub(super) is_api_error_message: bool,
    #[serde(default)]
    pub(super) queue_transcript_only: bool,
    #[serde(default)]
    pub(super) permission_mode: Option<String>,
    #[serde(default)]
    pub(super) supersedes_uuids: Vec<MessageUuid>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct MessageBody {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) model: Option<String>,
    pub(super) content: Content,
}

impl Parsed {
    pub(super) fn read(kind: Kind, line: &[u8]) -> Self {
        match kind {
            Kind::User => serde_json::from_slice(line).map(Self::User),
            Kind::Assistant => serde_json::from_slice(line).map(Self::Assistant),
            Kind::Attachment => serde_json::from_slice(line).map(Self::Attachment),
            Kind::CompactBoundary => serde_json::from_slice(line).map(Self::Boundary),
            _ => Ok(Self::Nothing),
        }
        .unwrap_or(Self::Nothing)
    }
}

/// A line that was met.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) head: LineHead,
    /// Its content, if that was read on the way.
    pub(super) parsed: Option<Parsed>,
}

/// How much is read of lines that may not be live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Heads only: most will not be live.
    Heads,
    /// Messages as a whole: most will be, and reading them twice would be most of the work.
    Whole,
}

impl Line {
    /// Reads a line; `None` for what is no JSON object with a type.
    pub(super) fn read(span: Span, line: &[u8], depth: Depth) -> Option<Self> {
        let whole = match depth {
            Depth::Whole => serde_json::from_slice::<WholeLine>(line).ok(),
            Depth::Heads => None,
        };
        // What does not fit, or has blocks that only a look at the head understands.
        let whole = whole.and_then(|whole| whole.into_line(span));
        whole.or_else(|| LineHead::read(span, line).map(|head| Self { head, parsed: None }))
    }
}

/// A prompt, a result or a response: the fields of its head and of the conversation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholeLine {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    uuid: Option<MessageUuid>,
    #[serde(default)]
    parent_uuid: Option<Id>,
    message: MessageBody,
    #[serde(rename = "sourceToolAssistantUUID", default)]
    source: Option<Id>,
    #[serde(default)]
    is_sidechain: Option<bool>,
    #[serde(default)]
    team_name: Option<Present>,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(default)]
    is_api_error_message: bool,
    #[serde(default)]
    queue_transcript_only: bool,
    #[serde(default)]
    permission_mode: Option<String>,
    #[serde(default)]
    supersedes_uuids: Vec<MessageUuid>,
}

impl WholeLine {
    fn into_line(self, span: Span) -> Option<Line> {
        let (calls, has_result) = calls_in(&self.message.content)?;
        let response = self.message.id.as_deref().filter(|_| self.kind == Kind::Assistant);
        let head = LineHead {
            span,
            kind: self.kind,
            uuid: self.uuid.as_ref().map(|uuid| Id::new(uuid.as_str())),
            parent: self.parent_uuid,
            response: response.map(Id::new),
            source: self.source,
            calls,
            has_result,
            is_sidechain: self.is_sidechain.unwrap_or_default(),
            is_meta: self.is_meta,
            has_team: self.team_name.is_some_and(|Present(is)| is),
            leaf: None,
        };
        let message = MessageLine {
            uuid: self.uuid.unwrap_or_default(),
            message: self.message,
            is_meta: self.is_meta,
            is_compact_summary: self.is_compact_summary,
            is_api_error_message: self.is_api_error_message,
            queue_transcript_only: self.queue_transcript_only,
            permission_mode: self.permission_mode,
            supersedes_uuids: self.supersedes_uuids,
        };
        let parsed = match head.kind {
            Kind::User => Parsed::User(message),
            Kind::Assistant => Parsed::Assistant(message),
            _ => return None,
        };
        Some(Line { head, parsed: Some(parsed) })
    }
}

/// The calls that some content makes or has results of, and whether it has results; `None` if there are
/// blocks of which that is not known.
fn calls_in(content: &Content) -> Option<(Vec<Id>, bool)> {
    let blocks = match content {
        Content::Text(_) => return Some((Vec::new(), false)),
        Content::Blocks(blocks) => blocks,
    };
    let (mut calls, mut has_result) = (Vec::new(), false);
    for block in blocks {
        match block {
            ContentBlock::Text(_) | ContentBlock::Thinking(_) => {}
            ContentBlock::ToolUse(call) => calls.push(Id::new(call.id.as_str())),
            ContentBlock::ToolResult(result) => {
                has_result = true;
                calls.push(Id::new(result.tool_use_id.as_str()));
            }
            _ => return None,
        }
    }
    Some((calls, has_result))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Lines that the official CLI wrote, and some invalid ones.
    fn lines() -> Vec<String> {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
        let files = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
        let texts = files.filter_map(|path| fs::read_to_string(path).ok());
        let mut lines: Vec<String> =
            texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        lines.extend(
            [
                r#"{"type":"user","message":{"role":"user","content":null}}"#,
                r#"{"type":"user","uuid":"u","isMeta":null,"message":{"content":"x"}}"#,
                r#"{"type":"progress","uuid":"u","message":{"content":"x"}}"#,
                r#"{"type":"assistant","message":{"id":"m","content":[{"type":"odd","id":"t"}]}}"#,
                r#"{"type":"assistant","teamName":"t","message":{"id":null,"content":[
                    {"type":"server_tool_use","id":"t","name":"n","input":{}}]}}"#,
                r#"{"type":"user","isSidechain":true,"message":{"content":[
                    {"type":"tool_result","tool_use_id":"t"}]}}"#,
            ]
            .map(str::to_owned),
        );
        lines
    }

    #[test]
    fn one_pass_parse_equals_head_then_line() {
        let span = Span { offset: 0, length: 0 };
        let mut parsed = 0;
        for text in lines() {
            let whole = Line::read(span, text.as_bytes(), Depth::Whole);
            let head = Line::read(span, text.as_bytes(), Depth::Heads);
            let Some((whole, head)) = whole.zip(head) else { continue };
            assert_eq!(whole.head, head.head, "{text}");
            if let Some(read) = whole.parsed {
                assert_eq!(read, Parsed::read(whole.head.kind, text.as_bytes()), "{text}");
                parsed += 1;
            }
        }
        assert!(parsed > 20, "only {parsed} messages were parsed");
    }
}
