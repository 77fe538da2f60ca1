//! Host of a one-shot run: prints messages in the requested format.

use std::{borrow::Cow, io};

use bowline_engine::{Host, settings::HOOKS_SKIPPED};
use bowline_model::BoxFuture;
use bowline_protocol::{InformationalLevel, Message, ResultMessage, ResultSubtype, SystemMessage};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use super::progress::Progress;
use crate::{
    args::{LimitArgs, OutputFormat},
    complain,
    terminal::{self, Form},
};

/// A host that prints, and approves nothing.
#[derive(Debug)]
pub(super) struct Printer {
    format: OutputFormat,
    verbose: bool,
    limits: LimitArgs,
    seen: Mutex<Seen>,
    /// Fires when the reader of our output has closed it.
    pub(super) closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Seen {
    /// All messages, if all are to be printed at the end.
    all: Vec<String>,
    result: Option<Box<ResultMessage>>,
    progress: Option<Progress>,
    /// The user has stopped the turn.
    interrupted: bool,
    /// Nothing more is printed.
    silent: bool,
}

impl Printer {
    pub(super) fn new(
        format: OutputFormat,
        verbose: bool,
        limits: LimitArgs,
        progress: Option<Progress>,
    ) -> Self {
        let seen = Mutex::new(Seen { progress, ..Seen::default() });
        Self { format, verbose, limits, seen, closed: CancellationToken::new() }
    }

    /// Suppresses all further output.
    pub(super) fn silence(&self) {
        self.seen().silent = true;
    }

    /// Notes that the user has interrupted the turn, so that its failure is not printed.
    pub(super) fn interrupt(&self) {
        let mut seen = self.seen();
        seen.interrupted = true;
        if let Some(progress) = &mut seen.progress {
            progress.stop();
        }
    }

    /// Whether the user has stopped the turn.
    pub(super) fn is_interrupted(&self) -> bool {
        self.seen().interrupted
    }

    /// Draws the progress line again.
    pub(super) fn redraw(&self) {
        if let Some(progress) = &mut self.seen().progress {
            progress.draw();
        }
    }

    /// Prints what is printed at the end.
    pub(super) fn finish(&self) -> io::Result<()> {
        let mut seen = self.seen();
        if let Some(progress) = &mut seen.progress {
            progress.clear();
        }
        if seen.silent {
            return Ok(());
        }
        let text = match self.format {
            // They were printed when they were emitted.
            OutputFormat::StreamJson | OutputFormat::Text => return Ok(()),
            OutputFormat::Json if self.verbose => format!("[{}]", seen.all.join(",")),
            OutputFormat::Json => match &seen.result {
                Some(result) => serde_json::to_string(&Message::Result(result.clone()))?,
                None => return Ok(()),
            },
        };
        terminal::print(&text, Form::Json)
    }

    fn take(&self, message: Message) {
        let mut seen = self.seen();
        if seen.silent {
            return;
        }
        if let Some(progress) = &mut seen.progress {
            progress.watch(&message);
        }
        let line = || serde_json::to_string(&message).map_err(io::Error::from);
        match self.format {
            OutputFormat::StreamJson => {
                if line().and_then(|line| terminal::print(&line, Form::Json)).is_err() {
                    self.closed.cancel();
                }
            }
            OutputFormat::Json if self.verbose => match line() {
                Ok(_) if is_momentary(&message) => {}
                Ok(line) => seen.all.push(line),
                Err(error) => tracing::error!(%error, "a message cannot be serialized"),
            },
            OutputFormat::Json | OutputFormat::Text => {
                if let Some(warning) = warning(&message) {
                    if let Some(progress) = &mut seen.progress {
                        progress.clear();
                    }
                    complain(warning);
                }
            }
        }
        let Message::Result(result) = message else { return };
        if self.format == OutputFormat::Text && !(seen.interrupted && result.is_error) {
            if let Some(progress) = &mut seen.progress {
                progress.clear();
            }
            // The turn after a finished background task has its own result.
            let gap = if seen.result.is_some() { "\n" } else { "" };
            let text = format!("{gap}{}", result_text(&result, &self.limits));
            if terminal::print(&text, Form::Text).is_err() {
                self.closed.cancel();
            }
        }
        seen.result = Some(result);
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock()
    }
}

impl Host for Printer {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        self.take(message);
        Box::pin(std::future::ready(()))
    }
}

/// Whether a message reports a momentary state, which is useless in the final output.
fn is_momentary(message: &Message) -> bool {
    use SystemMessage as System;
    let Message::System(message) = message else { return false };
    matches!(
        message,
        System::BackgroundTasksChanged(_)
            | System::TaskStarted(_)
            | System::TaskProgress(_)
            | System::TaskUpdated(_)
            | System::TaskNotification(_)
            | System::HookStarted(_)
            | System::HookProgress(_)
            | System::HookResponse(_)
    )
}

/// The warning in a message, which no host would show.
fn warning(message: &Message) -> Option<Cow<'_, str>> {
    match message {
        Message::System(SystemMessage::Informational(notice))
            // Skipped hooks are listed on stderr already.
            if notice.level == InformationalLevel::Warning
                && notice.tag.as_deref() != Some(HOOKS_SKIPPED) =>
        {
            Some(notice.content.as_str().into())
        }
        Message::System(SystemMessage::SessionWritesLost(lost)) => Some(
            format!(
                "Warning: the transcript cannot be written ({}); the session continues, but cannot be \
                 resumed completely",
                lost.error_code
            )
            .into(),
        ),
        _ => None,
    }
}

/// The text of a result.
fn result_text(result: &ResultMessage, limits: &LimitArgs) -> String {
    let errors = || result.errors.as_deref().unwrap_or_default().join("\n");
    match result.subtype {
        ResultSubtype::Success => result.result.clone().unwrap_or_default(),
        ResultSubtype::ErrorMaxTurns => {
            format!("Error: Reached max turns ({})", limits.max_turns.unwrap_or_default())
        }
        ResultSubtype::ErrorMaxBudgetUsd => {
            format!("Error: Exceeded USD budget ({})", limits.max_budget_usd.unwrap_or_default())
        }
        ResultSubtype::ErrorDuringExecution => "Execution error".to_owned(),
        ResultSubtype::ErrorMaxStructuredOutputRetries | _ => format!("Error: {}", errors()),
    }
}
