//! Conversion of WebSocket messages to lines.
//!
//! The texts of all messages are concatenated and split at newlines, so that a message may hold
//! several lines and a line may be spread over several messages. A message that ends with a
//! complete object ends the line, newline or not: nothing could follow it.

use bowline_peer::Arrival;
use bowline_protocol::{Line, LineDecoder, MAX_LINE_BYTES};
use serde::de::IgnoredAny;

/// Splits messages into lines.
#[derive(Debug, Default)]
pub(crate) struct Framing {
    decoder: LineDecoder,
    /// A copy of the incomplete line.
    rest: Vec<u8>,
}

/// The longest WebSocket message: one line and a newline.
pub(crate) const MESSAGE_LIMIT: usize = MAX_LINE_BYTES + 1;

impl Framing {
    /// The lines that end with this message.
    pub(crate) fn lines(&mut self, message: &[u8]) -> Vec<Arrival> {
        let mut lines = Vec::new();
        self.feed(message, &mut lines);
        match message.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => self.rest = message[end + 1..].to_vec(),
            None => self.rest.extend_from_slice(message),
        }
        if self.rest.trim_ascii_end().ends_with(b"}")
            && serde_json::from_slice::<IgnoredAny>(&self.rest).is_ok()
        {
            self.rest.clear();
            self.feed(b"\n", &mut lines);
        }
        lines
    }

    fn feed(&mut self, mut bytes: &[u8], lines: &mut Vec<Arrival>) {
        while let Some(line) = self.decoder.next(&mut bytes) {
            lines.push(line.map(Line::into_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_split_into_lines() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["{\"a\":1}\n"], &["{\"a\":1}"]),
            (&["{\"a\":1}\r\n{\"b\":2}\n\n"], &["{\"a\":1}", "{\"b\":2}"]),
            (&["{\"a\"", ":1", "}\n"], &["{\"a\":1}"]),
            (&["{\"a\":1}", "{\"b\":2}"], &["{\"a\":1}", "{\"b\":2}"]),
            (&["{\"a\":1}\n{\"b\":{}", "}"], &["{\"a\":1}", "{\"b\":{}}"]),
            (&["", "\n", "{}"], &["{}"]),
            (&["{not json}", "\n"], &["{not json}"]),
            (&["{\"a\":1}", "\n", "{\"b\":2}\n"], &["{\"a\":1}", "{\"b\":2}"]),
        ];
        for (messages, expected) in cases {
            let mut framing = Framing::default();
            let lines: Vec<_> = messages
                .iter()
                .flat_map(|message| framing.lines(message.as_bytes()))
                .map(|line| line.unwrap().text)
                .collect();
            assert_eq!(lines, *expected, "{messages:?}");
        }
    }
}
