//! Taking a session up again: from a transcript to the conversation the model will see.
//!
//! Three steps: [`walk`] finds the live lines from the file's end, reading heads only; this file
//! reads those lines; [`fold`] makes them a valid conversation.

mod fold;
mod walk;

use std::{io, path::Path};

use bowline_protocol::{Content, MessageUuid, RawJson, Usage};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    SessionError,
    context::{KnownLines, LiveContext},
    head::{Id, Kind, LineHead},
    info::TITLE_KEYS,
    line::{AiTitle, AttachmentLine, CostState, CustomTitle, Mode, SystemLine, Tag, ToolsUsed},
    scan::LineReader,
};
use fold::{Fold, Said};
use walk::{End, Found, NoteKind, Speaker};

/// Where a session is taken up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ResumeAt {
    /// At its end.
    #[default]
    End,
    /// Behind this message, which stays; what was said after it does not.
    Message(MessageUuid),
}

/// Reads the conversation of a session's main transcript.
///
/// The cost follows the live conversation, not the age of the session: what came before the last
/// compaction is not read.
pub fn resume(transcript: &Path, at: &ResumeAt) -> Result<LiveContext, SessionError> {
    load(transcript, Speaker::Session, at)
}

/// Reads the conversation of a subagent's transcript.
pub fn resume_subagent(transcript: &Path) -> Result<LiveContext, SessionError> {
    load(transcript, Speaker::Subagent, &ResumeAt::End)
}

fn load(path: &Path, speaker: Speaker, at: &ResumeAt) -> Result<LiveContext, SessionError> {
    let end = match at {
        ResumeAt::End => End::Newest,
        ResumeAt::Message(uuid) => End::Line(Id::new(uuid.as_str())),
    };
    let found = walk::find(path, speaker, end).map_err(SessionError::io(path))?;
    let Some(found) = found else {
        let ResumeAt::Message(uuid) = at else { return Ok(LiveContext::default()) };
        return Err(SessionError::NoSuchMessage(uuid.clone()));
    };
    read(path, found).map_err(SessionError::io(path))
}

/// What is needed of a line of the conversation; the rest of it is skipped.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageLine {
    #[serde(default)]
    uuid: MessageUuid,
    message: MessageBody,
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

#[derive(Deserialize)]
struct MessageBody {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    content: Content,
    #[serde(default)]
    usage: Option<Usage>,
}

fn read(path: &Path, found: Found) -> io::Result<LiveContext> {
    let mut reader = LineReader::open(path)?;
    let mut context = LiveContext { known: KnownLines(found.known), ..LiveContext::default() };
    let mut fold = Fold::default();
    let mut leaf = None;
    for head in &found.lines {
        let line = reader.line(head.span)?;
        if head.kind == Kind::CompactBoundary {
            let boundary = serde_json::from_slice::<SystemLine>(line).ok();
            context.compaction = boundary.and_then(|boundary| boundary.compact_metadata);
        }
        if head.kind.is_message() {
            // A line that does not fit is a hole in the conversation, which the fold closes.
            if let Ok(message) = serde_json::from_slice::<MessageLine>(line) {
                take_message(&mut fold, &mut context, head, message);
            }
        }
        if head.kind == Kind::Attachment
            && let Ok(attachment) = serde_json::from_slice::<AttachmentLine>(line)
        {
            fold.attach(attachment);
        }
        if head.uuid.is_some() {
            leaf = Some(head);
        }
    }
    if let Some(head) = leaf {
        context.leaf = name_of_line(reader.line(head.span)?);
    }
    fold.finish(&mut context);
    read_notes(path, &mut reader, &found.notes, &mut context)?;
    Ok(context)
}

fn take_message(fold: &mut Fold, context: &mut LiveContext, head: &LineHead, line: MessageLine) {
    if line.permission_mode.is_some() {
        context.permission_mode = line.permission_mode;
    }
    // What the agent said in place of the model is not sent to the model.
    if line.is_api_error_message || line.queue_transcript_only {
        return;
    }
    fold.supersede(&line.supersedes_uuids);
    let MessageBody { id, model, content, usage } = line.message;
    if head.kind == Kind::Assistant {
        let speaks = model.filter(|model| !model.starts_with('<'));
        context.model = speaks.or(context.model.take());
        fold.answer(line.uuid, id, content.into_blocks(), usage);
    } else {
        let said = match (line.is_compact_summary, line.is_meta) {
            (true, _) => Said::Summary,
            (false, true) => Said::Meta,
            (false, false) => Said::Prompt,
        };
        fold.user(line.uuid, said, content.into_blocks());
    }
}

fn read_notes(
    path: &Path,
    reader: &mut LineReader,
    notes: &std::collections::HashMap<NoteKind, crate::scan::Span>,
    context: &mut LiveContext,
) -> io::Result<()> {
    let mut note = |kind| -> io::Result<Option<RawJson>> {
        let Some(&span) = notes.get(&kind) else { return Ok(None) };
        Ok(serde_json::from_slice(reader.line(span)?).ok())
    };
    fn parse<T: DeserializeOwned>(note: Option<RawJson>) -> Option<T> {
        note?.parse().ok()
    }

    let custom = parse::<CustomTitle>(note(NoteKind::CustomTitle)?).map(|note| note.custom_title);
    let generated = parse::<AiTitle>(note(NoteKind::AiTitle)?).map(|note| note.ai_title);
    context.title = custom.or(generated);
    context.tag = parse::<Tag>(note(NoteKind::Tag)?).map(|note| note.tag);
    context.tag.take_if(|tag| tag.is_empty());
    context.mode = parse::<Mode>(note(NoteKind::Mode)?).map(|note| note.mode);
    context.cost = parse::<CostState>(note(NoteKind::CostState)?);
    let tools = parse::<ToolsUsed>(note(NoteKind::ToolsUsed)?);
    context.tools_used = tools.map(|note| note.tools).unwrap_or_default();
    if context.title.is_none() {
        // A title may stand before the last compaction; listings find it at the file's beginning.
        let head = crate::info::Ends::read(path)?.map(|ends| ends.head).unwrap_or_default();
        context.title = TITLE_KEYS.iter().find_map(|key| crate::info::last_text(&head, key));
    }
    Ok(())
}

fn name_of_line(line: &[u8]) -> Option<MessageUuid> {
    #[derive(Deserialize)]
    struct Named {
        uuid: MessageUuid,
    }
    serde_json::from_slice::<Named>(line).ok().map(|Named { uuid }| uuid)
}
