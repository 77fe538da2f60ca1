//! Lists of a server: its tools, prompts and resources.

use std::{collections::HashSet, sync::Arc};

use bowline_protocol::ToolListing;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    connection::{Changed, Connection, Hello, Request, RequestError},
    options::Options,
    spec::ServerTool,
};

/// The most pages that are read of one list, so that an endless list ends.
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

/// An argument of a prompt: a word that may follow the command.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct McpPromptArgument {
    /// Its name on the server.
    pub name: String,
    /// Its meaning.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether the prompt needs it.
    #[serde(default)]
    pub required: bool,
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
    /// All lists that the server's capabilities announce. Without its tools a server is useless; the
    /// other lists may fail.
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
            let request = |cursor| Request::ListTools { cursor };
            self.tools = list(connection, "tools", options, request).await?;
            // Of two with one name the first applies.
            let mut names = HashSet::new();
            self.tools.retain(|tool: &ToolListing| names.insert(tool.name.clone()));
        }
        if changed.prompts && has.prompts() {
            let request = |cursor| Request::ListPrompts { cursor };
            self.prompts = or_none(list(connection, "prompts", options, request).await);
        }
        if changed.resources && has.resources() {
            let request = |cursor| Request::ListResources { cursor };
            self.resources = or_none(list(connection, "resources", options, request).await);
        }
        Ok(())
    }
}

fn or_none<T>(list: Result<Vec<T>, RequestError>) -> Vec<T> {
    list.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read a list of an MCP server");
        Vec::new()
    })
}

/// All pages of a list. An invalid entry is left out.
async fn list<T: DeserializeOwned>(
    connection: &Connection,
    key: &str,
    options: &Options,
    request: impl Fn(Option<String>) -> Request,
) -> Result<Vec<T>, RequestError> {
    let (mut entries, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..MAX_PAGES {
        let mut page = connection.request(request(cursor.clone()), options.request_timeout).await?;
        let listed = page.get_mut(key).map(Value::take).unwrap_or_default();
        if let Value::Array(listed) = listed {
            entries.extend(listed.into_iter().filter_map(|entry| {
                serde_json::from_value(entry)
                    .inspect_err(|error| tracing::warn!(%error, key, "invalid entry in a list of an MCP server"))
                    .ok()
            }));
        }
        let next = page.get("nextCursor").and_then(Value::as_str);
        // A cursor that does not move would repeat the same page.
        if next.is_none() || next == cursor.as_deref() {
            break;
        }
        cursor = next.map(str::to_owned);
    }
    Ok(entries)
}

/// A connected server: its connection, its greeting, and its lists.
pub(crate) struct Live {
    pub(crate) connection: Arc<Connection>,
    pub(crate) hello: Hello,
    pub(crate) catalog: Catalog,
    pub(crate) tools: Vec<ServerTool>,
}
