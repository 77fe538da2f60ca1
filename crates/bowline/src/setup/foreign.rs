//! Flags of the official CLI that belong to its vendor's services. None is passed over in silence.

use super::SetupError;
use crate::args::{RunArgs, SystemPromptSnapshot};

/// Flags without which a session would not be what was asked for.
pub(super) fn refuse(args: &RunArgs) -> Result<(), SetupError> {
    if args.output.await_claim {
        return Err(
            "--await-claim is not supported: a session starts in milliseconds, so there is \
                    nothing to keep warm"
                .into(),
        );
    }
    if args.sources.managed_settings_in_initialize {
        return Err("--managed-settings-in-initialize is not supported: give them with \
                    --managed-settings"
            .into());
    }
    Ok(())
}

/// What is said about flags that change nothing here.
pub(super) fn notices(args: &RunArgs) -> impl Iterator<Item = String> {
    let output = &args.output;
    let snapshot = args.model.system_prompt_snapshot == Some(SystemPromptSnapshot::On);
    let given = [
        (
            output.prompt_suggestions == Some(true),
            "--prompt-suggestions",
            "nobody suggests prompts",
        ),
        (output.workload.is_some(), "--workload", "no service here counts by it"),
        (!output.channels.is_empty(), "--channels", "there are no channels"),
        (output.enable_auth_status, "--enable-auth-status", "nobody signs in"),
        (snapshot, "--system-prompt-snapshot", "the system prompt is made anew for each turn"),
    ];
    let given = given.into_iter().filter(|(given, ..)| *given);
    given.map(|(_, flag, why)| format!("{flag} has no effect: {why}"))
}
