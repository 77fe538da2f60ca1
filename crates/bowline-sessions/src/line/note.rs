//! Lines beside the conversation: titles, labels, costs, queue, checkpoints.

use std::collections::BTreeMap;

use bowline_protocol::{Extra, MessageUuid, RawJson, SessionId};
use serde::{Deserialize, Serialize};

/// Declares the body of a line: camel case on disk, unknown fields kept.
macro_rules! note {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $kind,)*
            /// Fields this version does not know.
            #[serde(flatten)]
            pub extra: Extra,
        }
    };
}

note! {
    /// A prompt enters or leaves the queue.
    QueueOperation {
        /// `enqueue`, `dequeue` or `remove`.
        operation: String,
        /// When.
        timestamp: String,
        /// The session.
        session_id: SessionId,
        /// The prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
    }
}

note! {
    /// The last prompt, and the line the conversation ends with.
    LastPrompt {
        /// The prompt on one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_prompt: Option<String>,
        /// Leaf at which a resumed session continues.
        #[serde(default)]
        leaf_uuid: MessageUuid,
        /// The session.
        #[serde(default)]
        session_id: SessionId,
    }
}

impl LastPrompt {
    /// The note that a turn ends with. Listings show the prompt on one line.
    pub fn new(prompt: &str, leaf: MessageUuid, session_id: SessionId) -> Self {
        Self {
            last_prompt: Some(prompt.replace('\n', " ")),
            leaf_uuid: leaf,
            session_id,
            extra: Extra::new(),
        }
    }
}

note! {
    /// The title a user gave.
    CustomTitle {
        /// The title.
        custom_title: String,
        /// The session.
        #[serde(default)]
        session_id: SessionId,
    }
}

note! {
    /// A generated title.
    AiTitle {
        /// The title.
        ai_title: String,
        /// The session.
        #[serde(default)]
        session_id: SessionId,
    }
}

note! {
    /// The name given with `--name`.
    AgentName {
        /// The name.
        agent_name: String,
        /// The session.
        #[serde(default)]
        session_id: SessionId,
    }
}

note! {
    /// A label; empty takes it away. Listings find it only where `type` is the line's first key.
    Tag {
        /// The label.
        tag: String,
        /// The session.
        #[serde(default)]
        session_id: SessionId,
    }
}

note! {
    /// A generated summary, as older writers had it.
    Summary {
        /// The summary.
        summary: String,
        /// The end of the conversation it is about.
        #[serde(default)]
        leaf_uuid: MessageUuid,
    }
}

note! {
    /// The mode of the terminal, written on resume.
    Mode {
        /// `normal`.
        mode: String,
        /// The session.
        #[serde(default)]
        session_id: SessionId,
    }
}

note! {
    /// Cost of the session so far, written when it ends. Times are in milliseconds.
    CostState {
        /// The session.
        #[serde(default)]
        session_id: SessionId,
        /// Dollars.
        #[serde(rename = "totalCostUSD", default)]
        total_cost_usd: f64,
        /// Time spent in the API.
        #[serde(rename = "totalAPIDuration", default)]
        total_api_duration: u64,
        /// The same without retries.
        #[serde(rename = "totalAPIDurationWithoutRetries", default)]
        total_api_duration_without_retries: u64,
        /// Time spent in tools.
        #[serde(default)]
        total_tool_duration: u64,
        /// Lines added to files.
        #[serde(default)]
        total_lines_added: u64,
        /// Lines removed from files.
        #[serde(default)]
        total_lines_removed: u64,
        /// Time since the session began.
        #[serde(default)]
        total_duration: u64,
        /// When it began, in milliseconds since the epoch.
        #[serde(default)]
        start_time: u64,
        /// Tokens and dollars of each model.
        #[serde(default)]
        model_usage: BTreeMap<String, RawJson>,
        /// Whether a model without known prices was used.
        #[serde(default)]
        has_unknown_model_cost: bool,
    }
}

note! {
    /// The tools used so far.
    ToolsUsed {
        /// Their names.
        tools: Vec<String>,
        /// The session.
        #[serde(default)]
        session_id: SessionId,
    }
}

note! {
    /// A prompt before which files can be rewound.
    FileHistorySnapshot {
        /// The prompt.
        message_id: MessageUuid,
        /// The files known then.
        snapshot: Snapshot,
        /// Whether it replaces an earlier one of the same prompt.
        #[serde(default)]
        is_snapshot_update: bool,
    }
}

note! {
    /// The files known at a prompt.
    Snapshot {
        /// The prompt.
        message_id: MessageUuid,
        /// Their copies, by path.
        #[serde(default)]
        tracked_file_backups: BTreeMap<String, Backup>,
        /// When.
        #[serde(default)]
        timestamp: String,
    }
}

note! {
    /// A file as it was before its first edit after a prompt.
    FileHistoryDelta {
        /// The response that edits it.
        message_id: MessageUuid,
        /// The prompt.
        snapshot_message_id: MessageUuid,
        /// The file: relative to the working directory if it is inside, else absolute.
        tracking_path: String,
        /// Its copy.
        backup: Backup,
        /// When.
        #[serde(default)]
        timestamp: String,
    }
}

note! {
    /// A copy of a file.
    Backup {
        /// The copy's name in the session's file history; `null` if the file did not exist.
        #[serde(default)]
        backup_file_name: Option<String>,
        /// Version of the copy.
        #[serde(default)]
        version: u64,
        /// When it was made.
        #[serde(default)]
        backup_time: String,
        /// The folder the file is in, links resolved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        real_parent_dir: Option<String>,
    }
}

note! {
    /// Tool outputs that were replaced by references.
    ContentReplacement {
        /// The session.
        #[serde(default)]
        session_id: SessionId,
        /// Which, and by what.
        #[serde(default)]
        replacements: Vec<RawJson>,
    }
}
