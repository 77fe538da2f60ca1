//! From a command that people wrote to the prompt it stands for: arguments, output of programs, files.

use std::{
    io,
    path::{Path, PathBuf},
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
    #[error(
        "The command was not run, because its text calls programs and this folder is not trusted. \
         To trust it: `bowline trust`, or --trust for one run."
    )]
    NotTrusted,
    #[error("The command was not run, because a program that its text calls failed:\n\n{0}")]
    ProgramFailed(String),
}

/// How many files a command may bring in.
const MOST_FILES: usize = 20;

/// `$ARGUMENTS`, `$ARGUMENTS[0]`, `$0`, `$name`; with a backslash before it, a dollar is one.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\\?\$(?:ARGUMENTS\[(\d+)\]|(\d+)\b|([A-Za-z_][\w-]*))")
        .expect("this pattern is valid")
});
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
    let said = [mark, text].into_iter().filter(|text| !text.is_empty());
    let blocks = said.chain(files).map(ContentBlock::text).collect();
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

/// The text of a skill as a model is given it, with what it is told.
pub(crate) async fn body(skill: &CustomCommand, args: &str) -> io::Result<String> {
    if !skill.may_be_read() {
        return Err(io::Error::other("its real path is outside of a project that is not trusted"));
    }
    let text = tokio::fs::read_to_string(&skill.path).await?;
    let text = skill.source.expand(Document::parse(&text).body.trim());
    Ok(introduced(skill, fill_in(&text, args, &skill.arguments)))
}

/// The text of a command, behind the place of its material if it has some.
fn introduced(command: &CustomCommand, text: String) -> String {
    match &command.folder {
        Some(folder) => super::texts::skill(folder, &text),
        None => text,
    }
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

/// Puts the arguments where the text wants them, or behind it. `names` are what the first ones are
/// called. A place for which there is no argument stays as it is.
pub(super) fn fill_in(text: &str, args: &str, names: &[String]) -> String {
    let words = words(args);
    let mut is_filled = false;
    let filled = PLACEHOLDER.replace_all(text, |found: &Captures<'_>| {
        let whole = &found[0];
        if let Some(plain) = whole.strip_prefix('\\') {
            return plain.to_owned();
        }
        let place = found.get(1).or(found.get(2)).map(|place| place.as_str().parse::<usize>());
        let filled = match (place, found.get(3).map(|name| name.as_str())) {
            (Some(place), _) => place.ok().and_then(|place| words.get(place)).cloned(),
            (None, Some("ARGUMENTS")) => Some(args.to_owned()),
            (None, name) => {
                let place = names.iter().position(|known| Some(known.as_str()) == name);
                place.map(|place| words.get(place).cloned().unwrap_or_default())
            }
        };
        is_filled |= filled.is_some();
        filled.unwrap_or_else(|| whole.to_owned())
    });
    match is_filled || args.is_empty() {
        true => filled.into_owned(),
        false => format!("{filled}\n\nARGUMENTS: {args}"),
    }
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

/// Whether a text calls programs.
pub(super) fn names_program(text: &str) -> bool {
    PROGRAM.is_match(text)
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
            && (session.standing.is_trusted() || is_inside(path))
            && !session.policy().is_read_denied(path)
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
            ("$1 before $0", "a 'b c'", "b c before a"),
            ("$ARGUMENTS[1] before $ARGUMENTS[0]", "a b", "b before a"),
            ("$0 and $2, $ARGUMENTS[9]", "one", "one and $2, $ARGUMENTS[9]"),
            ("only $5", "x", "only $5\n\nARGUMENTS: x"),
            ("costs $10 or ${0}", "x", "costs $10 or ${0}\n\nARGUMENTS: x"),
            (r"\$0 is $0", "x", "$0 is x"),
            ("$0x", "x", "$0x\n\nARGUMENTS: x"),
            ("no place", "for this", "no place\n\nARGUMENTS: for this"),
            ("no $ARGUMENTS or $0", "", "no  or $0"),
            ("plain", "", "plain"),
        ] {
            assert_eq!(fill_in(text, args, &[]), filled, "{text}");
        }
    }

    #[test]
    fn arguments_have_names() {
        let names = ["from", "to-port"].map(str::to_owned);
        assert_eq!(fill_in("$from, $to-port, $far", "Kiel Riga", &names), "Kiel, Riga, $far");
        assert_eq!(fill_in("$from, $to-port", "Kiel", &names), "Kiel, ");
    }

    #[test]
    fn arguments_are_not_expanded_again() {
        assert_eq!(fill_in("say $0", "'$ARGUMENTS'", &[]), "say $ARGUMENTS");
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words(r#"a "b c" d'e f' "" "#), ["a", "b c", "de f", ""]);
    }
}
