//! MCP servers as a source of tools, resources and prompts.
//!
//! [`McpServers`] holds the servers of a session: programs, servers on the network, and servers
//! inside the host ([`SdkServers`]). Each is supervised by its own task, so that one that hangs,
//! floods, dies or sends invalid messages costs its own tools and nothing else. To the engine they
//! are a [`ToolSource`](bowline_tools::ToolSource); it is notified of changes through
//! [`McpObserver`], and elicitations go to [`Elicit`].
//!
//! The client of programs and network servers is `rmcp`, whose types stay inside. Servers inside the
//! host have a client of our own: their messages travel as control requests, one response each, with
//! ids and key order that hosts have seen before, which needs less than a transport of `rmcp` would.
//! Servers inside this process ([`InProcessServer`]) hand their tools over and get no messages.
//!
//! Nothing here reads the environment or decides on permissions.

mod catalog;
mod config;
mod connection;
mod directory;
mod endpoint;
mod error;
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
mod server_core;
mod servers;
mod spec;
mod status;
mod stderr_tail;
mod tool;
mod truncate;

pub use catalog::McpPromptArgument;
pub use config::{
    ConfigProblem, NamedServer, Scope, ServerList, read_argument, read_file, read_text,
};
pub use error::McpError;
pub use expand::expand;
pub use host::{Elicit, McpObserver, SdkServerError, SdkServers};
pub use in_process::{CallLimits, InProcessServer};
pub use login::{LoginError, LoginPage};
pub use name::{public_name, spoken, tool_name};
pub use options::{Backoff, ClientInfo, Options};
pub use prompts::{McpPrompt, PromptMessage};
pub use resources::McpResource;
pub use servers::{McpServers, Setup};
pub use spec::ServerTool;
