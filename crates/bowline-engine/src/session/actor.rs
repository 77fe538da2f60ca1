//! The session's loop: runs one turn at a time, and attends to background work.

use std::{sync::Arc, time::Duration};

use bowline_protocol::{
    CommandState, DeferredToolUse, MessageUuid, ResultMessage, SessionState, TerminalReason,
    UserMessage,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    SessionEnd, claim, opening,
    prompt::{self, Beginning},
};
use crate::{
    agent::Agent,
    result,
    session_context::SessionContext,
    sink::{lifecycle, new_uuid},
    state::Queued,
};

/// How long a turn may take to end when the session does.
const TURN_GRACE: Duration = Duration::from_secs(6);
/// How long background work may take to end when the session does.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// A command of a session's handle.
pub(crate) enum Command {
    /// Queues a prompt.
    Prompt(Box<UserMessage>),
    /// Acknowledges that all commands before it were processed.
    Acknowledge(oneshot::Sender<()>),
    /// The host has closed its input.
    EndOfInput,
}

/// The actor that runs a session.
pub(crate) struct Actor {
    context: Arc<SessionContext>,
    /// The main agent; `None` while a turn runs.
    agent: Option<Box<Agent>>,
    commands: mpsc::Receiver<Command>,
    shutdown: CancellationToken,
    turn: Option<RunningTurn>,
    /// Deferred calls of a resumed session; they run before all prompts.
    deferred: Vec<DeferredToolUse>,
    /// Results that are held back until background agents have ended.
    held: Vec<ResultMessage>,
    last_turn_failed: Option<bool>,
    input_open: bool,
    /// Since when nothing but background work keeps the session alive.
    waiting_since: Option<Instant>,
    /// Since when it has had nothing to do, after its first turn.
    idle_since: Option<Instant>,
}

struct RunningTurn {
    task: AbortOnDropHandle<(Box<Agent>, prompt::TurnOutcome)>,
    prompts: Vec<MessageUuid>,
}

enum Woken {
    Commanded(Option<Command>),
    TurnEnded(Box<Agent>, prompt::TurnOutcome),
    TurnCrashed,
    WorkAvailable,
    /// The limit of background work after the end of input is reached.
    BackgroundLimit,
    /// The idle limit is reached.
    IdleLimit,
    Shutdown,
}

impl Actor {
    pub(crate) fn new(
        context: Arc<SessionContext>,
        agent: Agent,
        commands: mpsc::Receiver<Command>,
        shutdown: CancellationToken,
    ) -> Self {
        let resumed = context.config.resumed.as_ref();
        let deferred = resumed.map(|resumed| resumed.deferred.clone()).unwrap_or_default();
        Self {
            context,
            deferred,
            agent: Some(Box::new(agent)),
            commands,
            shutdown,
            turn: None,
            held: Vec::new(),
            last_turn_failed: None,
            input_open: true,
            waiting_since: None,
            idle_since: None,
        }
    }

    pub(crate) async fn run(mut self) -> SessionEnd {
        opening::session_started(&self.context, &self.shutdown).await;
        self.context.turn.started.cancel();
        loop {
            self.context.sink.flush().await;
            self.take_notices();
            if self.turn.is_none() {
                self.begin_turn().await;
            }
            if self.is_done() || self.context.turn.fault().is_some() {
                break;
            }
            match self.wake().await {
                Woken::Commanded(Some(Command::Prompt(message))) => self.enqueue(*message).await,
                Woken::Commanded(Some(Command::Acknowledge(done))) => {
                    // The caller may have been dropped.
                    done.send(()).ok();
                }
                Woken::Commanded(Some(Command::EndOfInput) | None) => self.input_open = false,
                Woken::TurnEnded(agent, outcome) => self.end_turn(agent, outcome).await,
                Woken::TurnCrashed => break,
                Woken::WorkAvailable => {}
                Woken::BackgroundLimit | Woken::Shutdown => break,
                Woken::IdleLimit => {
                    // An idle session ends successfully, even if its last turn failed.
                    self.last_turn_failed = Some(false);
                    break;
                }
            }
        }
        self.close().await;
        let fault = self.context.turn.fault().cloned();
        SessionEnd { last_turn_failed: self.last_turn_failed, fault }
    }

