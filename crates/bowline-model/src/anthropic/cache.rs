//! Prompt caching: placement of cache breakpoints (`cache_control`), here called marks.
//!
//! The API caches the request up to each mark, in the order tools, system, messages,
//! and finds the longest prefix it has seen. So marks go to the end of what stays the
//! same (system, tools) and to the newest messages: the last one is written now and
//! read by the next request, the one before was written by the request before.

use bowline_protocol::{ContentBlock, Extra, Role};
use serde::Serialize;

use super::body::is_accepted;
use crate::ModelRequest;

/// The API takes no more marks than this.
const MAX_MARKS: usize = 4;

/// The key of a mark.
const CACHE_CONTROL: &str = "cache_control";

/// Positions that get a cache mark.
#[derive(Debug, Default)]
pub(super) struct CacheMarks {
    /// System block with a mark.
    pub(super) system: Option<usize>,
    /// Tool with a mark.
    pub(super) tool: Option<usize>,
    /// Messages and their blocks with a mark.
    messages: Vec<(usize, usize)>,
}

impl CacheMarks {
    /// Chooses the positions, the most useful first, as far as marks that are already
    /// in the conversation leave room.
    pub(super) fn choose(request: &ModelRequest) -> Self {
        let mut left = MAX_MARKS.saturating_sub(count_marks(request));
        let mut has_room = || {
            let granted = left > 0;
            left -= usize::from(granted);
            granted
        };
        let mut marks = Self::default();

        let system = request.system.iter().rposition(|block| !block.text.trim().is_empty());
        let system = system.filter(|index| !is_marked(&request.system[*index].extra));
        marks.system = system.filter(|_| has_room());

        let mut newest = newest_places(request);
        if let Some(index) = newest.next()
            && has_room()
        {
            marks.messages.push(index);
        }
        let tool = request.tools.len().checked_sub(1);
        let tool = tool.filter(|index| !is_marked(&request.tools[*index].extra));
        marks.tool = tool.filter(|_| has_room());
        if let Some(index) = newest.next()
            && has_room()
        {
            marks.messages.push(index);
        }
        marks
    }

    /// Block of a message that gets a mark.
    pub(super) fn in_message(&self, message: usize) -> Option<usize> {
        self.messages.iter().find(|(index, _)| *index == message).map(|(_, block)| *block)
    }
}

/// The last block of each of the user's messages that can carry a mark, newest first.
fn newest_places(request: &ModelRequest) -> impl Iterator<Item = (usize, usize)> {
    request.messages.iter().enumerate().rev().filter_map(|(index, message)| {
        let can_carry = |block: &ContentBlock| is_accepted(block) && extra(block).is_some();
        let last = match message.role {
            Role::User => message.content.iter().rposition(can_carry)?,
            _ => return None,
        };
        let marked = extra(&message.content[last]).is_some_and(is_marked);
        (!marked).then_some((index, last))
    })
}

fn count_marks(request: &ModelRequest) -> usize {
    let system = request.system.iter().map(|block| &block.extra);
    let tools = request.tools.iter().map(|tool| &tool.extra);
    let blocks = request.messages.iter().flat_map(|message| &message.content).filter_map(extra);
    system.chain(tools).chain(blocks).filter(|extra| is_marked(extra)).count()
}

fn is_marked(extra: &Extra) -> bool {
    extra.contains_key(CACHE_CONTROL)
}

/// The further fields of a block that may carry a mark.
fn extra(block: &ContentBlock) -> Option<&Extra> {
    match block {
        ContentBlock::Text(block) => Some(&block.extra),
        ContentBlock::Image(block) => Some(&block.extra),
        ContentBlock::Document(block) => Some(&block.extra),
        ContentBlock::SearchResult(block) => Some(&block.extra),
        ContentBlock::ToolUse(block) => Some(&block.extra),
        ContentBlock::ToolResult(block) => Some(&block.extra),
        _ => None,
    }
}

/// A block or a tool with a mark on it. It had none before.
#[derive(Serialize)]
pub(super) struct Marked<T> {
    #[serde(flatten)]
    item: T,
    cache_control: CacheControl,
}

impl<T> Marked<T> {
    pub(super) fn new(item: T) -> Self {
        Self { item, cache_control: CacheControl::Ephemeral }
    }
}

/// A mark.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheControl {
    Ephemeral,
}
