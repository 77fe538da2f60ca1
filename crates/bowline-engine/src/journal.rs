//! Journal: writes messages to the transcript before they are sent.

mod trail;

use bowline_protocol::{
    AgentId, ApiMessage, AssistantMessage, Content, Extra, LostWrite, Message, MessageUuid,
    PermissionMode, SessionWritesLostMessage, TranscriptMirrorMessage, UserMessage,
};
use bowline_sessions::{
    AssistantLine, CompactMetadata, ContextMessage, Flushed, LastPrompt, SystemLine,
    TranscriptLine, TranscriptWriter, UserLine,
};
use parking_lot::{Mutex, MutexGuard};

pub(crate) use self::trail::KeptTail;
use self::trail::Trail;

/// The transcript of one conversation; empty if it is not written to disk.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    writer: Mutex<Option<TranscriptWriter>>,
    /// The newest lines, also of a conversation that is not written to disk.
    trail: Mutex<Trail>,
}

/// A message to the host about a write: lines to mirror, or writes that were lost.
pub(crate) type WriteNotice = Option<Message>;

impl Journal {
    pub(crate) fn new(writer: Option<TranscriptWriter>) -> Self {
        Self { writer: Mutex::new(writer), trail: Mutex::default() }
    }

    /// Loads the lines of a resumed conversation.
    pub(crate) fn recall(&self, messages: &[ContextMessage]) {
        self.trail.lock().recall(messages);
    }

    /// The last line of the conversation.
    pub(crate) fn leaf(&self) -> Option<MessageUuid> {
        let written = self.with(|writer| writer.leaf().cloned());
        written.or_else(|| self.trail().last())
    }

    /// The ids of the lines of the kept tail of the conversation.
    pub(crate) fn lines_of(&self, kept: KeptTail) -> Vec<MessageUuid> {
        self.trail().lines_of(kept)
    }

