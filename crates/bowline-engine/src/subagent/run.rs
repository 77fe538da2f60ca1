//! Run of a subagent: its own conversation, in the foreground of its parent or in the background.

use std::{path::Path, sync::Arc, time::Duration};

use bowline_protocol::{
    AgentId, ContentBlock, EventInput, HookEvent, SubagentStartInput, TaskId, TaskUsage, Usage,
    UserMessage,
};
use bowline_tools::{FailureStage, TaskStatus, ToolFailure};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{brief::brief, launch::Launched, servers};
use crate::{
    agent::Agent,
    clock::millis,
    conversation::NO_CONTENT,
    identity::Subagent,
    tasks::{EndedTask, KeptWorktree},
    turn::{
        machine::{Ending, Limits},
        report::Report,
        run::TurnRun,
        texts,
    },
    usage::{self, Tokens},
};

/// The outcome of a subagent.
pub(crate) struct Finished {
    pub(crate) id: AgentId,
    pub(crate) answer: String,
    pub(crate) report: Box<Report>,
    pub(crate) model: String,
    pub(crate) tokens: u64,
    pub(crate) usage: Usage,
    pub(crate) took: Duration,
    /// The worktree, if something was changed in it.
    pub(crate) worktree: Option<KeptWorktree>,
}

impl Finished {
    /// The error, if it failed.
    pub(crate) fn failure(&self) -> Option<ToolFailure> {
        match self.report.ending {
            Some(Ending::ApiError | Ending::OutputLimit | Ending::Refused) => {
                let text = format!("Agent terminated early due to an API error: {}", self.answer);
                Some(ToolFailure::running(text))
            }
            Some(ending @ (Ending::AbortedStreaming | Ending::AbortedTools)) => {
                let mut stopped = ToolFailure::running(texts::interrupted(ending));
                stopped.stage = FailureStage::Interrupted;
                Some(stopped)
            }
            _ => None,
        }
    }

    fn task_usage(&self) -> TaskUsage {
        TaskUsage {
            total_tokens: self.tokens,
            tool_uses: self.report.tool_uses,
            duration_ms: millis(self.took),
            ..TaskUsage::default()
        }
    }
}

/// Runs a subagent to its end.
///
/// Cancel safety: to be polled to its end; `cancel`, or stopping the task, makes it end soon.
pub(crate) async fn work(launched: Launched, cancel: &CancellationToken) -> Finished {
    let Launched { mut agent, task, stop, output_file, prompt, worktree, kind, id } = launched;
    let began = Instant::now();
    let session = Arc::clone(&agent.session);
    let subagent = agent.identity.subagent();
    let description = subagent.map(|subagent| subagent.description.clone()).unwrap_or_default();
    // The parent or a stop of the task may end it.
    let turn_cancel = cancel.child_token();
    let _stopping = stop_with(&stop, &turn_cancel);
    let servers = agent.tools.servers().cloned();
    if let Some(servers) = &servers {
        servers::reach(servers, session.config.mcp_grace, &turn_cancel).await;
    }
    let added = start_hooks(&agent, &turn_cancel).await;
    let skills = brief(&mut agent, &kind, &turn_cancel).await;
    begin(&mut agent, prompt, added, skills).await;
    let limits = Limits {
        max_rounds: agent.instructions.max_turns,
        stop_hook_blocks: session.config.stop_hook_block_cap,
        structured_output: false,
    };
    let report = TurnRun::new(&mut agent, limits, Vec::new(), turn_cancel).run().await;
    if let Some(servers) = &servers {
        servers::leave(servers).await;
    }
    let worktree = match worktree {
        Some(worktree) => worktree.remove_if_unchanged(&session).await,
        None => None,
    };
    let finished = Finished {
        worktree,
        id: id.clone(),
        answer: final_response(&report, agent.instructions.max_turns),
        usage: usage::with_counts(report.last_usage.clone()),
        model: report.model.clone(),
        tokens: Tokens::from(&report.last_usage).total(),
        took: began.elapsed(),
        report,
    };
    let failure = finished.failure();
    let status = match &failure {
        None => TaskStatus::Completed,
        Some(failure) if failure.stage == FailureStage::Interrupted => TaskStatus::Killed,
        Some(_) => TaskStatus::Failed,
    };
    session.hooks.registry().remove_agent(&id);
    write_output(&output_file, &finished.answer);
    task.set_output(finished.answer.clone());
    let task_id = TaskId::from(id.as_str());
    if cancel.is_cancelled() {
        session.tasks.stopped_by_user(&task_id);
    }
    task.finish(status, Some(finished.answer.clone()));
    let error = failure.map(|failure| failure.content);
    session.tasks.ended(
        &task_id,
        EndedTask {
            status,
            summary: match (&error, &*finished.answer) {
                (Some(error), _) => error.clone(),
                (None, "") => description,
                (None, answer) => answer.to_owned(),
            },
            error,
            output_file: output_file.display().to_string(),
            usage: Some(finished.task_usage()),
            worktree: finished.worktree.clone(),
        },
    );
    if session.tasks.stop_was_answered(&task_id).await {
        emit_stopped(&agent, finished.report.ending).await;
        session.tasks.came_to_an_end(&task_id);
    }
    finished
}

