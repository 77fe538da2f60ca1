//! Short description of a tool call, for people.

use bowline_protocol::ToolUseBlock;
use bowline_tools::Workspace;

/// The description of a call; `None` for tools without one.
pub(super) fn activity(call: &ToolUseBlock, workspace: &Workspace) -> Option<String> {
    let input = call.input.to_value();
    let field = |name: &str| input.get(name)?.as_str();
    let file = |name: &str| {
        let path = workspace.resolve(field(name)?);
        Some(workspace.display(&path))
    };
    Some(match call.name.as_str() {
        "Bash" => {
            let command = || field("command")?.lines().next();
            format!("Running {}", field("description").or_else(command)?)
        }
        "Read" => format!("Reading {}", file("file_path")?),
        "Write" => format!("Writing {}", file("file_path")?),
        "Edit" => format!("Editing {}", file("file_path")?),
        "NotebookEdit" => format!("Editing notebook {}", file("notebook_path")?),
        "Glob" => format!("Finding {}", field("pattern")?),
        "Grep" => format!("Searching for {}", field("pattern")?),
        "WebSearch" => format!("Searching for {}", field("query")?),
        "WebFetch" => format!("Fetching {}", field("url")?),
        "Agent" | "Task" => field("description")?.to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use bowline_tools::Setup;
    use serde_json::{Value, json};

    use super::*;

    fn of(name: &str, input: Value) -> Option<String> {
        let call =
            ToolUseBlock { name: name.to_owned(), input: input.into(), ..Default::default() };
        activity(&call, &Workspace::new("/home/project", Setup::default()))
    }

    #[test]
    fn calls_are_described_briefly() {
        for (name, input, expected) in [
            ("Bash", json!({"command": "ls -la\nrm x"}), Some("Running ls -la")),
            ("Bash", json!({"command": "ls", "description": "List"}), Some("Running List")),
            ("Read", json!({"file_path": "/home/project/a/b.txt"}), Some("Reading a/b.txt")),
            ("Edit", json!({"file_path": "/etc/hosts"}), Some("Editing /etc/hosts")),
            ("Grep", json!({"pattern": "fn main"}), Some("Searching for fn main")),
            ("Agent", json!({"description": "look around"}), Some("look around")),
            ("Read", json!({"file_path": 7}), None),
            ("TodoWrite", json!({"todos": []}), None),
        ] {
            assert_eq!(of(name, input).as_deref(), expected, "{name}");
        }
    }
}
