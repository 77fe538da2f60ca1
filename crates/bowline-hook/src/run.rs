//! Runs the hooks of one event: concurrently, each with a deadline, and with no process left over.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use bowline_protocol::{
    EventInput, HookCommand, HookEvent, HookInput, PermissionRule, RawJson, ToolUseId,
};
use futures_util::future::join_all;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    HookAction, HookObserver, HookReport, Hooks, Registration, command,
    command_run::{CommandRun, Driven},
    deadline::{timed_out, within},
    event_context::{EventContext, fresh_id, tool_use_id},
    notice,
    output::{self, HookReply, ReplySource},
    report::{Completed, FailureKind},
    service_run::{ExitCodes, ServiceRun},
    texts,
};

/// How long a program that goes on by itself may take if it does not say.
const DETACHED_TIME_LIMIT: Duration = Duration::from_secs(15);

/// How many hooks may run in the background at a time. A session that reaches this has a
/// hook that never ends and runs for every tool call.
const BACKGROUND_HOOKS: usize = 64;

impl Hooks {
    /// Runs all hooks that apply to `input` and waits for those in the foreground.
    ///
    /// Every hook has a time limit, so this always ends. When `cancel` fires, or when the
    /// future is dropped, callbacks are canceled and programs are killed with all they started.
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
        let context = Arc::new(EventContext {
            input: input.clone(),
            hook_name: texts::hook_name(input),
            about: about.cloned(),
            json: OnceLock::new(),
            environment: self.environment(),
            observer: observer.clone(),
            event,
        });
        let mut report = HookReport {
            hook_name: context.hook_name.clone(),
            ran: selected.len(),
            ..HookReport::default()
        };
        let runs = selected.iter().map(|registration| self.run_one(registration, &context));
        tokio::select! {
            // After the end nothing begins.
            biased;
            () = cancel.cancelled() => report.cancelled = true,
            replies = join_all(runs) => {
                for (registration, reply) in selected.iter().zip(replies) {
                    report.take(registration, &context, reply);
                }
            }
        }
        report
    }

    /// Ends the hooks that run in the background and waits until they are gone.
    pub async fn shutdown(&self) {
        let mut background = {
            let mut background = self.background.lock();
            std::mem::take(&mut *background)
        };
        background.shutdown().await;
    }

    /// The hooks that apply to an event, each of them once.
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

    async fn run_one(
        &self,
        registration: &Arc<Registration>,
        context: &Arc<EventContext>,
    ) -> HookReply {
        let limit = registration.time_limit();
        let json = || context.json().clone();
        match &registration.action {
            HookAction::Callback(id) => {
                let tool_use_id = tool_use_id(&context.input).or(context.about.as_ref()).cloned();
                // The protocol has an id on every call, whether or not it is about a tool.
                let tool_use_id = tool_use_id.unwrap_or_else(|| fresh_id().into());
                let call = self.callbacks.call(id, &context.input, tool_use_id);
                within(limit, call, |reply| output::read(&context.event, reply.get())).await
            }
            HookAction::Command(hook) => match &**hook {
                HookCommand::Command(_) => self.run_command(registration, context, limit).await,
                HookCommand::Http(hook) => {
                    let call = self.services.http(hook, json());
                    ServiceRun::start(context).serve(limit, call, ExitCodes::No).await
                }
                HookCommand::McpTool(hook) => {
                    let call = self.services.mcp_tool(hook, json());
                    ServiceRun::start(context).serve(limit, call, ExitCodes::Yes).await
                }
                // A request to a model has no progress to observe.
                HookCommand::Prompt(hook) => {
                    let call = self.services.prompt(hook, &context.input, json());
                    within(limit, call, |text| command::printed(&context.event, text.trim())).await
                }
                HookCommand::Agent(hook) => {
                    let call = self.services.agent(hook, json());
                    within(limit, call, |text| command::printed(&context.event, text.trim())).await
                }
                _ => HookReply::Failed(FailureKind::NotRun, "unknown type of hook".to_owned()),
            },
        }
    }

    async fn run_command(
        &self,
        registration: &Arc<Registration>,
        context: &Arc<EventContext>,
        limit: Duration,
    ) -> HookReply {
        let mut run = match CommandRun::start(registration, context) {
            Ok(run) => run,
            Err(error) => return HookReply::Failed(FailureKind::NotRun, error.to_string()),
        };
        if run.starts_detached() {
            return self.detach(run, limit);
        }
        match timeout(limit, run.drive()).await {
            Ok(Driven::Ended(reply)) => reply,
            Ok(Driven::Detached(limit)) => self.detach(run, limit.unwrap_or(DETACHED_TIME_LIMIT)),
            Err(_) => timed_out(limit),
        }
    }

    /// Lets a program go on by itself for a while.
    fn detach(&self, mut run: CommandRun, limit: Duration) -> HookReply {
        let mut background = self.background.lock();
        while background.try_join_next().is_some() {}
        if background.len() >= BACKGROUND_HOOKS {
            let message = format!("{BACKGROUND_HOOKS} hooks already run in the background");
            return HookReply::Failed(FailureKind::NotRun, message);
        }
        background.spawn(async move {
            let ended = timeout(limit, run.drive_to_end()).await;
            let reply = ended.unwrap_or_else(|_| timed_out(limit));
            run.report_in_background(reply);
        });
        HookReply::Detached
    }
}

impl HookReport {
    /// Adds one hook's reply, and the message to the user about it.
    pub(super) fn take(
        &mut self,
        registration: &Registration,
        context: &EventContext,
        reply: HookReply,
    ) {
        self.notices.extend(notice::about(registration, context, &reply));
        let who = ReplySource {
            event: &context.event,
            command: registration.label(),
            is_callback: matches!(registration.action, HookAction::Callback(_)),
            on_failure: registration.on_failure(),
        };
        let failures = self.failures.len();
        let printed = match &reply {
            HookReply::Printed(text) => Some(text.clone()),
            _ => None,
        };
        self.add(&who, reply);
        if self.failures.len() == failures {
            let command = if who.is_callback { "callback" } else { who.command };
            self.completed.push(Completed { command: command.to_owned(), printed });
        }
    }
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
