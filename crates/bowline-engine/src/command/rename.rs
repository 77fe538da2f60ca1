//! `/rename`: the session gets a title.

use crate::session::{Shared, control::title};

pub(super) async fn run(session: &Shared, wanted: &str) -> String {
    match title(wanted) {
        Some(title) => {
            session.set_title(&title).await;
            format!("Session renamed to: {title}")
        }
        None => "Usage: /rename <name>".to_owned(),
    }
}
