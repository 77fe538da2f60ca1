//! Agents that were started before they are needed.

use std::{collections::VecDeque, sync::Arc};

use crate::{connection::Connection, status::Tracker};

/// Agents that wait for a prompt, each with what watches over it. Dropping them kills them.
#[derive(Default)]
pub(super) struct Warm(VecDeque<(Arc<Connection>, Arc<Tracker>)>);

impl Warm {
    /// How many are there and alive.
    pub(super) fn count(&mut self) -> usize {
        self.0.retain(|(connection, _)| !connection.is_gone());
        self.0.len()
    }

    pub(super) fn keep(&mut self, connection: Arc<Connection>, tracker: Arc<Tracker>) {
        self.0.push_back((connection, tracker));
    }

    /// The one that has waited longest.
    pub(super) fn take(&mut self) -> Option<(Arc<Connection>, Arc<Tracker>)> {
        self.count();
        self.0.pop_front()
    }
}
