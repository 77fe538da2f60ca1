//! Launch of a subagent: identity, tools, transcript, and the announcement.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use bowline_protocol::{AgentId, Effort, TaskId, ToolUseId};
use bowline_sessions::SubagentMetadata;
use bowline_tools::{NewTask, TaskHandle, TaskKind, Workspace};
use tokio_util::sync::CancellationToken;

use super::toolset;
use crate::{
    agent::{Agent, Instructions},
    agent_kind::{AgentKind, memory_folder},
    conversation::Conversation,
    identity::{Identity, Subagent},
    journal::Journal,
    session_context::SessionContext,
    tasks::{AgentSlot, StartedAgent},
    toolset::Toolset,
    worktree::Worktree,
};

/// The task of a subagent.
pub(crate) struct Assignment {
    pub(crate) id: AgentId,
    pub(crate) kind: AgentKind,
    pub(crate) description: String,
    pub(crate) prompt: String,
    /// The call that starts it.
    pub(crate) call: ToolUseId,
    /// The agent that starts it.
    pub(crate) parent: Identity,
    /// The tools of that agent.
    pub(crate) tools: Arc<Toolset>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<Effort>,
    /// Its worktree, if it has one.
    pub(crate) worktree: Option<Worktree>,
    /// Whether it runs in the background.
    pub(crate) background: bool,
    /// Whether the call requests the background; `None` if unspecified.
    pub(crate) asked_background: Option<bool>,
}

/// A subagent that has been announced and can run.
pub(crate) struct Launched {
    pub(super) agent: Agent,
    pub(super) task: TaskHandle,
    pub(super) stop: CancellationToken,
    pub(super) output_file: PathBuf,
    pub(super) prompt: String,
    pub(super) worktree: Option<Worktree>,
    pub(super) kind: AgentKind,
    pub(crate) id: AgentId,
}

impl Launched {
    /// The name of its model.
    pub(crate) fn model(&self) -> String {
        let session = &self.agent.session;
        let own = self.agent.instructions.model.as_ref();
        let connected = own.and_then(|name| session.models.connect(name).ok());
        connected.map_or_else(|| session.models.name(), |model| model.name)
    }

    /// The file with its response.
    pub(crate) fn output_file(&self) -> &PathBuf {
        &self.output_file
    }
}

/// Announces a subagent that has its concurrency slot.
pub(crate) fn launch(
    session: &Arc<SessionContext>,
    assignment: Assignment,
    slot: AgentSlot,
) -> Launched {
    let subagent = Arc::new(identify(session, &assignment));
    session.hooks.registry().add_agent(&subagent.id, &assignment.kind.hooks);
    let (task, stop) = announce(session, &assignment, slot, subagent.depth);
    let workspace = assignment.workspace.fork();
    if let Some(directory) = &subagent.worktree {
        workspace.set_current_dir(directory);
    }
    let identity = Identity::Sub(Arc::clone(&subagent));
    let agent = Agent {
        tools: toolset::tools(session, &assignment.tools, &assignment.kind, &identity),
        session: Arc::clone(session),
        identity,
        conversation: Conversation::default(),
        workspace,
        instructions: instruct(session, &assignment, &subagent),
        own_journal: Some(Arc::new(journal(session, &assignment, subagent.depth))),
        joined: Vec::new(),
        tokens: Arc::new(AtomicU64::new(0)),
        compactions: Default::default(),
    };
    let output_file = session.workspace.tasks().output_path(&task_id(&assignment));
    let Assignment { id, prompt, worktree, kind, .. } = assignment;
    Launched { agent, task, stop, output_file, prompt, worktree, kind, id }
}

/// The identity of the subagent.
fn identify(session: &SessionContext, assignment: &Assignment) -> Subagent {
    let Assignment { kind, background, .. } = assignment;
    let parent = assignment.parent.subagent();
    let inherited = || parent.and_then(|parent| parent.model.clone());
    let forwards = session.host.read(|host| host.forward_subagent_text);
    Subagent {
        id: assignment.id.clone(),
        kind: kind.name.clone(),
        description: assignment.description.clone(),
        parent: assignment.call.clone(),
        depth: parent.map_or(0, |parent| parent.depth) + 1,
        background: *background,
        shows_text: forwards || *background,
        permission_mode: kind.permission_mode.clone(),
        worktree: assignment.worktree.as_ref().map(|worktree| worktree.path().to_owned()),
        memory: memory_folder(&session.config.places, kind),
        model: assignment.model.clone().or_else(|| kind.model.clone()).or_else(inherited),
    }
}

fn task_id(assignment: &Assignment) -> TaskId {
    TaskId::from(assignment.id.as_str())
}

/// Announces its start to the host and hooks; it ends when the token is cancelled.
fn announce(
    session: &SessionContext,
    assignment: &Assignment,
    slot: AgentSlot,
    depth: u32,
) -> (TaskHandle, CancellationToken) {
    let Assignment { kind, description, prompt, call, background, .. } = assignment;
    let (id, tasks, stop) =
        (task_id(assignment), session.workspace.tasks(), CancellationToken::new());
    let task = tasks.register(NewTask {
        id: Some(id.clone()),
        kind: TaskKind::Agent,
        description: description.clone(),
        prompt: Some(prompt.clone()),
        tool_use_id: Some(call.clone()),
        backgrounded: *background,
        output_file: Some(tasks.output_path(&id)),
        stop: stop.clone(),
    });
    session.tasks.agent_started(StartedAgent {
        id: &id,
        slot,
        kind: &kind.name,
        description,
        prompt,
        tool_use_id: call,
        depth,
        parent: assignment.parent.agent_id().map(|id| TaskId::from(id.as_str())),
        backgrounded: *background,
        asked_background: assignment.asked_background,
    });
    (task, stop)
}

/// Its journal, with a record of the agent that started it.
fn journal(session: &SessionContext, assignment: &Assignment, depth: u32) -> Journal {
    let writer = session.journal.with(|writer| writer.subagent(assignment.id.clone(), None).ok());
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
    Journal::new(writer)
}

/// Its system prompt, from its kind and the host.
fn instruct(
    session: &SessionContext,
    assignment: &Assignment,
    subagent: &Subagent,
) -> Instructions {
    let kind = &assignment.kind;
    let appended = session.host.read(|host| host.append_subagent_system_prompt.clone());
    let copy = subagent.worktree.as_deref().map(about_worktree);
    Instructions {
        system: [Some(kind.prompt.clone()), copy, appended].into_iter().flatten().collect(),
        model: subagent.model.clone(),
        effort: assignment.effort.or(kind.effort),
        max_turns: kind.max_turns,
    }
}

/// The section about the worktree in which an agent works.
fn about_worktree(directory: &Path) -> String {
    format!(
        "You work in a copy of the project of your own, at {}. Paths of the project that you are \
         told mean the same paths there; change nothing outside of it.",
        directory.display()
    )
}
