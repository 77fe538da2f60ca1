//! Tools of the main agent, for callers outside of its turn.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::toolset::Toolset;

/// The current toolset of the main agent.
#[derive(Default)]
pub(crate) struct MainTools(Mutex<Option<Arc<Toolset>>>);

impl MainTools {
    pub(crate) fn get(&self) -> Arc<Toolset> {
        self.0.lock().clone().unwrap_or_else(|| Arc::new(Toolset::empty()))
    }

    pub(crate) fn set(&self, tools: &Arc<Toolset>) {
        *self.0.lock() = Some(Arc::clone(tools));
    }
}
