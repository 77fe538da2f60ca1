//! Strings: where they end, and what their escapes stand for.

use std::mem;

use super::{Quick, Result, Unusual};

/// A string that was read.
pub(super) enum Text<'de> {
    Borrowed(&'de str),
    /// It is in [`Quick::unescaped`].
    Unescaped,
}

impl<'de> Quick<'de> {
    pub(super) fn string(&mut self) -> Result<Text<'de>> {
        self.expect(b'"')?;
        let start = self.at;
        self.at += plain_length(self.rest()).ok_or(Unusual)?;
        if self.is_quote() {
            let text = &self.text[start..self.at];
            self.at += 1;
            return Ok(Text::Borrowed(text));
        }
        self.unescape(start)?;
        Ok(Text::Unescaped)
    }

    pub(super) fn skip_string(&mut self) -> Result<()> {
        self.expect(b'"')?;
        loop {
            self.at += plain_length(self.rest()).ok_or(Unusual)?;
            if self.is_quote() {
                self.at += 1;
                return Ok(());
            }
            self.at += Escape::read(self.rest())?.length;
        }
    }

    fn is_quote(&self) -> bool {
        self.byte() == Some(b'"')
    }

    /// Gathers a string that began at `start` and whose first escape is next.
    #[inline(never)]
    fn unescape(&mut self, start: usize) -> Result<()> {
        let text = self.text.as_bytes();
        let mut gathered = mem::take(&mut self.unescaped).into_bytes();
        // No escape is shorter than what it stands for, so this is room for all that may come.
        gathered.resize(text.len() - start, 0);
        let (beginning, mut from) = text[start..].split_at(self.at - start);
        let (filled, mut to) = gathered.split_at_mut(beginning.len());
        filled.copy_from_slice(beginning);
        while from.first() != Some(&b'"') {
            let Escape { stands_for, length } = Escape::read(from)?;
            from = &from[length..];
            let written = stands_for.encode_utf8(to).len();
            to = &mut to[written..];
            let plain = copy_plain(from, to).ok_or(Unusual)?;
            from = &from[plain..];
            to = &mut to[plain..];
        }
        self.at = text.len() - from.len() + 1;
        let unfilled = to.len();
        gathered.truncate(gathered.len() - unfilled);
        self.unescaped = String::from_utf8(gathered).map_err(|_| Unusual)?;
        Ok(())
    }
}

/// What a backslash begins.
struct Escape {
    stands_for: char,
    length: usize,
}

impl Escape {
    /// Reads the escape that a text begins with.
    fn read(text: &[u8]) -> Result<Self> {
        let stands_for = match text.get(1).ok_or(Unusual)? {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b't' => '\t',
            b'r' => '\r',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => return Self::by_number(text),
            _ => return Err(Unusual),
        };
        Ok(Self { stands_for, length: 2 })
    }

    /// The character that `\u0041`, or two such, stand for.
    #[inline(never)]
    fn by_number(text: &[u8]) -> Result<Self> {
        let first = code_unit(text)?;
        if let Some(stands_for) = char::from_u32(first.into()) {
            return Ok(Self { stands_for, length: 6 });
        }
        let mut pair = char::decode_utf16([first, code_unit(&text[6..])?]);
        let stands_for = pair.next().and_then(|character| character.ok()).ok_or(Unusual)?;
        Ok(Self { stands_for, length: 12 })
    }
}

fn code_unit(text: &[u8]) -> Result<u16> {
    let Some((br"\u", digits)) = text.get(..6).and_then(|it| it.split_first_chunk()) else {
        return Err(Unusual);
    };
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16).ok_or(Unusual)?;
        Ok(unit << 4 | digit as u16)
    })
}

/// Words that are looked at one after another. Most strings are names and ids, and most lines of a
/// text are short: their ends are found so before anything better could be set up.
const NEAR_WORDS: usize = 16;

/// How many bytes there are before a quote or a backslash.
#[inline]
fn plain_length(text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks();
    let mut known = 0;
    for word in words.iter().take(NEAR_WORDS) {
        if let Some(length) = plain_length_of_word(*word) {
            return Some(known + length);
        }
        known += word.len();
    }
    Some(known + far_plain_length(&text[known..])?)
}

/// Copies the bytes before a quote or a backslash, and tells how many there are. A few behind them
/// may be copied too.
#[inline]
fn copy_plain(text: &[u8], to: &mut [u8]) -> Option<usize> {
    let (words, _) = text.as_chunks();
    let (places, _) = to.as_chunks_mut();
    let mut known = 0;
    for (word, place) in words.iter().zip(places).take(NEAR_WORDS) {
        // Eight bytes are copied as fast as one.
        *place = *word;
        if let Some(length) = plain_length_of_word(*word) {
            return Some(known + length);
        }
        known += word.len();
    }
    let length = known + far_plain_length(&text[known..])?;
    to[known..length].copy_from_slice(&text[known..length]);
    Some(length)
}

/// The same as [`plain_length`]. By itself, so that what is short need not prepare for it.
#[inline(never)]
fn far_plain_length(text: &[u8]) -> Option<usize> {
    memchr::memchr2(b'"', b'\\', text)
}

/// The same of eight bytes.
#[inline]
fn plain_length_of_word(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = ONES << 7;
    // So that the first byte is the lowest.
    let word = u64::from_le_bytes(word);
    // Minus one, a byte that was zero has its high bit; so has one that had it before, which no
    // quote and no backslash has. What is borrowed spoils only bytes above the first that is found.
    let quotes = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslashes = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    let found = (quotes | backslashes) & !word & HIGH_BITS;
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}
