//! Toolset of an agent: its own tools, and those of MCP servers, which change while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use bowline_mcp::McpServers;
use bowline_model::ToolDefinition;
use bowline_protocol::{McpServerRef, ToolUseBlock, ToolUseMeta};
use bowline_tools::{Registry, Tool, ToolDisplayName, ToolFailure, ToolSource, ToolSpec};
use serde_json::Value;

use crate::structured_output;

/// The agent tool: hosts know it by its older name.
pub(crate) const AGENT_TOOL: &str = "Agent";
const AGENT_TOOL_FOR_HOSTS: &str = "Task";

/// The tools of an agent.
pub(crate) struct Toolset {
    own: Registry,
    source: Option<Arc<dyn ToolSource>>,
    /// Servers that are this agent's alone.
    servers: Option<Arc<McpServers>>,
    /// Disabled tools, named in the error for a model that calls one.
    disabled: Vec<String>,
    /// The filters for tools of the source; all must admit a tool.
    filters: Vec<Filter>,
    merged: Mutex<Option<Merged>>,
}

/// A filter of tools by name.
#[derive(Debug, Clone)]
pub(crate) enum Filter {
    Only(Vec<String>),
    Except(Vec<String>),
}

impl Filter {
    /// Whether it admits a tool, by its name or an alias.
    pub(crate) fn admits_tool(&self, spec: &ToolSpec) -> bool {
        let mut names = std::iter::once(&spec.name).chain(&spec.aliases);
        match self {
            Self::Only(_) => names.any(|name| self.admits(name)),
            Self::Except(_) => names.all(|name| self.admits(name)),
        }
    }

    fn admits(&self, name: &str) -> bool {
        let covers = |rule: &String| match rule.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            // A server's name stands for all of its tools.
            None => {
                rule == name || name.strip_prefix(rule).is_some_and(|rest| rest.starts_with("__"))
            }
        };
        match self {
            Self::Only(names) => names.iter().any(covers),
            Self::Except(names) => !names.iter().any(covers),
        }
    }
}

#[derive(Clone)]
struct Merged {
    version: u64,
    registry: Arc<Registry>,
    definitions: Arc<Vec<Arc<ToolDefinition>>>,
}

impl Toolset {
    pub(crate) fn new(
        own: Registry,
        source: Option<Arc<dyn ToolSource>>,
        disabled: Vec<String>,
        filters: Vec<Filter>,
    ) -> Self {
        Self { own, source, servers: None, disabled, filters, merged: Mutex::new(None) }
    }

    /// The same with the agent's own servers.
    pub(crate) fn with_servers(mut self, servers: Option<Arc<McpServers>>) -> Self {
        self.servers = servers;
        self
    }

    /// An empty toolset.
    pub(crate) fn empty() -> Self {
        Self::new(Registry::new(), None, Vec::new(), Vec::new())
    }

