//! Resources of servers, and the tools with which a model finds and reads them.

use std::sync::{Arc, LazyLock, Weak};

use bowline_protocol::RawJson;
use bowline_tools::{Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    connection::{Request, RequestError},
    directory::Directory,
    result::Files,
    server_core::{Core, State},
};

/// The error code for an unknown resource.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpResource {
    /// Its name on the server.
    pub name: String,
    /// Where it is.
    pub uri: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// As in `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The server.
    pub server: String,
}

/// The resources of a server now.
pub(crate) fn resources_of(server: &Core) -> Vec<McpResource> {
    let Some(live) = server.live() else { return Vec::new() };
    let resources = live.catalog.resources.iter().map(|resource| McpResource {
        name: resource.name.clone(),
        uri: resource.uri.clone(),
        description: resource.description.clone(),
        mime_type: resource.mime_type.clone(),
        server: server.name.clone(),
    });
    resources.collect()
}

/// The contents of a resource as MCP has them.
pub(crate) async fn read(server: &Core, uri: &str) -> Result<Vec<Value>, RequestError> {
    let live = server.live().ok_or(RequestError::Closed)?;
    let request = Request::ReadResource { uri: uri.to_owned() };
    let mut result =
        live.connection.request(request, server.session.options.request_timeout).await?;
    match result.get_mut("contents").map(Value::take) {
        Some(Value::Array(contents)) => Ok(contents),
        _ => Ok(Vec::new()),
    }
}

/// The tools for resources.
pub(crate) fn tools(directory: &Weak<Directory>) -> [Arc<dyn Tool>; 3] {
    [
        Arc::new(List(directory.clone())),
        Arc::new(ReadDirectory(directory.clone())),
        Arc::new(Read(directory.clone())),
    ]
}

static LIST: LazyLock<ToolSpec> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "properties": {"server": {"type": "string", "description": "Only this server's resources"}},
        "additionalProperties": false,
    });
    let description = "Lists the resources that MCP servers offer: files, records, pages. Each \
                       has the server it is on and the address to read it by.";
    let spec = ToolSpec::new("ListMcpResourcesTool", description, RawJson::from(schema));
    spec.aliases(&["ListMcpResources"]).read_only()
});

static READ: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Reads a resource of an MCP server. What is not text is saved to a file, \
                       and the result names the file.";
    let spec = ToolSpec::new("ReadMcpResourceTool", description, address_schema());
    spec.aliases(&["ReadMcpResource"]).read_only()
});

static READ_DIRECTORY: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Lists the resources of an MCP server whose addresses begin with the given \
                       one, like the files of a directory.";
    let spec = ToolSpec::new("ReadMcpResourceDirTool", description, address_schema());
    spec.aliases(&["ReadMcpResourceDir"]).read_only()
});

fn address_schema() -> RawJson {
    RawJson::from(json!({
        "type": "object",
        "properties": {
            "server": {"type": "string", "description": "The server"},
            "uri": {"type": "string", "description": "The address on the server"},
        },
        "required": ["server", "uri"],
        "additionalProperties": false,
    }))
}

#[derive(Deserialize)]
struct OfServer {
    server: Option<String>,
}

#[derive(Deserialize)]
struct Address {
    server: String,
    uri: String,
}

/// `ListMcpResourcesTool`
struct List(Weak<Directory>);

impl List {
    async fn list(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let OfServer { server } = call.input()?;
        let servers = match server {
            Some(name) => vec![find(&self.0, &name)?],
            None => all(&self.0),
        };
        let resources: Vec<_> = servers.iter().flat_map(|server| resources_of(server)).collect();
        Ok(listing(&resources))
    }
}

/// A list of resources for the model.
fn listing(resources: &[McpResource]) -> ToolOutput {
    let structured = serde_json::to_value(resources).unwrap_or_default();
    let text = match resources.is_empty() {
        true => "No resources found. The servers may still offer tools.".to_owned(),
        false => structured.to_string(),
    };
    ToolOutput::text(text).structured(structured)
}

/// `ReadMcpResourceTool`
struct Read(Weak<Directory>);

impl Read {
    async fn read(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let Address { server, uri } = call.input()?;
        let server = find_connected(&self.0, &server)?;
        let contents = match read(&server, &uri).await {
            Ok(contents) => contents,
            Err(RequestError::Refused { code: RESOURCE_NOT_FOUND, message }) => {
                let structured = json!({"contents": [], "error": message});
                return Ok(ToolOutput::text(message).structured(structured));
            }
            Err(error) => return Err(ToolFailure::running(error.to_string())),
        };
        let files = Files { server: &server.name, dir: call.workspace.results_dir() };
        let mut kept = Vec::with_capacity(contents.len());
        for content in contents {
            kept.push(save_blob(content, &files).await);
        }
        let structured = json!({"contents": kept});
        Ok(ToolOutput::text(structured.to_string()).structured(structured))
    }
}

/// Replaces bytes by the name of the file that holds them.
async fn save_blob(mut content: Value, files: &Files<'_>) -> Value {
    let Some(fields) = content.as_object_mut() else { return content };
    let Some(Value::String(blob)) = fields.remove("blob") else { return content };
    let mime = fields.get("mimeType").and_then(Value::as_str);
    let text = match files.save(&blob, mime).await {
        Ok(path) => {
            let path = path.display().to_string();
            let text = format!("The content is not text. It is saved to {path}");
            fields.insert("blobSavedTo".to_owned(), Value::String(path));
            text
        }
        Err(error) => format!("The content is not text and could not be saved: {error}"),
    };
    fields.insert("text".to_owned(), Value::String(text));
    content
}

/// `ReadMcpResourceDirTool`
struct ReadDirectory(Weak<Directory>);

impl ReadDirectory {
    async fn list(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let Address { server, uri } = call.input()?;
        let server = find_connected(&self.0, &server)?;
        let mut resources = resources_of(&server);
        resources.retain(|resource| resource.uri.starts_with(&uri));
        let output = listing(&resources);
        Ok(output.structured(json!({"resources": resources})))
    }
}

fn all(directory: &Weak<Directory>) -> Vec<Arc<Core>> {
    directory.upgrade().map(|directory| directory.cores()).unwrap_or_default()
}

fn find(directory: &Weak<Directory>, name: &str) -> Result<Arc<Core>, ToolFailure> {
    let servers = all(directory);
    let found = servers.iter().find(|server| server.name == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
        let names = names.join(", ");
        ToolFailure::running(format!("Server \"{name}\" not found. Available servers: {names}"))
    })
}

fn find_connected(directory: &Weak<Directory>, name: &str) -> Result<Arc<Core>, ToolFailure> {
    let server = find(directory, name)?;
    match server.state() {
        State::Connected(_) => Ok(server),
        _ => Err(ToolFailure::running(format!("Server \"{name}\" is not connected"))),
    }
}

macro_rules! tool {
    ($tool:ident, $spec:ident, $run:ident) => {
        impl Tool for $tool {
            fn spec(&self) -> &ToolSpec {
                &$spec
            }

            fn access(&self, _: &Value, _: &Workspace) -> Access {
                Access::Nothing
            }

            fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
                Box::pin(self.$run(call))
            }
        }
    };
}

tool!(List, LIST, list);
tool!(Read, READ, read);
tool!(ReadDirectory, READ_DIRECTORY, list);