    fn trail(&self) -> MutexGuard<'_, Trail> {
        self.trail.lock()
    }

    /// Continues in another transcript (`/clear`).
    pub(crate) fn replace(&self, writer: Option<TranscriptWriter>) {
        *self.writer.lock() = writer;
        *self.trail() = Trail::default();
    }

    /// Writes a message of the user, a tool or the engine.
    pub(crate) fn user(&self, uuid: &MessageUuid, message: &UserMessage) -> WriteNotice {
        self.trail().user(uuid);
        self.write_made(|| user_line(uuid, message))
    }

    /// Writes a prompt that begins a turn, with the mode it was sent in.
    pub(crate) fn prompt(
        &self,
        uuid: &MessageUuid,
        message: &UserMessage,
        mode: PermissionMode,
    ) -> WriteNotice {
        let mut line = user_line(uuid, message);
        let source = if line.is_meta { "system" } else { "sdk" };
        line.prompt_source = Some(source.to_owned());
        line.permission_mode = Some(mode.to_string());
        self.trail().user(uuid);
        self.write(line)
    }

    /// Writes a compaction boundary and the summary that replaces everything before it, in one
    /// flush: a boundary without its summary would lose the conversation.
    pub(crate) fn compaction(
        &self,
        (boundary, metadata): (&MessageUuid, CompactMetadata),
        (summary, text): (&MessageUuid, &str),
    ) -> WriteNotice {
        let mut line = SystemLine::compact_boundary(metadata);
        line.chain.uuid = boundary.clone();
        let mut user_line = UserLine::new(Content::from(text));
        user_line.chain.uuid = summary.clone();
        user_line.is_compact_summary = true;
        user_line.is_visible_in_transcript_only = true;
        self.trail().user(summary);
        self.with(|writer| {
            line.chain.logical_parent_uuid = writer.leaf().cloned();
            writer.push_after(line, None);
            writer.push(user_line);
            flush(writer)
        })
    }

    /// Writes one block of a response.
    pub(crate) fn assistant(&self, uuid: &MessageUuid, message: &AssistantMessage) -> WriteNotice {
        // A synthetic error message is no part of the conversation.
        if message.is_api_error_message != Some(true) {
            self.trail().assistant(uuid, &message.message.id);
        }
        self.write_made(|| assistant_line(uuid, message))
    }

    /// Completes the lines of a response with its stop reason and usage.
    pub(crate) fn end_response(&self, response: &ApiMessage) -> WriteNotice {
        self.with(|writer| {
            if let Err(error) = writer.end_response(response) {
                tracing::warn!(%error, "the end of a response could not be written to the transcript");
            }
            mirror(writer)
        })
    }

    /// Records the last prompt and line of the conversation, for resuming it.
    pub(crate) fn last_prompt(&self, prompt: &str) -> WriteNotice {
        self.with(|writer| {
            writer.end_turn();
            let leaf = writer.leaf().cloned()?;
            writer.note(LastPrompt::new(prompt, leaf, writer.session_id().clone()));
            flush(writer)
        })
    }

    /// The path of the transcript; empty without one.
    pub(crate) fn transcript_path(&self) -> String {
        let path = self.with(|writer| Some(writer.path().display().to_string()));
        path.unwrap_or_default()
    }

    /// The path of a subagent's transcript, existing or not.
    pub(crate) fn subagent_transcript(&self, id: &AgentId) -> String {
        let path = self.with(|writer| Some(writer.files().subagent(id)));
        path.map(|path| path.display().to_string()).unwrap_or_default()
    }

    /// Writes any other line.
    pub(crate) fn write(&self, line: impl Into<TranscriptLine>) -> WriteNotice {
        self.write_made(|| line)
    }

    /// Writes a line that is only made if there is a transcript.
    fn write_made<L: Into<TranscriptLine>>(&self, line: impl FnOnce() -> L) -> WriteNotice {
        self.with(|writer| {
            writer.push(line());
            flush(writer)
        })
    }

    /// Writes a line that is not part of the conversation.
    pub(crate) fn note(&self, line: impl Into<TranscriptLine>) -> WriteNotice {
        self.with(|writer| {
            writer.note(line);
            flush(writer)
        })
    }

    /// Calls `f` with the transcript, if there is one.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut TranscriptWriter) -> Option<T>) -> Option<T> {
        let mut writer = self.writer.lock();
        writer.as_mut().and_then(f)
    }
}

fn user_line(uuid: &MessageUuid, message: &UserMessage) -> UserLine {
    let mut line = UserLine::new(message.message.content.clone());
    line.chain.uuid = uuid.clone();
    line.tool_use_result = message.tool_use_result.as_ref().cloned();
    line.is_meta = message.is_synthetic == Some(true);
    line
}

fn assistant_line(uuid: &MessageUuid, message: &AssistantMessage) -> AssistantLine {
    let mut line = AssistantLine { message: message.message.clone(), ..AssistantLine::default() };
    line.chain.uuid = uuid.clone();
    line.request_id = message.request_id.clone();
    line.is_api_error_message = message.is_api_error_message == Some(true);
    line
}

fn flush(writer: &mut TranscriptWriter) -> WriteNotice {
    match writer.flush() {
        Flushed::Written { .. } => mirror(writer),
        Flushed::Failed(failure) => {
            tracing::warn!(%failure, "the transcript could not be written; the session continues unsaved");
            Some(Message::from(SessionWritesLostMessage {
                error_code: failure.code().to_owned(),
                lost: vec![LostWrite::Transcript],
                transcript_session_ids: Some(vec![writer.session_id().clone()]),
                session_id: writer.session_id().clone(),
                uuid: crate::sink::new_uuid(),
                extra: Extra::new(),
            }))
        }
        Flushed::Dropped => None,
    }
}

/// The newest lines, for a host that keeps a copy.
fn mirror(writer: &mut TranscriptWriter) -> WriteNotice {
    let batch = writer.take_mirror()?;
    Some(Message::from(TranscriptMirrorMessage {
        file_path: batch.file_path.display().to_string(),
        entries: batch.entries,
        ..TranscriptMirrorMessage::default()
    }))
}
