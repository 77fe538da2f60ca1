//! `WebSearch`: a web search by the model API.
//!
//! The tool needs an API with a server-side search, so it exists only
//! for models that are reached through such an API.

use std::{
    sync::{Arc, Weak},
    time::Instant,
};

use bowline_model::{ModelMessage, ModelRef, ToolDefinition};
use bowline_protocol::{ContentBlock, Extra, RawJson, StopReason};
use bowline_tools::{
    Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace, schema_of,
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{session_context::SessionContext, side::SideRequest};

const DESCRIPTION: &str = "\
Searches the web and returns titles and addresses of pages with a summary of what they say. Use it \
for what is newer than your knowledge or has to be looked up.

- `allowed_domains` and `blocked_domains` narrow the search; give at most one of them.
- Read a page that looks right with WebFetch.
- Name the sources of what you pass on, as links.";

const INSTRUCTIONS: &str = "You search the web for another agent. Search, and sum up in a few \
    sentences what the results say about the query.";

/// The name and version of the API's server-side search tool.
const SERVER_TOOL: &str = "web_search_20250305";
/// The maximum number of searches per call.
const MAX_SEARCHES: u64 = 8;
/// The output limit of the summary, in tokens.
const MAX_ANSWER: u64 = 8_192;
/// How often a search that the API pauses is resumed.
const MAX_PAUSES: usize = 3;
const REMINDER: &str = "Name the sources you use in your answer to the user, as links.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to search for.
    #[schemars(length(min = 2))]
    query: String,
    /// Only pages of these sites.
    allowed_domains: Option<Vec<String>>,
    /// No pages of these sites.
    blocked_domains: Option<Vec<String>>,
}

/// Searches the web through the model's API.
struct WebSearch {
    spec: ToolSpec,
    session: Weak<SessionContext>,
}

/// The tool, if the session's model is one whose API can search.
pub(super) fn tool(session: &Arc<SessionContext>) -> Option<Arc<dyn Tool>> {
    let model = session.models.requested();
    if !matches!(model.parse(), Ok(ModelRef::Anthropic(_))) {
        return None;
    }
    let spec =
        ToolSpec::new("WebSearch", DESCRIPTION, schema_of::<Input>()).read_only().open_world();
    Some(Arc::new(WebSearch { spec, session: Arc::downgrade(session) }))
}

impl Tool for WebSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Other
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        _: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        let given = |name: &str| input[name].as_array().is_some_and(|list| !list.is_empty());
        let both = given("allowed_domains") && given("blocked_domains");
        Box::pin(std::future::ready(match both {
            true => Err(ToolFailure::input(
                "Error: Cannot specify both allowed_domains and blocked_domains in the same request",
            )),
            false => Ok(()),
        }))
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let gone = || ToolFailure::running("the session has ended");
            let session = self.session.upgrade().ok_or_else(gone)?;
            let input: Input = call.input()?;
            let began = Instant::now();
            let found = tokio::select! {
                found = search(&session, &input) => found?,
                () = call.cancel.cancelled() => return Err(ToolFailure::interrupted()),
            };
            Ok(found.output(&input.query, began))
        })
    }
}

/// The parts of a search result, in the API's order.
#[derive(Debug, Default)]
struct Found {
    parts: Vec<Part>,
    searches: u64,
}

#[derive(Debug)]
enum Part {
    Words(String),
    Links { call: String, links: Vec<Value> },
    Failure(String),
}

async fn search(session: &SessionContext, input: &Input) -> Result<Found, ToolFailure> {
    let asked = vec![ContentBlock::text(format!("Search the web for: {}", input.query))];
    let mut question = SideRequest::new(INSTRUCTIONS, asked, MAX_ANSWER);
    question.tools = vec![Arc::new(server_tool(input))];
    let mut found = Found::default();
    for _ in 0..=MAX_PAUSES {
        let answer = session.side.request(question.clone()).await;
        let answer = answer.map_err(|error| ToolFailure::running(error.to_string()))?;
        for block in &answer.content {
            found.take(block);
        }
        if answer.stop_reason != Some(StopReason::PauseTurn) {
            break;
        }
        question.messages.push(Arc::new(ModelMessage::assistant(answer.content)));
    }
    Ok(found)
}

