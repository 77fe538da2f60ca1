//! Strings: where they end, and what their escapes stand for.

use super::{Quick, Result, Unusual};

/// A string that was read.
pub(super) enum Text<'de> {
    /// It stands in the text as it is.
    Borrowed(&'de str),
    /// It had escapes.
    Unescaped(String),
}

impl<'de> Quick<'de> {
    /// Most are names and ids, which need nothing more than to find their end.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<Text<'de>> {
        self.expect(b'"')?;
        let start = self.at;
        let end = self.next_mark(start)?;
        if !self.is_quote(end) {
            return self.unescape(start, end).map(Text::Unescaped);
        }
        self.at = end + 1;
        Ok(Text::Borrowed(&self.text[start..end]))
    }

    pub(super) fn skip_string(&mut self) -> Result<()> {
        self.expect(b'"')?;
        loop {
            let mark = self.next_mark(self.at)?;
            if self.is_quote(mark) {
                self.at = mark + 1;
                return Ok(());
            }
            let text = self.text.as_bytes();
            let length = match named(text, mark)? {
                Some(_) => 2,
                None => Numbered::read(text, mark)?.length,
            };
            self.at = mark + length;
        }
    }

    fn next_mark(&mut self, from: usize) -> Result<usize> {
        self.marks.next(self.text.as_bytes(), from).ok_or(Unusual)
    }

    fn is_quote(&self, at: usize) -> bool {
        self.text.as_bytes().get(at) == Some(&b'"')
    }

    /// Gathers a string that began at `start` and has its first escape at `mark`.
    #[inline(never)]
    fn unescape(&mut self, start: usize, mut mark: usize) -> Result<String> {
        let text = self.text.as_bytes();
        let mut gathered = Vec::with_capacity(FIRST_CAPACITY.min(text.len() - start) + SHORT);
        let mut from = start;
        loop {
            // With the backslash or quote behind it, in whose place comes what is meant.
            push_beginning(&mut gathered, &text[from..], mark + 1 - from);
            let last = gathered.last_mut().ok_or(Unusual)?;
            if *last == b'"' {
                gathered.pop();
                break;
            }
            match named(text, mark)? {
                Some(byte) => {
                    *last = byte;
                    from = mark + 2;
                }
                None => {
                    let Numbered { stands_for, length } = Numbered::read(text, mark)?;
                    gathered.pop();
                    gathered.extend_from_slice(stands_for.encode_utf8(&mut [0; 4]).as_bytes());
                    from = mark + length;
                }
            }
            mark = self.next_mark(from)?;
        }
        self.at = mark + 1;
        if gathered.capacity() > 2 * gathered.len() {
            gathered.shrink_to_fit();
        }
        String::from_utf8(gathered).map_err(|_| Unusual)
    }
}

/// What is made room for before it is known how long a string is. Most are shorter.
const FIRST_CAPACITY: usize = 1024;

/// So many bytes are copied as fast as one.
const SHORT: usize = 16;

/// Adds the beginning of a text.
#[inline]
fn push_beginning(to: &mut Vec<u8>, text: &[u8], length: usize) {
    match text.first_chunk::<SHORT>() {
        Some(short) if length <= SHORT => {
            let end = to.len() + length;
            to.extend_from_slice(short);
            to.truncate(end);
        }
        _ => to.extend_from_slice(&text[..length]),
    }
}

/// What stands behind a backslash, and what is meant by it. Zero is none of these.
const NAMED_ESCAPES: [u8; 256] = {
    let mut meant = [0; 256];
    let named = [
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
        (b'b', 0x8),
        (b'f', 0xc),
        (b'n', b'\n'),
        (b'r', b'\r'),
        (b't', b'\t'),
    ];
    let mut at = 0;
    while at < named.len() {
        let (name, byte) = named[at];
        meant[name as usize] = byte;
        at += 1;
    }
    meant
};

/// The byte that an escape of two characters stands for, if it is one.
#[inline]
fn named(text: &[u8], backslash: usize) -> Result<Option<u8>> {
    let name = *text.get(backslash + 1).ok_or(Unusual)?;
    let byte = NAMED_ESCAPES[usize::from(name)];
    Ok((byte != 0).then_some(byte))
}

/// The character that `\u0041`, or two such, stand for.
struct Numbered {
    stands_for: char,
    length: usize,
}

impl Numbered {
    #[inline(never)]
    fn read(text: &[u8], backslash: usize) -> Result<Self> {
        let first = code_unit(text, backslash)?;
        if let Some(stands_for) = char::from_u32(first.into()) {
            return Ok(Self { stands_for, length: 6 });
        }
        let mut pair = char::decode_utf16([first, code_unit(text, backslash + 6)?]);
        let stands_for = pair.next().and_then(|character| character.ok()).ok_or(Unusual)?;
        Ok(Self { stands_for, length: 12 })
    }
}

fn code_unit(text: &[u8], at: usize) -> Result<u16> {
    let Some((br"\u", digits)) = text.get(at..at + 6).and_then(|it| it.split_first_chunk()) else {
        return Err(Unusual);
    };
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16).ok_or(Unusual)?;
        Ok(unit << 4 | digit as u16)
    })
}
