//! The tools an agent works with.
//!
//! [`Tool`] is what a tool is, [`Registry`] holds the ones of a session, [`Workspace`] is where
//! they work, [`Tasks`] is what goes on in the background, and [`run`] runs a call. Permissions,
//! hooks and messages are the engine's business; what a call would touch it learns from
//! [`Tool::access`].

mod check;
mod files;
mod http;
mod lists;
mod output;
mod process;
mod registry;
mod run;
mod schema;
mod search;
mod source;
mod tasks;
mod tool;
mod tools;
mod workspace;

pub use http::{HttpResponse, post_json};
pub use lists::{ListedTask, ListedTaskStatus, TaskList, Todo, TodoList, TodoStatus};
pub use output::{FailureStage, ToolFailure, ToolOutput};
pub use process::MODEL_KEYS;
pub use registry::{Registry, check_is_schema};
pub use run::run;
pub use schema::schema_of;
pub use source::{ToolDisplayName, ToolSource};
pub use tasks::{
    NewTask, NoSuchTask, TaskEvent, TaskHandle, TaskInfo, TaskKind, TaskObserver, TaskOutput,
    TaskStatus, Tasks,
};
pub use tool::{Access, Hints, Tool, ToolCall, ToolSpec};
pub use workspace::{
    FileChange, FileObserver, HiddenFiles, IsHidden, Options, SeenFile, SeenFiles, Setup,
    Summarize, Workspace, normalize,
};
