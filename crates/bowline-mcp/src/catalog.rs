//! What a server offers, as it says it.

use std::{collections::HashSet, sync::Arc};

use bowline_protocol::ToolListing;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    connection::{Changed, Connection, Hello, Request, RequestError},
    options::Options,
    prompts::McpPromptArgument,
    spec::ServerTool,
};

/// No list has more pages: a server that goes on forever gives what it gave until then.
const MAX_PAGES: usize = 100;

/// The lists of one server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Vec<ToolListing>,
    pub(crate) prompts: Vec<ListedPrompt>,
    pub(crate) resources: Vec<ListedResource>,
}

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ListedPrompt {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) arguments: Vec<McpPromptArgument>,
}

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedResource {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) mime_type: Option<String>,
}

impl Catalog {
    /// Everything a server has, as far as it said that it has such things. Without its tools a
    /// server is of no use; the rest may fail.
    pub(crate) async fn load(
        connection: &Connection,
        hello: &Hello,
        options: &Options,
    ) -> Result<Self, RequestError> {
        let all = Changed { tools: true, prompts: true, resources: true };
        let mut catalog = Self::default();
        catalog.update(connection, hello, options, all).await?;
        Ok(catalog)
    }

    /// Reads again what has changed.
    pub(crate) async fn update(
        &mut self,
        connection: &Connection,
        hello: &Hello,
        options: &Options,
        changed: Changed,
    ) -> Result<(), RequestError> {
        let has = &hello.capabilities;
        if changed.tools && has.tools() {
            let ask = |cursor| Request::ListTools { cursor };
            self.tools = list(connection, "tools", options, ask).await?;
            // Of two with one name the first counts.
            let mut names = HashSet::new();
            self.tools.retain(|tool: &ToolListing| names.insert(tool.name.clone()));
        }
        if changed.prompts && has.prompts() {
            let ask = |cursor| Request::ListPrompts { cursor };
            self.prompts = or_none(list(connection, "prompts", options, ask).await);
        }
        if changed.resources && has.resources() {
            let ask = |cursor| Request::ListResources { cursor };
            self.resources = or_none(list(connection, "resources", options, ask).await);
        }
        Ok(())
    }
}

fn or_none<T>(list: Result<Vec<T>, RequestError>) -> Vec<T> {
    list.unwrap_or_else(|error| {
        tracing::warn!(%error, "a list of an MCP server cannot be read");
        Vec::new()
    })
}

/// All pages of a list. An entry that makes no sense costs itself.
async fn list<T: DeserializeOwned>(
    connection: &Connection,
    key: &str,
    options: &Options,
    ask: impl Fn(Option<String>) -> Request,
) -> Result<Vec<T>, RequestError> {
    let (mut entries, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..MAX_PAGES {
        let mut page = connection.request(ask(cursor.clone()), options.request_timeout).await?;
        let listed = page.get_mut(key).map(Value::take).unwrap_or_default();
        if let Value::Array(listed) = listed {
            entries.extend(listed.into_iter().filter_map(|entry| {
                serde_json::from_value(entry)
                    .inspect_err(|error| tracing::warn!(%error, key, "an entry makes no sense"))
                    .ok()
            }));
        }
        let next = page.get("nextCursor").and_then(Value::as_str);
        // Whoever names the page that it has just given has no other.
        if next.is_none() || next == cursor.as_deref() {
            break;
        }
        cursor = next.map(str::to_owned);
    }
    Ok(entries)
}

/// What a connected server is: its connection, what it said, and what it offers.
pub(crate) struct Live {
    pub(crate) connection: Arc<Connection>,
    pub(crate) hello: Hello,
    pub(crate) catalog: Catalog,
    pub(crate) tools: Vec<ServerTool>,
}
