//! Restriction of a thread: capabilities, files by Landlock, system calls by seccomp.

mod calls;
mod filter;
mod rules;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use crate::{confinement::Confinement, support::Support};
use rules::RestrictError;

/// Restricts the calling thread, and what it starts, for good.
pub(crate) fn restrict_thread(confinement: &Confinement, support: &Support) -> Result<(), String> {
    drop_capabilities().map_err(|error| format!("capabilities: {error}"))?;
    rules::restrict_self(confinement).map_err(|error| format!("Landlock: {error}"))?;
    if support.seccomp.is_ok() {
        // Last: it refuses the calls by which the others are set.
        filter::apply().map_err(|error| format!("seccomp: {error}"))?;
    }
    Ok(())
}

/// Probes the kernel on a thread that is discarded. `None` if that failed for reasons that may be
/// temporary.
pub(crate) fn probe() -> Option<Support> {
    let tried = std::thread::Builder::new().spawn(|| {
        let landlock = match rules::restrict_self(&Confinement::default()) {
            Err(RestrictError::Failed(_)) => return None,
            Err(RestrictError::Absent(why)) => Err(why.to_owned()),
            Ok(version) => Ok(version),
        };
        let seccomp = filter::apply().map_err(|error| error.to_string());
        Some(Support { landlock, seccomp })
    });
    tried.ok()?.join().ok()?
}

/// A process of root's keeps the right to read what others own, and no other: without new privileges
/// `exec` does not give them back.
fn drop_capabilities() -> rustix::io::Result<()> {
    let held = capabilities(None)?;
    if held.permitted.is_empty() {
        return Ok(());
    }
    let kept = held.permitted & CapabilitySet::DAC_READ_SEARCH;
    let empty = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: empty })
}
