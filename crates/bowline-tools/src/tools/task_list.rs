//! `TaskCreate`, `TaskGet`, `TaskUpdate`, `TaskList`: the model keeps a list of tasks that may
//! wait for each other.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    lists::{ListedTaskStatus, TaskList as List},
    output::{ToolFailure, ToolOutput},
    schema::schema_of,
    tool::{Access, Tool, ToolCall, ToolSpec},
    workspace::Workspace,
};

const CREATE: &str = "\
Adds a task to the list of this session. Use it to plan work of three or more steps, one task per \
step; leave it out for a single simple action. New tasks are pending.";

const GET: &str = "Shows one task of the list with its description and what it waits for.";

const UPDATE: &str = "\
Changes a task of the list: its texts, its owner, what it waits for, or its status. Set a task to \
in_progress before you begin it and to completed as soon as it is really done; deleted takes it \
off the list.";

const LIST: &str = "Shows all tasks of the list with their status and what they wait for.";

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Create {
    /// What the task is about, in one line.
    subject: String,
    /// What is to be done; the subject if absent.
    #[serde(default)]
    description: Option<String>,
    /// The subject while it is being done ("Running tests").
    active_form: Option<String>,
    /// Anything else to keep with it.
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Get {
    /// The task's number.
    task_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Update {
    /// The task's number.
    task_id: String,
    /// A new subject.
    subject: Option<String>,
    /// A new description.
    description: Option<String>,
    /// The new subject while it is being done.
    active_form: Option<String>,
    /// A new status; deleted takes the task off the list.
    status: Option<NewStatus>,
    /// Tasks that are to wait for this one.
    add_blocks: Option<Vec<String>>,
    /// Tasks this one is to wait for.
    add_blocked_by: Option<Vec<String>>,
    /// Who does it.
    owner: Option<String>,
    /// Values to keep with it; null takes one away.
    metadata: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NewStatus {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// One of the four tools of the list.
pub(super) struct ListTool {
    spec: ToolSpec,
    parallel: bool,
    run: fn(&List, &ToolCall) -> Result<ToolOutput, ToolFailure>,
}

impl ListTool {
    pub(super) fn create() -> Self {
        let spec = ToolSpec::new("TaskCreate", CREATE, schema_of::<Create>());
        Self { spec, parallel: false, run: create }
    }

    pub(super) fn get() -> Self {
        let spec = ToolSpec::new("TaskGet", GET, schema_of::<Get>()).read_only();
        Self { spec, parallel: true, run: get }
    }

    pub(super) fn update() -> Self {
        let spec = ToolSpec::new("TaskUpdate", UPDATE, schema_of::<Update>());
        Self { spec, parallel: true, run: update }
    }

    pub(super) fn list() -> Self {
        let spec = ToolSpec::new("TaskList", LIST, schema_of::<Nothing>()).read_only();
        Self { spec, parallel: true, run: list }
    }
}

impl Tool for ListTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn is_concurrency_safe(&self, _: &Value) -> bool {
        self.parallel
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move { (self.run)(call.workspace.task_list(), &call) })
    }
}

fn create(list: &List, call: &ToolCall) -> Result<ToolOutput, ToolFailure> {
    let Create { subject, description, active_form, metadata } = call.input()?;
    let description = description.unwrap_or_else(|| subject.clone());
    let task = list.add(subject, description, active_form, metadata.unwrap_or_default());
    let text = format!("Task #{} created successfully: {}", task.id, task.subject);
    Ok(ToolOutput::text(text).structured(json!({
        "task": { "id": task.id, "subject": task.subject, "description": task.description },
    })))
}

fn get(list: &List, call: &ToolCall) -> Result<ToolOutput, ToolFailure> {
    let Get { task_id } = call.input()?;
    let Some(task) = list.get(&task_id) else {
        return Ok(ToolOutput::text("Task not found").structured(json!({ "task": null })));
    };
    let mut text = format!(
        "Task #{}: {}\nStatus: {}\nDescription: {}",
        task.id,
        task.subject,
        task.status.as_str(),
        task.description
    );
    let blockers = list.open_blockers(&task);
    if !blockers.is_empty() {
        text.push_str(&format!("\nBlocked by: {}", numbered(&blockers)));
    }
    Ok(ToolOutput::text(text).structured(json!({
        "task": {
            "id": task.id,
            "subject": task.subject,
            "description": task.description,
            "status": task.status,
            "blocks": task.blocks,
            "blockedBy": task.blocked_by,
        },
    })))
}

fn update(list: &List, call: &ToolCall) -> Result<ToolOutput, ToolFailure> {
    let input: Update = call.input()?;
    let id = &input.task_id;
    let Some(before) = list.get(id) else {
        return Ok(ToolOutput::text("Task not found").structured(json!({
            "success": false, "taskId": id, "updatedFields": [], "error": "Task not found",
        })));
    };
    if input.status == Some(NewStatus::Deleted) {
        list.remove(id);
        return Ok(ToolOutput::text(format!("Updated task #{id} deleted")).structured(json!({
            "success": true,
            "taskId": id,
            "updatedFields": ["deleted"],
            "statusChange": { "from": before.status, "to": "deleted" },
        })));
    }

    let mut fields = Vec::new();
    let status = input.status.and_then(|status| match status {
        NewStatus::Pending => Some(ListedTaskStatus::Pending),
        NewStatus::InProgress => Some(ListedTaskStatus::InProgress),
        NewStatus::Completed => Some(ListedTaskStatus::Completed),
        NewStatus::Deleted => None,
    });
    list.change(id, |task| {
        let mut set = |name, place: &mut String, new: Option<String>| {
            if let Some(new) = new.filter(|new| new != place) {
                *place = new;
                fields.push(name);
            }
        };
        set("subject", &mut task.subject, input.subject);
        set("description", &mut task.description, input.description);
        if input.active_form.is_some() && input.active_form != task.active_form {
            task.active_form = input.active_form;
            fields.push("activeForm");
        }
        if input.owner.is_some() && input.owner != task.owner {
            task.owner = input.owner;
            fields.push("owner");
        }
        if let Some(metadata) = input.metadata {
            for (key, value) in metadata {
                if value.is_null() {
                    task.metadata.retain(|known, _| *known != key);
                } else {
                    task.metadata.insert(key, value);
                }
            }
            fields.push("metadata");
        }
        if let Some(status) = status.filter(|status| *status != task.status) {
            task.status = status;
            fields.push("status");
        }
    });
    let mut add = |name, others: Option<Vec<String>>, block: &dyn Fn(&str) -> bool| {
        let added = others.unwrap_or_default().iter().filter(|other| block(other)).count();
        if added > 0 {
            fields.push(name);
        }
    };
    add("blocks", input.add_blocks, &|other| list.block(id, other));
    add("blockedBy", input.add_blocked_by, &|other| list.block(other, id));

    let text = format!("Updated task #{id} {}", fields.join(", "));
    let mut structured = json!({ "success": true, "taskId": id, "updatedFields": fields });
    if let Some(to) = status.filter(|to| *to != before.status) {
        structured["statusChange"] = json!({ "from": before.status, "to": to });
    }
    Ok(ToolOutput::text(text).structured(structured))
}

fn list(list: &List, call: &ToolCall) -> Result<ToolOutput, ToolFailure> {
    let Nothing {} = call.input()?;
    let mut lines = Vec::new();
    let mut objects = Vec::new();
    for task in list.all() {
        let blockers = list.open_blockers(&task);
        let mut line = format!("#{} [{}] {}", task.id, task.status.as_str(), task.subject);
        let mut object = json!({ "id": task.id, "subject": task.subject, "status": task.status });
        if let Some(owner) = task.owner {
            line.push_str(&format!(" ({owner})"));
            object["owner"] = owner.into();
        }
        if !blockers.is_empty() {
            line.push_str(&format!(" [blocked by {}]", numbered(&blockers)));
        }
        object["blockedBy"] = json!(blockers);
        lines.push(line);
        objects.push(object);
    }
    let text = if lines.is_empty() { "No tasks found".to_owned() } else { lines.join("\n") };
    Ok(ToolOutput::text(text).structured(json!({ "tasks": objects })))
}

fn numbered(ids: &[String]) -> String {
    ids.iter().map(|id| format!("#{id}")).collect::<Vec<_>>().join(", ")
}
