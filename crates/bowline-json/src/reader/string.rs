//! JSON strings and their escapes.

use super::{Reader, Result, Unsupported};

/// A string as it was read.
pub(super) enum Text<'de> {
    /// A slice of the input: the string has no escapes.
    Borrowed(&'de str),
    /// A copy with its escapes replaced.
    Unescaped(String),
}

impl<'de> Reader<'de> {
    /// Reads a string. Most are names and ids, for which finding the closing quote is enough.
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

    /// Skips a string, with its escapes checked.
    #[inline]
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

    /// Position of the next quote or backslash.
    #[inline]
    fn next_mark(&mut self, from: usize) -> Result<usize> {
        self.mask.next(self.text.as_bytes(), from).ok_or(Unsupported)
    }

    #[inline]
    fn is_quote(&self, at: usize) -> bool {
        self.text.as_bytes().get(at) == Some(&b'"')
    }

    /// Unescapes a string that began at `start` and has its first escape at `mark`.
    #[inline(never)]
    fn unescape(&mut self, start: usize, mut mark: usize) -> Result<String> {
        let text = self.text.as_bytes();
        let mut unescaped = Vec::with_capacity(FIRST_CAPACITY.min(text.len() - start) + SHORT);
        let mut from = start;
        loop {
            // Including the backslash or quote after it, which the unescaped byte then overwrites.
            push_beginning(&mut unescaped, &text[from..], mark + 1 - from);
            let last = unescaped.last_mut().ok_or(Unsupported)?;
            if *last == b'"' {
                unescaped.pop();
                break;
            }
            match named(text, mark)? {
                Some(byte) => {
                    *last = byte;
                    from = mark + 2;
                }
                None => {
                    let Numbered { character, length } = Numbered::read(text, mark)?;
                    unescaped.pop();
                    unescaped.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    from = mark + length;
                }
            }
            mark = self.next_mark(from)?;
        }
        self.at = mark + 1;
        if unescaped.capacity() > 2 * unescaped.len() {
            unescaped.shrink_to_fit();
        }
        String::from_utf8(unescaped).map_err(|_| Unsupported)
    }
}

/// Capacity before the length of a string is known. Most are shorter.
const FIRST_CAPACITY: usize = 1024;

/// Length of a copy that costs as much as that of one byte.
const SHORT: usize = 16;

/// Appends the first `length` bytes of a text.
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

/// Unescaped byte for each byte after a backslash; zero for those that are not a two-character escape.
const NAMED_ESCAPES: [u8; 256] = {
    let mut unescaped_byte = [0; 256];
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
        unescaped_byte[name as usize] = byte;
        at += 1;
    }
    unescaped_byte
};

/// The byte of a two-character escape such as `\\n`, if it is one.
#[inline]
fn named(text: &[u8], backslash: usize) -> Result<Option<u8>> {
    let name = *text.get(backslash + 1).ok_or(Unsupported)?;
    let byte = NAMED_ESCAPES[usize::from(name)];
    Ok((byte != 0).then_some(byte))
}

/// A `\u0041` escape, or a surrogate pair of two, as a character.
struct Numbered {
    character: char,
    length: usize,
}

impl Numbered {
    #[inline(never)]
    fn read(text: &[u8], backslash: usize) -> Result<Self> {
        let first = code_unit(text, backslash)?;
        if let Some(character) = char::from_u32(first.into()) {
            return Ok(Self { character, length: 6 });
        }
        let mut pair = char::decode_utf16([first, code_unit(text, backslash + 6)?]);
        let character = pair.next().and_then(|character| character.ok()).ok_or(Unsupported)?;
        Ok(Self { character, length: 12 })
    }
}

fn code_unit(text: &[u8], at: usize) -> Result<u16> {
    let Some((br"\u", digits)) = text.get(at..at + 6).and_then(|it| it.split_first_chunk()) else {
        return Err(Unsupported);
    };
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16).ok_or(Unsupported)?;
        Ok(unit << 4 | digit as u16)
    })
}
