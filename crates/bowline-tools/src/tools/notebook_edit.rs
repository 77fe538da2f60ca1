//! `NotebookEdit`: changes one cell of a Jupyter notebook.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    files::{self, Change, Freshness, Notebook, OnDisk, TextFile, joined, new_cell},
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    tool::{Access, Tool, ToolCall, ToolSpec, read_input},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb). Read the notebook first.

`cell_id` is the id that Read shows, or `cell-N` for the Nth cell from 0. An inserted cell goes \
behind the cell of that id, or to the front without one, and needs `cell_type`.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Absolute path of the notebook.
    notebook_path: String,
    /// The cell; needed unless inserting.
    cell_id: Option<String>,
    /// The new source of the cell.
    new_source: String,
    /// The type of the cell; needed for inserting.
    cell_type: Option<CellType>,
    /// What to do; replace if absent.
    edit_mode: Option<EditMode>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CellType {
    Code,
    Markdown,
}

impl CellType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EditMode {
    Replace,
    Insert,
    Delete,
}

/// Edits notebooks.
pub(super) struct NotebookEdit {
    spec: ToolSpec,
}

impl NotebookEdit {
    pub(super) fn new() -> Self {
        let spec = ToolSpec::new("NotebookEdit", DESCRIPTION, schema_of::<Input>()).destructive();
        Self { spec }
    }
}

impl Tool for NotebookEdit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, workspace: &Workspace) -> Access {
        Access::Edit(workspace.resolve(input["notebook_path"].as_str().unwrap_or_default()))
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(async move { plan(&read_input(input)?, workspace).await.map(drop) })
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let input: Input = call.input()?;
            let Plan { path, file, before, mut notebook, position } =
                plan(&input, &call.workspace).await?;
            let mode = input.edit_mode.unwrap_or(EditMode::Replace);
            let edited = apply(&input, mode, &mut notebook, position);
            let after = notebook.to_text();
            let change = Change {
                path: &path,
                before: Some(&file),
                text: &after,
                tool_use_id: &call.id,
                partial: false,
            };
            files::write(&call.workspace, change).await?;

            let (id, source) = (&edited.id, &input.new_source);
            let text = match mode {
                EditMode::Replace => format!("Updated cell {id} with {source}"),
                EditMode::Insert => format!("Inserted cell {id} with {source}"),
                EditMode::Delete => format!("Deleted cell {id}"),
            };
            let mut structured = json!({ "new_source": source });
            if let Some(old) = edited.old_source {
                structured["old_source"] = old.into();
            }
            structured["cell_type"] = input.cell_type.unwrap_or(CellType::Code).as_str().into();
            structured["language"] = notebook.language().into();
            structured["edit_mode"] = json!(mode);
            structured["cell_id"] = edited.id.into();
            structured["error"] = "".into();
            structured["notebook_path"] = input.notebook_path.into();
            structured["original_file"] = before.into();
            structured["updated_file"] = after.into();
            Ok(ToolOutput::text(text).structured(structured))
        })
    }
}

/// A notebook that may be changed, and the cell in question.
struct Plan {
    path: PathBuf,
    file: OnDisk,
    before: String,
    notebook: Notebook,
    position: Option<usize>,
}

async fn plan(input: &Input, workspace: &Workspace) -> Result<Plan, ToolFailure> {
    let path = workspace.resolve(&input.notebook_path);
    let inserting = input.edit_mode == Some(EditMode::Insert);
    if path.extension().is_none_or(|extension| extension != "ipynb") {
        return Err(ToolFailure::input(
            "File must be a Jupyter notebook (.ipynb file). For other files use Edit.",
        ));
    }
    if inserting && input.cell_type.is_none() {
        return Err(ToolFailure::input("Cell type is required when using edit_mode=insert."));
    }
    if !inserting && input.cell_id.is_none() {
        return Err(ToolFailure::input("Cell ID must be specified when not inserting a new cell."));
    }
    let file = files::load(&path).await.map_err(|error| files::failed(&error, "open", &path))?;
    let file = file.ok_or_else(files::not_read)?;
    match files::freshness(workspace, &path, &file) {
        Freshness::Unseen => return Err(files::not_read()),
        Freshness::Stale => return Err(files::modified_since_read()),
        Freshness::Current { .. } => {}
    }
    let before = TextFile::decode(&file.bytes).text;
    let notebook = Notebook::parse(&before)
        .map_err(|error| ToolFailure::input(format!("Notebook is not valid JSON. {error}")))?;
    let position = match &input.cell_id {
        None => None,
        Some(id) => Some(notebook.position(id).ok_or_else(|| {
            let index = id.strip_prefix("cell-").and_then(|index| index.parse::<usize>().ok());
            ToolFailure::input(match index {
                Some(index) => format!("Cell with index {index} does not exist in notebook."),
                None => format!("Cell with ID \"{id}\" not found in notebook."),
            })
        })?),
    };
    Ok(Plan { path, file, before, notebook, position })
}

/// The cell that was changed.
struct Edited {
    id: String,
    old_source: Option<String>,
}

fn apply(
    input: &Input,
    mode: EditMode,
    notebook: &mut Notebook,
    position: Option<usize>,
) -> Edited {
    let at = position.unwrap_or(0);
    match mode {
        EditMode::Insert => {
            let kind = input.cell_type.unwrap_or(CellType::Code).as_str();
            let at = position.map_or(0, |position| position + 1);
            let random = Uuid::new_v4().simple().to_string();
            let id = notebook.has_ids().then_some(&random[..8]);
            notebook.cells_mut().insert(at, new_cell(kind, id, &input.new_source));
            Edited { id: notebook.cell_id(at), old_source: None }
        }
        EditMode::Delete => {
            let id = notebook.cell_id(at);
            let cell = notebook.cells_mut().remove(at);
            Edited { id, old_source: Some(joined(&cell["source"])) }
        }
        EditMode::Replace => {
            let id = notebook.cell_id(at);
            let cell = &mut notebook.cells_mut()[at];
            let old_source = Some(joined(&cell["source"]));
            cell["source"] = input.new_source.clone().into();
            if let Some(kind) = input.cell_type {
                cell["cell_type"] = kind.as_str().into();
            }
            if cell["cell_type"] == "code" {
                // Outputs of the old source are not those of the new one.
                cell["outputs"] = json!([]);
                cell["execution_count"] = Value::Null;
            } else if let Some(cell) = cell.as_object_mut() {
                cell.retain(|key, _| key != "outputs" && key != "execution_count");
            }
            Edited { id, old_source }
        }
    }
}
