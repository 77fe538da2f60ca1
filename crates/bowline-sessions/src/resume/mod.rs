//! Taking a session up again: from a transcript to the conversation the model will see.
//!
//! Three steps: [`walk`] finds the live lines from the file's end; [`parse`] reads them on the way;
//! [`fold`] makes them a valid conversation.

mod fold;
mod parse;
mod walk;

use std::{collections::HashMap, io, path::Path, thread};

use bowline_protocol::{MessageUuid, RawJson, Usage};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    SessionError,
    context::{KnownLines, LiveContext},
    head::{Id, Kind},
    info::{Ends, TITLE_KEYS},
    line::{AiTitle, CostState, CustomTitle, Mode, Tag, ToolsUsed, TranscriptLine},
    names::Names,
    scan::{LineReader, Span},
};
use fold::{Fold, UserLineKind};
use parse::{MessageBody, MessageLine, Parsed};
use walk::{End, Found, NoteKind, Speaker};

/// Point at which a session is resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ResumeAt {
    /// At its end.
    #[default]
    End,
    /// After this message, which stays; later ones are dropped.
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

fn read(path: &Path, found: Found) -> io::Result<LiveContext> {
    let leaf = found.last(|head| head.uuid.is_some());
    let response = found.last(|head| head.kind == Kind::Assistant);
    let Found { order, heads, mut parsed, known, notes } = found;
    let mut context = LiveContext { known: KnownLines(known), ..LiveContext::default() };
    let mut fold = Fold::default();
    let mut reader = LineReader::open(path)?;
    for index in order {
        let line = match parsed[index].take() {
            Some(line) => line,
            None => Parsed::read(heads[index].kind, reader.line(heads[index].span)?),
        };
        match line {
            Parsed::User(line) => take_prompt(&mut fold, &mut context, line),
            Parsed::Assistant(line) => take_answer(&mut fold, &mut context, line),
            Parsed::Attachment(line) => fold.attach(*line),
            Parsed::Boundary(line) => context.compaction = line.compact_metadata,
            Parsed::Nothing => {}
        }
    }
    fold.finish(&mut context);
    if let Some(span) = leaf {
        context.leaf = name_of_line(reader.line(span)?);
    }
    if let Some(span) = response {
        context.usage = usage_of_line(reader.line(span)?);
    }
    read_notes(path, &mut reader, &notes, &mut context)?;
    Ok(context)
}

/// More threads than this wait for one another's memory.
const MOST_THREADS: usize = 4;

/// Number of threads for a file.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

fn take_prompt(fold: &mut Fold, context: &mut LiveContext, line: MessageLine) {
    if line.permission_mode.is_some() {
        context.permission_mode = line.permission_mode;
    }
    if line.queue_transcript_only {
        return;
    }
    let kind_of_line = match (line.is_compact_summary, line.is_meta) {
        (true, _) => UserLineKind::Summary,
        (false, true) => UserLineKind::Meta,
        (false, false) => UserLineKind::Prompt,
    };
    fold.user(line.uuid, kind_of_line, line.message.content.into_blocks());
}

fn take_answer(fold: &mut Fold, context: &mut LiveContext, line: MessageLine) {
    // Synthetic assistant messages are not sent to the model.
    if line.is_api_error_message {
        return;
    }
    fold.supersede(&line.supersedes_uuids);
    let MessageBody { id, model, content } = line.message;
    let speaker = model.filter(|model| !model.starts_with('<'));
    context.model = speaker.or(context.model.take());
    fold.response(line.uuid, id, content.into_blocks());
}

fn read_notes(
    path: &Path,
    reader: &mut LineReader,
    notes: &HashMap<NoteKind, Span>,
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
    context.tag = parse::<Tag>(note(NoteKind::Tag)?).map(|note| note.tag);
    context.tag.take_if(|tag| tag.is_empty());
    context.mode = parse::<Mode>(note(NoteKind::Mode)?).map(|note| note.mode);
    context.cost = parse::<CostState>(note(NoteKind::CostState)?);
    let tools = parse::<ToolsUsed>(note(NoteKind::ToolsUsed)?);
    context.tools_used = tools.map(|note| note.tools).unwrap_or_default();
    let kinds = [NoteKind::CustomTitle, NoteKind::AiTitle, NoteKind::Tag];
    let first = kinds.iter().filter_map(|kind| notes.get(kind)).map(|span| span.offset).min();
    context.names = Names {
        custom_title: custom,
        ai_title: generated,
        tag: context.tag.clone(),
        agent_name: None,
        at: first.unwrap_or(0),
    };
    let names = &mut context.names;
    if names.custom_title.is_none() && names.ai_title.is_none() {
        // A title may stand before the last compaction; it is where listings find it.
        let ends = Ends::read(path)?.unwrap_or_default();
        let lines = ends.head.lines().chain(ends.tail().lines());
        let titles = lines.filter(|line| TITLE_KEYS.iter().any(|key| line.contains(key)));
        for title in titles.filter_map(|line| TranscriptLine::parse(line).ok()) {
            names.observe(&title, 0);
        }
        names.at = 0;
    }
    context.title = names.custom_title.clone().or_else(|| names.ai_title.clone());
    Ok(())
}

fn name_of_line(line: &[u8]) -> Option<MessageUuid> {
    #[derive(Deserialize)]
    struct Named {
        uuid: MessageUuid,
    }
    serde_json::from_slice::<Named>(line).ok().map(|Named { uuid }| uuid)
}

fn usage_of_line(line: &[u8]) -> Option<Usage> {
    #[derive(Deserialize)]
    struct Line {
        message: Body,
    }
    #[derive(Deserialize)]
    struct Body {
        usage: Usage,
    }
    serde_json::from_slice::<Line>(line).ok().map(|line| line.message.usage)
}
