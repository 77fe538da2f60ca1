//! `/rename`: sets the title of the session.

use crate::{session_context::SessionContext, state::SessionTitle};

pub(super) async fn run(session: &SessionContext, wanted: &str) -> String {
    match SessionTitle::clean(wanted) {
        Some(title) => {
            session.title.set(&title).await;
            format!("Session renamed to: {title}")
        }
        None => "Usage: /rename <name>".to_owned(),
    }
}
