//! Tools that are the engine's own business.

use std::sync::Arc;

use bowline_tools::Tool;

use crate::session::Shared;

/// The engine's own tools.
pub(crate) fn engine_tools(session: &Arc<Shared>) -> Vec<Arc<dyn Tool>> {
    let _ = session;
    Vec::new()
}
