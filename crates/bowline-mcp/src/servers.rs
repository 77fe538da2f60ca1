//! The servers of a session.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bowline_protocol::{
    InitMcpServer, McpReadResourceResponse, McpServerConfig, McpServerRef, McpServerState,
    McpServerStatus, McpSetServersResponse, RawJson, ToolListing, ToolResult,
};
use bowline_tools::{Tool, ToolDisplayName, ToolSource, Workspace};
use futures_util::future::join_all;
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    config::{NamedServer, Scope},
    connection::{Request, RequestError},
    directory::Directory,
    endpoint::{Endpoint, SessionContext},
    error::McpError,
    host::{Elicit, McpObserver, SdkServers},
    name::{spoken, tool_name},
    options::Options,
    prompts::{self, McpPrompt, PromptMessage},
    resources::{self, McpResource},
    result::error_text,
    server::Server,
    server_core::{Core, State},
    spec::ServerTool,
    status,
    truncate::truncated,
};

/// What the servers of a session are made from.
#[derive(Clone)]
#[non_exhaustive]
pub struct Setup {
    /// The working directory of programs, the roots that servers get, the folder of results.
    pub workspace: Arc<Workspace>,
    /// Limits and switches.
    pub options: Options,
    /// The servers inside the host. Without it there are none.
    pub sdk: Option<Arc<dyn SdkServers>>,
    /// The handler of elicitations. Without it servers are not offered the capability.
    pub elicit: Option<Arc<dyn Elicit>>,
    /// The observer of changes.
    pub observer: Option<Arc<dyn McpObserver>>,
    /// The folder of the logins. Without it logins are not possible.
    pub logins: Option<PathBuf>,
}

impl Setup {
    /// Servers in this workspace, without elicitation and without an observer.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            workspace,
            options: Options::default(),
            sdk: None,
            elicit: None,
            observer: None,
            logins: None,
        }
    }
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The servers of a session. Dropping it kills programs and closes connections;
/// [`close`](Self::close) does it in an orderly way.
pub struct McpServers {
    pub(crate) directory: Arc<Directory>,
    session: Arc<SessionContext>,
    resource_tools: [Arc<dyn Tool>; 3],
    /// Held while the set of servers is replaced, so that two replacements do not mix.
    replacing: tokio::sync::Mutex<()>,
}

impl McpServers {
    /// No servers yet.
    pub fn new(setup: Setup) -> Self {
        let directory = Arc::new(Directory::default());
        Self {
            resource_tools: resources::tools(&Arc::downgrade(&directory)),
            directory,
            session: Arc::new(SessionContext {
                options: setup.options,
                workspace: setup.workspace,
                sdk: setup.sdk,
                elicit: setup.elicit,
                observer: setup.observer,
                logins: setup.logins,
                version: Default::default(),
            }),
            replacing: tokio::sync::Mutex::default(),
        }
    }

    /// Adds a server, which is connected after [`start`](Self::start). One of the same name stays.
    pub fn add(&self, server: NamedServer) {
        let replaceable = matches!(server.config, McpServerConfig::Sdk(_));
        self.directory.add(self.make(server, replaceable));
    }

    /// Removes a server for good. An unknown name is ignored.
    pub async fn remove(&self, name: &str) {
        let Ok(server) = self.directory.find(name) else { return };
        self.directory.remove(&[Arc::clone(&server)]);
        server.stop(State::Disabled).await;
    }

    /// Sends `initialize` to the servers inside the host and waits for the responses. Hosts expect
    /// that before the response to their own `initialize`, and the rest of the handshake, which
    /// [`start`](Self::start) begins, after it.
    pub async fn greet_sdk_servers(&self) {
        let servers = self.directory.servers();
        join_all(servers.iter().map(|server| server.greet())).await;
    }

    /// Starts to connect all servers that have no task yet, concurrently. Needs a runtime.
    pub fn start(&self) {
        self.directory.servers().iter().for_each(|server| server.start());
    }

