//! `Glob`: finds files by name.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    files::blocking,
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    search::find,
    tool::{Access, Tool, ToolCall, ToolSpec},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Finds files by a glob pattern such as `**/*.rs` or `src/**/*.{ts,tsx}`, in the order of their last \
change, oldest first. A pattern without a slash fits at any depth. Hidden files and files that git \
ignores are found too. Use Grep to search what is in files.";

/// As many paths as a model can use.
const MAX_FILES: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The pattern that paths have to fit.
    pattern: String,
    /// The directory to search; the current one if absent.
    path: Option<String>,
}

impl Input {
    /// The directory and the pattern inside it. An absolute pattern names both.
    fn split(&self, workspace: &Workspace) -> (PathBuf, String) {
        let pattern = Path::new(&self.pattern);
        if pattern.is_absolute() {
            let is_glob =
                |part: &&std::ffi::OsStr| part.to_string_lossy().contains(['*', '?', '[', '{']);
            let parts: Vec<_> = pattern.iter().collect();
            let glob = parts.iter().position(is_glob).unwrap_or(parts.len() - 1);
            let root = parts[..glob].iter().collect();
            let rest: Vec<_> = parts[glob..].iter().map(|part| part.to_string_lossy()).collect();
            return (root, rest.join("/"));
        }
        let path = self.path.as_deref().unwrap_or_default();
        (workspace.resolve(path), self.pattern.clone())
    }
}

/// Finds files by name.
pub(super) struct Glob {
    spec: ToolSpec,
}

impl Glob {
    pub(super) fn new() -> Self {
        Self { spec: ToolSpec::new("Glob", DESCRIPTION, schema_of::<Input>()).read_only() }
    }
}

impl Tool for Glob {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, workspace: &Workspace) -> Access {
        match Input::deserialize(input) {
            Ok(input) => Access::Read(vec![input.split(workspace).0]),
            Err(_) => Access::Other,
        }
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(run(call))
    }
}

async fn run(call: ToolCall) -> Result<ToolOutput, ToolFailure> {
    let began = Instant::now();
    let input: Input = call.input()?;
    let workspace = &call.workspace;
    let (root, pattern) = input.split(workspace);
    if !root.is_dir() {
        let path = input.path.unwrap_or_else(|| root.to_string_lossy().into_owned());
        return Err(ToolFailure::running(if root.exists() {
            format!("Path is not a directory: {path}")
        } else {
            let here = workspace.current_dir();
            format!(
                "Directory does not exist: {path}. Note: your current working directory is {}.",
                here.display()
            )
        }));
    }
    let cancel = call.cancel.child_token();
    // Ends the walk when this call is dropped.
    let _stop = cancel.clone().drop_guard();
    let hidden = workspace.hidden_files();
    let found = blocking(move || Ok(find(&root, &pattern, hidden.as_ref(), &cancel))).await;
    let found = found
        .map_err(|error| ToolFailure::running(error.to_string()))?
        .map_err(ToolFailure::running)?;

    let total = found.len();
    let shown: Vec<String> =
        found.iter().take(MAX_FILES).map(|(_, path)| workspace.display(path)).collect();
    let mut text = if shown.is_empty() { "No files found".to_owned() } else { shown.join("\n") };
    if total > MAX_FILES {
        text.push_str(&format!(
            "\n(Showing {MAX_FILES} of {total} matching files; {} more are not listed. Use a \
             narrower pattern or path.)",
            total - MAX_FILES
        ));
    }
    Ok(ToolOutput::text(text).structured(json!({
        "filenames": shown,
        "durationMs": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "numFiles": shown.len(),
        "truncated": total > MAX_FILES,
        "totalMatches": total,
        "countIsComplete": true,
    })))
}
