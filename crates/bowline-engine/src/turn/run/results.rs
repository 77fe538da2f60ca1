//! Results of tool calls, nudges, and Stop hooks.

use bowline_protocol::{ContentBlock, UserMessage};

use super::{
    super::{
        machine::{Event, Nudge},
        outcome::CallOutcome,
        texts,
    },
    Feedback, TurnRun,
};
use crate::{
    agent::{NotifyStopHookError, StopVerdict},
    turn::{batch_hooks::BatchVerdict, outcome::successful_calls},
    usage::LineChanges,
};

impl TurnRun<'_> {
    pub(super) async fn finished(&mut self, outcome: Box<CallOutcome>) -> Event {
        // A call that waited for this one begins before its result is shown.
        tokio::task::yield_now().await;
        let event = Event::Finished(outcome.id().clone(), outcome.then);
        self.show(outcome).await;
        self.calls.shown();
        event
    }

    /// Sends a result to the host at once and keeps it for the model.
    pub(super) async fn show(&mut self, mut outcome: Box<CallOutcome>) {
        self.report.messages += 1;
        let denial = outcome.denial.take();
        if self.agent.identity.is_main() {
            // Denials of subagents so far came before this one.
            let denied = self.agent.session.pending.take_denials();
            self.report.denials.extend(denied.into_iter().chain(denial));
        } else {
            self.agent.session.pending.add_denials(denial);
        }
        if let Some(output) = outcome.structured_output.take() {
            self.report.structured_output = Some(output);
        }
        if let Some(deferred) = outcome.deferred.take() {
            self.report.deferred.push(deferred);
            self.report.messages -= 1;
            return;
        }
        if let Some(result) = &outcome.structured {
            let changes = LineChanges::of(result);
            self.report.changes += changes;
            self.agent.session.usage.ledger().enter_changes(changes);
        }
        for notice in outcome.notices.drain(..) {
            self.agent.session.sink.emit(notice).await;
        }
        let frame = outcome.frame(&self.agent.identity);
        self.agent.emit_user(frame).await;
        for remark in outcome.remarks.drain(..) {
            self.agent.session.sink.send(remark).await;
        }
        if !outcome.follow_up.is_empty() {
            self.report.messages += 1;
            let mut frame = Box::new(UserMessage::prompt(outcome.follow_up.clone()));
            frame.is_synthetic = Some(true);
            self.agent.emit_user(frame).await;
        }
        self.calls.keep(*outcome);
    }

    /// Adds the results to the conversation, in the order of the calls, followed by prompts queued
    /// meanwhile. Returns whether hooks let the turn continue.
    pub(super) async fn deliver_results(&mut self) -> bool {
        let batch = self.calls.take_results();
        if batch.is_empty() {
            return true;
        }
        let BatchVerdict { context, stops } = self.agent.batch_hooks(&batch, &self.cancel).await;
        let reminders = self.agent.reminders(successful_calls(&batch), &self.cancel).await;
        let mut blocks = Vec::with_capacity(batch.len());
        let mut after = Vec::new();
        for mut outcome in batch {
            after.append(&mut outcome.follow_up);
            after.extend(outcome.context.drain(..).map(ContentBlock::text));
            blocks.push(outcome.into_block());
        }
        blocks.append(&mut after);
        blocks.extend(context.into_iter().map(ContentBlock::text));
        blocks.extend(reminders);
        if !stops {
            blocks.extend(self.agent.take_queued(&mut self.prompts).await);
        }
        self.agent.conversation.push_user(blocks);
        !stops
    }

    pub(super) async fn nudge(&mut self, nudge: Nudge) {
        // Results of tools come before any other message.
        if !self.deliver_results().await {
            return self.happened.push_back(Event::BatchStopped);
        }
        let text = match nudge {
            Nudge::StopFeedback => {
                self.stop_hook_active = true;
                match std::mem::take(&mut self.feedback) {
                    Feedback::Objection(text) => format!("{}\n{text}", texts::nudge(nudge)),
                    // Not sent: it is for the model alone.
                    Feedback::Context(text) => {
                        return self.agent.conversation.push_user(vec![ContentBlock::text(text)]);
                    }
                }
            }
            _ => texts::nudge(nudge).to_owned(),
        };
        let mut frame = Box::new(UserMessage::prompt(vec![ContentBlock::text(text.clone())]));
        frame.is_synthetic = Some(true);
        if nudge == Nudge::Refusal {
            self.agent.notify_refusal().await;
            frame.refused_message_id = self.last_message_id.clone();
        }
        self.report.messages += 1;
        self.agent.conversation.push_user(vec![ContentBlock::text(text)]);
        if self.agent.identity.is_main() {
            self.agent.emit_user(frame).await;
        }
        if nudge == Nudge::StopFeedback && std::mem::take(&mut self.notify_stop_error) {
            self.agent.notify_stop_hook_error().await;
        }
    }

    pub(super) async fn run_stop_hooks(&mut self) {
        // A prompt hook may send the conversation to a model.
        self.agent.note_context();
        let hooks =
            self.agent.stop_hooks(&self.report.last_text, self.stop_hook_active, &self.cancel);
        let (verdict, NotifyStopHookError(notify)) = tokio::select! {
            // Interrupted hooks return an empty verdict.
            biased;
            () = self.cancel.cancelled() => return self.happened.push_back(Event::Interrupted),
            result = hooks => result,
        };
        // With an objection, the user is notified after the message to the model.
        self.notify_stop_error = notify && matches!(verdict, StopVerdict::Blocked(_));
        if notify && !self.notify_stop_error {
            self.agent.notify_stop_hook_error().await;
        }
        self.happened.push_back(match verdict {
            StopVerdict::Allowed => Event::StopAllowed,
            StopVerdict::Prevented => Event::StopPrevented,
            StopVerdict::Blocked(objection) => {
                self.feedback = Feedback::Objection(objection);
                Event::StopBlocked
            }
            StopVerdict::Informed(context) => {
                self.feedback = Feedback::Context(context);
                Event::StopBlocked
            }
        });
    }
}
