//! Serde deserializer over a JSON text without control characters.

mod mask;
mod number;
mod string;

#[cfg(test)]
mod tests;

use std::{fmt, mem};

use serde::{
    Deserialize, Deserializer,
    de::{
        self, IgnoredAny,
        value::{BorrowedStrDeserializer, StringDeserializer},
    },
    forward_to_deserialize_any,
};

use self::{mask::QuoteMask, number::Number, string::Text};

/// Limit on nested objects and arrays, the same as in `serde_json`.
const DEPTH_LIMIT: usize = 127;

/// Reads a whole text into `T`; `None` if the text has to be read by the fallback.
#[inline]
pub fn try_from_str<'de, T: Deserialize<'de>>(json: &'de str) -> Option<T> {
    try_read(json, |reader| T::deserialize(reader))
}

/// Reads a whole text with `read`; `None` if the text has to be read by the fallback.
#[inline]
pub fn try_read<'de, T>(
    json: &'de str,
    read: impl FnOnce(&mut Reader<'de>) -> Result<T, Unsupported>,
) -> Option<T> {
    if cfg!(feature = "disabled") {
        return None;
    }
    // Without control characters a string is everything between two quotes, and the only whitespace is the space.
    let has_control_characters = json.bytes().fold(u8::MAX, u8::min) < b' ';
    if has_control_characters {
        return None;
    }
    let mut reader = Reader { text: json, at: 0, depth: 0, mask: QuoteMask::new(json.as_bytes()) };
    let value = read(&mut reader).ok()?;
    reader.is_at_end().then_some(value)
}

/// Error without an explanation: the text is invalid, or rare enough to be left to the fallback.
#[derive(Debug)]
pub struct Unsupported;

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON that is invalid or outside the fast path")
    }
}

impl std::error::Error for Unsupported {}

impl de::Error for Unsupported {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Result<T, E = Unsupported> = std::result::Result<T, E>;

/// Deserializer with its position in a text.
#[derive(Debug)]
pub struct Reader<'de> {
    text: &'de str,
    at: usize,
    depth: usize,
    mask: QuoteMask,
}

impl<'de> Reader<'de> {
    /// Skips spaces and returns the first byte of the next token.
    #[inline]
    fn peek(&mut self) -> Result<u8> {
        while self.byte() == Some(b' ') {
            self.at += 1;
        }
        self.byte().ok_or(Unsupported)
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn rest(&self) -> &'de [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn is_at_end(&mut self) -> bool {
        self.peek().is_err()
    }

    #[inline]
    fn expect(&mut self, token: u8) -> Result<()> {
        let found = self.peek()? == token;
        self.at += 1;
        found.then_some(()).ok_or(Unsupported)
    }

    #[inline]
    fn word(&mut self, word: &str) -> Result<()> {
        let found = self.rest().starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(()).ok_or(Unsupported)
    }

    /// Skips a value and returns its text.
    #[inline]
    fn raw(&mut self) -> Result<&'de str> {
        self.peek()?;
        let start = self.at;
        IgnoredAny::deserialize(&mut *self)?;
        Ok(&self.text[start..self.at])
    }

    #[inline]
    fn visit_string<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.string()? {
            Text::Borrowed(text) => visitor.visit_borrowed_str(text),
            Text::Unescaped(text) => visitor.visit_string(text),
        }
    }

    #[inline]
    fn visit_number<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.peek()?;
        match self.number()? {
            Number::Unsigned(number) => visitor.visit_u64(number),
            Number::Signed(number) => visitor.visit_i64(number),
            Number::Float(number) => visitor.visit_f64(number),
        }
    }

    #[inline]
    fn visit_object<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.inside(b'{', b'}', |members| visitor.visit_map(members))
    }

    #[inline]
    fn visit_array<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.inside(b'[', b']', |members| visitor.visit_seq(members))
    }

    /// Reads the members between two brackets.
    #[inline]
    fn inside<T>(
        &mut self,
        start: u8,
        end: u8,
        read: impl FnOnce(&mut Members<'_, 'de>) -> Result<T>,
    ) -> Result<T> {
        self.expect(start)?;
        if self.depth == DEPTH_LIMIT {
            return Err(Unsupported);
        }
        self.depth += 1;
        let mut members = Members { reader: self, end, is_first: true, is_over: false };
        // Stays inside its result: values are large, and unwrapping one would move it.
        let value = read(&mut members);
        if !members.is_over {
            self.expect(end)?;
        }
        self.depth -= 1;
        value
    }
}

/// Only the kind of value that the type expects is read; any other is unsupported.
macro_rules! read_as {
    ($($visit:ident: $($deserialize:ident)*;)*) => {$($(
        fn $deserialize<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.$visit(visitor)
        }
    )*)*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Unsupported;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek()? {
            b'"' => self.visit_string(visitor),
            b'{' => self.visit_object(visitor),
            b'[' => self.visit_array(visitor),
            b't' => self.word("true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word("false").and_then(|()| visitor.visit_bool(false)),
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            _ => self.visit_number(visitor),
        }
    }

    read_as! {
        visit_string: deserialize_str deserialize_string;
        visit_number: deserialize_u16 deserialize_u32 deserialize_u64 deserialize_i64 deserialize_f64;
        visit_object: deserialize_map;
        visit_array: deserialize_seq;
    }

    fn deserialize_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.visit_object(visitor)
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek()? {
            b'n' => self.word("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        // `RawValue` requests its text under a private name, as a map whose one key is that name.
        match name.starts_with('$') {
            true => visitor.visit_map(Raw { name: Some(name), text: self.raw()? }),
            false => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.string()? {
            Text::Borrowed(variant) => visitor.visit_enum(BorrowedStrDeserializer::new(variant)),
            Text::Unescaped(_) => Err(Unsupported),
        }
    }

    fn deserialize_ignored_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.peek()? != b'"' {
            return self.deserialize_any(visitor);
        }
        self.skip_string()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u8 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier
    }
}

/// Members of an object or array.
struct Members<'r, 'de> {
    reader: &'r mut Reader<'de>,
    end: u8,
    is_first: bool,
    is_over: bool,
}

impl Members<'_, '_> {
    /// Advances to the next member, if there is one.
    #[inline]
    fn has_next(&mut self) -> Result<bool> {
        let next = self.reader.peek()?;
        if next == self.end {
            self.reader.at += 1;
            self.is_over = true;
            return Ok(false);
        }
        if !mem::take(&mut self.is_first) {
            if next != b',' {
                return Err(Unsupported);
            }
            self.reader.at += 1;
        }
        Ok(true)
    }
}

impl<'de> de::SeqAccess<'de> for &mut Members<'_, 'de> {
    type Error = Unsupported;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        match self.has_next()? {
            true => seed.deserialize(&mut *self.reader).map(Some),
            false => Ok(None),
        }
    }
}

impl<'de> de::MapAccess<'de> for &mut Members<'_, 'de> {
    type Error = Unsupported;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.has_next()? {
            return Ok(None);
        }
        match self.reader.string()? {
            Text::Borrowed(key) => seed.deserialize(BorrowedStrDeserializer::new(key)),
            Text::Unescaped(key) => seed.deserialize(StringDeserializer::new(key)),
        }
        .map(Some)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// Text of a value, in the form that `RawValue` deserializes from.
struct Raw<'de> {
    name: Option<&'static str>,
    text: &'de str,
}

impl<'de> de::MapAccess<'de> for Raw<'de> {
    type Error = Unsupported;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let name = self.name.take().map(BorrowedStrDeserializer::new);
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text))
    }
}
