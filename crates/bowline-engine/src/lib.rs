//! The agent itself: a loop of prompt, model, tool calls, results, and all that makes it trustworthy.
//!
//! It knows no transport and no terminal. A door hands it prompts and control requests
//! through a [`Session`] and responds to its requests as a [`Host`].
//!
//! | subject | where |
//! |---|---|
//! | a session from start to end | [`Session`], [`SessionConfig`] |
//! | the source of sessions for a door that opens many | [`Sessions`] |
//! | the embedding side | [`Host`] |
//! | one turn: model, tools, results | [`turn`] |
//! | permissions of tool calls | [`permission`] |
//! | programs that run on events | [`hook`] |
//! | where settings come from | [`settings`] |

mod agent;
mod agent_kind;
mod approvals;
mod catalog;
mod clock;
mod command;
mod compaction;
mod config;
mod context;
mod conversation;
mod file_history;
mod git;
mod hooking;
mod host;
mod identity;
mod instructions;
mod journal;
mod library;
mod live_settings;
mod mcp;
mod model_switch;
mod plugin_reload;
mod response;
mod result;
mod session;
mod session_context;
mod sessions;
mod side;
mod sink;
mod start_hooks;
mod state;
mod structured_output;
mod subagent;
mod survey;
mod synthetic;
mod tasks;
mod tool;
mod tool_services;
mod toolset;
pub mod turn;
mod usage;
mod watch;
mod worktree;

pub use bowline_hook as hook;
pub use bowline_mcp::{CallLimits, InProcessServer, ServerTool};
pub use bowline_model::BoxFuture;
pub use bowline_permission as permission;
pub use bowline_settings::{self as settings, plugin};
pub use command::{ExpandedCommand, NamedFile};
pub use config::{
    ConnectedModel, Models, PermissionPrompts, SessionConfig, SessionStateEvents, SetupTrigger,
    SystemPrompt, ToolSelection,
};
pub use host::{Answer, Host, HostError};
pub use session::{
    ControlError, ControlReply, DirectCall, DirectResult, Session, SessionEnd, StartError,
};
pub use sessions::{OpenError, SessionRequest, Sessions};