    /// The tool of this name, or the error for a model that called an unknown one.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<dyn Tool>, ToolFailure> {
        if self.disabled.iter().any(|disabled| disabled == name) {
            let hint =
                format!("{name} is disabled for this session, in subagents as well as here.");
            return Err(ToolFailure::unknown_tool(&format!("{name}."), Some(&hint)));
        }
        self.merged().registry.find(name).map(Arc::clone)
    }

    /// Checks an input against the schema of the tool, and returns it normalized.
    pub(crate) fn check(&self, name: &str, input: Value) -> Result<Value, ToolFailure> {
        fitting(&self.merged().registry, name, input)
    }

    /// The same, with the defaults of the schema filled in.
    pub(crate) fn complete_input(&self, name: &str, input: Value) -> Result<Value, ToolFailure> {
        let registry = self.merged().registry;
        let mut input = fitting(&registry, name, input)?;
        registry.fill_defaults(name, &mut input)?;
        Ok(input)
    }

    pub(crate) fn is_concurrency_safe(&self, name: &str, input: &Value) -> bool {
        // An invalid call never runs, so it is safe.
        self.find(name).map_or(true, |tool| tool.is_concurrency_safe(input))
    }

    /// The tool definitions for the model.
    pub(crate) fn definitions(&self) -> Arc<Vec<Arc<ToolDefinition>>> {
        self.merged().definitions
    }

    /// The names as hosts know them: the agent tool first, others in alphabetical order, tools of
    /// servers last.
    pub(crate) fn names_for_hosts(&self) -> Vec<String> {
        let registry = self.merged().registry;
        let mut names: Vec<_> = registry.iter().map(|tool| tool.spec().name.to_string()).collect();
        names.sort_by_key(|name| (name != AGENT_TOOL, name.starts_with("mcp__"), name.clone()));
        for name in names.iter_mut().filter(|name| *name == AGENT_TOOL) {
            *name = AGENT_TOOL_FOR_HOSTS.to_owned();
        }
        names
    }

    /// The agent's own tools, without those of servers.
    pub(crate) fn own(&self) -> &Registry {
        &self.own
    }

    /// Servers that are this agent's alone.
    pub(crate) fn servers(&self) -> Option<&Arc<McpServers>> {
        self.servers.as_ref()
    }

    pub(crate) fn source(&self) -> Option<&Arc<dyn ToolSource>> {
        self.source.as_ref()
    }

    pub(crate) fn disabled(&self) -> &[String] {
        &self.disabled
    }

    pub(crate) fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Display metadata of a call of a server's tool.
    pub(crate) fn meta(&self, call: &ToolUseBlock) -> Option<ToolUseMeta> {
        let Some(name) = self.display_name(&call.name) else {
            // An unknown or removed server: only the tool's name is known.
            let (_, tool) = call.name.strip_prefix("mcp__")?.split_once("__")?;
            let (id, display_name) = (call.id.clone(), bowline_mcp::spoken(tool));
            return Some(ToolUseMeta { id, display_name, ..ToolUseMeta::default() });
        };
        Some(ToolUseMeta {
            id: call.id.clone(),
            display_name: name.tool,
            server_display_name: Some(name.server),
            tool_name: Some(name.tool_name),
            ..ToolUseMeta::default()
        })
    }

    /// The display name of a server's tool.
    pub(crate) fn display_name(&self, tool: &str) -> Option<ToolDisplayName> {
        self.sources().find_map(|source| source.display_name(tool))
    }

    pub(crate) fn server_of(&self, tool: &str) -> Option<McpServerRef> {
        self.sources().find_map(|source| source.server_of(tool))
    }

    /// The sources of tools, the agent's own servers first.
    fn sources(&self) -> impl Iterator<Item = &dyn ToolSource> {
        let own = self.servers.as_deref().map(|servers| servers as &dyn ToolSource);
        own.into_iter().chain(self.source.as_deref())
    }

    /// Own tools and those of the source; rebuilt only when the source has changed.
    fn merged(&self) -> Merged {
        let version = self.sources().map(|source| source.version()).sum();
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        match &*merged {
            Some(merged) if merged.version == version => merged.clone(),
            _ => merged.insert(self.merge(version)).clone(),
        }
    }

    fn merge(&self, version: u64) -> Merged {
        let mut registry = self.own.clone();
        for tool in self.source.iter().flat_map(|source| source.tools()) {
            let name = &tool.spec().name;
            let admitted = self.filters.iter().all(|filter| filter.admits(name));
            if admitted && !self.disabled.iter().any(|disabled| disabled == name) {
                registry.insert(tool);
            }
        }
        for tool in self.servers.iter().flat_map(|servers| servers.tools()) {
            // The parent's filters do not apply to the agent's own servers, unless they name their tools.
            let name = &tool.spec().name;
            let refused =
                |filter: &Filter| matches!(filter, Filter::Except(_)) && !filter.admits(name);
            if name.starts_with("mcp__") && !self.filters.iter().any(refused) {
                registry.insert(tool);
            }
        }
        let definitions = registry.iter().map(definition).collect();
        Merged { version, registry: Arc::new(registry), definitions: Arc::new(definitions) }
    }
}

/// The definition of a tool for the model.
pub(crate) fn definition(tool: &Arc<dyn Tool>) -> Arc<ToolDefinition> {
    let spec = tool.spec();
    Arc::new(ToolDefinition {
        name: spec.name.to_string(),
        description: spec.description.to_string(),
        input_schema: spec.input_schema.clone(),
        ..ToolDefinition::default()
    })
}

/// The input, if it fits the schema. Structured output is unwrapped first: some models put it into
/// an extra object.
fn fitting(registry: &Registry, name: &str, input: Value) -> Result<Value, ToolFailure> {
    let is_result = name == structured_output::NAME;
    let unwrapped = is_result.then(|| structured_output::unwrapped(&input)).flatten();
    registry.check_schema(name, input).or_else(|failure| {
        let unwrapped = unwrapped.and_then(|input| registry.check_schema(name, input).ok());
        unwrapped.ok_or(failure)
    })
}
