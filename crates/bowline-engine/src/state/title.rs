//! Title of the session.

use std::sync::Arc;

use bowline_protocol::{Extra, SessionTitleChangedMessage};
use bowline_sessions::CustomTitle;
use parking_lot::Mutex;

use crate::{config::SessionConfig, journal::Journal, sink::MessageSink};

/// Characters of a title that are kept.
const LONGEST_TITLE: usize = 200;

/// The title of a session: in memory, on disk and at the host.
pub(crate) struct SessionTitle {
    title: Mutex<Option<String>>,
    journal: Arc<Journal>,
    sink: Arc<MessageSink>,
}

impl SessionTitle {
    pub(crate) fn new(
        config: &SessionConfig,
        journal: &Arc<Journal>,
        sink: &Arc<MessageSink>,
    ) -> Self {
        let title = config.title.clone().or_else(|| config.resumed.as_ref()?.title.clone());
        let title = Mutex::new(title);
        Self { title, journal: Arc::clone(journal), sink: Arc::clone(sink) }
    }

    /// A text as a title: one line of bounded length; `None` if it is blank.
    pub(crate) fn clean(text: &str) -> Option<String> {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = words.chars().take(LONGEST_TITLE).collect();
        (!title.is_empty()).then_some(title)
    }

    pub(crate) fn get(&self) -> Option<String> {
        self.title.lock().clone()
    }

    /// Sets the title in memory alone.
    pub(crate) fn replace(&self, title: Option<String>) {
        *self.title.lock() = title;
    }

    /// The line that records a title in the transcript.
    pub(crate) fn line(&self, title: &str) -> CustomTitle {
        let (custom_title, session_id) = (title.to_owned(), self.sink.session_id());
        CustomTitle { custom_title, session_id, extra: Extra::new() }
    }

    /// Sets the title: in memory, on disk and at the host.
    pub(crate) async fn set(&self, title: &str) {
        self.replace(Some(title.to_owned()));
        self.sink.emit_notice(self.journal.note(self.line(title))).await;
        self.announce(title.to_owned()).await;
    }

    /// Sends the title to the host.
    pub(crate) async fn announce(&self, title: String) {
        let unsent = SessionTitleChangedMessage::default();
        self.sink.send(SessionTitleChangedMessage { title, ..unsent }).await;
    }
}
