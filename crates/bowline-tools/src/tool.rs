//! Interface of a tool: its description for the model, the access of a call, and its execution.
//!
//! Built-in tools, tools of MCP servers and the engine's own tools (subagents,
//! questions, plans) all implement [`Tool`]. A tool knows nothing of permissions,
//! hooks or messages.

use std::{borrow::Cow, future, path::PathBuf, sync::Arc};

use bowline_protocol::{RawJson, ToolUseId};
use bowline_sandbox::Confinement;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    output::{ToolFailure, ToolOutput},
    workspace::Workspace,
};

/// Something the model can call.
///
/// The order for one call: the input is checked against the schema
/// ([`Registry::check_schema`](crate::Registry::check_schema)), then by
/// [`Tool::check`]; then hooks and permissions have their say, with
/// [`Tool::access`] as their evidence; then [`run`](crate::run).
pub trait Tool: Send + Sync + 'static {
    /// The description for the model, and the properties of every call.
    fn spec(&self) -> &ToolSpec;

    /// What a call with this input would touch. Pure: paths are made absolute, nothing is opened.
    fn access(&self, input: &Value, workspace: &Workspace) -> Access;

    /// Whether such a call may run beside others.
    fn is_concurrency_safe(&self, input: &Value) -> bool {
        let _ = input;
        self.spec().hints.read_only
    }

    /// The tool's own opinion of an input that fits the schema, before anybody is asked for
    /// permission. `run` checks again, because the world may have changed since.
    fn check<'a>(
        &'a self,
        input: &'a Value,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        let _ = (input, workspace);
        Box::pin(future::ready(Ok(())))
    }

    /// Runs a call. A failure is a result for the model.
    ///
    /// # Cancel safety
    ///
    /// Ends soon after `call.cancel` fires. Dropping the future kills the processes it started;
    /// a file is either written whole or not at all.
    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>>;
}

/// Description of a tool for the model, and the properties of every call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name, as models call it. Case matters.
    pub name: Cow<'static, str>,
    /// Older names under which it is also found.
    pub aliases: Vec<Cow<'static, str>>,
    /// What it does and how to use it well.
    pub description: Cow<'static, str>,
    /// JSON schema of its input, always of an object.
    pub input_schema: RawJson,
    /// Whether the input is checked against the schema here. Tools of MCP servers are not: their
    /// server has the last word.
    pub checked: bool,
    /// What calls of it do to the world.
    pub hints: Hints,
    /// A result text with more characters than this is saved to a file and replaced by a preview.
    pub max_result_chars: usize,
    /// Whether it ends by itself when a call is cancelled, and is waited for.
    pub stops_itself: bool,
}

impl ToolSpec {
    /// Result size of tools that have no reason for another.
    pub const DEFAULT_MAX_RESULT_CHARS: usize = 100_000;

    /// A spec with no aliases and no hints, whose input is checked against the schema.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input_schema: RawJson,
    ) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            description: description.into(),
            input_schema,
            checked: true,
            hints: Hints::default(),
            stops_itself: false,
            max_result_chars: Self::DEFAULT_MAX_RESULT_CHARS,
        }
    }

    /// Also found under these names.
    #[must_use]
    pub fn aliases(mut self, names: &[&'static str]) -> Self {
        self.aliases = names.iter().map(|name| Cow::Borrowed(*name)).collect();
        self
    }

    /// Changes nothing in the world.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.hints.read_only = true;
        self
    }

    /// May destroy something.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.hints.destructive = true;
        self
    }

    /// Ends soon after it was cancelled, and has things to put in order until then.
    #[must_use]
    pub fn stops_itself(mut self) -> Self {
        self.stops_itself = true;
        self
    }

    /// Reaches out to an open world.
    #[must_use]
    pub fn open_world(mut self) -> Self {
        self.hints.open_world = true;
        self
    }

    /// The schema does not say everything about the input: its server checks it.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }

    /// Keeps result texts up to this many characters.
    #[must_use]
    pub fn max_result_chars(mut self, chars: usize) -> Self {
        self.max_result_chars = chars;
        self
    }
}

/// What calls of a tool do to the world, with MCP's meaning of the words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy something.
    pub destructive: bool,
    /// Calling again with the same input changes nothing more.
    pub idempotent: bool,
    /// Touches things outside this machine.
    pub open_world: bool,
}

/// What one call would touch: the evidence for permission rules.
///
/// Paths are absolute and free of `.` and `..`, but symlinks are not followed:
/// the permission policy does that, since it needs the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Nothing outside the session.
    Nothing,
    /// Reads these files or searches these directories.
    Read(Vec<PathBuf>),
    /// Creates or changes this file.
    Edit(PathBuf),
    /// Runs this shell command.
    Command(String),
    /// Fetches this address.
    Fetch(String),
    /// Something only the tool's name can decide (an MCP tool, for instance).
    Other,
}

/// One call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Names the call.
    pub id: ToolUseId,
    /// The arguments, as checked.
    pub input: Value,
    /// Where it happens.
    pub workspace: Arc<Workspace>,
    /// Fires when the call is canceled.
    pub cancel: CancellationToken,
    /// The confinement of a command that runs only because it was judged to read. One that a user, a rule, a
    /// hook or the mode allowed is not confined.
    pub confinement: Option<Confinement>,
}

impl ToolCall {
    /// The arguments as the tool's own type.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, ToolFailure> {
        read_input(&self.input)
    }
}

/// Reads arguments into a tool's own type. The schema check has already given better errors than
/// the one here, which is for callers that left it out.
pub(crate) fn read_input<T: DeserializeOwned>(input: &Value) -> Result<T, ToolFailure> {
    T::deserialize(input)
        .map_err(|error| ToolFailure::input(format!("InputValidationError: {error}")))
}