/// Emits the interruption of a background subagent to hosts that receive its messages.
async fn emit_stopped(agent: &Agent, ending: Option<Ending>) {
    let text = texts::interrupted(ending.unwrap_or(Ending::AbortedStreaming));
    let message = UserMessage::prompt(vec![ContentBlock::text(text)]);
    agent.emit_user(Box::new(message)).await;
}

/// Its final response. For one that was stopped by its limit, the text names the limit.
fn final_response(report: &Report, max_turns: Option<u32>) -> String {
    let words = &report.last_text;
    match (report.ending, max_turns) {
        (Some(Ending::MaxTurns), Some(limit)) => {
            let rest = match &**words {
                "" => " It has reported nothing.".to_owned(),
                words => format!(" Its last message:\n{words}"),
            };
            format!(
                "This agent was stopped at its limit of {limit} turns, before it was done.{rest}"
            )
        }
        _ => words.clone(),
    }
}

/// Runs the start hooks; returns the context that they add.
async fn start_hooks(agent: &Agent, cancel: &CancellationToken) -> Vec<String> {
    if !agent.session.hooks.has(HookEvent::SubagentStart) {
        return Vec::new();
    }
    let event = EventInput::SubagentStart(SubagentStartInput::default());
    agent.session.hooks.run(&agent.identity, event, cancel).await.model_texts().collect()
}

/// Adds the prompt to the conversation, after the hooks' context and before its `skills`. A host
/// whose conversation waits for the subagent receives it.
async fn begin(agent: &mut Agent, prompt: String, added: Vec<String>, skills: Vec<ContentBlock>) {
    // The API refuses messages without content.
    let prompt = if prompt.is_empty() { NO_CONTENT.to_owned() } else { prompt };
    let blocks = vec![ContentBlock::text(prompt)];
    let first = added.into_iter().map(ContentBlock::text).chain(blocks.iter().cloned());
    agent.conversation.push_user(first.chain(skills).collect());
    let message = UserMessage::prompt(blocks);
    let unseen = |subagent: &Subagent| subagent.background || subagent.depth > 1;
    if agent.identity.subagent().is_some_and(unseen) {
        let uuid = crate::sink::new_uuid();
        agent.session.sink.emit_notice(agent.journal().user(&uuid, &message)).await;
    } else {
        agent.emit_user(message.into()).await;
    }
}

/// Cancels `turn` when `stop` fires, for as long as the guard lives.
fn stop_with(
    stop: &CancellationToken,
    turn: &CancellationToken,
) -> tokio_util::task::AbortOnDropHandle<()> {
    let (stop, turn) = (stop.clone(), turn.clone());
    tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move {
        stop.cancelled().await;
        turn.cancel();
    }))
}

/// Writes a subagent's response to the file that its parent can read.
fn write_output(path: &Path, text: &str) {
    let written = match path.parent() {
        Some(folder) => bowline_private::folder(folder),
        None => Ok(()),
    };
    if let Err(error) = written.and_then(|()| bowline_private::write(path, text)) {
        tracing::warn!(path = %path.display(), %error, "an agent's response was not written");
    }
}
