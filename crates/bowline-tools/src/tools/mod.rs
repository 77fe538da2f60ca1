//! The built-in tools, one file each.

mod bash;
mod edit;
mod glob;
mod grep;
mod notebook_edit;
mod read;
mod task_list;
mod task_output;
mod task_stop;
mod todo_write;
mod web_fetch;
mod write;

use std::sync::Arc;

use crate::{tool::Tool, workspace::Options};

/// All of them, in alphabetical order.
pub(crate) fn builtin(options: &Options) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(bash::Bash::new(options)),
        Arc::new(edit::Edit::new()),
        Arc::new(glob::Glob::new()),
        Arc::new(grep::Grep::new()),
        Arc::new(notebook_edit::NotebookEdit::new()),
        Arc::new(read::Read::new()),
        Arc::new(task_list::ListTool::create()),
        Arc::new(task_list::ListTool::get()),
        Arc::new(task_list::ListTool::list()),
        Arc::new(task_output::TaskOutput::new()),
        Arc::new(task_stop::TaskStop::new()),
        Arc::new(task_list::ListTool::update()),
        Arc::new(todo_write::TodoWrite::new()),
        Arc::new(web_fetch::WebFetch::new()),
        Arc::new(write::Write::new()),
    ]
}
