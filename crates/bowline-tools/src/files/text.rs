//! Text files: decoded for the model, encoded back the way they were.

/// A file's text with what is needed to write it back the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    /// Without byte order mark, and with `\n` at the ends of lines if all of them had `\r\n`.
    pub(crate) text: String,
    encoding: Encoding,
    crlf: bool,
    /// Whether some bytes were no text. Such a file can be shown but not written back.
    pub(crate) damaged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf8Marked,
    Utf16LittleEndian,
}

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
const UTF16_MARK: &[u8] = b"\xFF\xFE";

impl TextFile {
    /// Reads bytes as text, whatever they are.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let (encoding, text, damaged) = if let Some(rest) = bytes.strip_prefix(UTF16_MARK) {
            let (pairs, odd) = rest.as_chunks::<2>();
            let units = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
            let mut damaged = !odd.is_empty();
            let text = char::decode_utf16(units)
                .map(|unit| {
                    unit.unwrap_or_else(|_| {
                        damaged = true;
                        char::REPLACEMENT_CHARACTER
                    })
                })
                .collect();
            (Encoding::Utf16LittleEndian, text, damaged)
        } else {
            let (encoding, rest) = match bytes.strip_prefix(UTF8_MARK) {
                Some(rest) => (Encoding::Utf8Marked, rest),
                None => (Encoding::Utf8, bytes),
            };
            match std::str::from_utf8(rest) {
                Ok(text) => (encoding, text.to_owned(), text.contains('\0')),
                Err(_) => (encoding, String::from_utf8_lossy(rest).into_owned(), true),
            }
        };
        // A file of mixed line endings is left as it is, so that none of them changes.
        let newlines = text.matches('\n').count();
        let crlf = newlines > 0 && text.matches("\r\n").count() == newlines;
        let text = if crlf { text.replace("\r\n", "\n") } else { text };
        Self { text, encoding, crlf, damaged }
    }

    /// The bytes of another text in the manner of this file.
    pub(crate) fn encode(&self, text: &str) -> Vec<u8> {
        let with_crlf;
        let text = if self.crlf && !text.contains('\r') {
            with_crlf = text.replace('\n', "\r\n");
            &with_crlf
        } else {
            text
        };
        match self.encoding {
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf8Marked => [UTF8_MARK, text.as_bytes()].concat(),
            Encoding::Utf16LittleEndian => {
                let units = text.encode_utf16().flat_map(u16::to_le_bytes);
                UTF16_MARK.iter().copied().chain(units).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TextFile;

    #[test]
    fn text_round_trips_through_its_encoding() {
        for bytes in [
            b"".as_slice(),
            b"a\nb\n",
            b"a\r\nb\r\n",
            b"a\r\nmixed\nb",
            b"\xEF\xBB\xBFmarked\r\n",
            b"\xFF\xFEa\0\n\0",
        ] {
            let file = TextFile::decode(bytes);
            assert!(!file.damaged, "{bytes:?}");
            assert_eq!(file.encode(&file.text), bytes);
        }
    }

    #[test]
    fn binary_content_is_recognized() {
        assert!(TextFile::decode(b"a\xFFb").damaged);
        assert!(TextFile::decode(b"a\0b").damaged);
        assert!(TextFile::decode(b"\xFF\xFEa").damaged);
    }

    #[test]
    fn new_lines_follow_the_file() {
        let file = TextFile::decode(b"a\r\nb\r\n");
        assert_eq!(file.text, "a\nb\n");
        assert_eq!(file.encode("x\ny\n"), b"x\r\ny\r\n");
        assert_eq!(file.encode("x\r\ny\n"), b"x\r\ny\n");
    }
}
