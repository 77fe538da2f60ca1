//! Progress of running hooks, as an observer receives it.

use bowline_protocol::{HookProgressMessage, HookResponseMessage, HookStartedMessage};

use super::report::HookReport;

/// Receives the progress of hooks while they run. Must return quickly.
pub trait HookObserver: Send + Sync {
    /// Receives one step.
    fn observe(&self, activity: HookActivity);
}

/// Progress of a hook. The messages are ready to be emitted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HookActivity {
    /// One has started.
    Started(HookStartedMessage),
    /// One has written something.
    Progress(HookProgressMessage),
    /// One has ended.
    Response(HookResponseMessage),
    /// One in the background has ended.
    Background {
        /// Its output, merged.
        report: Box<HookReport>,
        /// Whether a block should wake the agent.
        rewake: bool,
    },
}
