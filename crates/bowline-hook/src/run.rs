//! Running the hooks of one occasion: all at once, each within its time, and nothing left behind.

use std::{
    sync::{Arc, OnceLock, PoisonError},
    time::Duration,
};

use bowline_protocol::{
    EventInput, HookCommand, HookEvent, HookInput, HookProgressMessage, HookResponseMessage,
    HookStartedMessage, PermissionRule, RawJson, ToolUseId,
};
use futures_util::future::join_all;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    BoxFuture, HookAction, HookCallError, HookEnvironment, HookReport, Hooks, Registration,
    command,
    command_run::{CommandRun, Driven},
    notice,
    output::{self, Answer, Answerer},
    report::{Completed, FailureKind},
    service_run::{ExitCodes, ServiceRun},
    texts,
};

/// How long a program that goes on by itself may take if it does not say.
const DETACHED_TIME_LIMIT: Duration = Duration::from_secs(15);

/// How many hooks may run in the background at a time. A session that reaches this has a
/// hook that never ends and runs for every tool call.
const BACKGROUND_HOOKS: usize = 64;

/// Is told what programs that run as hooks do, while they do it. Must return quickly.
pub trait HookObserver: Send + Sync {
    /// Something happened.
    fn observe(&self, activity: HookActivity);
}

/// What programs that run as hooks do. The messages are ready to be emitted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HookActivity {
    /// One begins.
    Started(HookStartedMessage),
    /// One has written something.
    Progress(HookProgressMessage),
    /// One has ended.
    Response(HookResponseMessage),
    /// One that went on by itself has ended, and this is what it has to say.
    Background {
        /// What it says.
        report: Box<HookReport>,
        /// Whether an objection should wake the agent.
        rewake: bool,
    },
}

/// Everything the hooks of one occasion share.
pub(super) struct Occasion {
    pub(super) input: HookInput,
    pub(super) event: HookEvent,
    pub(super) hook_name: String,
    /// The call it is about, where the event does not say.
    pub(super) about: Option<ToolUseId>,
    /// The input as programs and servers get it, made when the first of them needs it.
    json: OnceLock<RawJson>,
    pub(super) environment: Arc<HookEnvironment>,
    pub(super) observer: Arc<dyn HookObserver>,
}

impl Occasion {
    /// The input as programs and servers get it.
    pub(super) fn json(&self) -> &RawJson {
        let written = || RawJson::from_value(&self.input).expect("hook inputs always serialize");
        self.json.get_or_init(written)
    }

    /// Tells whoever listens that a hook begins.
    pub(super) fn tell_started(&self, hook_id: &str) {
        self.observer.observe(HookActivity::Started(HookStartedMessage {
            hook_id: hook_id.to_owned(),
            hook_name: self.hook_name.clone(),
            hook_event: self.event.clone(),
            uuid: fresh_id().into(),
            session_id: self.input.base.session_id.clone(),
            extra: Default::default(),
        }));
    }
}

impl Hooks {
    /// Runs all hooks for what `input` tells, and waits for those that can be waited for.
    ///
    /// Every hook has a time limit, so this always ends. When `cancel` fires, or when the
    /// future is dropped, callbacks are withdrawn and programs are killed with all they started.
    pub async fn run(
        &self,
        input: &HookInput,
        observer: &Arc<dyn HookObserver>,
        cancel: &CancellationToken,
    ) -> HookReport {
        self.run_about(input, None, observer, cancel).await
    }

