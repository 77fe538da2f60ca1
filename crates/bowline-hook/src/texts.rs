//! Messages about hooks, for the model and for the user.

use bowline_protocol::{HookEvent, HookInput};

/// The key of the notification that a hook at the end of a turn failed or blocked.
pub const STOP_HOOK_ERROR_KEY: &str = "stop-hook-error";
/// Its text.
pub const STOP_HOOK_ERROR_TEXT: &str = "Stop hook error occurred · ctrl+o to see";
/// The key of the notification that Stop hooks blocked too often in a row.
pub const STOP_HOOK_CAP_KEY: &str = "stop-hook-block-cap";
/// The tag of the message that a callback failed.
pub const CALLBACK_FAILED_TAG: &str = "hook_callback_failed";
/// The tag of the message that a hook was stopped before it returned a decision.
pub const NO_VERDICT_TAG: &str = "hook_no_verdict";

/// Default reason of a hook that blocks without giving one.
pub const NO_REASON: &str = "Blocked by hook";

/// The name under which hooks of an event are reported, as in `PreToolUse:Bash` or `Stop`.
pub fn hook_name(input: &HookInput) -> String {
    match input.matcher_target() {
        Some(target) if !target.is_empty() => format!("{}:{target}", input.event_name()),
        _ => input.event_name().to_string(),
    }
}

/// For the model: a PreToolUse hook blocked the call.
pub fn tool_blocked(hook_name: &str, reason: &str) -> String {
    format!("{hook_name} hook error: {reason}")
}

/// For the model: a hook's additional context.
pub fn additional_context(hook_name: &str, context: &str) -> String {
    format!("{hook_name} hook additional context: {context}")
}

/// For the model: plain stdout of a hook that succeeded.
pub fn plain_output(hook_name: &str, text: &str) -> String {
    format!("{hook_name} hook success: {text}")
}

/// For the model: a hook blocks after the tool ran.
pub fn blocking_error(hook_name: &str, command: &str, reason: &str) -> String {
    format!("{hook_name} hook blocking error from command: \"{command}\": {reason}")
}

/// For the model: a Stop hook keeps the turn from ending.
pub fn stop_feedback(event: &HookEvent, reason: &str) -> String {
    format!("{event} hook feedback:\n{reason}")
}

/// For the user: the turn ends although hooks still block it.
pub fn stop_overridden(times: u32) -> String {
    format!(
        "Hooks kept the turn from ending {times} times in a row; it ends now. A hook at the end of \
         a turn should not block while stop_hook_active is true. CLAUDE_CODE_STOP_HOOK_BLOCK_CAP \
         raises the limit."
    )
}

/// For the user: a hook blocked the prompt.
pub fn prompt_blocked(reason: &str, prompt: &str) -> String {
    format!("UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt}")
}

/// For the user: the prompt is dropped because no hook approved it.
pub fn prompt_undecided(reason: &str) -> String {
    format!("UserPromptSubmit operation blocked by hook:\n{reason}")
}

/// For the user: a hook ended the work.
pub fn stopped(reason: &str) -> String {
    format!("Operation stopped by hook: {reason}")
}

/// For the user: a hook's system message.
pub fn system_message(hook_name: &str, message: &str) -> String {
    format!("{hook_name} says: {message}")
}

/// Reason of a command hook that blocks: its command and its stderr.
pub fn command_reason(command: &str, stderr: &str) -> String {
    let stderr = match stderr.trim_end() {
        "" => "No stderr output",
        stderr => stderr,
    };
    format!("[{command}]: {stderr}")
}

/// For the user: an unknown value of `onFailure` is treated as `block`.
pub fn unknown_on_failure(event: &HookEvent) -> String {
    format!("{event}: `onFailure` of a hook is neither continue nor block; it is treated as block.")
}

/// For the user: a callback failed and was ignored.
pub fn callback_failed(event: &HookEvent, callback_id: &str) -> String {
    format!(
        "{event}: Hook callback {callback_id} failed: the SDK host replied with an error or an \
         invalid reply. Its reply was treated as empty."
    )
}

/// For the user: a callback failed, and its failure blocks the call.
pub fn callback_failed_and_blocks(event: &HookEvent, callback_id: &str) -> String {
    format!(
        "{event}: Hook callback {callback_id} failed: the SDK host replied with an error or an \
         invalid reply. Its failure blocks the call."
    )
}

/// For the user: a hook was stopped before it returned a decision.
pub fn no_verdict(hook_name: &str, seconds: f64) -> String {
    format!("{hook_name} hook was stopped after {seconds} s without a verdict")
}

/// For the user: a hook's response was invalid.
pub fn invalid_response(hook_name: &str, error: &str) -> String {
    format!("{hook_name} hook gave no usable reply, so it did not check this: {error}")
}

/// For the user: the host's Stop callback timed out.
pub const STOP_CALLBACK_TIMED_OUT: &str =
    "The app that drives this session did not respond in time, so the turn ended without it.";

/// For the model: a required callback timed out.
pub fn callback_timed_out(event: &HookEvent) -> String {
    format!(
        "{event} hook did not respond before its timeout (host client may be unreachable). The \
         tool call was not executed; other configured hooks may not have completed."
    )
}

/// For the model: a hook's response names another event.
pub fn wrong_event(event: &HookEvent) -> String {
    format!(
        "{event} hook failed with an unexpected error: its response names another event. The tool \
         call was not executed."
    )
}

/// For the model: the host has disconnected.
pub const HOST_GONE: &str = "The user doesn't want to take this action right now. STOP what you \
    are doing and wait for the user to tell you how to proceed.";

/// For the user: a hook could not be started.
pub fn not_run(hook_name: &str, command: &str, error: &str) -> String {
    format!("{hook_name} hook [{command}] could not run: {error}")
}
