//! The plain to-do list, replaced as a whole.

use parking_lot::Mutex;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// What is to be done ("Run the tests").
    #[schemars(length(min = 1))]
    pub content: String,
    /// How it stands.
    pub status: TodoStatus,
    /// The same while it is being done ("Running the tests").
    #[schemars(length(min = 1))]
    pub active_form: String,
}

/// How a thing to do stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// The plain to-do list of one agent.
#[derive(Debug, Default)]
pub struct TodoList(Mutex<Vec<Todo>>);

impl TodoList {
    /// What is on it.
    pub fn get(&self) -> Vec<Todo> {
        self.0.lock().clone()
    }

    /// Puts a new list in place of the old one and returns that. A list on which everything is
    /// done is put away.
    pub fn replace(&self, todos: Vec<Todo>) -> Vec<Todo> {
        let done = todos.iter().all(|todo| todo.status == TodoStatus::Completed);
        let kept = if done { Vec::new() } else { todos };
        std::mem::replace(&mut self.0.lock(), kept)
    }
}