    /// Waits until every server is connected or known not to be, but not longer than `grace`.
    pub async fn wait_ready(&self, grace: Duration) {
        let servers = self.directory.servers();
        let settled = join_all(servers.iter().map(|server| server.settled()));
        if timeout(grace, settled).await.is_err() {
            tracing::debug!("not all MCP servers were ready in time");
        }
    }

    /// The status of all servers: programs and network servers first, then those in the host.
    pub fn status(&self) -> Vec<McpServerState> {
        self.in_order().iter().map(|server| status::state(server)).collect()
    }

    /// The same in brief, for the first message of a turn.
    pub fn brief_status(&self) -> Vec<InitMcpServer> {
        self.in_order().iter().map(|server| status::brief(server)).collect()
    }

    /// The tail of the stderr of a server's program.
    pub fn stderr(&self, server: &str) -> Option<String> {
        self.directory.find(server).ok()?.core.stderr()
    }

    /// The instructions of servers for the model, by server.
    pub fn instructions(&self) -> Vec<(String, String)> {
        let instructions = self.in_order().into_iter().filter_map(|server| {
            let live = server.live()?;
            let text = live.hello.instructions.as_deref().map(str::trim)?;
            (!text.is_empty()).then(|| (server.name.clone(), truncated(text)))
        });
        instructions.collect()
    }

    /// Replaces the servers that were set this way before, and those inside the host. Returns when
    /// programs and network servers are connected or known not to be. Servers inside the host wait
    /// for [`start`](Self::start), because hosts expect our response before the handshake.
    pub async fn set_servers(
        &self,
        wanted: impl IntoIterator<Item = (String, McpServerConfig)>,
    ) -> McpSetServersResponse {
        let _replacing = self.replacing.lock().await;
        let mut wanted: Vec<_> = wanted.into_iter().collect();
        let is_sdk = |config: &McpServerConfig| matches!(config, McpServerConfig::Sdk(_));
        wanted.sort_by_key(|(_, config)| !is_sdk(config));
        let mut response = McpSetServersResponse::default();

        let mut leaving = self.directory.servers();
        leaving.retain(|server| {
            let core = &server.core;
            let same = |(name, config): &(String, McpServerConfig)| {
                *name == core.name && *config == core.config
            };
            server.replaceable && !wanted.iter().any(same)
        });
        leaving.sort_by_key(|server| !server.core.is_sdk());
        self.directory.remove(&leaving);
        let stop = |server: Arc<Server>| async move { server.stop(State::Disabled).await };
        join_all(leaving.iter().cloned().map(stop)).await;
        let gone = leaving.iter().map(|server| &server.core.name);
        let gone = gone.filter(|gone| wanted.iter().all(|(name, _)| name != *gone));
        response.removed = gone.cloned().collect();

        let mut added = Vec::new();
        for (name, config) in wanted {
            match self.directory.find(&name) {
                Ok(known) if known.core.config == config => {}
                Ok(_) => {
                    let why = "a server of this name is configured elsewhere".to_owned();
                    response.errors.insert(name, why);
                }
                Err(_) => {
                    let scope = Scope::Dynamic;
                    let server = self.make(NamedServer { name: name.clone(), config, scope }, true);
                    self.directory.add(server);
                    added.extend(self.directory.find(&name));
                    response.added.push(name);
                }
            }
        }
        added.retain(|server| !server.core.is_sdk());
        added.iter().for_each(|server| server.start());
        join_all(added.iter().map(|server| server.settled())).await;
        response.errors.extend(added.iter().filter_map(|server| error_of(&server.core)));
        response
    }

    /// Reconnects a server; returns when that has succeeded or failed.
    pub async fn reconnect(&self, name: &str) -> Result<(), McpError> {
        let server = self.directory.find(name)?;
        if server.core.is_sdk() {
            return Err(McpError::Sdk(name.to_owned()));
        }
        server.restart().await;
        server.settled().await;
        error_of(&server.core).map_or(Ok(()), |(_, error)| Err(McpError::Failed(error)))
    }

