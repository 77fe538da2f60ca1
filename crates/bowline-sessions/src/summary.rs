//! Listing entry of a session, kept up to date line by line, for stores that cannot read the
//! ends of a file.

use bowline_protocol::{Extra, RawJson, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    clock,
    info::{FirstPrompt, SessionInfo},
};

/// Listing entry of a session, as far as its lines determine it.
///
/// The shape, and the spelling inside [`data`](Self::data), are the Python SDK's, so that a store can
/// be shared with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The session.
    pub session_id: SessionId,
    /// When the store was written to, in milliseconds since the epoch. The fold leaves it alone.
    pub mtime: i64,
    /// Data.
    pub data: SummaryData,
}

/// Data of a summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SummaryData {
    /// Whether it is a subagent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_sidechain: Option<bool>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// Working directory at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// Whether that is settled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first_prompt_locked: bool,
    /// The first slash command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_fallback: Option<String>,
    /// The title a user gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_title: Option<String>,
    /// A generated title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_title: Option<String>,
    /// The last prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_prompt: Option<String>,
    /// A generated summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_hint: Option<String>,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl SessionSummary {
    /// Nothing is known yet.
    pub fn new(session_id: SessionId) -> Self {
        Self { session_id, ..Self::default() }
    }

    /// Takes new entries of the main transcript in.
    pub fn fold(&mut self, entries: &[RawJson]) {
        for entry in entries {
            if let Ok(fields) = entry.parse::<Map<String, Value>>() {
                self.data.fold(entry, &fields);
            }
        }
    }

    /// The session as a listing shows it; `None` for a subagent's and without a prompt.
    pub fn to_info(&self, project: Option<&str>) -> Option<SessionInfo> {
        let data = &self.data;
        if data.is_sidechain == Some(true) {
            return None;
        }
        let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let prompt =
            if data.first_prompt_locked { &data.first_prompt } else { &data.command_fallback };
        let first_prompt = some(prompt);
        let custom_title = some(&data.custom_title).or_else(|| some(&data.ai_title));
        let summary = custom_title
            .clone()
            .or_else(|| some(&data.last_prompt))
            .or_else(|| some(&data.summary_hint))
            .or_else(|| first_prompt.clone())?;
        Some(SessionInfo {
            session_id: self.session_id.clone(),
            summary,
            last_modified: self.mtime,
            file_size: None,
            custom_title,
            first_prompt,
            git_branch: some(&data.git_branch),
            cwd: some(&data.cwd).or_else(|| project.map(str::to_owned)),
            tag: some(&data.tag),
            created_at: data.created_at,
            entrypoint: None,
            archived: None,
        })
    }
}

impl SummaryData {
    fn fold(&mut self, entry: &RawJson, fields: &Map<String, Value>) {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        let is_true = |key: &str| fields.get(key) == Some(&Value::Bool(true));
        self.is_sidechain.get_or_insert(is_true("isSidechain"));
        if self.created_at.is_none() {
            self.created_at = text("timestamp").and_then(clock::to_millis);
        }
        if self.cwd.is_none() {
            self.cwd = text("cwd").filter(|cwd| !cwd.is_empty()).map(str::to_owned);
        }
        let may_be_first = text("type") == Some("user")
            && !self.first_prompt_locked
            && !is_true("isMeta")
            && !is_true("isCompactSummary")
            && !entry.get().contains("\"tool_result\"");
        if may_be_first {
            let mut first = FirstPrompt { found: None, command: self.command_fallback.take() };
            if first.offer(entry.get()) {
                self.first_prompt = first.found;
                self.first_prompt_locked = true;
            }
            self.command_fallback = first.command;
        }
        let last_wins = [
            ("customTitle", &mut self.custom_title),
            ("aiTitle", &mut self.ai_title),
            ("lastPrompt", &mut self.last_prompt),
            ("summary", &mut self.summary_hint),
            ("gitBranch", &mut self.git_branch),
        ];
        for (key, field) in last_wins {
            if let Some(value) = text(key) {
                *field = Some(value.to_owned());
            }
        }
        if text("type") == Some("tag") {
            self.tag = text("tag").filter(|tag| !tag.is_empty()).map(str::to_owned);
        }
    }
}
