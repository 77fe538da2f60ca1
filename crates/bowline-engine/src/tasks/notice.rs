//! Message to the model about a background task that has ended.

use std::fmt::Write;

use bowline_protocol::{ContentBlock, Origin, OriginKind, TaskId, ToolUseId, UserMessage};
use bowline_tools::TaskKind;

use super::{BackgroundTaskEntry, EndedTask};

/// A message about a task that has ended.
pub(super) fn of(
    id: &TaskId,
    entry: &BackgroundTaskEntry,
    status: &str,
    ended: &EndedTask,
) -> UserMessage {
    let call = entry.tool_use_id.as_ref().map_or("", ToolUseId::as_str);
    let what = match entry.kind {
        TaskKind::Agent => about_agent(entry, status, ended),
        _ => format!("<summary>{}</summary>\n", ended.summary),
    };
    let text = format!(
        "<task-notification>\n<task-id>{id}</task-id>\n<tool-use-id>{call}</tool-use-id>\n\
         <output-file>{}</output-file>\n<status>{status}</status>\n{what}</task-notification>",
        ended.output_file
    );
    let mut message = UserMessage::prompt(vec![ContentBlock::text(text)]);
    message.is_synthetic = Some(true);
    message.origin = Some(Origin {
        producer: Some("session-task".to_owned()),
        run_id: Some(entry.run_id.clone()),
        ..Origin::new(OriginKind::TaskNotification)
    });
    message
}

/// The response of a subagent, its usage, and its worktree if that has changes.
fn about_agent(entry: &BackgroundTaskEntry, status: &str, ended: &EndedTask) -> String {
    let how = if status == "completed" { "finished" } else { status };
    let mut text = format!(
        "<summary>Agent \"{}\" {how}</summary>\n<result>{}</result>\n",
        entry.description, ended.summary
    );
    let written = "writing to a string cannot fail";
    if let Some(usage) = &ended.usage {
        writeln!(
            text,
            "<usage><subagent_tokens>{}</subagent_tokens><tool_uses>{}</tool_uses>\
             <duration_ms>{}</duration_ms></usage>",
            usage.total_tokens, usage.tool_uses, usage.duration_ms
        )
        .expect(written);
    }
    if let Some(kept) = &ended.worktree {
        let branch = kept.branch.iter();
        let branch: String =
            branch.map(|it| format!("<worktreeBranch>{it}</worktreeBranch>")).collect();
        let path = kept.path.display();
        writeln!(text, "<worktree><worktreePath>{path}</worktreePath>{branch}</worktree>")
            .expect(written);
    }
    text
}
