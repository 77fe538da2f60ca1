//! Prompts of servers, as slash commands.

use bowline_protocol::{Content, Role, SlashCommand, ToolContent};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    catalog::McpPromptArgument,
    connection::{Request, RequestError},
    name::tool_name,
    result::{self, Files},
    server_core::Core,
};

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct McpPrompt {
    /// The server.
    pub server: String,
    /// Its name on the server.
    pub name: String,
    /// The command that runs it, without the slash: `mcp__<server>__<prompt>`.
    pub command: String,
    /// Its purpose.
    pub description: String,
    /// Its arguments, in the order of the words after the command.
    pub arguments: Vec<McpPromptArgument>,
}

impl McpPrompt {
    /// How hosts list it.
    pub fn slash_command(&self) -> SlashCommand {
        SlashCommand {
            name: format!("{}:{} (MCP)", self.server, self.name),
            description: self.description.clone(),
            ..SlashCommand::default()
        }
    }
}

/// A message of a prompt, filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Its author.
    pub role: Role,
    /// Its content.
    pub content: Content,
}

/// The prompts of a server now.
pub(crate) fn prompts_of(server: &Core) -> Vec<McpPrompt> {
    let Some(live) = server.live() else { return Vec::new() };
    let prompts = live.catalog.prompts.iter().map(|prompt| McpPrompt {
        server: server.name.clone(),
        name: prompt.name.clone(),
        command: tool_name(&server.name, &prompt.name),
        description: prompt.description.clone().unwrap_or_default(),
        arguments: prompt.arguments.clone(),
    });
    prompts.collect()
}

/// Fills in a prompt with the words after its command. The last argument takes all that is left.
pub(crate) async fn get(
    server: &Core,
    prompt: &McpPrompt,
    words: &str,
) -> Result<Vec<PromptMessage>, RequestError> {
    #[derive(Deserialize)]
    struct PromptResult {
        messages: Vec<Message>,
    }
    #[derive(Deserialize)]
    struct Message {
        role: Role,
        content: ToolContent,
    }
    let live = server.live().ok_or(RequestError::Closed)?;
    let arguments = fill_in(&prompt.arguments, words);
    let request = Request::GetPrompt { name: prompt.name.clone(), arguments };
    let result = live.connection.request(request, server.session.options.request_timeout).await?;
    let result: PromptResult = serde_json::from_value(result).map_err(|error| {
        RequestError::Undelivered(format!("invalid result of prompts/get: {error}"))
    })?;
    let files = Files { server: &server.name, dir: server.session.workspace.results_dir() };
    let mut messages = Vec::with_capacity(result.messages.len());
    for Message { role, content } in result.messages {
        let mut blocks = Vec::new();
        result::add(content, &files, &mut blocks).await;
        messages.push(PromptMessage { role, content: Content::Blocks(blocks) });
    }
    Ok(messages)
}

fn fill_in(arguments: &[McpPromptArgument], words: &str) -> Map<String, Value> {
    let (mut filled, mut rest) = (Map::new(), words.trim());
    for (index, argument) in arguments.iter().enumerate() {
        if rest.is_empty() {
            break;
        }
        let last = index + 1 == arguments.len();
        let (word, after) = match rest.split_once(char::is_whitespace) {
            Some((word, after)) if !last => (word, after.trim_start()),
            _ => (rest, ""),
        };
        filled.insert(argument.name.clone(), Value::String(word.to_owned()));
        rest = after;
    }
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_fill_arguments_in_order() {
        let argument = |name: &str| McpPromptArgument {
            name: name.to_owned(),
            description: None,
            required: false,
        };
        let two = [argument("who"), argument("what")];
        let check = |words: &str, expected: Value| {
            assert_eq!(Value::Object(fill_in(&two, words)), expected, "{words}");
        };
        check("", json!({}));
        check(" Ada ", json!({"who": "Ada"}));
        check("Ada  a long story", json!({"who": "Ada", "what": "a long story"}));
    }
}