    /// Like [`run`](Self::run), for an event that does not itself say which call it is about.
    pub async fn run_about(
        &self,
        input: &HookInput,
        about: Option<&ToolUseId>,
        observer: &Arc<dyn HookObserver>,
        cancel: &CancellationToken,
    ) -> HookReport {
        let event = input.event_name();
        if !self.any(&event) {
            return HookReport::default();
        }
        let selected = self.select(input, &event);
        if selected.is_empty() {
            return HookReport::default();
        }
        let occasion = Arc::new(Occasion {
            input: input.clone(),
            hook_name: texts::hook_name(input),
            about: about.cloned(),
            json: OnceLock::new(),
            environment: self.environment(),
            observer: observer.clone(),
            event,
        });
        let mut report = HookReport {
            hook_name: occasion.hook_name.clone(),
            ran: selected.len(),
            ..HookReport::default()
        };
        let runs = selected.iter().map(|registration| self.run_one(registration, &occasion));
        tokio::select! {
            // After the end nothing begins.
            biased;
            () = cancel.cancelled() => report.cancelled = true,
            answers = join_all(runs) => {
                for (registration, answer) in selected.iter().zip(answers) {
                    report.take(registration, &occasion, answer);
                }
            }
        }
        report
    }

    /// Ends the hooks that run in the background and waits until they are gone.
    pub async fn shutdown(&self) {
        let mut background = {
            let mut background = self.background.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *background)
        };
        background.shutdown().await;
    }

    /// The hooks for an occasion, each of them once.
    fn select(&self, input: &HookInput, event: &HookEvent) -> Vec<Arc<Registration>> {
        let target = if event.supports_matcher() { input.matcher_target() } else { None };
        let mut selected: Vec<Arc<Registration>> = Vec::new();
        for registration in self.of_event(event) {
            let wanted = registration.is_for(input.base.agent_id.as_ref())
                && target.is_none_or(|target| registration.matcher.matches(target))
                && self.condition_holds(&registration, input)
                && !selected.iter().any(|other| other.repeats(&registration))
                && registration.take_turn();
            if wanted {
                selected.push(registration);
            }
        }
        selected
    }

    fn condition_holds(&self, registration: &Registration, input: &HookInput) -> bool {
        let HookAction::Command(hook) = &registration.action else { return true };
        let Some(condition) = hook.condition() else { return true };
        let rule = match condition.parse::<PermissionRule>() {
            Ok(rule) => rule,
            // A guard that runs too often is better than one that does not run.
            Err(error) => {
                tracing::warn!(hook = registration.label(), %error, "a hook's condition is no rule");
                return true;
            }
        };
        // Only tool calls can fit a permission rule.
        tool_call(input).is_some_and(|(name, input)| self.services.fits_rule(&rule, name, input))
    }

    async fn run_one(&self, registration: &Arc<Registration>, occasion: &Arc<Occasion>) -> Answer {
        let limit = registration.time_limit();
        let json = || occasion.json().clone();
        match &registration.action {
            HookAction::Callback(id) => {
                let tool_use_id = tool_use_id(&occasion.input).or(occasion.about.as_ref()).cloned();
                // The protocol has an id on every call, whether or not it is about a tool.
                let tool_use_id = tool_use_id.unwrap_or_else(|| fresh_id().into());
                let call = self.callbacks.call(id, &occasion.input, tool_use_id);
                within(limit, call, |answer| output::read(&occasion.event, answer.get())).await
            }
            HookAction::Command(hook) => match &**hook {
                HookCommand::Command(_) => self.run_command(registration, occasion, limit).await,
                HookCommand::Http(hook) => {
                    let call = self.services.http(hook, json());
                    ServiceRun::start(occasion).serve(limit, call, ExitCodes::No).await
                }
                HookCommand::McpTool(hook) => {
                    let call = self.services.mcp_tool(hook, json());
                    ServiceRun::start(occasion).serve(limit, call, ExitCodes::Yes).await
                }
                // A model that is asked is no program that anybody would watch.
                HookCommand::Prompt(hook) => {
                    let call = self.services.prompt(hook, &occasion.input, json());
                    within(limit, call, |text| command::printed(&occasion.event, text.trim())).await
                }
                HookCommand::Agent(hook) => {
                    let call = self.services.agent(hook, json());
                    within(limit, call, |text| command::printed(&occasion.event, text.trim())).await
                }
                _ => Answer::Failed(FailureKind::NotRun, "unknown type of hook".to_owned()),
            },
        }
    }

    async fn run_command(
        &self,
        registration: &Arc<Registration>,
        occasion: &Arc<Occasion>,
        limit: Duration,
    ) -> Answer {
        let mut run = match CommandRun::start(registration, occasion) {
            Ok(run) => run,
            Err(error) => return Answer::Failed(FailureKind::NotRun, error.to_string()),
        };
        if run.starts_detached() {
            return self.detach(run, limit);
        }
        match timeout(limit, run.drive()).await {
            Ok(Driven::Ended(answer)) => answer,
            Ok(Driven::Detached(limit)) => self.detach(run, limit.unwrap_or(DETACHED_TIME_LIMIT)),
            Err(_) => timed_out(limit),
        }
    }

    /// Lets a program go on by itself for a while.
    fn detach(&self, mut run: CommandRun, limit: Duration) -> Answer {
        let mut background = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        while background.try_join_next().is_some() {}
        if background.len() >= BACKGROUND_HOOKS {
            let message = format!("{BACKGROUND_HOOKS} hooks already run in the background");
            return Answer::Failed(FailureKind::NotRun, message);
        }
        background.spawn(async move {
            let ended = timeout(limit, run.drive_to_end()).await;
            let answer = ended.unwrap_or_else(|_| timed_out(limit));
            run.report_in_background(answer);
        });
        Answer::Detached
    }
}

