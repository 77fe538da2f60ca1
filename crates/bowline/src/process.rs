//! Protection of this process from others of the same user.

/// Hides memory and environment of this process from others of the same user, commands of the model
/// among them: tokens that are removed from their environment would still be in
/// `/proc/PID/environ` of ours. Programs that we start are not affected.
///
/// Root can still read them, and there are no core dumps.
#[cfg(target_os = "linux")]
pub(crate) fn hide_from_other_processes() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    // No failure is known, and there is no fallback.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn hide_from_other_processes() {}
