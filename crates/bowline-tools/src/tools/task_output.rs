//! `TaskOutput`: what a background command or a subagent has put out so far.

use std::time::Duration;

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
Reads the output of a background task, a command or a subagent, by its id.

By default it waits until the task has ended, at most `timeout` milliseconds; with `block: false` \
it answers at once with what there is. Long output is cut to its end; the answer then names the \
file that has all of it.";

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The task to look at.
    task_id: TaskId,
    /// Whether to wait until the task has ended.
    #[serde(default = "wait_by_default")]
    block: bool,
    /// How long to wait, in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 0, max = 600_000))]
    timeout: f64,
}

fn wait_by_default() -> bool {
    true
}

fn default_timeout() -> f64 {
    30_000.0
}

/// Reads the output of background tasks.
pub(super) struct TaskOutput {
    spec: ToolSpec,
}

impl TaskOutput {
    pub(super) fn new() -> Self {
        let spec = ToolSpec::new("TaskOutput", DESCRIPTION, schema_of::<Input>())
            .aliases(&["BashOutput", "BashOutputTool", "AgentOutputTool"])
            .read_only();
        Self { spec }
    }
}

impl Tool for TaskOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(async move {
            let input: Input = read_input(input)?;
            workspace.tasks().get(&input.task_id).map_err(missing).map(drop)
        })
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let Input { task_id: id, block, timeout } = call.input()?;
            let tasks = call.workspace.tasks();
            if block {
                let timeout = Duration::try_from_secs_f64(timeout / 1000.0).unwrap_or_default();
                tasks.wait(&id, timeout).await.map_err(missing)?;
            }
            let output = tasks.output(&id).map_err(missing)?;
            let info = output.info;
            let retrieval = match (info.status, block) {
                (TaskStatus::Running, true) => "timeout",
                (TaskStatus::Running, false) => "not_ready",
                _ => "success",
            };
            let (kind, status) = (info.kind.as_str(), info.status.as_str());
            let mut parts = vec![
                format!("<retrieval_status>{retrieval}</retrieval_status>"),
                format!("<task_id>{id}</task_id>"),
                format!("<task_type>{kind}</task_type>"),
                format!("<status>{status}</status>"),
            ];
            if let Some(code) = info.exit_code {
                parts.push(format!("<exit_code>{code}</exit_code>"));
            }
            let text = match &info.output_file {
                Some(file) if output.truncated => {
                    format!("[Truncated. Full output: {}]\n\n{}", file.display(), output.text)
                }
                _ => output.text,
            };
            if !text.is_empty() {
                parts.push(format!("<output>\n{}\n</output>", text.trim_end()));
            }
            let mut task = json!({
                "task_id": id,
                "task_type": kind,
                "status": status,
                "description": info.description,
                "output": text,
                "exitCode": info.exit_code,
            });
            if let Some(prompt) = info.prompt {
                task["prompt"] = prompt.into();
            }
            if let Some(result) = info.result {
                parts.push(format!("<result>\n{result}\n</result>"));
                task["result"] = result.into();
            }
            Ok(ToolOutput::text(parts.join("\n\n"))
                .structured(json!({ "retrieval_status": retrieval, "task": task })))
        })
    }
}

fn missing(missing: crate::tasks::NoSuchTask) -> ToolFailure {
    ToolFailure::input(missing.to_string())
}
