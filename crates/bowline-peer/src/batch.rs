//! Lines that travel together.

use std::borrow::Cow;

use bowline_protocol::Line;

/// A batch that is used up keeps its memory for the next, up to this size: one huge line must not
/// cost its size for the rest of the session.
const KEPT_CAPACITY: usize = 256 * 1024;

/// Lines one behind another in one text, so that none of a flood costs memory of its own.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    text: String,
    /// Each with the place in `text` where it ends.
    lines: Vec<Line<usize>>,
    taken: usize,
}

impl Batch {
    pub(crate) fn push(&mut self, line: Line<Cow<'_, str>>) {
        let Line { number, offset, text } = line;
        match text {
            // It may be huge: it is not copied once more.
            Cow::Owned(text) if self.text.is_empty() => self.text = text,
            text => self.text.push_str(&text),
        }
        self.lines.push(Line { number, offset, text: self.text.len() });
    }

    /// Adds the lines of another batch, and leaves that one empty.
    pub(crate) fn append(&mut self, other: &mut Self) {
        while let Some(line) = other.next() {
            self.push(line.map(Cow::Borrowed));
        }
        other.clear();
    }

    /// Takes the oldest line.
    pub(crate) fn next(&mut self) -> Option<Line<&str>> {
        let start = self.taken.checked_sub(1).map_or(0, |last| self.lines[last].text);
        let line = *self.lines.get(self.taken)?;
        self.taken += 1;
        Some(line.map(|end| &self.text[start..end]))
    }

    /// Whether all were taken.
    pub(crate) fn is_over(&self) -> bool {
        self.taken == self.lines.len()
    }

    /// What its lines cost in memory.
    pub(crate) fn cost(&self) -> usize {
        size_of_val(&self.lines[..]) + self.text.len()
    }

    /// The bytes of text that it has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.text.capacity()
    }

    pub(crate) fn clear(&mut self) {
        if self.capacity() > KEPT_CAPACITY {
            *self = Self::default();
        }
        self.text.clear();
        self.lines.clear();
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(texts: &[&str]) -> Batch {
        let mut batch = Batch::default();
        for (number, text) in (1..).zip(texts) {
            batch.push(Line { number, offset: 10 * number, text: Cow::Borrowed(*text) });
        }
        batch
    }

    fn taken(mut batch: Batch) -> Vec<(u64, u64, String)> {
        let mut lines = Vec::new();
        while let Some(line) = batch.next() {
            lines.push((line.number, line.offset, line.text.to_owned()));
        }
        assert!(batch.is_over());
        lines
    }

    #[test]
    fn lines_come_out_as_they_went_in() {
        let expected =
            [(1, 10, "one".to_owned()), (2, 20, String::new()), (3, 30, "drei €".to_owned())];
        assert_eq!(taken(batch(&["one", "", "drei €"])), expected);
    }

    #[test]
    fn a_batch_is_appended_without_what_was_taken() {
        let (mut first, mut second) = (batch(&["a"]), batch(&["gone", "b"]));
        second.next();
        first.append(&mut second);
        assert_eq!(taken(first), [(1, 10, "a".to_owned()), (2, 20, "b".to_owned())]);
        assert!(second.is_over());
    }

    #[test]
    fn a_line_with_a_text_of_its_own_is_not_copied() {
        let text = "x".repeat(100);
        let place = text.as_ptr();
        let mut batch = Batch::default();
        batch.push(Line { number: 1, offset: 0, text: Cow::Owned(text) });
        assert_eq!(batch.next().unwrap().text.as_ptr(), place);
    }
}
