//! The built-in tools, one file each.

mod task_output;
mod task_stop;
mod todo_write;

use std::sync::Arc;

use crate::{tool::Tool, workspace::Options};

/// All of them, in alphabetical order.
pub(crate) fn builtin(options: &Options) -> Vec<Arc<dyn Tool>> {
    let _ = options;
    vec![
        Arc::new(task_output::TaskOutput::new()),
        Arc::new(task_stop::TaskStop::new()),
        Arc::new(todo_write::TodoWrite::new()),
    ]
}
