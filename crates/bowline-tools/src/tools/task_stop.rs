//! `TaskStop`: ends a background command or a subagent.

use bowline_protocol::TaskId;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    tasks::TaskStatus,
    tool::{Access, Tool, ToolCall, ToolSpec, read_input},
    workspace::Workspace,
};

const DESCRIPTION: &str = "\
Stops a task that runs in the background, a command or a subagent, by the id it was given when it \
was started. Everything the task started is stopped with it.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The task to stop.
    task_id: Option<TaskId>,
    /// Older name of task_id.
    shell_id: Option<TaskId>,
}

impl Input {
    fn task(self) -> Result<TaskId, ToolFailure> {
        self.task_id
            .or(self.shell_id)
            .ok_or_else(|| ToolFailure::input("Missing required parameter: task_id"))
    }
}

/// Stops background tasks.
pub(super) struct TaskStop {
    spec: ToolSpec,
}

impl TaskStop {
    pub(super) fn new() -> Self {
        let spec = ToolSpec::new("TaskStop", DESCRIPTION, schema_of::<Input>())
            .aliases(&["KillShell", "KillBash"]);
        Self { spec }
    }
}

impl Tool for TaskStop {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn is_concurrency_safe(&self, _: &Value) -> bool {
        true
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(async move {
            let id = read_input::<Input>(input)?.task()?;
            match workspace.tasks().get(&id) {
                Ok(info) if info.status == TaskStatus::Running => Ok(()),
                _ => Err(ToolFailure::input(format!("No task found with ID: {id}"))),
            }
        })
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let id = call.input::<Input>()?.task()?;
            let info = call
                .workspace
                .tasks()
                .stop(&id)
                .await
                .map_err(|missing| ToolFailure::input(missing.to_string()))?;
            let what = info.command.as_ref().unwrap_or(&info.description);
            let answer = json!({
                "message": format!("Successfully stopped task: {id} ({what})"),
                "task_id": id,
                "task_type": info.kind.as_str(),
                "command": what,
            });
            Ok(ToolOutput::text(answer.to_string()).structured(answer))
        })
    }
}
