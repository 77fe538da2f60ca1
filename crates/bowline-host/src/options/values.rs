//! The values that options take.

use std::path::PathBuf;

use serde_json::Value;

/// System prompt of the model.
///
/// ```
/// use bowline_host::{Options, SystemPrompt};
///
/// let text = Options::default().system_prompt("You are a librarian.");
/// let its_own_and_more = Options::default().system_prompt(SystemPrompt::appended("Be brief."));
/// let from_a_file = Options::default().system_prompt(SystemPrompt::File("prompt.md".into()));
/// let parts = ["You are a librarian.", SystemPrompt::BOUNDARY, "It is Monday."];
/// let cached = Options::default().system_prompt(SystemPrompt::Parts(parts.map(Into::into).into()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemPrompt {
    /// Nothing, as in the official SDKs: `--system-prompt ""`.
    #[default]
    Empty,
    /// This text: `--system-prompt`.
    Text(String),
    /// These texts, one after another: `systemPrompt` of `initialize`. [`BOUNDARY`](Self::BOUNDARY)
    /// among them marks where they begin to differ from session to session.
    Parts(Vec<String>),
    /// What is in this file: `--system-prompt-file`.
    File(PathBuf),
    /// The agent's own prompt, perhaps with text appended: `--append-system-prompt`.
    Preset {
        /// Text to append.
        append: Option<String>,
        /// Leave out what changes from day to day and folder to folder, so that the prompt can
        /// be cached across machines: `excludeDynamicSections` of `initialize`.
        exclude_dynamic_sections: bool,
    },
}

impl SystemPrompt {
    /// Between [parts](Self::Parts): those before it are the same in every session, so that they can be
    /// cached for all of them. The model does not see it.
    pub const BOUNDARY: &'static str = bowline_protocol::SYSTEM_PROMPT_DYNAMIC_BOUNDARY;

    /// The agent's own prompt.
    pub fn preset() -> Self {
        Self::Preset { append: None, exclude_dynamic_sections: false }
    }

    /// The agent's own prompt, with this text appended.
    pub fn appended(text: impl Into<String>) -> Self {
        Self::Preset { append: Some(text.into()), exclude_dynamic_sections: false }
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Which of the agent's own tools there are: `--tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuiltinTools {
    /// All of them: `default`.
    All,
    /// These; none if the list is empty.
    Only(Vec<String>),
}

/// Whether and how long the model thinks first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As long as it finds useful: `--thinking adaptive`.
    Adaptive,
    /// Up to this many tokens: `--max-thinking-tokens`.
    Budget(u64),
    /// Not at all: `--thinking disabled`.
    Disabled,
}

/// Settings above those of files: `--settings`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settings {
    /// In this file.
    File(PathBuf),
    /// These.
    Inline(Value),
}

/// Whose settings files are read: `--setting-sources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingSource {
    /// Those of the user.
    User,
    /// Those of the project, shared.
    Project,
    /// Those of the project, not shared.
    Local,
}

impl SettingSource {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// Which skills the agent may use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skills {
    /// All it finds.
    All,
    /// These.
    Named(Vec<String>),
}

/// A folder with a plugin: `--plugin-dir`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plugin {
    /// The folder.
    pub path: PathBuf,
    /// Leave its MCP servers alone: `--plugin-dir-no-mcp`.
    pub skip_mcp_discovery: bool,
}

impl Plugin {
    /// The plugin in this folder, with all it has.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), skip_mcp_discovery: false }
    }
}

/// Which conversation is continued.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resume {
    /// None: this is a new one.
    #[default]
    No,
    /// The newest of the working directory: `--continue`.
    Newest,
    /// The one with this id, title or transcript file: `--resume`.
    Session(String),
}

/// How plugins are sent to the agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginDelivery {
    /// On its command line: `--plugin-dir`.
    #[default]
    Flags,
    /// In the first request, for lists that are too long for a command line: `plugins` of
    /// `initialize`, with `--await-initialize`.
    Initialize,
}

/// Approver of calls that neither rules nor mode decide: `--permission-prompts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPrompts {
    /// This program: `host`.
    Host,
    /// Requests are denied: `none`.
    Disabled,
}

impl PermissionPrompts {
    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Disabled => "none",
        }
    }
}

/// Format of previews in `AskUserQuestion`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreviewFormat {
    /// `markdown`
    Markdown,
    /// `html`
    Html,
}

impl PreviewFormat {
    /// The word in the variable.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }
}

/// A span of a trace, in the form of the W3C's Trace Context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// Which trace and span: `TRACEPARENT`.
    pub traceparent: String,
    /// What vendors add: `TRACESTATE`.
    pub tracestate: Option<String>,
}
