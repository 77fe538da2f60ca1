//! Texts of the engine: nudges for the model, and errors of turns that end early.

use super::machine::{Ending, Nudge};

/// Marks in the conversation where the user interrupted the model.
pub(crate) const INTERRUPTED: &str = "[Request interrupted by user]";
/// Marks in the conversation where the user interrupted tools.
pub(crate) const INTERRUPTED_TOOLS: &str = "[Request interrupted by user for tool use]";
/// The mark in the conversation of an interrupted turn.
pub(crate) fn interrupted(ending: Ending) -> &'static str {
    match ending {
        Ending::AbortedTools => INTERRUPTED_TOOLS,
        _ => INTERRUPTED,
    }
}

/// The notice to the user about a prompt of whitespace.
pub(crate) const BLANK_PROMPT: &str =
    "Blank prompt — the message was only whitespace, so nothing was sent to the model.";

/// The fixed text of a nudge.
pub(crate) fn nudge(nudge: Nudge) -> &'static str {
    match nudge {
        Nudge::OutputLimit => {
            "Your response reached the output token limit and was cut. Continue exactly where it \
             stopped, without repeating or apologizing, and do the rest in smaller steps."
        }
        Nudge::CutStream => {
            "The connection broke while you were responding. What arrived is above. Continue \
             exactly where it stopped, without repeating it."
        }
        Nudge::EmptyResponse => {
            "Your last response had no visible content. Continue with the task, or say that it is \
             done."
        }
        Nudge::Refusal => {
            "A safety check stopped your answer above; this was no tool or API error, and tool \
             calls that were not complete did not run. Go on without that content, or say why \
             you cannot."
        }
        Nudge::StructuredOutput => {
            "[structured-output-enforce] The result of this task must be given by calling the \
             StructuredOutput tool. Call it now."
        }
        Nudge::StopFeedback => "Stop hook feedback:",
    }
}

/// The error of the result of a turn that did not succeed.
pub(crate) fn error(ending: Ending, limit: impl std::fmt::Display) -> String {
    match ending {
        Ending::MaxTurns => format!("Reached maximum number of turns ({limit})"),
        Ending::BudgetExhausted => format!("Reached maximum budget (${limit})"),
        Ending::StructuredOutputRetries => {
            "Failed to provide valid structured output after several attempts".to_owned()
        }
        Ending::AbortedStreaming => "Interrupted while the model was responding".to_owned(),
        Ending::AbortedTools => "Interrupted while tools were running".to_owned(),
        Ending::ApiError
        | Ending::OutputLimit
        | Ending::Refused
        | Ending::Completed
        | Ending::HookStopped
        | Ending::StopHookPrevented
        | Ending::Deferred => String::new(),
    }
}
