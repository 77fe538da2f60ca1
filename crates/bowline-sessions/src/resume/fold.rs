//! From the lines of a conversation to messages that the API accepts, whatever the lines were.
//!
//! Pure: lines go in, messages come out. What is promised of them:
//!
//! - the first message is the user's, and the two sides take turns;
//! - every tool call has its result in the next message, and there are no other results;
//! - no block of text is empty, no response ends in reasoning;
//! - the last message is the model's, unless no user message is waiting for a response, or
//!   hooks have put off its last calls.

use std::mem;

use bowline_protocol::{
    Content, ContentBlock, DeferredToolUse, MessageUuid, RawJson, Role, ToolResultBlock, ToolUseId,
};
use serde::Deserialize;

use crate::{
    context::{
        ContextMessage, LiveContext, MessageKind, NO_RESPONSE, PlacedAttachment, Unfinished,
    },
    head::{Id, IdSet},
    line::AttachmentLine,
};

/// Kind of a user line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserLineKind {
    Prompt,
    Meta,
    Summary,
}

/// Synthetic result of an interrupted tool.
const INTERRUPTED: &str = "[The session ended before this tool call finished; it has no result.]";

/// Placeholder for a missing start of the transcript.
const NO_BEGINNING: &str = "[The beginning of this conversation is missing.]";

/// Collects lines into messages.
#[derive(Debug, Default)]
pub(super) struct Fold {
    messages: Vec<ContextMessage>,
    attachments: Vec<PlacedAttachment>,
    last_line: Option<MessageUuid>,
    /// Whether the last user line is waiting for a response.
    wants_answer: bool,
}

impl Fold {
    /// Adds a line of a response.
    pub(super) fn response(
        &mut self,
        uuid: MessageUuid,
        message_id: Option<String>,
        content: Vec<ContentBlock>,
    ) {
        self.last_line = Some(uuid.clone());
        if let Some(last) = self.messages.last_mut()
            && last.role == Role::Assistant
            && message_id.is_some()
            && last.message_id == message_id
        {
            last.content.extend(content);
            last.uuids.push(uuid);
            return;
        }
        let (kind, uuids) = (MessageKind::Response, vec![uuid]);
        self.messages.push(ContextMessage {
            role: Role::Assistant,
            content,
            uuids,
            kind,
            message_id,
        });
    }

    /// Adds a line of the user's side.
    pub(super) fn user(
        &mut self,
        uuid: MessageUuid,
        kind_of_line: UserLineKind,
        content: Vec<ContentBlock>,
    ) {
        self.last_line = Some(uuid.clone());
        let has_result = content.iter().any(|block| result_id(block).is_some());
        let kind = match kind_of_line {
            UserLineKind::Summary => MessageKind::CompactSummary,
            UserLineKind::Meta => MessageKind::Meta,
            UserLineKind::Prompt if has_result => MessageKind::ToolResults,
            UserLineKind::Prompt => MessageKind::Prompt,
        };
        self.wants_answer = match kind {
            MessageKind::Prompt => !is_of_a_command(&content),
            MessageKind::ToolResults => true,
            _ => false,
        };
        let message_id = None;
        let uuids = vec![uuid];
        let role = Role::User;
        self.messages.push(ContextMessage { role, content, uuids, kind, message_id });
    }

    /// Adds what the agent had added by itself.
    pub(super) fn attach(&mut self, line: AttachmentLine) {
        self.attachments.push(PlacedAttachment { after: self.last_line.clone(), line });
    }

    /// Removes lines that a later response replaces.
    pub(super) fn supersede(&mut self, uuids: &[MessageUuid]) {
        if uuids.is_empty() {
            return;
        }
        let is_replaced = |message: &ContextMessage| {
            message.kind == MessageKind::Response
                && message.uuids.iter().all(|uuid| uuids.contains(uuid))
        };
        self.messages.retain(|message| !is_replaced(message));
    }

