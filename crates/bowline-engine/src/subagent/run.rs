//! Running a subagent: a conversation of its own, in the foreground of its parent or beside it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use bowline_protocol::{
    AgentId, ContentBlock, Effort, EventInput, HookEvent, SubagentStartInput, TaskId, TaskUsage,
    ToolUseId, Usage, UserMessage,
};
use bowline_sessions::SubagentMetadata;
use bowline_tools::{NewTask, TaskHandle, TaskKind, TaskStatus, Workspace};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{AgentKind, brief::brief, memory, toolset};
use crate::{
    agent::{Agent, Identity, Instructions, Subagent},
    conversation::Conversation,
    journal::Journal,
    ledger::{self, Tokens},
    session::{AgentPlace, EndedTask, Shared, StartedAgent},
    toolset::Toolset,
    turn::{
        machine::{Ending, Limits},
        report::Report,
        run::{TurnRun, millis},
        texts,
    },
    worktree::{Kept, Worktree},
};

/// What a subagent is sent to do.
pub(crate) struct Assignment {
    pub(crate) id: AgentId,
    pub(crate) kind: AgentKind,
    pub(crate) description: String,
    pub(crate) prompt: String,
    /// The call that sends it.
    pub(crate) call: ToolUseId,
    /// Who sends it.
    pub(crate) parent: Identity,
    /// What the sender can call.
    pub(crate) tools: Arc<Toolset>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<Effort>,
    /// It is one of those that may work at once.
    pub(crate) place: AgentPlace,
    /// Its own copy of the project, if it works in one.
    pub(crate) worktree: Option<Worktree>,
    /// Whether it works beside the conversation.
    pub(crate) background: bool,
    /// Whether the call asks for that; `None` if it does not say.
    pub(crate) asked_background: Option<bool>,
}

/// What a subagent came to.
pub(crate) struct Finished {
    pub(crate) id: AgentId,
    pub(crate) answer: String,
    pub(crate) report: Report,
    pub(crate) model: String,
    pub(crate) tokens: u64,
    pub(crate) usage: Usage,
    pub(crate) took: Duration,
    /// The copy of the project in which it has changed something.
    pub(crate) worktree: Option<Kept>,
}

