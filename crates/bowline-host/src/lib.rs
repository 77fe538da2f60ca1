//! SDK for Rust programs: start an agent, talk to it, lend it tools, and decide what it may do.
//!
//! ```
//! use bowline_host::{Embedded, McpServer, Options, Tool, query};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Pair {
//!     a: i64,
//!     b: i64,
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), bowline_host::Error> {
//!     let add = Tool::new("add", "Adds two numbers", async |it: Pair| (it.a + it.b).to_string());
//!     let options = Options::default()
//!         .embedded(Embedded::script(std::env::temp_dir()))
//!         .sdk_mcp_server(McpServer::new("calc").tool(add))
//!         .allow(["mcp__calc__add"]);
//!     let prompt = "TOOL mcp__calc__add {\"a\": 15, \"b\": 27}\nNEXT\nECHORESULT";
//!     assert!(query(prompt, options).text().await?.contains("42"));
//!     Ok(())
//! }
//! ```
//!
//! Here the model is a script, so that this runs offline. Without `.embedded(…)` the agent is
//! `bowline` or `claude`, and the prompt may be any.
//!
//! | subject | where |
//! |---|---|
//! | one run | [`query`], [`query_all`] |
//! | runs that are followed and steered | [`Agent`], [`Session`], [`SessionEvent`], [`SessionStatus`] |
//! | a conversation | [`Client`] |
//! | the conversation so far | [`Conversation`] |
//! | options | [`Options`] |
//! | tools in this program | [`Tool`], [`McpServer`] |
//! | permission callback | [`CanUseTool`] |
//! | callbacks before and after what happens | [`Hook`], [`HookMatcher`], [`HookOutput`] |
//! | typed output | [`Options::output`], [`Messages::output`] |
//! | saved sessions | [`Sessions`], [`store`] |
//! | messages of an agent | [`Messages`], [`Message`] |
//! | errors | [`Error`] |
//! | wire types | [`protocol`] |
//!
//! An agent runs in its own process ([`AgentTransport`], `bowline` or the official
//! `claude`), in this one (`Embedded`, with the feature `embedded`), or elsewhere (`OnDemand` and
//! `Listener`, with the feature `websocket`; or wherever a [`Carrier`] reaches it). The rest is the same.
//!
//! # What is promised
//!
//! - **No call waits for ever.** When the agent's process dies, every pending call fails
//!   at once, with its exit code, its signal and the end of its stderr. Requests and hooks
//!   have time limits, and closing always ends.
//! - **Callbacks run concurrently** and never hold up messages or each other. One whose request
//!   is cancelled is dropped. A failure, a panic and a missing callback become error responses.
//! - **Requests get responses however many messages wait unread**: beyond some megabytes they
//!   wait on disk.
//! - **Everything is traced**: callbacks run in spans of `tracing`, below the span in which their session
//!   was opened, with the session and the call they are for.
//! - **A message that cannot be read costs that message**, not the session; one of an unknown
//!   type is handed over as it came.

mod agent;
mod callback;
mod carried;
mod client;
mod connection;
mod control;
mod conversation;
#[cfg(feature = "embedded")]
mod embedded;
mod error;
mod journal;
mod message_queue;
mod messages;
mod options;
mod process;
mod prompt;
mod query;
mod responder;
mod resume_failure;
mod run;
mod session;
#[cfg(feature = "sessions")]
pub mod sessions;
mod state;
mod status;
#[cfg(feature = "sessions")]
pub mod store;
mod tool;
mod transport;
mod version;
#[cfg(feature = "websocket")]
mod websocket;
mod wire;

#[cfg(feature = "embedded")]
pub use bowline_engine as engine;
#[cfg(feature = "embedded")]
pub use bowline_model as model;
pub use bowline_protocol as protocol;
pub use bowline_protocol::{
    AgentDefinition, ContentBlock, Effort, ElicitationResponse, EventInput, HookEvent, HookFailure,
    HookInput, McpRemoteServer, McpServerConfig, McpStdioServer, Message, PermissionBehavior,
    PermissionMode, PermissionResult, PermissionRule, PermissionUpdate, PromptPriority,
    ResultMessage, SystemMessage, UpdateDestination, UserMessage, printable,
};

pub use agent::{Agent, AgentBuilder};
pub use callback::{
    CanUseTool, DialogAnswer, DialogRequest, ElicitationRequest, Hook, HookCall, HookMatcher,
    HookOutput, IntoAnswer, OnElicitation, OnRequest, OnUserDialog, OtherRequest, ToolRequest,
};
pub use carried::{Carrier, Reaching, Streams};
pub use client::Client;
pub use conversation::{Conversation, ConversationWatch, Utterance};
#[cfg(feature = "embedded")]
pub use embedded::Embedded;
pub use error::{Cause, Error, ProcessError};
pub use messages::Messages;
pub use options::{
    AgentSetup, AgentTransport, BuiltinTools, CallbackOptions, DEFAULT_CLOSE_LIMIT,
    DEFAULT_TIME_LIMIT, GenerationOptions, Limits, MessageOptions, Options, PermissionOptions,
    PermissionPrompts, Plugin, PluginDelivery, PreviewFormat, ProcessOptions, ProcessUser, Resume,
    SessionOptions, SettingSource, Settings, SettingsOptions, Skills, Spawner, StderrCallback,
    SystemPrompt, Thinking, ToolOptions, TraceContext,
};
pub use prompt::Prompt;
pub use query::{query, query_all};
pub use session::Session;
#[cfg(feature = "sessions")]
pub use sessions::{Sessions, SessionsError};
pub use state::SessionState;
pub use status::{
    Events, PendingPermission, PendingToolCall, SessionEvent, SessionStatus, Statistics,
    ToolAnswer, ToolCall,
};
#[cfg(feature = "schema")]
pub use tool::Field;
#[cfg(feature = "rmcp")]
pub use tool::RmcpServer;
pub use tool::{
    HandleTool, IntoToolResult, McpServer, McpServers, Progress, ResourceContents, SdkServer,
    Structured, Tool, ToolAnnotations, ToolContent, ToolContext, ToolHandler, ToolResult,
};
#[cfg(feature = "websocket")]
pub use websocket::{
    AgentInvitation, Listener, ListenerOptions, OnDemand, RemoteAgent, StartAgent,
};

/// The guide, so that what it shows is compiled and run.
#[cfg(all(doctest, feature = "embedded"))]
#[doc = include_str!("../../../docs/sdk.md")]
#[doc = include_str!("../../../docs/sdk-options.md")]
#[doc = include_str!("../README.md")]
struct Guide;

/// What the doors' chapter shows of Rust.
#[cfg(all(doctest, feature = "embedded", feature = "websocket"))]
#[doc = include_str!("../../../docs/doors.md")]
struct Doors;
