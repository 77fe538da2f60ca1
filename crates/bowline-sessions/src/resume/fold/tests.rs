//! Making conversations valid in place gives what making new ones gives.

use std::collections::HashSet;

use bowline_protocol::{RawJson, ToolUseBlock};
use proptest::prelude::*;

use super::*;

/// [`super::answer_calls`] as one would first write it.
fn answer_calls_plainly(messages: Vec<ContextMessage>) -> (Vec<ContextMessage>, bool) {
    let mut valid: Vec<ContextMessage> = Vec::new();
    let mut open: Vec<ToolUseId> = Vec::new();
    let mut seen: HashSet<ToolUseId> = HashSet::new();
    let mut cut_short = false;
    for mut message in messages {
        if message.role == Role::Assistant {
            if !open.is_empty() {
                valid.push(synthetic(Role::User, open.drain(..).map(no_result).collect()));
            }
            message.content.retain(|block| call_id(block).is_none_or(|id| seen.insert(id.clone())));
            open.extend(message.content.iter().filter_map(call_id).cloned());
        } else {
            message.content.retain(|block| match result_id(block) {
                None => true,
                Some(id) => {
                    let call = open.iter().position(|call| call == id);
                    call.map(|index| open.remove(index)).is_some()
                }
            });
            cut_short =
                !open.is_empty() && message.content.iter().all(|block| result_id(block).is_some());
            message.content.extend(open.drain(..).map(no_result));
        }
        if !message.content.is_empty() {
            valid.push(message);
        }
    }
    let ends_with_calls = !open.is_empty();
    if ends_with_calls {
        valid.push(synthetic(Role::User, open.drain(..).map(no_result).collect()));
    }
    let ends_with_results = valid.last().is_some_and(|last| last.role == Role::User);
    (valid, ends_with_calls || (ends_with_results && cut_short))
}

/// [`super::merge`] as one would first write it.
fn merge_plainly(messages: Vec<ContextMessage>, sides: &[Role]) -> Vec<ContextMessage> {
    let mut merged: Vec<ContextMessage> = Vec::new();
    for message in messages {
        match merged.last_mut() {
            Some(last) if last.role == message.role && sides.contains(&message.role) => {
                last.content.extend(message.content);
                last.uuids.extend(message.uuids);
                last.message_id = message.message_id.or(last.message_id.take());
            }
            _ => merged.push(message),
        }
    }
    for message in merged.iter_mut().filter(|message| message.role == Role::User) {
        message.content.sort_by_key(|block| result_id(block).is_none());
    }
    merged
}

/// Calls and results of few names, so that they meet, miss and repeat each other.
fn block(role: Role, (kind, name): (u8, u8)) -> ContentBlock {
    let id = ToolUseId::from(format!("t{name}"));
    match (role, kind) {
        (_, 0) => ContentBlock::text(format!("words {name}")),
        (Role::Assistant, _) => {
            let input = RawJson::empty_object();
            ContentBlock::ToolUse(ToolUseBlock { id, input, ..ToolUseBlock::default() })
        }
        _ => ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: id,
            ..ToolResultBlock::default()
        }),
    }
}

fn message(number: usize, role: Role, blocks: &[(u8, u8)], id: Option<u8>) -> ContextMessage {
    ContextMessage {
        content: blocks.iter().map(|it| block(role.clone(), *it)).collect(),
        role,
        uuids: vec![MessageUuid::from(format!("u{number}"))],
        kind: MessageKind::Prompt,
        message_id: id.map(|id| format!("m{id}")),
    }
}

fn messages() -> impl Strategy<Value = Vec<ContextMessage>> {
    let blocks = prop::collection::vec((0..3_u8, 0..6_u8), 0..4);
    let role = prop::sample::select(vec![Role::User, Role::Assistant]);
    let messages = prop::collection::vec((role, blocks, prop::option::of(0..3_u8)), 0..16);
    messages.prop_map(|messages| {
        let messages = messages.into_iter().enumerate();
        messages.map(|(number, (role, blocks, id))| message(number, role, &blocks, id)).collect()
    })
}

proptest! {
    #[test]
    fn pairing_in_place_equals_the_plain_version(messages in messages()) {
        let (expected, open) = answer_calls_plainly(messages.clone());
        let mut paired = messages;
        prop_assert_eq!(pair_calls_with_results(&mut paired), open);
        prop_assert_eq!(paired, expected);
    }

    #[test]
    fn joining_in_place_equals_the_plain_version(messages in messages(), both in any::<bool>()) {
        let sides = if both { &[Role::User, Role::Assistant][..] } else { &[Role::User] };
        let expected = merge_plainly(messages.clone(), sides);
        let mut joined = messages;
        merge(&mut joined, sides);
        prop_assert_eq!(joined, expected);
    }
}
