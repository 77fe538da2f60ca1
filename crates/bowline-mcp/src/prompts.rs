//! Prompts of servers, which are slash commands here.

use bowline_protocol::{Content, Role, SlashCommand, ToolContent};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    connection::{Request, RequestError},
    name::tool_name,
    result::{self, Files},
    server::Core,
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
    /// What it does.
    pub description: String,
    /// What may follow the command, word by word.
    pub arguments: Vec<McpPromptArgument>,
}

/// A word that may follow the command.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct McpPromptArgument {
    /// Its name on the server.
    pub name: String,
    /// What it means.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether the prompt needs it.
    #[serde(default)]
    pub required: bool,
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
    /// Who speaks.
    pub role: Role,
    /// What is said.
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

/// Fills in a prompt with the words behind its command. The last argument takes all that is left.
pub(crate) async fn get(
    server: &Core,
    prompt: &McpPrompt,
    words: &str,
) -> Result<Vec<PromptMessage>, RequestError> {
    #[derive(Deserialize)]
    struct Answer {
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
    let answer = live.connection.request(request, server.shared.options.request_timeout).await?;
    let answer: Answer = serde_json::from_value(answer).map_err(|error| {
        RequestError::Undelivered(format!("the answer makes no sense: {error}"))
    })?;
    let files = Files { server: &server.name, dir: server.shared.workspace.results_dir() };
    let mut messages = Vec::with_capacity(answer.messages.len());
    for Message { role, content } in answer.messages {
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
        let (word, behind) = match rest.split_once(char::is_whitespace) {
            Some((word, behind)) if !last => (word, behind.trim_start()),
            _ => (rest, ""),
        };
        filled.insert(argument.name.clone(), Value::String(word.to_owned()));
        rest = behind;
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
