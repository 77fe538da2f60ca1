//! Messages that nobody has read yet: the first in memory, the others in temporary files.

use std::{collections::VecDeque, io};

use bowline_peer::Spill;
use bowline_protocol::{Line, Message};

use crate::error::Error;

/// Messages that wait in memory. A turn has some dozens.
const IN_MEMORY: usize = 256;

/// Errors that wait among the messages on disk. They stay in memory; an agent that says nothing but
/// nonsense is known for it after so many.
const ERRORS: usize = 256;

/// Messages and errors in the order in which they came. Whatever waits costs little memory.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    /// The oldest.
    memory: VecDeque<Result<Message, Error>>,
    /// Those behind them.
    spilled: Spill,
    /// Errors among the spilled, by how many of those come before each.
    errors: VecDeque<(u64, Error)>,
    /// Errors for which there was no room behind those.
    untold: u64,
    /// How many were ever spilled, and how many of those were taken back.
    written: u64,
    read: u64,
}

impl Unread {
    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.memory.is_empty() && !self.is_spilling()
    }

    /// Adds a message.
    pub(crate) fn push(&mut self, message: Result<Message, Error>) {
        if self.is_spilling() || self.memory.len() >= IN_MEMORY {
            self.spill(message);
        } else {
            self.memory.push_back(message);
        }
    }

    /// Takes the oldest.
    pub(crate) fn pop(&mut self) -> Option<Result<Message, Error>> {
        if let Some(message) = self.memory.pop_front() {
            return Some(message);
        }
        if let Err(error) = self.refill() {
            // What was on disk is gone; what comes from now on is not.
            tracing::error!(%error, "lost unread messages");
            self.read = self.written;
            self.spilled = Spill::default();
            let what = "reading messages that waited on disk".to_owned();
            return Some(Err(Error::Connection { what, source: Some(error.into()) }));
        }
        self.memory.pop_front()
    }

    fn is_spilling(&self) -> bool {
        self.read < self.written || !self.errors.is_empty()
    }

    fn spill(&mut self, message: Result<Message, Error>) {
        let text = match message {
            Ok(message) => serde_json::to_string(&message),
            Err(error) => return self.spill_error(error),
        };
        match text {
            Ok(text) => {
                let line = Line { number: self.written, offset: 0, text: &*text };
                self.written += 1;
                if let Err(error) = self.spilled.push(line) {
                    tracing::warn!(%error, "unread messages stay in memory");
                }
            }
            Err(error) => tracing::error!(%error, "lost a message that cannot be written"),
        }
    }

    fn spill_error(&mut self, error: Error) {
        if error.is_about_one_message() && self.errors.len() >= ERRORS {
            self.untold += 1;
            return;
        }
        // What ends the session comes last, and always.
        let untold = self.untold_error().into_iter();
        self.errors.extend(untold.chain([error]).map(|error| (self.written, error)));
    }

    /// Says how many errors were left out.
    fn untold_error(&mut self) -> Option<Error> {
        let count = std::mem::take(&mut self.untold);
        (count > 0).then(|| Error::Json {
            line: String::new(),
            source: io::Error::other(format!("{count} more were not kept")).into(),
        })
    }

    /// Takes the oldest block of spilled messages back.
    fn refill(&mut self) -> io::Result<()> {
        for line in self.spilled.pop_block()? {
            self.due_errors();
            self.read += 1;
            let message = Message::parse(&line.text);
            self.memory.push_back(message.map_err(|error| Error::Message {
                line: crate::error::beginning(&line.text),
                source: error.into(),
            }));
        }
        self.due_errors();
        Ok(())
    }

    /// Puts the errors that come now in their place.
    fn due_errors(&mut self) {
        while self.errors.front().is_some_and(|(place, _)| *place <= self.read) {
            self.memory.extend(self.errors.pop_front().map(|(_, error)| Err(error)));
            if self.errors.is_empty() {
                let untold = self.untold_error();
                self.memory.extend(untold.map(Err));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: usize) -> Message {
        Message::parse(&format!(r#"{{"type":"number","number":{number}}}"#)).unwrap()
    }

    #[test]
    fn everything_comes_in_its_order_however_much_waits() {
        let mut unread = Unread::default();
        let mut expected = Vec::new();
        for number in 0..20 * IN_MEMORY {
            unread.push(Ok(message(number)));
            expected.push(format!("{:?}", message(number)));
            if number % 1000 == 7 {
                unread.push(Err(Error::Closed));
                expected.push("closed".to_owned());
            }
        }
        assert!(unread.memory.len() <= IN_MEMORY);
        let mut read = Vec::new();
        while let Some(next) = unread.pop() {
            read.push(match next {
                Ok(message) => format!("{message:?}"),
                Err(error) => error.code().to_owned(),
            });
        }
        assert_eq!(read, expected);
        assert!(unread.is_empty());
    }

    #[test]
    fn errors_that_nobody_reads_are_counted_and_the_last_is_kept() {
        let mut unread = Unread::default();
        for number in 0..IN_MEMORY + 1 {
            unread.push(Ok(message(number)));
        }
        let nonsense =
            || Error::Json { line: String::new(), source: io::Error::other("odd").into() };
        for _ in 0..ERRORS + 10 {
            unread.push(Err(nonsense()));
        }
        assert_eq!(unread.errors.len(), ERRORS);
        unread.push(Err(Error::Closed));
        let mut errors = Vec::new();
        while let Some(next) = unread.pop() {
            errors.extend(next.err().map(|error| error.to_string()));
        }
        assert_eq!(errors.len(), ERRORS + 2);
        assert!(errors[ERRORS].contains("10 more were not kept"), "{}", errors[ERRORS]);
        assert_eq!(errors[ERRORS + 1], Error::Closed.to_string());
    }
}
