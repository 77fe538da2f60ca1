//! Truncation of texts that servers supply for the model.

/// How many characters of a description or of instructions the model is given.
const MAX_CHARS: usize = 4096;

/// The text, truncated between characters if it is too long.
pub(crate) fn truncated(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}… [truncated]", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CHARS, truncated};

    #[test]
    fn long_text_is_truncated_between_characters() {
        let fits = "ü".repeat(MAX_CHARS);
        assert_eq!(truncated(&fits), fits);
        assert_eq!(truncated(&format!("{fits}x")), format!("{fits}… [truncated]"));
    }
}
