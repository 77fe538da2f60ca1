//! What other processes of the same user can see of this one.

/// Keeps memory and environment of this process from others of the same user, commands of the model
/// among them: tokens that are taken out of their environment would still be in
/// `/proc/PID/environ` of ours. A program that we start can be looked at as usual.
///
/// Root can still look, and there are no core dumps.
#[cfg(target_os = "linux")]
pub(crate) fn keep_to_ourselves() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    // Fails nowhere that is known, and there is nothing else to try.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn keep_to_ourselves() {}
