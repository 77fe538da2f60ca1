//! `TodoWrite`: the model keeps a plain list of what it has to do.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    lists::Todo,
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    tool::{Access, Tool, ToolCall, ToolSpec},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Keeps a visible list of the steps of a larger piece of work. Each call replaces the whole list.

Use it when a task has three or more steps, or when the user gives several tasks at once; leave it \
out for single, simple actions. Mark a step `in_progress` before you begin it, have only one such \
step at a time, and mark it `completed` as soon as it is really done, not in batches.";

const DONE: &str = "Todos have been modified successfully. Ensure that you continue to use the \
                    todo list to track your progress. Please proceed with the current tasks if \
                    applicable";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The whole new list.
    todos: Vec<Todo>,
}

/// Keeps the to-do list.
pub(super) struct TodoWrite {
    spec: ToolSpec,
}

impl TodoWrite {
    pub(super) fn new() -> Self {
        Self { spec: ToolSpec::new("TodoWrite", DESCRIPTION, schema_of::<Input>()) }
    }
}

impl Tool for TodoWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let Input { todos } = call.input()?;
            let old = call.workspace.todos().replace(todos.clone());
            Ok(ToolOutput::text(DONE).structured(json!({ "oldTodos": old, "newTodos": todos })))
        })
    }
}
