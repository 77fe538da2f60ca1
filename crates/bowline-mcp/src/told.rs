//! What servers say of themselves and their tools, no longer than is good for the model.

/// How many characters of one text the model is told.
const MOST_CHARS: usize = 4096;

/// The text, or its beginning with a word about the rest.
pub(crate) fn bounded(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}… [truncated]", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_CHARS, bounded};

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let fits = "ü".repeat(MOST_CHARS);
        assert_eq!(bounded(&fits), fits);
        assert_eq!(bounded(&format!("{fits}x")), format!("{fits}… [truncated]"));
    }
}
