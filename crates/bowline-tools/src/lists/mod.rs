//! The lists a model keeps of its own work.

mod tasks;
mod todos;

pub use tasks::{ListedTask, ListedTaskStatus, TaskList};
pub use todos::{Todo, TodoList, TodoStatus};
