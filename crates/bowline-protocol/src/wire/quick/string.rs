//! Strings: where they end, and what their escapes stand for.

use super::{Quick, Result, Unusual};

/// Room for the first string that has escapes; longer ones make more.
const ROOM: usize = 1024;

/// A string that was read.
pub(super) enum Text<'de> {
    Borrowed(&'de str),
    /// It is in [`Quick::unescaped`].
    Unescaped,
}

impl<'de> Quick<'de> {
    pub(super) fn string(&mut self) -> Result<Text<'de>> {
        self.expect(b'"')?;
        let beginning = self.plain()?;
        if self.is_quote() {
            self.at += 1;
            return Ok(Text::Borrowed(beginning));
        }
        if self.unescaped.capacity() == 0 {
            self.unescaped.reserve(ROOM.min(self.text.len() - self.at));
        }
        self.unescaped.clear();
        self.unescaped.push_str(beginning);
        while !self.is_quote() {
            let character = self.escape()?;
            self.unescaped.push(character);
            let piece = self.plain()?;
            self.unescaped.push_str(piece);
        }
        self.at += 1;
        Ok(Text::Unescaped)
    }

    pub(super) fn skip_string(&mut self) -> Result<()> {
        self.expect(b'"')?;
        self.plain()?;
        while !self.is_quote() {
            self.escape()?;
            self.plain()?;
        }
        self.at += 1;
        Ok(())
    }

    fn is_quote(&self) -> bool {
        self.byte() == Some(b'"')
    }

    /// Steps to the quote or the escape that comes next, and gives what is before it.
    fn plain(&mut self) -> Result<&'de str> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..);
        self.at += rest.and_then(plain_length).ok_or(Unusual)?;
        Ok(&self.text[start..self.at])
    }

    /// Steps over an escape, and gives what it stands for.
    fn escape(&mut self) -> Result<char> {
        let letter = self.text.as_bytes().get(self.at + 1);
        let character = match letter.ok_or(Unusual)? {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b't' => '\t',
            b'r' => '\r',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => return self.code_point(),
            _ => return Err(Unusual),
        };
        self.at += 2;
        Ok(character)
    }

    /// The character that `\u0041`, or two such, stand for.
    fn code_point(&mut self) -> Result<char> {
        let first = self.code_unit()?;
        if let Some(character) = char::from_u32(first.into()) {
            return Ok(character);
        }
        let mut pair = char::decode_utf16([first, self.code_unit()?]);
        pair.next().and_then(|character| character.ok()).ok_or(Unusual)
    }

    fn code_unit(&mut self) -> Result<u16> {
        let escape = self.text.get(self.at..self.at + 6).ok_or(Unusual)?;
        let digits = escape.strip_prefix("\\u").ok_or(Unusual)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Unusual);
        }
        self.at += 6;
        u16::from_str_radix(digits, 16).map_err(|_| Unusual)
    }
}

/// How many bytes there are before a quote or a backslash.
fn plain_length(bytes: &[u8]) -> Option<usize> {
    // Most strings are names and ids: of those, eight bytes at a time, the end is found before
    // anything better could be set up.
    let mut rest = bytes;
    for _ in 0..NEAR_WORDS {
        let Some((word, behind)) = rest.split_first_chunk::<8>() else { break };
        if let Some(length) = plain_length_of_word(u64::from_le_bytes(*word)) {
            return Some(bytes.len() - rest.len() + length);
        }
        rest = behind;
    }
    plain_length_from(bytes.len() - rest.len(), bytes)
}

/// The same, where the first bytes are known to be plain. By itself, so that what is short need not
/// prepare for it.
#[inline(never)]
fn plain_length_from(known: usize, bytes: &[u8]) -> Option<usize> {
    memchr::memchr2(b'"', b'\\', &bytes[known..]).map(|length| known + length)
}

/// How many words are looked at one by one.
const NEAR_WORDS: usize = 8;

/// The same of eight bytes, the first of which is the lowest.
fn plain_length_of_word(word: u64) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = ONES << 7;
    // Minus one, a byte that was zero has its high bit; so has one that had it before, which no
    // quote and no backslash has. What is borrowed spoils only bytes above the first that is found.
    let quotes = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslashes = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let found = (quotes | backslashes) & !word & HIGH_BITS;
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}