    /// Enables or disables a server.
    pub async fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), McpError> {
        let server = self.directory.find(name)?;
        let is_disabled = matches!(server.core.state(), State::Disabled);
        match (enabled, is_disabled) {
            (true, true) => server.restart().await,
            (false, false) => server.stop(State::Disabled).await,
            _ => {}
        }
        Ok(())
    }

    /// Delivers a message that a server inside the host sends unasked.
    pub fn deliver(&self, server: &str, message: &RawJson) {
        let live = self.directory.find(server).ok().and_then(|server| server.core.live());
        match live {
            Some(live) => live.connection.deliver(message),
            None => tracing::debug!(server, "message of an MCP server that is not connected"),
        }
    }

    /// Calls a tool for a host and returns the result as MCP has it. A tool that the server does
    /// not list is called all the same: the server has the last word.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the call on the server.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Option<&RawJson>,
        limit: Option<Duration>,
    ) -> Result<RawJson, McpError> {
        let not_connected = |name: &str| McpError::NotConnected(name.to_owned());
        // A tool is named after its server, whether or not there is one.
        let named = tool.strip_prefix("mcp__").and_then(|rest| rest.split("__").next());
        let resolved = self.resolve(tool);
        let (server, own_name) = resolved.ok_or_else(|| not_connected(named.unwrap_or(tool)))?;
        let live = server.live().ok_or_else(|| not_connected(&server.name))?;
        let arguments = match arguments.map(RawJson::to_value) {
            Some(Value::Object(arguments)) => arguments,
            _ => Default::default(),
        };
        let call = Request::CallTool { name: own_name, arguments, tool_use_id: None };
        let limit = limit.unwrap_or_else(|| server.call_timeout());
        let failed = |error: &dyn ToString| McpError::Failed(error.to_string());
        let result = live.connection.request(call, limit).await.map_err(|error| failed(&error))?;
        let raw = RawJson::from_value(&result).map_err(|error| failed(&error))?;
        match serde_json::from_value::<ToolResult>(result) {
            Ok(result) if result.is_error => Err(McpError::Failed(error_text(&result))),
            _ => Ok(raw),
        }
    }

    /// All resources of connected servers.
    pub fn resources(&self) -> Vec<McpResource> {
        self.in_order().iter().flat_map(|server| resources::resources_of(server)).collect()
    }

    /// Reads a resource.
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
    ) -> Result<McpReadResourceResponse, McpError> {
        let server = self.directory.find(server)?;
        if server.core.live().is_none() {
            return Err(McpError::NotConnected(server.core.name.clone()));
        }
        let contents = resources::read(&server.core, uri).await;
        let contents = contents.map_err(|error| McpError::Failed(error.to_string()))?;
        let contents = contents.into_iter().map(RawJson::from).collect();
        Ok(McpReadResourceResponse { contents, ..McpReadResourceResponse::default() })
    }

    /// All prompts of connected servers.
    pub fn prompts(&self) -> Vec<McpPrompt> {
        self.in_order().iter().flat_map(|server| prompts::prompts_of(server)).collect()
    }

    /// Fills in a prompt, by its command or by the name hosts list it under, with the words after
    /// it.
    pub async fn get_prompt(
        &self,
        command: &str,
        words: &str,
    ) -> Result<Vec<PromptMessage>, McpError> {
        for server in self.in_order() {
            let prompts = prompts::prompts_of(&server);
            let wanted = |prompt: &&McpPrompt| {
                prompt.command == command || prompt.slash_command().name == command
            };
            if let Some(prompt) = prompts.iter().find(wanted) {
                let messages = prompts::get(&server, prompt, words).await;
                return messages.map_err(|error| McpError::Failed(error.to_string()));
            }
        }
        Err(McpError::Failed(format!("unknown MCP prompt: {command}")))
    }

    /// Disconnects all servers and waits until they are gone.
    pub async fn close(&self) {
        let servers = self.directory.take();
        join_all(servers.iter().map(|server| server.stop(State::Disabled))).await;
    }

    fn make(&self, server: NamedServer, replaceable: bool) -> Server {
        let NamedServer { name, config, scope } = server;
        Server::new(Endpoint::new(name, config, scope, Arc::clone(&self.session)), replaceable)
    }

    /// Servers as hosts list them: those inside the host come last.
    fn in_order(&self) -> Vec<Arc<Core>> {
        let mut servers = self.directory.cores();
        servers.sort_by_key(|server| server.is_sdk());
        servers
    }

    fn find_tool(&self, name: &str) -> Option<(Arc<Core>, ServerTool)> {
        self.directory.cores().into_iter().find_map(|server| {
            let live = server.live()?;
            let tool = live.tools.iter().find(|tool| tool.tool.spec().name == name)?;
            Some((server, tool.clone()))
        })
    }

    /// The server of a tool and the tool's name there, if need be guessed from its name here.
    fn resolve(&self, tool: &str) -> Option<(Arc<Core>, String)> {
        if let Some((server, tool)) = self.find_tool(tool) {
            return Some((server, tool.listing.name));
        }
        self.directory.cores().into_iter().find_map(|server| {
            let prefix = tool_name(&server.name, "");
            let name = tool.strip_prefix(&prefix)?.to_owned();
            Some((server, name))
        })
    }
}

