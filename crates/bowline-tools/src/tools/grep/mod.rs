//! `Grep`: finds text in files.

mod page;

use std::path::PathBuf;

use bowline_protocol::Content;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    files::blocking,
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    search::{self, Contexts, Pattern, Query, Scope, Show},
    tool::{Access, Tool, ToolCall, ToolSpec, read_input},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Searches the contents of files with a regular expression (Rust syntax, as in ripgrep).

- `output_mode` is `files_with_matches` (the default: paths, newest first), `content` (the matching \
lines, with `-A`, `-B`, `-C` for the lines around them) or `count`.
- Narrow the search with `path`, with `glob` (\"*.rs\", \"!*.test.ts\") or with `type` (\"rust\", \
\"py\").
- Patterns match within a line unless `multiline` is set. Escape braces and other special \
characters to find them literally.
- Results come in pages of `head_limit` lines from `offset`. Files that git ignores are not \
searched.";

/// How many files are named that were not searched to their end.
const UNREAD_NAMED: usize = 5;

/// Results longer than this are saved to a file.
const MAX_RESULT_CHARS: usize = 20_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The regular expression to find.
    pattern: String,
    /// The file or directory to search; the current directory if absent.
    path: Option<String>,
    /// Globs that paths have to fit, separated by spaces or commas; `!` excludes.
    glob: Option<String>,
    /// The type of files to search, by ripgrep's names.
    r#type: Option<String>,
    /// What to show; files_with_matches if absent.
    output_mode: Option<Mode>,
    /// Lines to show after each match, in content mode.
    #[serde(rename = "-A")]
    after: Option<f64>,
    /// Lines to show before each match, in content mode.
    #[serde(rename = "-B")]
    before: Option<f64>,
    /// Lines to show around each match, in content mode.
    #[serde(rename = "-C")]
    around: Option<f64>,
    /// Same as -C.
    context: Option<f64>,
    /// Whether lines are numbered in content mode; true if absent.
    #[serde(rename = "-n")]
    numbered: Option<bool>,
    /// Whether upper and lower case are the same.
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Whether only the matching parts of lines are shown, in content mode.
    #[serde(rename = "-o")]
    only_matching: Option<bool>,
    /// Whether a match may span lines, with `.` matching newlines too.
    multiline: Option<bool>,
    /// At most this many lines or entries; 250 if absent, 0 for all.
    head_limit: Option<f64>,
    /// Skips this many lines or entries first.
    offset: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    FilesWithMatches,
    Count,
}

impl Input {
    fn mode(&self) -> Mode {
        self.output_mode.unwrap_or(Mode::FilesWithMatches)
    }

    /// Pages are counted in whole numbers.
    fn check(&self) -> Result<(), ToolFailure> {
        let fields = [
            ("head_limit", self.head_limit, " Pass 0 for unlimited."),
            ("offset", self.offset, ""),
        ];
        for (name, value, hint) in fields {
            if let Some(value) = value.filter(|value| *value < 0.0 || value.fract() != 0.0) {
                return Err(ToolFailure::input(format!(
                    "{name} must be a whole number of 0 or more, got {value}.{hint}"
                )));
            }
        }
        Ok(())
    }

    fn show(&self) -> Show {
        match self.mode() {
            Mode::FilesWithMatches => Show::Files,
            Mode::Count => Show::Counts,
            Mode::Content => {
                let around = self.around.or(self.context);
                Show::Lines {
                    contexts: Contexts {
                        before: count(self.before.or(around)).unwrap_or(0),
                        after: count(self.after.or(around)).unwrap_or(0),
                    },
                    numbered: self.numbered.unwrap_or(true),
                    only_matching: self.only_matching.unwrap_or(false),
                }
            }
        }
    }

    fn query(&self) -> Result<Query, String> {
        let (ignore_case, multiline) =
            (self.ignore_case.unwrap_or(false), self.multiline.unwrap_or(false));
        let pattern = Pattern::new(&self.pattern, ignore_case, multiline).map_err(|error| {
            let hint =
                if error.contains("\\n") { " Set multiline to match across lines." } else { "" };
            search::rejected(format!("{error}{hint}"))
        })?;
        Ok(Query { pattern, show: self.show() })
    }
}

/// Models write numbers as they like; whole ones from 0 are meant.
fn count(number: Option<f64>) -> Option<usize> {
    let number = number.filter(|number| *number >= 0.0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Some(number as usize)
}

/// Finds text in files.
pub(super) struct Grep {
    spec: ToolSpec,
}

impl Grep {
    pub(super) fn new() -> Self {
        let spec = ToolSpec::new("Grep", DESCRIPTION, schema_of::<Input>())
            .read_only()
            .max_result_chars(MAX_RESULT_CHARS);
        Self { spec }
    }
}

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, workspace: &Workspace) -> Access {
        let path = input["path"].as_str().unwrap_or_default();
        Access::Read(vec![workspace.resolve(path)])
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        _: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(std::future::ready(read_input(input).and_then(|input: Input| input.check())))
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(run(call))
    }
}

async fn run(call: ToolCall) -> Result<ToolOutput, ToolFailure> {
    let input: Input = call.input()?;
    let workspace = &call.workspace;
    let (scope, query) = plan(&input, workspace).map_err(ToolFailure::running)?;
    let named_file = scope.root.is_file();
    let cancel = call.cancel.child_token();
    // Ends the walk when this call is dropped.
    let _stop = cancel.clone().drop_guard();
    let found = blocking(move || Ok(search::search(scope, &query, &cancel))).await;
    let found = found.map_err(|error| ToolFailure::running(error.to_string()))?;
    let search::Found { hits, unread } = found;
    let mut output = page::page(&input, hits, named_file, workspace);
    if let Content::Text(text) = &mut output.content
        && !unread.is_empty()
    {
        text.push_str(&unread_note(&unread, workspace));
    }
    Ok(output)
}

/// Says which files may hold more than was found.
fn unread_note(unread: &[PathBuf], workspace: &Workspace) -> String {
    let named: Vec<String> =
        unread.iter().take(UNREAD_NAMED).map(|path| workspace.display(path)).collect();
    let more = if unread.len() > UNREAD_NAMED { " and others" } else { "" };
    format!(
        "\n\n[Not searched to the end, because a line (or, with multiline, the file) is too long: \
         {}{more}]",
        named.join(", ")
    )
}

fn plan(input: &Input, workspace: &Workspace) -> Result<(Scope, Query), String> {
    let current = workspace.current_dir();
    let given = input.path.as_deref().unwrap_or_default();
    let root: PathBuf = workspace.resolve(given);
    if !root.exists() {
        return Err(format!(
            "Path does not exist: {given}. Note: your current working directory is {}.",
            current.display()
        ));
    }
    let globs = input.glob.as_deref().map(globs).unwrap_or_default();
    // Globs are about paths in the tree that is searched.
    let base = if root.starts_with(&current) { &current } else { &root };
    let mut scope = Scope::new(root.clone(), base, &globs, input.r#type.as_deref())?;
    scope.hidden = workspace.hidden_files();
    Ok((scope, input.query()?))
}

/// Splits at blanks and commas outside braces.
fn globs(text: &str) -> Vec<String> {
    let mut globs = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            globs.push(String::new());
        } else if let Some(last) = globs.last_mut() {
            last.push(c);
        }
    }
    globs.retain(|glob| !glob.is_empty());
    globs
}
