//! The lines of a transcript.
//!
//! *Chain lines* (prompts, responses, attachments, system notes) each name the
//! line before them and so form a tree, whose newest branch is the conversation.
//! *Notes* (titles, costs, checkpoints) stand outside it.
//!
//! A line is read by its `type`; one that this version does not know is kept
//! byte for byte, and every known one keeps the fields it does not know.

mod chain;
mod note;

use bowline_protocol::{RawJson, ReadError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use chain::*;
pub use note::*;

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TranscriptLine {
    /// A prompt, a tool's result, or the summary of a compaction.
    User(UserLine),
    /// One block of a response.
    Assistant(Box<AssistantLine>),
    /// Context that the agent adds by itself.
    Attachment(AttachmentLine),
    /// A note in the conversation; the boundary of a compaction.
    System(Box<SystemLine>),
    /// A prompt enters or leaves the queue.
    QueueOperation(QueueOperation),
    /// The last prompt, and the line the conversation ends with.
    LastPrompt(LastPrompt),
    /// The title a user gave.
    CustomTitle(CustomTitle),
    /// A generated title.
    AiTitle(AiTitle),
    /// The name given with `--name`.
    AgentName(AgentName),
    /// A label; empty takes it away.
    Tag(Tag),
    /// A generated summary, as older writers had it.
    Summary(Summary),
    /// The mode of the terminal.
    Mode(Mode),
    /// Cost of the session so far.
    CostState(CostState),
    /// The tools used so far.
    ToolsUsed(ToolsUsed),
    /// A prompt before which files can be rewound.
    FileHistorySnapshot(FileHistorySnapshot),
    /// A file as it was before its first edit after a prompt.
    FileHistoryDelta(FileHistoryDelta),
    /// Tool outputs that were replaced by references.
    ContentReplacement(ContentReplacement),
    /// A line this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

macro_rules! read_lines {
    ($json:ident, $kind:expr, { $($tag:literal => $body:ident),* $(,)? }) => {
        match $kind {
            $($tag => {
                let mut body: $body = read_body($tag, $json)?;
                // The tag is the enum's, not an unknown field of the body.
                body.extra.remove("type");
                Ok(Self::from(body))
            })*
            _ => serde_json::from_str($json).map(Self::Unknown).map_err(ReadError::NotAMessage),
        }
    };
}

impl TranscriptLine {
    /// Reads one line.
    pub fn parse(json: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(rename = "type")]
            kind: String,
        }

        let Kind { kind } = serde_json::from_str(json).map_err(ReadError::NotAMessage)?;
        read_lines!(json, kind.as_str(), {
            "user" => UserLine,
            "assistant" => AssistantLine,
            "attachment" => AttachmentLine,
            "system" => SystemLine,
            "queue-operation" => QueueOperation,
            "last-prompt" => LastPrompt,
            "custom-title" => CustomTitle,
            "ai-title" => AiTitle,
            "agent-name" => AgentName,
            "tag" => Tag,
            "summary" => Summary,
            "mode" => Mode,
            "cost-state" => CostState,
            "tools-used" => ToolsUsed,
            "file-history-snapshot" => FileHistorySnapshot,
            "file-history-delta" => FileHistoryDelta,
            "content-replacement" => ContentReplacement,
        })
    }

    /// Its position in the conversation, if it has one.
    pub fn chain(&self) -> Option<&ChainFields> {
        match self {
            Self::User(line) => Some(&line.chain),
            Self::Assistant(line) => Some(&line.chain),
            Self::Attachment(line) => Some(&line.chain),
            Self::System(line) => Some(&line.chain),
            _ => None,
        }
    }

    /// Its position in the conversation, if it has one.
    pub fn chain_mut(&mut self) -> Option<&mut ChainFields> {
        match self {
            Self::User(line) => Some(&mut line.chain),
            Self::Assistant(line) => Some(&mut line.chain),
            Self::Attachment(line) => Some(&mut line.chain),
            Self::System(line) => Some(&mut line.chain),
            _ => None,
        }
    }

    /// The line as it is written, without its newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("transcript lines always serialize")
    }
}

impl<'de> Deserialize<'de> for TranscriptLine {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(from)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

fn read_body<T: DeserializeOwned>(tag: &str, json: &str) -> Result<T, ReadError> {
    serde_json::from_str(json).map_err(|source| {
        // Only failures pay for the path of the bad field.
        let mut reader = serde_json::Deserializer::from_str(json);
        match serde_path_to_error::deserialize::<_, T>(&mut reader) {
            Err(error) => ReadError::BadBody {
                tag: tag.to_owned(),
                field: error.path().to_string(),
                source: error.into_inner(),
            },
            Ok(_) => ReadError::BadBody { tag: tag.to_owned(), field: ".".to_owned(), source },
        }
    })
}

macro_rules! from_body {
    ($($body:ident => $variant:ident),* $(,)?) => {$(
        impl From<$body> for TranscriptLine {
            fn from(body: $body) -> Self {
                Self::$variant(body.into())
            }
        }
    )*};
}
from_body!(
    UserLine => User,
    AssistantLine => Assistant,
    AttachmentLine => Attachment,
    SystemLine => System,
    QueueOperation => QueueOperation,
    LastPrompt => LastPrompt,
    CustomTitle => CustomTitle,
    AiTitle => AiTitle,
    AgentName => AgentName,
    Tag => Tag,
    Summary => Summary,
    Mode => Mode,
    CostState => CostState,
    ToolsUsed => ToolsUsed,
    FileHistorySnapshot => FileHistorySnapshot,
    FileHistoryDelta => FileHistoryDelta,
    ContentReplacement => ContentReplacement,
);