impl Finished {
    /// Why it did not do what it was sent to do.
    pub(crate) fn failure(&self) -> Option<String> {
        match self.report.ending {
            Some(Ending::ApiError) => {
                Some(format!("Agent terminated early due to an API error: {}", self.answer))
            }
            Some(ending @ (Ending::AbortedStreaming | Ending::AbortedTools)) => {
                Some(texts::error(ending, ""))
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

/// A subagent that has been announced and can go to work.
pub(crate) struct Launched {
    agent: Agent,
    task: TaskHandle,
    stop: CancellationToken,
    output_file: PathBuf,
    prompt: String,
    worktree: Option<Worktree>,
    place: AgentPlace,
    kind: AgentKind,
    pub(crate) id: AgentId,
}

impl Launched {
    /// The model that it thinks with.
    pub(crate) fn model(&self) -> String {
        let session = &self.agent.session;
        let own = self.agent.instructions.model.as_ref();
        let connected = own.and_then(|name| session.config.models.connect(name).ok());
        connected.map_or_else(|| session.model_name(), |model| model.name)
    }

    /// Where what it says can be read.
    pub(crate) fn output_file(&self) -> &PathBuf {
        &self.output_file
    }
}

/// Announces a subagent.
pub(crate) fn launch(session: &Arc<Shared>, assignment: Assignment) -> Launched {
    let id = assignment.id.clone();
    let task_id = TaskId::from(id.as_str());
    let depth = assignment.parent.subagent().map_or(0, |parent| parent.depth) + 1;
    let forwards = session.live().host.forward_subagent_text;
    let inherited = assignment.parent.subagent().and_then(|parent| parent.model.clone());
    let model = assignment.model.or(assignment.kind.model.clone()).or(inherited);
    let workspace = assignment.workspace.fork();
    let directory = assignment.worktree.as_ref().map(|worktree| worktree.path().to_owned());
    if let Some(directory) = &directory {
        workspace.set_current_dir(directory);
    }
    let identity = Identity::Sub(Arc::new(Subagent {
        id: id.clone(),
        kind: assignment.kind.name.clone(),
        description: assignment.description.clone(),
        parent: assignment.call.clone(),
        depth,
        background: assignment.background,
        shows_text: forwards || assignment.background,
        permission_mode: assignment.kind.permission_mode.clone(),
        worktree: directory.clone(),
        model: model.clone(),
        memory: memory::folder(&session.config.places, &assignment.kind),
    }));
    session.hooks.add_agent(&id, &assignment.kind.hooks);
    let tasks = session.workspace.tasks();
    let output_file = tasks.output_path(&task_id);
    let stop = CancellationToken::new();
    let task = tasks.register(NewTask {
        id: Some(task_id.clone()),
        kind: TaskKind::Agent,
        description: assignment.description.clone(),
        prompt: Some(assignment.prompt.clone()),
        tool_use_id: Some(assignment.call.clone()),
        backgrounded: assignment.background,
        output_file: Some(output_file.clone()),
        stop: stop.clone(),
    });
    session.board.agent_started(&StartedAgent {
        id: &task_id,
        kind: &assignment.kind.name,
        description: &assignment.description,
        prompt: &assignment.prompt,
        tool_use_id: &assignment.call,
        depth,
        backgrounded: assignment.background,
        asked_background: assignment.asked_background,
    });
    let writer = session.journal.with(|writer| writer.subagent(id.clone(), None).ok());
    if let Some(writer) = &writer {
        let about = SubagentMetadata {
            agent_type: assignment.kind.name.clone(),
            description: assignment.description.clone(),
            tool_use_id: assignment.call.clone(),
            parent_agent_id: assignment.parent.agent_id(),
            spawn_depth: depth,
        };
        if let Err(error) = writer.describe(&about) {
            tracing::warn!(%error, "it is not noted who started a subagent");
        }
    }
    let appended = session.live().host.append_subagent_system_prompt.clone();
    let agent = Agent {
        tools: toolset::tools(session, &assignment.tools, &assignment.kind, &identity),
        session: Arc::clone(session),
        identity,
        conversation: Conversation::default(),
        workspace,
        instructions: Instructions {
            system: [
                Some(assignment.kind.prompt.clone()),
                directory.as_deref().map(about_worktree),
                appended,
            ]
            .into_iter()
            .flatten()
            .collect(),
            model,
            effort: assignment.effort.or(assignment.kind.effort),
            max_turns: assignment.kind.max_turns,
        },
        own_journal: Some(Arc::new(Journal::new(writer))),
        joined: Vec::new(),
        tokens: Arc::new(AtomicU64::new(0)),
    };
    let Assignment { prompt, worktree, place, kind, .. } = assignment;
    Launched { agent, task, stop, output_file, prompt, worktree, place, kind, id }
}

/// What an agent hears of the copy of the project in which it works.
fn about_worktree(directory: &Path) -> String {
    format!(
        "You work in a copy of the project of your own, at {}. Paths of the project that you are \
         told mean the same paths there; change nothing outside of it.",
        directory.display()
    )
}

/// Lets a subagent work to its end.
///
/// Cancel safety: to be polled to its end; `cancel`, or whoever stops the task, makes that soon.
pub(crate) async fn work(launched: Launched, cancel: &CancellationToken) -> Finished {
    let Launched { mut agent, task, stop, output_file, prompt, worktree, place, kind, id } =
        launched;
    let began = Instant::now();
    let session = Arc::clone(&agent.session);
    let subagent = agent.identity.subagent();
    let description = subagent.map(|subagent| subagent.description.clone()).unwrap_or_default();
    let told = start_hooks(&agent, cancel).await;
    let skills = brief(&mut agent, &kind, cancel).await;
    take_up(&mut agent, prompt, told, skills).await;
    let limits = Limits {
        max_rounds: agent.instructions.max_turns,
        stop_hook_blocks: session.config.stop_hook_block_cap,
        structured_output: false,
    };
    // Either its parent or whoever stops the task may end it.
    let turn_cancel = cancel.child_token();
    let _stopping = stop_with(&stop, &turn_cancel);
    let report = TurnRun::new(&mut agent, limits, Vec::new(), turn_cancel).run().await;
    let worktree = match worktree {
        Some(worktree) => worktree.put_away(&session).await,
        None => None,
    };
    let finished = Finished {
        worktree,
        id: id.clone(),
        answer: answer(&report, agent.instructions.max_turns),
        usage: ledger::with_counts(report.last_usage.clone()),
        model: report.model.clone(),
        tokens: Tokens::from(&report.last_usage).total(),
        took: began.elapsed(),
        report,
    };
    let status = match finished.failure() {
        None => TaskStatus::Completed,
        Some(_) if stop.is_cancelled() || cancel.is_cancelled() => TaskStatus::Killed,
        Some(_) => TaskStatus::Failed,
    };
    session.hooks.remove_agent(&id);
    write_output(&output_file, &finished.answer).await;
    task.set_output(finished.answer.clone());
    task.finish(status, Some(finished.answer.clone()));
    let ended = EndedTask {
        status,
        // Whoever stopped it knows no more of it than what it was to do.
        summary: match status {
            TaskStatus::Killed => description,
            _ => finished.answer.clone(),
        },
        output_file: output_file.display().to_string(),
        usage: Some(finished.task_usage()),
        worktree: finished.worktree.clone(),
    };
    let task_id = TaskId::from(id.as_str());
    if cancel.is_cancelled() {
        session.board.stopped_by_user(&task_id);
    }
    // Whoever hears of the end may send another one.
    drop(place);
    session.board.ended(&task_id, ended);
    finished
}

/// What it says in the end. One that was stopped by its limit has not said that itself.
fn answer(report: &Report, max_turns: Option<u32>) -> String {
    let words = &report.last_words;
    match (report.ending, max_turns) {
        (Some(Ending::MaxTurns), Some(limit)) => {
            let rest = match &**words {
                "" => " It has reported nothing.".to_owned(),
                words => format!(" What it said last:\n{words}"),
            };
            format!(
                "This agent was stopped at its limit of {limit} turns, before it was done.{rest}"
            )
        }
        _ => words.clone(),
    }
}

/// Hooks hear that it starts, and may have something to tell it.
async fn start_hooks(agent: &Agent, cancel: &CancellationToken) -> Vec<String> {
    if !agent.session.has_hooks(HookEvent::SubagentStart) {
        return Vec::new();
    }
    let event = EventInput::SubagentStart(SubagentStartInput::default());
    agent.session.run_hooks(&agent.identity, event, cancel).await.model_texts().collect()
}

/// The prompt goes into the conversation, between what hooks have `told` and its `skills`; a host that
/// waits for the subagent sees it, too.
async fn take_up(agent: &mut Agent, prompt: String, told: Vec<String>, skills: Vec<ContentBlock>) {
    // The API refuses messages without content.
    let prompt = if prompt.is_empty() { texts::NO_CONTENT.to_owned() } else { prompt };
    let blocks = vec![ContentBlock::text(prompt)];
    let first = told.into_iter().map(ContentBlock::text).chain(blocks.iter().cloned());
    agent.conversation.push_user(first.chain(skills).collect());
    let message = UserMessage::prompt(blocks);
    if agent.identity.subagent().is_some_and(|subagent| subagent.background) {
        let uuid = crate::outlet::new_uuid();
        agent.session.tell(agent.journal().user(&uuid, &message)).await;
    } else {
        agent.say_user(message).await;
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

/// What a subagent said is kept where its parent can read it.
async fn write_output(path: &PathBuf, text: &str) {
    if let Some(folder) = path.parent() {
        tokio::fs::create_dir_all(folder).await.ok();
    }
    if let Err(error) = tokio::fs::write(path, text).await {
        tracing::warn!(path = %path.display(), %error, "an agent's answer was not written");
    }
}

/// `a` and sixteen hexadecimal digits.
pub(crate) fn new_agent_id() -> AgentId {
    let random = Uuid::new_v4().simple().to_string();
    AgentId(format!("a{}", &random[..16]))
}