    /// Makes the conversation valid and hands it over.
    pub(super) fn finish(self, context: &mut LiveContext) {
        let mut messages = self.messages;
        context.todos = last_todos(&messages);
        context.deferred = put_off(&messages, &self.attachments);
        for message in &mut messages {
            clean(message);
        }
        messages.retain(|message| !message.content.is_empty());
        // User messages first, because results may come after lines that were added meanwhile; the
        // model's only when calls without a result no longer separate two responses.
        merge(&mut messages, &[Role::User]);
        let open_at_end = pair_calls_with_results(&mut messages);
        merge(&mut messages, &[Role::User, Role::Assistant]);
        if messages.first().is_some_and(|first| first.role != Role::User) {
            messages.insert(0, synthetic(Role::User, vec![ContentBlock::text(NO_BEGINNING)]));
        }
        let ends_with_user = messages.last().is_some_and(|last| last.role == Role::User);
        context.unfinished = match (open_at_end, ends_with_user && self.wants_answer) {
            // The calls are still to be run.
            _ if !context.deferred.is_empty() => None,
            (true, _) => Some(Unfinished::NoToolResults),
            (false, true) => Some(Unfinished::NoAnswer),
            (false, false) => None,
        };
        if context.unfinished.is_some() {
            messages.push(synthetic(Role::Assistant, vec![ContentBlock::text(NO_RESPONSE)]));
        }
        context.messages = messages;
        context.attachments = self.attachments;
    }
}

/// Takes out what the API refuses: empty text, and reasoning that nothing follows.
fn clean(message: &mut ContextMessage) {
    let is_reasoning = |block: &ContentBlock| {
        matches!(block, ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_))
    };
    message.content.retain(|block| block.as_text().is_none_or(|text| !text.trim().is_empty()));
    if message.role == Role::Assistant {
        while message.content.last().is_some_and(is_reasoning) {
            message.content.pop();
        }
    }
}

/// Ensures that each call has one result in the next message, and that there are no other results.
///
/// Returns whether calls at the very end had no results.
fn pair_calls_with_results(messages: &mut Vec<ContextMessage>) -> bool {
    let mut open: Vec<ToolUseId> = Vec::new();
    let mut seen = IdSet::default();
    let mut cut_short = false;
    // Synthetic messages, with the index of the message that each precedes.
    let mut missing: Vec<(usize, ContextMessage)> = Vec::new();
    for (index, message) in messages.iter_mut().enumerate() {
        if message.role == Role::Assistant {
            if !open.is_empty() {
                let results = open.drain(..).map(no_result).collect();
                missing.push((index, synthetic(Role::User, results)));
            }
            // The same call twice, as after a copy of a line, would need its result twice.
            message
                .content
                .retain(|block| call_id(block).is_none_or(|id| seen.insert(Id::new(id.as_str()))));
            open.extend(message.content.iter().filter_map(call_id).cloned());
        } else {
            message.content.retain(|block| match result_id(block) {
                None => true,
                Some(id) => {
                    let call = open.iter().position(|call| call == id);
                    call.map(|index| open.remove(index)).is_some()
                }
            });
            let only_results = message.content.iter().all(|block| result_id(block).is_some());
            cut_short = !open.is_empty() && only_results;
            message.content.extend(open.drain(..).map(no_result));
        }
    }
    if !missing.is_empty() {
        insert(messages, missing);
    }
    messages.retain(|message| !message.content.is_empty());
    let ends_with_calls = !open.is_empty();
    if ends_with_calls {
        messages.push(synthetic(Role::User, open.into_iter().map(no_result).collect()));
    }
    let ends_with_results = messages.last().is_some_and(|last| last.role == Role::User);
    ends_with_calls || (ends_with_results && cut_short)
}

