//! Expansion of a custom command into a prompt: arguments, output of programs, files.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::{Content, ContentBlock, RawJson, ToolUseBlock, ToolUseId};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    agent::Agent,
    instructions::{
        frontmatter::Document,
        memory::{imports, read_text},
    },
    library::{CustomCommand, Invocation, PROGRAM, fill_in, introduced, names_program},
    permission::RuleSource,
    session_context::SessionContext,
    turn::pipeline::{self, CallContext},
};

/// The prompt that a command stands for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Expansion {
    /// The message for the model.
    pub(crate) blocks: Vec<ContentBlock>,
    /// Context that hooks add.
    pub(crate) context: Vec<String>,
    /// The model that works on it, if not the session's.
    pub(crate) model: Option<String>,
}

/// Why a command did not become a prompt.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExpandError {
    #[error("The command file {0} cannot be read.")]
    Unreadable(String),
    #[error(
        "The command was not run, because its text calls programs and this folder is not trusted. \
         To trust it: `bowline trust`, or --trust for one run."
    )]
    NotTrusted,
    #[error("The command was not run, because a program that its text calls failed:\n\n{0}")]
    ProgramFailed(String),
}

/// The maximum number of files that a command includes.
const MOST_FILES: usize = 20;

/// The expanded text of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpandedCommand {
    /// The text.
    pub text: String,
    /// The files that it names.
    pub files: Vec<NamedFile>,
}

/// A file that a command includes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedFile {
    /// The name in the text.
    pub name: String,
    /// The resolved path.
    pub path: PathBuf,
    /// The content.
    pub text: String,
}

/// Expands a command. Until the end of the turn the tools that the command names are allowed.
pub(super) async fn expand(
    agent: &Agent,
    command: &CustomCommand,
    invocation: &Invocation,
    cancel: &CancellationToken,
) -> Result<Expansion, ExpandError> {
    let context = Arc::new(CallContext::of(agent));
    let ExpandedCommand { text, files } = spell_out(&context, command, invocation, cancel).await?;
    let mark = super::texts::command_mark(&command.name, &invocation.args);
    let files = files.into_iter().map(|file| super::texts::file_contents(&file.name, &file.text));
    let texts = [mark, text].into_iter().filter(|text| !text.is_empty());
    let blocks = texts.chain(files).map(ContentBlock::text).collect();
    Ok(Expansion { blocks, context: Vec::new(), model: command.model.clone() })
}

/// The expanded text of a command. Until they are [withdrawn](withdraw_tools), the tools that the
/// command names are allowed.
pub(super) async fn spell_out(
    context: &Arc<CallContext>,
    command: &CustomCommand,
    invocation: &Invocation,
    cancel: &CancellationToken,
) -> Result<ExpandedCommand, ExpandError> {
    let unreadable = || ExpandError::Unreadable(command.path.display().to_string());
    if !command.may_be_read() {
        return Err(unreadable());
    }
    let document = Document::parse(&read_text(&command.path).ok_or_else(unreadable)?);
    allow_tools(&context.session, &command.allowed_tools);
    let text = command.source.expand(document.body.trim());
    let text = fill_in(&text, &invocation.args, &command.arguments);
    if command.doubt.is_some() && names_program(&text) {
        return Err(ExpandError::NotTrusted);
    }
    let text = run_programs(context, &text, cancel).await?;
    let files = named_files(context, &text);
    Ok(ExpandedCommand { text: introduced(command, text), files })
}

/// Removes the permission rules of the last command.
pub(crate) fn withdraw_tools(session: &SessionContext) {
    session.permissions.policy().rules.clear_source(RuleSource::Command);
}

fn allow_tools(session: &SessionContext, rules: &[String]) {
    let mut policy = session.permissions.policy();
    for rule in rules {
        policy.rules.add(RuleSource::Command, &bowline_protocol::PermissionBehavior::Allow, rule);
    }
}

/// Replaces calls of programs by their output. They run like any call of the Bash tool.
async fn run_programs(
    context: &Arc<CallContext>,
    text: &str,
    cancel: &CancellationToken,
) -> Result<String, ExpandError> {
    let mut filled = String::new();
    let mut rest = 0;
    for found in PROGRAM.captures_iter(text) {
        let (whole, [program]) = (found.get(0), found.extract().1);
        let Some(whole) = whole else { continue };
        filled.push_str(&text[rest..whole.start()]);
        filled.push_str(&run_program(context, program, cancel).await?);
        rest = whole.end();
    }
    filled.push_str(&text[rest..]);
    Ok(filled)
}

async fn run_program(
    context: &Arc<CallContext>,
    program: &str,
    cancel: &CancellationToken,
) -> Result<String, ExpandError> {
    let input = json!({ "command": program });
    let call = ToolUseBlock {
        id: ToolUseId::from(format!("command_{}", Uuid::new_v4().simple()).as_str()),
        name: "Bash".to_owned(),
        input: RawJson::from(input.clone()),
        ..ToolUseBlock::default()
    };
    let call = Arc::new(call);
    let outcome = pipeline::run(Arc::clone(context), call, input, None, cancel.clone()).await;
    let printed = match &outcome.content {
        Content::Text(text) => text.clone(),
        blocks => blocks.to_text(),
    };
    match outcome.failed() {
        true => Err(ExpandError::ProgramFailed(format!("{program}\n{printed}"))),
        false => Ok(printed.trim_end().to_owned()),
    }
}

/// The files that the text names with `@`.
fn named_files(context: &CallContext, text: &str) -> Vec<NamedFile> {
    let named = imports(text).into_iter().take(MOST_FILES);
    let paths = named.map(|name| (context.workspace.resolve(&name), name));
    let session = &context.session;
    let roots: Vec<_> =
        context.workspace.roots().iter().filter_map(|root| root.canonicalize().ok()).collect();
    // In a project that is not trusted a link must not lead out of the working directories.
    let is_inside = |path: &Path| {
        let real = path.canonicalize().ok();
        real.is_some_and(|real| roots.iter().any(|root| real.starts_with(root)))
    };
    let readable = paths.filter(|(path, _)| {
        context.workspace.contains(path)
            && (session.trust.is_trusted() || is_inside(path))
            && !session.permissions.policy().is_read_denied(path)
    });
    let files =
        readable.filter_map(|(path, name)| Some(NamedFile { text: read_text(&path)?, name, path }));
    files.collect()
}
