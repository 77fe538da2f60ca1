//! Messages of a session, of its subagents and of theirs.
//!
//! As the SDKs do it: the newest branch is the one written last, whatever a
//! last-prompt note. A missing or malformed session has no messages.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

use bowline_protocol::{AgentId, MessageUuid, RawJson, SessionId, ToolUseId};
use serde::Deserialize;

use crate::{
    head::{Id, Kind, LineHead},
    list::locate,
    parallel,
    project::{ConfigHome, name_of},
    scan::{BackwardLines, LineReader},
};

/// One message of a session, as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionMessage {
    /// Its author.
    pub kind: MessageAuthor,
    /// Its id.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Content, as the model saw it; `null` for the agent's notes.
    pub message: RawJson,
    /// In a subagent: the call that started it.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// In a subagent: the subagent that started it.
    pub parent_agent_id: Option<AgentId>,
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageAuthor {
    /// The user's, or a tool's.
    User,
    /// The model's.
    Assistant,
    /// A note of the agent.
    System,
}

/// Page of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Page {
    /// Offset.
    pub offset: usize,
    /// Limit; `None` and 0 mean all.
    pub limit: Option<usize>,
    /// Give the agent's notes too.
    pub with_system: bool,
}

impl Page {
    fn cut<T>(self, items: Vec<T>) -> impl Iterator<Item = T> {
        let limit = self.limit.filter(|&limit| limit > 0).unwrap_or(usize::MAX);
        items.into_iter().skip(self.offset).take(limit)
    }
}

/// The conversation of a session, oldest message first.
pub fn messages(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
    page: Page,
) -> Vec<SessionMessage> {
    let files = locate(home, id, directory);
    files.and_then(|files| messages_in(&files.transcript(), page).ok()).unwrap_or_default()
}

/// The conversation in a transcript, oldest message first.
pub fn messages_in(transcript: &Path, page: Page) -> io::Result<Vec<SessionMessage>> {
    let heads = all_heads(transcript)?;
    let is_visible = |head: &LineHead| {
        let wanted = head.kind.is_message() || (page.with_system && is_note(head.kind));
        wanted && !head.is_meta && !head.is_sidechain && !head.has_team
    };
    let chain = match newest_leaf(&heads) {
        Some(leaf) => parallel::complete(&heads, path_to(&heads, leaf)),
        None => Vec::new(),
    };
    let visible = chain.into_iter().filter(|&index| is_visible(&heads[index])).collect();
    read_lines(transcript, &heads, page.cut(visible), &Parents::default())
}

/// The subagents of a session, by name.
pub fn subagents(home: &ConfigHome, id: &SessionId, directory: Option<&Path>) -> Vec<AgentId> {
    let files = locate(home, id, directory);
    let found = files.map(|files| subagent_files(&files.subagents())).unwrap_or_default();
    found.into_iter().map(|(agent, _)| agent).collect()
}

/// The conversation of a subagent, oldest message first.
pub fn subagent_messages(
    home: &ConfigHome,
    id: &SessionId,
    agent: &AgentId,
    directory: Option<&Path>,
    page: Page,
) -> Vec<SessionMessage> {
    let Some(files) = locate(home, id, directory) else { return Vec::new() };
    let found = subagent_files(&files.subagents()).into_iter().find(|(name, _)| name == agent);
    found
        .and_then(|(_, transcript)| subagent_messages_in(&transcript, page).ok())
        .unwrap_or_default()
}

/// The conversation in a subagent's transcript, oldest message first.
pub fn subagent_messages_in(transcript: &Path, page: Page) -> io::Result<Vec<SessionMessage>> {
    let heads = all_heads(transcript)?;
    let leaf = heads.iter().rposition(|head| head.kind.is_message());
    let chain = leaf.map(|leaf| path_to(&heads, leaf)).unwrap_or_default();
    let chain_messages =
        chain.into_iter().filter(|&index| heads[index].kind.is_message()).collect();
    let parents = Parents::of(transcript);
    read_lines(transcript, &heads, page.cut(chain_messages), &parents)
}