/// The definition of the server-side search tool in requests.
fn server_tool(input: &Input) -> ToolDefinition {
    let mut extra = Extra::new();
    extra.insert("type".to_owned(), SERVER_TOOL.into());
    extra.insert("max_uses".to_owned(), MAX_SEARCHES.into());
    let lists =
        [("allowed_domains", &input.allowed_domains), ("blocked_domains", &input.blocked_domains)];
    for (name, domains) in lists {
        if let Some(domains) = domains.as_ref().filter(|domains| !domains.is_empty()) {
            extra.insert(name.to_owned(), json!(domains));
        }
    }
    let name = "web_search".to_owned();
    ToolDefinition {
        name,
        description: String::new(),
        input_schema: RawJson::from(Value::Null),
        extra,
    }
}

impl Found {
    fn take(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) if !text.text.trim().is_empty() => match self.parts.last_mut()
            {
                // The API splits its text at every citation.
                Some(Part::Words(words)) => words.push_str(&text.text),
                _ => self.parts.push(Part::Words(text.text.clone())),
            },
            ContentBlock::ServerToolUse(_) => self.searches += 1,
            ContentBlock::WebSearchToolResult(result) => {
                let content = result.content.to_value();
                self.parts.push(match content.as_array() {
                    Some(pages) => Part::Links {
                        call: result.tool_use_id.to_string(),
                        links: pages
                            .iter()
                            .map(|page| json!({"title": page["title"], "url": page["url"]}))
                            .collect(),
                    },
                    None => {
                        let code = content["error_code"].as_str().unwrap_or("unknown");
                        Part::Failure(format!("Web search error: {code}"))
                    }
                });
            }
            _ => {}
        }
    }

    fn output(self, query: &str, began: Instant) -> ToolOutput {
        let mut texts = vec![format!("Web search results for query: \"{query}\"")];
        let mut results = Vec::new();
        for part in self.parts {
            match part {
                Part::Words(words) | Part::Failure(words) => {
                    texts.push(words.trim().to_owned());
                    results.push(Value::String(words.trim().to_owned()));
                }
                Part::Links { call, links } => {
                    texts.push(match links.is_empty() {
                        true => "No links found.".to_owned(),
                        false => format!("Links: {}", Value::Array(links.clone())),
                    });
                    results.push(json!({"tool_use_id": call, "content": links}));
                }
            }
        }
        texts.push(REMINDER.to_owned());
        ToolOutput::text(texts.join("\n\n")).structured(json!({
            "query": query,
            "results": results,
            "durationSeconds": began.elapsed().as_secs_f64(),
            "searchCount": self.searches,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(value: Value) -> ContentBlock {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn results_keep_the_order_of_the_api() {
        let mut found = Found::default();
        for value in [
            json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}),
            json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": [
                {"type": "web_search_result", "title": "T", "url": "https://a.example", "page_age": "1 day"},
            ]}),
            json!({"type": "text", "text": "It says "}),
            json!({"type": "text", "text": "yes."}),
            json!({"type": "web_search_tool_result", "tool_use_id": "s2", "content": {
                "type": "web_search_tool_result_error", "error_code": "max_uses_exceeded",
            }}),
        ] {
            found.take(&block(value));
        }
        let output = found.output("q", Instant::now());
        assert_eq!(
            output.content.to_text(),
            "Web search results for query: \"q\"\n\nLinks: \
             [{\"title\":\"T\",\"url\":\"https://a.example\"}]\n\nIt says yes.\n\nWeb search \
             error: max_uses_exceeded\n\nName the sources you use in your answer to the user, as \
             links."
        );
        let structured = output.structured.unwrap();
        assert_eq!(structured["searchCount"], 1);
        assert_eq!(
            structured["results"],
            json!([
                {"tool_use_id": "s1", "content": [{"title": "T", "url": "https://a.example"}]},
                "It says yes.",
                "Web search error: max_uses_exceeded",
            ])
        );
    }
}
