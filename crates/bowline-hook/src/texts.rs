//! Texts by which hooks reach the model and the user.

use bowline_protocol::{HookEvent, HookInput};

/// The key of the notification that a hook at the end of a turn failed or objected.
pub const STOP_HOOK_ERROR_KEY: &str = "stop-hook-error";
/// Its text.
pub const STOP_HOOK_ERROR_TEXT: &str = "Stop hook error occurred · ctrl+o to see";
/// The key of the notification that hooks objected too often at the end of a turn.
pub const STOP_HOOK_CAP_KEY: &str = "stop-hook-block-cap";
/// The tag of the message that a callback failed.
pub const CALLBACK_FAILED_TAG: &str = "hook_callback_failed";
/// The tag of the message that a hook was stopped before it had an opinion.
pub const NO_VERDICT_TAG: &str = "hook_no_verdict";

/// The reason of a hook that objects and does not say why.
pub const NO_REASON: &str = "Blocked by hook";

/// The name under which hooks of an event are reported, as in `PreToolUse:Bash` or `Stop`.
pub fn hook_name(input: &HookInput) -> String {
    match input.matcher_target() {
        Some(target) if !target.is_empty() => format!("{}:{target}", input.event_name()),
        _ => input.event_name().to_string(),
    }
}

/// Tells the model why a tool call did not happen.
pub fn tool_refused(hook_name: &str, reason: &str) -> String {
    format!("{hook_name} hook error: {reason}")
}

/// Tells the model what a hook adds.
pub fn additional_context(hook_name: &str, context: &str) -> String {
    format!("{hook_name} hook additional context: {context}")
}

/// Tells the model what a program that simply printed something printed.
pub fn printed(hook_name: &str, text: &str) -> String {
    format!("{hook_name} hook success: {text}")
}

/// Tells the model that a hook objects to what has already happened.
pub fn objection(hook_name: &str, command: &str, reason: &str) -> String {
    format!("{hook_name} hook blocking error from command: \"{command}\": {reason}")
}

/// Sends the model back to work: it was about to finish, and a hook objects.
pub fn stop_feedback(event: &HookEvent, reason: &str) -> String {
    format!("{event} hook feedback:\n{reason}")
}

/// Tells the user that a turn ends although hooks still object.
pub fn stop_overridden(times: u32) -> String {
    format!(
        "Hooks kept the turn from ending {times} times in a row; it ends now. A hook at the end of \
         a turn should agree while stop_hook_active is true. CLAUDE_CODE_STOP_HOOK_BLOCK_CAP \
         raises the limit."
    )
}

/// Tells the user that a prompt goes nowhere.
pub fn prompt_blocked(reason: &str, prompt: &str) -> String {
    format!("UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt}")
}

/// Tells the user that a prompt is dropped because no hook approved it.
pub fn prompt_undecided(reason: &str) -> String {
    format!("UserPromptSubmit operation blocked by hook:\n{reason}")
}

/// Tells the user that a hook ended the work.
pub fn stopped(reason: &str) -> String {
    format!("Operation stopped by hook: {reason}")
}

/// Shows the user a hook's message.
pub fn says(hook_name: &str, message: &str) -> String {
    format!("{hook_name} says: {message}")
}

/// The reason that a program which objects gives: its command and what it wrote to stderr.
pub fn command_reason(command: &str, stderr: &str) -> String {
    let stderr = match stderr.trim_end() {
        "" => "No stderr output",
        stderr => stderr,
    };
    format!("[{command}]: {stderr}")
}

/// Tells the user that the failure of hooks counts as a no, because what else it is to mean is not known.
pub fn unknown_strictness(event: &HookEvent) -> String {
    format!("{event}: `onFailure` of a hook is neither continue nor block; it counts as block.")
}

/// Tells the user that a callback failed and was ignored.
pub fn callback_failed(event: &HookEvent, callback_id: &str) -> String {
    format!(
        "{event}: Hook callback {callback_id} failed: the SDK host replied with an error or an \
         invalid reply. Its reply was treated as empty."
    )
}

/// Tells the user that a callback failed and that its failure counts as a no.
pub fn callback_failed_and_blocks(event: &HookEvent, callback_id: &str) -> String {
    format!(
        "{event}: Hook callback {callback_id} failed: the SDK host replied with an error or an \
         invalid reply. Its failure blocks the call."
    )
}

/// Tells the user that a hook was stopped before it had an opinion.
pub fn no_verdict(hook_name: &str, seconds: f64) -> String {
    format!("{hook_name} hook was stopped after {seconds} s without a verdict")
}

/// Tells the user that a hook answered nothing that can be used.
pub fn unusable(hook_name: &str, error: &str) -> String {
    format!("{hook_name} hook gave no usable reply, so it did not check this: {error}")
}

/// Notifies the user that a hook of the host did not respond at the end of a turn.
pub const TURN_ENDED_WITHOUT_HOST: &str =
    "The app that drives this session did not respond in time, so the turn ended without it.";

/// Notifies the model that a callback whose response is required did not respond.
pub fn callback_timed_out(event: &HookEvent) -> String {
    format!(
        "{event} hook did not respond before its timeout (host client may be unreachable). The \
         tool call was not executed; other configured hooks may not have completed."
    )
}

/// Tells the model that a hook answered for another event.
pub fn wrong_event(event: &HookEvent) -> String {
    format!(
        "{event} hook failed with an unexpected error: it answered for another event. The tool \
         call was not executed."
    )
}

/// Tells the model that the host has disconnected.
pub const HOST_GONE: &str = "The user doesn't want to take this action right now. STOP what you \
    are doing and wait for the user to tell you how to proceed.";

/// Tells the user that a hook could not even be run.
pub fn not_run(hook_name: &str, command: &str, error: &str) -> String {
    format!("{hook_name} hook [{command}] could not run: {error}")
}
