//! MCP servers as a source of tools, resources and prompts.
//!
//! [`McpServers`] holds the servers of a session: programs, servers on the network, and servers
//! inside the host ([`SdkServers`]). Each is supervised by a task of its own, so that one that
//! hangs, floods, dies or sends nonsense costs its own tools and nothing else. To the engine they
//! are a [`ToolSource`](bowline_tools::ToolSource); what it wants to hear of it gets through
//! [`McpObserver`], and what servers ask of a person goes to [`Elicit`].
//!
//! Programs and network servers are spoken to through `rmcp`, whose types stay inside. Servers
//! inside the host are spoken to by a client of our own: their messages travel as control
//! requests, one answer each, with ids and key order that hosts have seen before, and that is
//! less than what a transport of `rmcp` would need.
//!
//! Nothing here reads the environment or decides on permissions.

mod catalog;
mod config;
mod connection;
mod expand;
mod host;
mod in_process;
mod login;
mod logins;
mod name;
mod options;
mod prompts;
mod resources;
mod result;
mod server;
mod servers;
mod spec;
mod status;
mod tool;
mod truncate;

pub use config::{
    ConfigProblem, NamedServer, Scope, ServerList, read_argument, read_file, read_text,
};
pub use expand::expand;
pub use host::{Elicit, McpObserver, SdkServerError, SdkServers};
pub use in_process::{CallLimits, InProcessServer};
pub use login::{LoginError, LoginPage};
pub use name::{public_name, spoken, tool_name};
pub use options::{Backoff, ClientInfo, Options};
pub use prompts::{McpPrompt, McpPromptArgument, PromptMessage};
pub use resources::McpResource;
pub use servers::{McpError, McpServers, Setup};
pub use spec::ServerTool;
