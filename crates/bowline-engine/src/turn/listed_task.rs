//! Hooks of the task list: a task was added, or is about to be completed.

use bowline_protocol::{EventInput, HookEvent, TaskInput};
use bowline_tools::ListedTask;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::pipeline::{CallContext, Proposed};
use crate::hook::HookReport;

/// Runs the `TaskCompleted` hooks if a call completes a task. Returns their objection.
pub(super) async fn completion_refused(
    context: &CallContext,
    proposed: &Proposed,
    cancel: &CancellationToken,
) -> Option<String> {
    let completes =
        proposed.tool.spec().name == "TaskUpdate" && proposed.input["status"] == "completed";
    if !completes || !context.session.hooks.has(HookEvent::TaskCompleted) {
        return None;
    }
    let task = named(context, &proposed.input["taskId"])?;
    let event = EventInput::TaskCompleted(about(&task));
    let report: HookReport = context.session.hooks.run(&context.identity, event, cancel).await;
    report.tool_refusal()
}

/// Runs the `TaskCreated` hooks if a call has added a task.
pub(super) async fn run_created_hooks(
    context: &CallContext,
    proposed: &Proposed,
    created: Option<&Value>,
    cancel: &CancellationToken,
) {
    let creates = proposed.tool.spec().name == "TaskCreate";
    if !creates || !context.session.hooks.has(HookEvent::TaskCreated) {
        return;
    }
    let Some(task) = created.and_then(|created| named(context, &created["task"]["id"])) else {
        return;
    };
    let event = EventInput::TaskCreated(about(&task));
    context.session.hooks.run(&context.identity, event, cancel).await;
}

fn named(context: &CallContext, id: &Value) -> Option<ListedTask> {
    context.workspace.task_list().get(id.as_str()?)
}

fn about(task: &ListedTask) -> TaskInput {
    TaskInput {
        task_id: task.id.clone(),
        task_subject: task.subject.clone(),
        task_description: Some(task.description.clone()),
        ..TaskInput::default()
    }
}