/// Puts each of `others`, which are in order, before the message at its index.
fn insert(messages: &mut Vec<ContextMessage>, others: Vec<(usize, ContextMessage)>) {
    let mut others = others.into_iter().peekable();
    for (index, message) in mem::take(messages).into_iter().enumerate() {
        let before = others.next_if(|(before, _)| *before == index);
        messages.extend(before.map(|(_, other)| other));
        messages.push(message);
    }
}

/// Joins neighbors of one side, or of one side only. On the user's side results come first, as the
/// API wants them.
fn merge(messages: &mut Vec<ContextMessage>, sides: &[Role]) {
    messages.dedup_by(|message, last| {
        let joins = last.role == message.role && sides.contains(&message.role);
        if joins {
            last.content.append(&mut message.content);
            last.uuids.append(&mut message.uuids);
            last.message_id = message.message_id.take().or(last.message_id.take());
        }
        joins
    });
    for message in messages.iter_mut().filter(|message| message.role == Role::User) {
        message.content.sort_by_key(|block| result_id(block).is_none());
    }
}

/// The calls of the last response that hooks deferred and that have no result, in their order.
/// A later message ends the deferral.
fn put_off(messages: &[ContextMessage], attachments: &[PlacedAttachment]) -> Vec<DeferredToolUse> {
    let Some(response) = messages.iter().rfind(|message| message.role == Role::Assistant) else {
        return Vec::new();
    };
    // Results may come between the lines of one response.
    let is_of_answer = |message: &ContextMessage| match message.role {
        Role::Assistant => message.message_id == response.message_id,
        _ => matches!(message.kind, MessageKind::ToolResults | MessageKind::Meta),
    };
    let before = messages.iter().rposition(|message| !is_of_answer(message));
    let blocks = || messages[before.map_or(0, |at| at + 1)..].iter().flat_map(|it| &it.content);
    let deferred: Vec<_> = attachments.iter().filter_map(|it| it.line.deferred_call()).collect();
    let open = blocks()
        .filter_map(call_id)
        .filter(|call| !blocks().any(|it| result_id(it) == Some(*call)));
    open.filter_map(|call| deferred.iter().rfind(|it| it.id == *call)).cloned().collect()
}

fn no_result(call: ToolUseId) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: call,
        content: Some(Content::from(INTERRUPTED)),
        is_error: Some(true),
        ..ToolResultBlock::default()
    })
}

fn synthetic(role: Role, content: Vec<ContentBlock>) -> ContextMessage {
    let kind = MessageKind::MadeUp;
    ContextMessage { role, content, uuids: Vec::new(), kind, message_id: None }
}

fn call_id(block: &ContentBlock) -> Option<&ToolUseId> {
    match block {
        ContentBlock::ToolUse(call) => Some(&call.id),
        _ => None,
    }
}

fn result_id(block: &ContentBlock) -> Option<&ToolUseId> {
    match block {
        ContentBlock::ToolResult(result) => Some(&result.tool_use_id),
        _ => None,
    }
}

/// Slash commands and what they print are part of the conversation, but get no response.
fn is_of_a_command(content: &[ContentBlock]) -> bool {
    const MARKS: [&str; 4] =
        ["<command-name>", "<command-message>", "<local-command-", "[Request interrupted by user"];
    let text = content.iter().find_map(ContentBlock::as_text).unwrap_or_default().trim_start();
    MARKS.iter().any(|mark| text.starts_with(mark))
}

fn last_todos(messages: &[ContextMessage]) -> Option<RawJson> {
    #[derive(Deserialize)]
    struct Input {
        todos: RawJson,
    }
    let blocks = messages.iter().rev().flat_map(|message| message.content.iter().rev());
    let mut inputs = blocks.filter_map(|block| match block {
        ContentBlock::ToolUse(call) if call.name == "TodoWrite" => Some(&call.input),
        _ => None,
    });
    inputs.find_map(|input| input.parse::<Input>().ok()).map(|Input { todos }| todos)
}

#[cfg(test)]
mod tests;
