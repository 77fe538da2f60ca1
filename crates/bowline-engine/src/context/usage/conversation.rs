//! Context usage of the conversation, by kind of message and by tool.

use std::collections::HashMap;

use bowline_protocol::{ContentBlock, Role};
use serde_json::{Value, json};

use crate::{context::tokens, instructions::Snapshot};

/// Tokens of the calls and results of one tool.
#[derive(Default)]
struct ToolTokens {
    calls: u64,
    results: u64,
}

/// Breakdown of a conversation of `total` tokens, by kind of message and by tool.
pub(super) fn breakdown(snapshot: &Snapshot, total: u64) -> Value {
    let mut tools: Vec<(&str, ToolTokens)> = Vec::new();
    let mut names = HashMap::new();
    let (mut assistant, mut user) = (0, 0);
    for message in &snapshot.messages {
        for block in &message.content {
            let tokens = tokens::of_block(block);
            match block {
                ContentBlock::ToolUse(call) => {
                    names.insert(&call.id, call.name.as_str());
                    of_tool(&mut tools, &call.name).calls += tokens;
                }
                ContentBlock::ToolResult(result) => {
                    let name = names.get(&result.tool_use_id).copied().unwrap_or_default();
                    of_tool(&mut tools, name).results += tokens;
                }
                _ if message.role == Role::Assistant => assistant += tokens,
                _ => user += tokens,
            }
        }
    }
    tools.sort_by_key(|(_, tokens)| std::cmp::Reverse(tokens.calls + tokens.results));
    let calls: u64 = tools.iter().map(|(_, tokens)| tokens.calls).sum();
    let results: u64 = tools.iter().map(|(_, tokens)| tokens.results).sum();
    let by_tool = tools.iter().map(|(name, tokens)| {
        json!({ "name": name, "callTokens": tokens.calls, "resultTokens": tokens.results })
    });
    json!({
        "toolCallTokens": calls,
        "toolResultTokens": results,
        "attachmentTokens": 0,
        "assistantMessageTokens": assistant,
        "userMessageTokens": user,
        "redirectedContextTokens": 0,
        "unattributedTokens": total.saturating_sub(calls + results + assistant + user),
        "toolCallsByType": by_tool.collect::<Vec<_>>(),
        "attachmentsByType": [],
    })
}

fn of_tool<'a, 'b>(tools: &'b mut Vec<(&'a str, ToolTokens)>, name: &'a str) -> &'b mut ToolTokens {
    let index = tools.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        tools.push((name, ToolTokens::default()));
        tools.len() - 1
    });
    &mut tools[index].1
}
