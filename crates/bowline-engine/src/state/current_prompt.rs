//! Ids of the prompt that is worked on, and of its turn.

use bowline_protocol::MessageUuid;
use parking_lot::Mutex;
use uuid::Uuid;

/// The ids of the current prompt.
#[derive(Debug, Default)]
pub(crate) struct CurrentPrompt(Mutex<Ids>);

#[derive(Debug, Default)]
struct Ids {
    prompt: Option<String>,
    /// Its line in the transcript, also if the host gave it no id.
    line: Option<MessageUuid>,
    turn: String,
}

impl CurrentPrompt {
    /// A turn begins: prompt and turn get new ids.
    pub(crate) fn begin(&self) {
        let mut ids = self.0.lock();
        ids.prompt = Some(Uuid::new_v4().to_string());
        ids.turn = Uuid::new_v4().to_string();
    }

    /// The conversation was cleared: there is no prompt.
    pub(crate) fn clear(&self) {
        self.0.lock().prompt = None;
    }

    pub(crate) fn id(&self) -> Option<String> {
        self.0.lock().prompt.clone()
    }

    /// The id of the turn; empty before the first one.
    pub(crate) fn turn_id(&self) -> String {
        self.0.lock().turn.clone()
    }

    /// The prompt's line in the transcript.
    pub(crate) fn line(&self) -> Option<MessageUuid> {
        self.0.lock().line.clone()
    }

    pub(crate) fn set_line(&self, line: Option<MessageUuid>) {
        self.0.lock().line = line;
    }
}