    async fn wake(&mut self) -> Woken {
        let only_background = !self.input_open && self.turn.is_none();
        let waiting = since(&mut self.waiting_since, only_background);
        let waited = deadline(waiting, self.context.config.background_wait);
        let is_idle =
            self.input_open && self.last_turn_failed.is_some() && self.has_nothing_to_do();
        let idle = since(&mut self.idle_since, is_idle);
        let idled = deadline(idle, self.context.config.idle_limit);
        let Self { context, commands, turn, shutdown, input_open, .. } = self;
        tokio::select! {
            biased;
            () = shutdown.cancelled() => Woken::Shutdown,
            command = commands.recv(), if *input_open => Woken::Commanded(command),
            Some(done) = turn_ended(turn) => match done {
                Ok((agent, outcome)) => Woken::TurnEnded(agent, outcome),
                Err(_) => Woken::TurnCrashed,
            },
            () = context.turn.wake.notified() => Woken::WorkAvailable,
            () = context.tasks.ended.notified() => Woken::WorkAvailable,
            () = context.sink.enqueued.notified() => Woken::WorkAvailable,
            Some(()) = reached(waited) => Woken::BackgroundLimit,
            Some(()) = reached(idled) => Woken::IdleLimit,
        }
    }

    /// Whether there is no work and none can arrive.
    fn is_done(&self) -> bool {
        !self.input_open && self.has_nothing_to_do()
    }

    fn has_nothing_to_do(&self) -> bool {
        self.turn.is_none()
            && self.context.queue.is_empty()
            && !self.context.tasks.has_background_tasks()
    }

    async fn enqueue(&mut self, message: UserMessage) {
        if self.context.config.unclaimed {
            return self.refuse_unclaimed(message).await;
        }
        let uuid = message.uuid.clone();
        let replay = self.context.sink.replays_prompts.then(|| message.clone());
        let queued = self.context.queue.push(message);
        match (queued, uuid) {
            (Queued::Waiting, Some(uuid)) => self.lifecycle(&uuid, CommandState::Queued).await,
            (Queued::Waiting, None) => {}
            (queued, uuid) => {
                if let Some(replay) = replay {
                    self.context.sink.replay_prompt(&replay).await;
                }
                if let (Queued::DoneBefore, Some(uuid)) = (queued, &uuid) {
                    self.lifecycle(uuid, CommandState::Completed).await;
                }
            }
        }
        if self.turn.is_some() && self.context.queue.is_urgent() {
            self.context.turn.preempt();
        }
    }

    /// Refuses a prompt: the host has not claimed the session that would run it.
    async fn refuse_unclaimed(&mut self, message: UserMessage) {
        let mut result = result::failed(&self.context, claim::NOT_CLAIMED);
        result.result_index = Some(self.context.turn.count_result());
        self.last_turn_failed = Some(true);
        self.context.sink.send(result).await;
        if let Some(uuid) = &message.uuid {
            self.lifecycle(uuid, CommandState::Completed).await;
        }
    }

    /// Queues the notices of ended background tasks for the model.
    fn take_notices(&mut self) {
        for notice in self.context.tasks.take_notices() {
            self.context.queue.push(notice);
        }
    }

    /// Replays prompts that are merged into one turn, except the last: the turn replays the merged
    /// prompt under the uuid of that one.
    async fn replay_merged(&self, prompts: &[UserMessage]) {
        let named = || prompts.iter().filter_map(|prompt| Some((prompt, prompt.uuid.as_ref()?)));
        let Some((_, name)) = named().next_back() else { return };
        for (prompt, _) in named().filter(|(_, uuid)| *uuid != name) {
            self.context.sink.replay_prompt(prompt).await;
        }
    }

    async fn begin_turn(&mut self) {
        let Some((beginning, uuids)) = self.next_turn() else {
            if !self.context.tasks.has_background_agents() {
                self.context.turn.set_state(SessionState::Idle).await;
            }
            return;
        };
        let Some(mut agent) = self.agent.take() else { return };
        self.context.turn.set_state(SessionState::Running).await;
        if let Beginning::Prompts(prompts) = &beginning {
            self.replay_merged(prompts).await;
        }
        for uuid in &uuids {
            self.lifecycle(uuid, CommandState::Started).await;
        }
        let cancel = self.shutdown.child_token();
        self.context.turn.begin(cancel.clone());
        let task = tokio::spawn(async move {
            let outcome = prompt::run_turn(&mut agent, beginning, cancel).await;
            (agent, outcome)
        });
        self.turn = Some(RunningTurn { task: AbortOnDropHandle::new(task), prompts: uuids });
    }

