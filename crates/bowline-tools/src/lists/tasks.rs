//! The list of tasks with dependencies, changed one by one.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One task on the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedTask {
    /// "1", "2", …
    pub id: String,
    /// What it is about, in one line.
    pub subject: String,
    /// What is to be done.
    pub description: String,
    /// The subject while it is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How it stands.
    pub status: ListedTaskStatus,
    /// Tasks that wait for this one.
    pub blocks: Vec<String>,
    /// Tasks this one waits for.
    pub blocked_by: Vec<String>,
    /// Whatever else was noted.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// How a task on the list stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListedTaskStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl ListedTaskStatus {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

/// The tasks of a session. Numbers are never used twice.
#[derive(Debug, Default)]
pub struct TaskList(Mutex<Listed>);

#[derive(Debug, Default)]
struct Listed {
    last: u64,
    tasks: BTreeMap<u64, ListedTask>,
}

impl TaskList {
    /// All tasks in the order of their numbers.
    pub fn all(&self) -> Vec<ListedTask> {
        self.0.lock().tasks.values().cloned().collect()
    }

    /// Puts earlier tasks on the list, for instance those of a resumed session.
    pub fn restore(&self, tasks: impl IntoIterator<Item = ListedTask>) {
        let mut listed = self.0.lock();
        for task in tasks {
            if let Some(number) = number(&task.id) {
                listed.last = listed.last.max(number);
                listed.tasks.insert(number, task);
            }
        }
    }

    /// One task.
    pub fn get(&self, id: &str) -> Option<ListedTask> {
        self.0.lock().tasks.get(&number(id)?).cloned()
    }

    /// Adds a task; its id is chosen here.
    pub fn add(
        &self,
        subject: String,
        description: String,
        active_form: Option<String>,
        metadata: Map<String, Value>,
    ) -> ListedTask {
        let mut listed = self.0.lock();
        listed.last += 1;
        let task = ListedTask {
            id: listed.last.to_string(),
            subject,
            description,
            active_form,
            owner: None,
            status: ListedTaskStatus::Pending,
            blocks: Vec::new(),
            blocked_by: Vec::new(),
            metadata,
        };
        let last = listed.last;
        listed.tasks.insert(last, task.clone());
        task
    }

    /// Changes a task in place.
    pub fn change<T>(&self, id: &str, change: impl FnOnce(&mut ListedTask) -> T) -> Option<T> {
        self.0.lock().tasks.get_mut(&number(id)?).map(change)
    }

    /// Lets `blocked` wait for `blocker`. Tells whether that is new.
    pub fn block(&self, blocker: &str, blocked: &str) -> bool {
        let mut listed = self.0.lock();
        let mut added = false;
        if let Some(task) = number(blocker).and_then(|id| listed.tasks.get_mut(&id)) {
            added |= push_new(&mut task.blocks, blocked);
        }
        if let Some(task) = number(blocked).and_then(|id| listed.tasks.get_mut(&id)) {
            added |= push_new(&mut task.blocked_by, blocker);
        }
        added
    }

    /// Removes a task from the list and from the dependencies of others.
    pub fn remove(&self, id: &str) -> Option<ListedTask> {
        let mut listed = self.0.lock();
        let removed = listed.tasks.remove(&number(id)?)?;
        for task in listed.tasks.values_mut() {
            task.blocks.retain(|other| other != id);
            task.blocked_by.retain(|other| other != id);
        }
        Some(removed)
    }

    /// The tasks that `task` still waits for.
    pub fn open_blockers(&self, task: &ListedTask) -> Vec<String> {
        let listed = self.0.lock();
        let open = |id: &&String| {
            let blocker = number(id).and_then(|id| listed.tasks.get(&id));
            blocker.is_some_and(|blocker| blocker.status != ListedTaskStatus::Completed)
        };
        task.blocked_by.iter().filter(open).cloned().collect()
    }
}

fn number(id: &str) -> Option<u64> {
    id.parse().ok()
}

fn push_new(list: &mut Vec<String>, id: &str) -> bool {
    let new = !list.iter().any(|known| known == id);
    if new {
        list.push(id.to_owned());
    }
    new
}
