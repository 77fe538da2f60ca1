//! From a command that people wrote to the prompt it stands for: arguments, output of programs, files.

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use bowline_protocol::{Content, ContentBlock, RawJson, ToolUseBlock, ToolUseId};
use regex::{Captures, Regex};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{Invocation, library::CustomCommand};
use crate::{
    agent::Agent,
    context::{
        frontmatter::Document,
        memory::{imports, read_text},
    },
    permission::RuleSource,
    session::Shared,
    turn::pipeline::{self, CallContext},
};

/// The prompt that a command stands for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Expansion {
    /// What the model gets.
    pub(crate) blocks: Vec<ContentBlock>,
    /// What hooks want the model to know.
    pub(crate) context: Vec<String>,
    /// The model that works on it, if not the session's.
    pub(crate) model: Option<String>,
}

/// Why a command did not become a prompt.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExpandError {
    #[error("The command file {0} cannot be read.")]
    Unreadable(String),
    #[error("The command was not run, because a program that its text calls failed:\n\n{0}")]
    ProgramFailed(String),
}

/// How many files a command may bring in.
const MOST_FILES: usize = 20;

static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$ARGUMENTS\b|\$([1-9])\b").expect("this pattern is valid"));
static PROGRAM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"!`([^`\n]+)`").expect("this pattern is valid"));

/// What a command's text came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpandedCommand {
    /// The text.
    pub text: String,
    /// The files that it names.
    pub files: Vec<NamedFile>,
}

/// A file that a command brings in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedFile {
    /// As the text calls it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// Makes the prompt. From here to the end of the turn the tools that the command names are allowed.
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
    let blocks = [mark, text].into_iter().chain(files).map(ContentBlock::text).collect();
    Ok(Expansion { blocks, context: Vec::new(), model: command.model.clone() })
}

/// The text of a command with everything in its place. From here on, until they are
/// [withdrawn](withdraw_tools), the tools that the command names are allowed.
pub(super) async fn spell_out(
    context: &Arc<CallContext>,
    command: &CustomCommand,
    invocation: &Invocation,
    cancel: &CancellationToken,
) -> Result<ExpandedCommand, ExpandError> {
    let unreadable = || ExpandError::Unreadable(command.path.display().to_string());
    let document = Document::parse(&read_text(&command.path).ok_or_else(unreadable)?);
    allow_tools(&context.session, &command.allowed_tools);
    let text = command.source.expand(document.body.trim());
    let text = fill_in(&text, &invocation.args);
    let text = run_programs(context, &text, cancel).await?;
    let files = named_files(context, &text);
    let text = match &command.skill_folder {
        Some(folder) => super::texts::skill(folder, &text),
        None => text,
    };
    Ok(ExpandedCommand { text, files })
}

/// Ends what the last command allowed.
pub(crate) fn withdraw_tools(session: &Shared) {
    session.policy().rules.clear_source(RuleSource::Command);
}

fn allow_tools(session: &Shared, rules: &[String]) {
    let mut policy = session.policy();
    for rule in rules {
        policy.rules.add(RuleSource::Command, &bowline_protocol::PermissionBehavior::Allow, rule);
    }
}

/// Puts the arguments where the text wants them, or behind it.
fn fill_in(text: &str, args: &str) -> String {
    if args.is_empty() || PLACEHOLDER.is_match(text) {
        let words = words(args);
        let filled = PLACEHOLDER.replace_all(text, |found: &Captures<'_>| match found.get(1) {
            None => args.to_owned(),
            Some(place) => {
                let place: usize = place.as_str().parse().unwrap_or(1);
                words.get(place - 1).cloned().unwrap_or_default()
            }
        });
        return filled.into_owned();
    }
    format!("{text}\n\nARGUMENTS: {args}")
}

/// The words of the arguments; quotes keep words together.
fn words(args: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in args.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Puts what programs print where the text calls them. They run as any call of the Bash tool does.
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
    let call = ToolUseBlock {
        id: ToolUseId::from(format!("command_{}", Uuid::new_v4().simple()).as_str()),
        name: "Bash".to_owned(),
        input: RawJson::from(json!({ "command": program })),
        ..ToolUseBlock::default()
    };
    let outcome = pipeline::run(Arc::clone(context), call, None, cancel.clone()).await;
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
    let readable = paths.filter(|(path, _)| {
        context.workspace.contains(path) && !context.session.policy().is_read_denied(path)
    });
    let files =
        readable.filter_map(|(path, name)| Some(NamedFile { text: read_text(&path)?, name, path }));
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_go_where_the_text_wants_them() {
        for (text, args, filled) in [
            ("fix $ARGUMENTS now", "the bug", "fix the bug now"),
            ("$2 before $1", "a 'b c'", "b c before a"),
            ("$1 and $3.", "one", "one and ."),
            ("costs $10", "x", "costs $10\n\nARGUMENTS: x"),
            ("no place", "for this", "no place\n\nARGUMENTS: for this"),
            ("no $ARGUMENTS", "", "no "),
            ("plain", "", "plain"),
        ] {
            assert_eq!(fill_in(text, args), filled);
        }
    }

    #[test]
    fn arguments_are_not_expanded_again() {
        assert_eq!(fill_in("say $1", "'$ARGUMENTS'"), "say $ARGUMENTS");
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words(r#"a "b c" d'e f' "" "#), ["a", "b c", "de f", ""]);
    }
}