    /// The input of the next turn, if there is any, and the uuids of its prompts.
    fn next_turn(&mut self) -> Option<(Beginning, Vec<MessageUuid>)> {
        let unclaimed = self.context.config.unclaimed;
        // The host's hooks decide about deferred calls, so these wait for its `initialize`.
        let is_ready = !self.input_open
            || self.context.host.read(|host| host.initialized)
            || !self.context.queue.is_empty();
        if !self.deferred.is_empty() && is_ready && !unclaimed {
            let calls = std::mem::take(&mut self.deferred);
            return Some((Beginning::Deferred(calls), vec![new_uuid()]));
        }
        let alone = |prompt: &_| self.context.commands.runs_alone(prompt);
        let prompts = self.context.queue.take_batch(alone);
        let uuids = prompts.iter().filter_map(|prompt| prompt.uuid.clone()).collect();
        (!prompts.is_empty()).then_some((Beginning::Prompts(prompts), uuids))
    }

    async fn end_turn(&mut self, agent: Box<Agent>, outcome: prompt::TurnOutcome) {
        self.context.turn.end();
        self.agent = Some(agent);
        let prompts = self.turn.take().map(|turn| turn.prompts).unwrap_or_default();
        for joined in &outcome.joined {
            self.lifecycle(joined, CommandState::Completed).await;
        }
        let mut result = *outcome.result;
        result.result_index = Some(self.context.turn.count_result());
        result.queued_turn_count = Some(self.context.queue.user_prompts() as u64);
        self.last_turn_failed = Some(result.is_error);
        let stopped = matches!(
            result.terminal_reason,
            Some(TerminalReason::AbortedStreaming | TerminalReason::AbortedTools)
        );
        self.held.push(result);
        // A host that has closed its input takes a result for the end of the session.
        if !(self.context.turn.input_ended() && self.context.tasks.has_background_agents()) {
            for result in self.held.drain(..) {
                self.context.sink.send(result).await;
            }
        }
        let state = match stopped {
            true => CommandState::Cancelled,
            false => CommandState::Completed,
        };
        for uuid in &prompts {
            self.lifecycle(uuid, state.clone()).await;
        }
    }

    async fn lifecycle(&self, uuid: &MessageUuid, state: CommandState) {
        self.context.sink.send(lifecycle(uuid.clone(), state)).await;
    }

    async fn close(&mut self) {
        if let Some(turn) = &mut self.turn {
            self.context.turn.interrupt();
            if let Ok(Ok((agent, outcome))) = tokio::time::timeout(TURN_GRACE, &mut turn.task).await
            {
                self.end_turn(agent, outcome).await;
            }
            // The handle aborts the task if it did not notice.
            self.turn = None;
        }
        self.context.tasks.close();
        let tasks = self.context.workspace.tasks().stop_all();
        tokio::time::timeout(SHUTDOWN_GRACE, tasks).await.ok();
        let mut beside = self.context.background.take();
        let ended = async { while beside.join_next().await.is_some() {} };
        tokio::time::timeout(SHUTDOWN_GRACE, ended).await.ok();
        for result in std::mem::take(&mut self.held) {
            self.context.sink.send(result).await;
        }
        if self.last_turn_failed.is_some() && !self.context.config.unclaimed {
            self.context
                .sink
                .emit_notice(
                    self.context
                        .journal
                        .note(self.context.usage.cost_state(self.context.sink.session_id())),
                )
                .await;
        }
        self.context.watch.stop();
        opening::session_ended(&self.context).await;
        self.context.servers.close().await;
        self.context.hooks.registry().shutdown().await;
        if let Some(scripts) = self.context.hooks.registry().scripts() {
            scripts.remove();
        }
        self.context.sink.flush().await;
    }
}

/// The time since which a condition holds; reset when it does not.
fn since(start: &mut Option<Instant>, holds: bool) -> Option<Instant> {
    *start = holds.then(|| start.unwrap_or_else(Instant::now));
    *start
}

/// The time at which a limit is reached.
fn deadline(began: Option<Instant>, limit: Option<Duration>) -> Option<Instant> {
    began.zip(limit).map(|(began, limit)| began + limit)
}

/// Waits until a deadline; returns `None` at once without one.
async fn reached(deadline: Option<Instant>) -> Option<()> {
    tokio::time::sleep_until(deadline?).await;
    Some(())
}

type TurnTask = Result<(Box<Agent>, prompt::TurnOutcome), tokio::task::JoinError>;

async fn turn_ended(turn: &mut Option<RunningTurn>) -> Option<TurnTask> {
    match turn {
        Some(turn) => Some((&mut turn.task).await),
        None => std::future::pending().await,
    }
}
