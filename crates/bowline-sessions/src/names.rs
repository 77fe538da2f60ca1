//! Names of a session, repeated near the end of its transcript: listings read its two ends
//! only, and a name given in the middle would be in neither once the session grows.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
};

use bowline_protocol::{Extra, SessionId};

use crate::{
    info::END,
    line::{AgentName, AiTitle, CustomTitle, Tag, TranscriptLine},
};

/// Names are repeated when this much has been written after them, so that a listing still finds
/// them when another process appends a note.
const FAR: u64 = END / 2;

/// The names that a session has, and where they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) custom_title: Option<String>,
    pub(crate) ai_title: Option<String>,
    pub(crate) agent_name: Option<String>,
    pub(crate) tag: Option<String>,
    /// Offset of the first of them in the transcript.
    pub(crate) at: u64,
}

impl Names {
    /// Whether a line gives or takes away a name.
    pub(crate) fn is_name(line: &TranscriptLine) -> bool {
        matches!(
            line,
            TranscriptLine::CustomTitle(_)
                | TranscriptLine::AiTitle(_)
                | TranscriptLine::AgentName(_)
                | TranscriptLine::Tag(_)
        )
    }

    /// Records the name in a line at `offset`.
    pub(crate) fn observe(&mut self, line: &TranscriptLine, offset: u64) {
        let had_none = self.is_empty();
        match line {
            TranscriptLine::CustomTitle(it) => self.custom_title = Some(it.custom_title.clone()),
            TranscriptLine::AiTitle(it) => self.ai_title = Some(it.ai_title.clone()),
            TranscriptLine::AgentName(it) => self.agent_name = Some(it.agent_name.clone()),
            TranscriptLine::Tag(it) => {
                self.tag = Some(it.tag.clone()).filter(|tag| !tag.is_empty());
            }
            _ => return,
        }
        if had_none {
            self.at = offset;
        }
    }

    /// Remembers the names that others have given in this part of the transcript. One that cannot be
    /// read is left out: it stands in the transcript all the same.
    pub(crate) fn hear_others(&mut self, mut file: &File, from: u64, to: u64) {
        let mut bytes = Vec::new();
        let part = to.saturating_sub(from).min(END);
        let read =
            file.seek(SeekFrom::Start(from)).and_then(|_| file.take(part).read_to_end(&mut bytes));
        if read.is_err() {
            return;
        }
        let lines =
            bytes.split(|byte| *byte == b'\n').filter_map(|it| std::str::from_utf8(it).ok());
        for line in lines.filter_map(|line| TranscriptLine::parse(line).ok()) {
            self.observe(&line, from);
        }
    }

    /// The names to repeat at `end`, where a transcript is about to end, if they are far from
    /// there.
    pub(crate) fn due(&mut self, end: u64, session: &SessionId) -> Vec<TranscriptLine> {
        if self.is_empty() || end.saturating_sub(self.at) < FAR {
            return Vec::new();
        }
        self.at = end;
        let (session_id, extra) = (|| session.clone(), Extra::new);
        let custom_title = self.custom_title.clone().map(|custom_title| {
            CustomTitle { custom_title, session_id: session_id(), extra: extra() }.into()
        });
        let ai_title = self
            .ai_title
            .clone()
            .map(|ai_title| AiTitle { ai_title, session_id: session_id(), extra: extra() }.into());
        let agent_name = self.agent_name.clone().map(|agent_name| {
            AgentName { agent_name, session_id: session_id(), extra: extra() }.into()
        });
        let tag = self
            .tag
            .clone()
            .map(|tag| Tag { tag, session_id: session_id(), extra: extra() }.into());
        [custom_title, ai_title, agent_name, tag].into_iter().flatten().collect()
    }

    fn is_empty(&self) -> bool {
        let names = [&self.custom_title, &self.ai_title, &self.agent_name, &self.tag];
        names.into_iter().all(Option::is_none)
    }
}