/// Why a server is not connected, if it should be.
fn error_of(server: &Core) -> Option<(String, String)> {
    let error = match server.state() {
        State::Failed { error } => error,
        State::NeedsAuth(wanted) => RequestError::Unauthorized(wanted).to_string(),
        State::Pending | State::Connected(_) | State::Disabled => return None,
    };
    Some((server.name.clone(), error))
}

impl ToolSource for McpServers {
    /// In the order of their names, so that the list a model sees depends on nothing else.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let live: Vec<_> = self.directory.cores().iter().filter_map(|core| core.live()).collect();
        let mut by_name: BTreeMap<String, Arc<dyn Tool>> = BTreeMap::new();
        for tool in live.iter().flat_map(|live| &live.tools) {
            let name = tool.tool.spec().name.to_string();
            by_name.entry(name).or_insert_with(|| Arc::clone(&tool.tool));
        }
        let has_resources = live.iter().any(|live| live.hello.capabilities.resources());
        let for_resources = self.resource_tools.iter().filter(|_| has_resources).cloned();
        for_resources.chain(by_name.into_values()).collect()
    }

    fn version(&self) -> u64 {
        self.session.version.load(Ordering::Relaxed)
    }

    fn server_of(&self, tool: &str) -> Option<McpServerRef> {
        let (server, _) = self.find_tool(tool)?;
        Some(McpServerRef {
            name: server.name.clone(),
            source: Some(status::source(&server).to_owned()),
            ..McpServerRef::default()
        })
    }

    fn display_name(&self, tool: &str) -> Option<ToolDisplayName> {
        let (server, tool) = self.find_tool(tool)?;
        Some(display_name(&server, tool.listing))
    }
}

/// A tool's and its server's names for people.
fn display_name(server: &Core, listing: ToolListing) -> ToolDisplayName {
    let live = server.live();
    let info = live.as_ref().and_then(|live| live.hello.server_info.as_ref());
    let server_title = info.map(|info| {
        let title = info.extra.get("title").and_then(Value::as_str);
        title.unwrap_or(&info.name).to_owned()
    });
    let title = listing.title.or(listing.annotations.title);
    ToolDisplayName {
        tool: title.unwrap_or_else(|| spoken(&listing.name)),
        tool_name: listing.name,
        server: server_title.unwrap_or_else(|| server.name.clone()),
    }
}

impl std::fmt::Debug for McpServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let servers: BTreeMap<_, McpServerStatus> = self
            .directory
            .cores()
            .iter()
            .map(|server| (server.name.clone(), server.state().status()))
            .collect();
        f.debug_map().entries(servers).finish()
    }
}
