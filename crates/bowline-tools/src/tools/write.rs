//! `Write`: creates or replaces a whole file.

use std::io;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    files::{self, Change, Freshness, OnDisk, TextFile, structured_patch},
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    tool::{Access, Tool, ToolCall, ToolSpec, read_input},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Writes a file, replacing what was there. Directories on the way are created.

Read an existing file before you replace it, and prefer Edit for changes to a part of it. A file \
that somebody changed since you read it is not overwritten. Do not write documentation files \
unless you were asked for them.";

/// Tells the model that it need not read the file again.
pub(super) const STATE_NOTE: &str =
    " (file state is current in your context — no need to Read it back)";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Absolute path of the file.
    file_path: String,
    /// What the file is to hold.
    content: String,
}

/// Writes files.
pub(super) struct Write {
    spec: ToolSpec,
}

impl Write {
    pub(super) fn new() -> Self {
        Self { spec: ToolSpec::new("Write", DESCRIPTION, schema_of::<Input>()).destructive() }
    }
}

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, workspace: &Workspace) -> Access {
        Access::Edit(workspace.resolve(input["file_path"].as_str().unwrap_or_default()))
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(async move { writable(&read_input(input)?, workspace).await.map(drop) })
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let input: Input = call.input()?;
            let before = writable(&input, &call.workspace).await?;
            let path = call.workspace.resolve(&input.file_path);
            let change = Change {
                path: &path,
                before: before.as_ref(),
                text: &input.content,
                tool_use_id: &call.id,
                partial: false,
            };
            files::write(&call.workspace, change).await?;

            let original = before.map(|file| TextFile::decode(&file.bytes).text);
            let shown = &input.file_path;
            let (kind, text, patch) = match &original {
                None => ("create", format!("File created successfully at: {shown}"), Vec::new()),
                Some(original) => (
                    "update",
                    format!("The file {shown} has been updated successfully."),
                    structured_patch(original, &input.content),
                ),
            };
            Ok(ToolOutput::text(text + STATE_NOTE).structured(json!({
                "type": kind,
                "filePath": input.file_path,
                "content": input.content,
                "structuredPatch": patch,
                "originalFile": original,
                "userModified": false,
            })))
        })
    }
}

/// What is at the path now, if it may be overwritten.
async fn writable(input: &Input, workspace: &Workspace) -> Result<Option<OnDisk>, ToolFailure> {
    let path = workspace.resolve(&input.file_path);
    if path.is_dir() {
        return Err(ToolFailure::input(format!(
            "{} is a directory, not a file. To create a file inside it, include the file name in \
             file_path.",
            input.file_path
        )));
    }
    let file = files::load(&path).await.map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory => {
            let message = format!("ENOTDIR: not a directory, stat '{}'", path.display());
            ToolFailure::checking("Write", &message)
        }
        _ => files::failed(&error, "open", &path),
    })?;
    // A notebook holds outputs and metadata that a model would not reproduce.
    let is_notebook = path.extension().is_some_and(|extension| extension == "ipynb");
    let must_be_read = workspace.reads_before_writing() || is_notebook;
    if let Some(file) = &file {
        match files::freshness(workspace, &path, file) {
            Freshness::Unseen if must_be_read => return Err(files::not_read()),
            Freshness::Stale => return Err(files::modified_since_read()),
            Freshness::Unseen | Freshness::Current { .. } => {}
        }
    }
    Ok(file)
}