/// The transcripts of subagents in a folder and the folders in it.
pub(crate) fn subagent_files(folder: &Path) -> Vec<(AgentId, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let agent = name_of(&path).strip_prefix("agent-").and_then(|n| n.strip_suffix(".jsonl"));
        match agent {
            Some(agent) if path.is_file() => found.push((AgentId::from(agent), path)),
            _ if path.is_dir() => found.extend(subagent_files(&path)),
            _ => {}
        }
    }
    found
}

/// Parent of a subagent.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parents {
    tool_use_id: Option<ToolUseId>,
    parent_agent_id: Option<AgentId>,
}

impl Parents {
    fn of(transcript: &Path) -> Self {
        let text = fs::read_to_string(transcript.with_extension("meta.json"));
        text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

/// The heads of all lines of the conversation that have names, in file order.
pub(crate) fn all_heads(transcript: &Path) -> io::Result<Vec<LineHead>> {
    let mut lines = BackwardLines::open(transcript)?;
    let mut heads = Vec::new();
    while let Some(head) = lines.next(LineHead::read)? {
        heads.extend(head.filter(|head| head.kind.is_chain() && head.uuid.is_some()));
    }
    heads.reverse();
    Ok(heads)
}

fn is_note(kind: Kind) -> bool {
    matches!(kind, Kind::System | Kind::CompactBoundary)
}

/// The end of the newest branch: the message written last among those that end one.
fn newest_leaf(heads: &[LineHead]) -> Option<usize> {
    let indexes = indexes(heads);
    let parents: HashSet<Id> = heads.iter().filter_map(|head| head.parent).collect();
    let has_no_child = |head: &LineHead| head.uuid.is_some_and(|id| !parents.contains(&id));
    let mut leaves: Vec<usize> = Vec::new();
    for (index, head) in heads.iter().enumerate().filter(|(_, head)| has_no_child(head)) {
        let mut current = (index, head);
        // A loop cannot be longer than the file.
        for _ in 0..heads.len() {
            if current.1.kind.is_message() {
                leaves.push(current.0);
                break;
            }
            let parent = current.1.parent.and_then(|parent| indexes.get(&parent));
            let Some(&up) = parent else { break };
            current = (up, &heads[up]);
        }
    }
    let is_main = |&&index: &&usize| heads[index].is_main() && !heads[index].is_meta;
    leaves.iter().filter(is_main).max().or(leaves.iter().max()).copied()
}

/// The way from the root to the line at `leaf`.
fn path_to(heads: &[LineHead], leaf: usize) -> Vec<usize> {
    let indexes = indexes(heads);
    let mut passed = HashSet::new();
    let mut path = Vec::new();
    let mut current = Some(leaf);
    while let Some(index) = current.filter(|&index| passed.insert(index)) {
        path.push(index);
        current = heads[index].parent.and_then(|parent| indexes.get(&parent).copied());
    }
    path.reverse();
    path
}

fn indexes(heads: &[LineHead]) -> HashMap<Id, usize> {
    heads.iter().enumerate().filter_map(|(index, head)| Some((head.uuid?, index))).collect()
}

fn read_lines(
    transcript: &Path,
    heads: &[LineHead],
    indexes: impl Iterator<Item = usize>,
    parents: &Parents,
) -> io::Result<Vec<SessionMessage>> {
    #[derive(Deserialize)]
    struct Line {
        uuid: MessageUuid,
        #[serde(rename = "sessionId", default)]
        session_id: SessionId,
        #[serde(default)]
        message: RawJson,
    }

    let mut reader = LineReader::open(transcript)?;
    let mut messages = Vec::new();
    for index in indexes {
        let head = &heads[index];
        let Ok(line) = serde_json::from_slice::<Line>(reader.line(head.span)?) else { continue };
        messages.push(SessionMessage {
            kind: match head.kind {
                Kind::User => MessageAuthor::User,
                Kind::Assistant => MessageAuthor::Assistant,
                _ => MessageAuthor::System,
            },
            uuid: line.uuid,
            session_id: line.session_id,
            message: line.message,
            parent_tool_use_id: parents.tool_use_id.clone(),
            parent_agent_id: parents.parent_agent_id.clone(),
        });
    }
    Ok(messages)
}