impl HookReport {
    /// Adds one hook's answer, and what the user should know about it.
    pub(super) fn take(
        &mut self,
        registration: &Registration,
        occasion: &Occasion,
        answer: Answer,
    ) {
        self.notices.extend(notice::about(registration, occasion, &answer));
        let who = Answerer {
            event: &occasion.event,
            command: registration.label(),
            is_callback: matches!(registration.action, HookAction::Callback(_)),
            on_failure: registration.on_failure(),
        };
        let failures = self.failures.len();
        let printed = match &answer {
            Answer::Printed(text) => Some(text.clone()),
            _ => None,
        };
        self.add(&who, answer);
        if self.failures.len() == failures {
            let command = if who.is_callback { "callback" } else { who.command };
            self.completed.push(Completed { command: command.to_owned(), printed });
        }
    }
}

/// Waits for an answer, for as long as the hook has.
pub(super) async fn within<T>(
    limit: Duration,
    call: BoxFuture<'_, Result<T, HookCallError>>,
    read: impl FnOnce(T) -> Answer,
) -> Answer {
    match timeout(limit, call).await {
        Ok(Ok(answer)) => read(answer),
        Ok(Err(HookCallError::Closed)) => {
            Answer::Failed(FailureKind::Closed, HookCallError::Closed.to_string())
        }
        Ok(Err(error)) => Answer::Failed(FailureKind::NotRun, error.to_string()),
        Err(_) => timed_out(limit),
    }
}

fn timed_out(limit: Duration) -> Answer {
    Answer::Failed(FailureKind::TimedOut, format!("timed out after {}ms", limit.as_millis()))
}

pub(super) fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The tool call that an input is about.
fn tool_call(input: &HookInput) -> Option<(&str, &RawJson)> {
    match &input.event {
        EventInput::PreToolUse(input) => Some((&input.tool_name, &input.tool_input)),
        EventInput::PostToolUse(input) => Some((&input.tool_name, &input.tool_input)),
        EventInput::PostToolUseFailure(input) => Some((&input.tool_name, &input.tool_input)),
        EventInput::PermissionRequest(input) => Some((&input.tool_name, &input.tool_input)),
        EventInput::PermissionDenied(input) => Some((&input.tool_name, &input.tool_input)),
        _ => None,
    }
}

/// Its id.
pub(super) fn tool_use_id(input: &HookInput) -> Option<&ToolUseId> {
    match &input.event {
        EventInput::PreToolUse(input) => Some(&input.tool_use_id),
        EventInput::PostToolUse(input) => Some(&input.tool_use_id),
        EventInput::PostToolUseFailure(input) => Some(&input.tool_use_id),
        EventInput::PermissionDenied(input) => Some(&input.tool_use_id),
        _ => None,
    }
}
