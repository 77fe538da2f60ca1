//! A reader of JSON for the usual line: nearly all of it is text, and nothing is wrong with it.
//!
//! `serde_json` goes through strings a word at a time, and gathers one that has escapes in a buffer of
//! its own before whoever wants it copies it. This reader finds the quotes and backslashes of many
//! bytes at once, looks for nothing else in a string, because it makes sure of the rest once for the
//! whole line, and hands a string that it gathered over as it is. What is not usual (a number of twenty
//! digits, a line break between fields, half a character, a mistake) it does not read: whoever asks has
//! `serde_json` read it then, or say what is wrong with it. So it has to be right only where it
//! succeeds, and there the tests compare the two.

mod marks;
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

use self::{marks::Marks, number::Number, string::Text};

/// How many objects and arrays may stand inside one another, as in `serde_json`.
const DEPTH_LIMIT: usize = 127;

/// Has `read` read a whole text, if it is usual.
pub(super) fn read_with<'de, T>(
    json: &'de str,
    read: impl FnOnce(&mut Quick<'de>) -> Result<T, Unusual>,
) -> Option<T> {
    // With them out of the way, a string is all that is between two quotes, and space is a space.
    let has_control_characters = json.bytes().fold(u8::MAX, u8::min) < b' ';
    if has_control_characters {
        return None;
    }
    let mut reader = Quick { text: json, at: 0, depth: 0, marks: Marks::new(json.as_bytes()) };
    let value = read(&mut reader).ok()?;
    reader.is_at_end().then_some(value)
}

/// The text is to be read by somebody else.
#[derive(Debug)]
pub(super) struct Unusual;

impl fmt::Display for Unusual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unusual JSON")
    }
}

impl std::error::Error for Unusual {}

impl de::Error for Unusual {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Result<T, E = Unusual> = std::result::Result<T, E>;

/// Where in a text the reading is.
pub(super) struct Quick<'de> {
    text: &'de str,
    at: usize,
    depth: usize,
    marks: Marks,
}

impl<'de> Quick<'de> {
    /// The byte that the next token begins with.
    fn peek(&mut self) -> Result<u8> {
        while self.byte() == Some(b' ') {
            self.at += 1;
        }
        self.byte().ok_or(Unusual)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'de [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn is_at_end(&mut self) -> bool {
        self.peek().is_err()
    }

    fn expect(&mut self, token: u8) -> Result<()> {
        let found = self.peek()? == token;
        self.at += 1;
        found.then_some(()).ok_or(Unusual)
    }

    fn word(&mut self, word: &str) -> Result<()> {
        let found = self.rest().starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(()).ok_or(Unusual)
    }

    /// Steps over a value, and gives its text.
    fn raw(&mut self) -> Result<&'de str> {
        self.peek()?;
        let start = self.at;
        IgnoredAny::deserialize(&mut *self)?;
        Ok(&self.text[start..self.at])
    }

    fn visit_string<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.string()? {
            Text::Borrowed(text) => visitor.visit_borrowed_str(text),
            Text::Unescaped(text) => visitor.visit_string(text),
        }
    }

    fn visit_number<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.peek()?;
        match self.number()? {
            Number::Unsigned(number) => visitor.visit_u64(number),
            Number::Signed(number) => visitor.visit_i64(number),
            Number::Float(number) => visitor.visit_f64(number),
        }
    }

    fn visit_object<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.inside(b'{', b'}', |members| visitor.visit_map(members))
    }

    fn visit_array<V: de::Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.inside(b'[', b']', |members| visitor.visit_seq(members))
    }

    /// Reads what is between two brackets.
    fn inside<T>(
        &mut self,
        start: u8,
        end: u8,
        read: impl FnOnce(&mut Members<'_, 'de>) -> Result<T>,
    ) -> Result<T> {
        self.expect(start)?;
        if self.depth == DEPTH_LIMIT {
            return Err(Unusual);
        }
        self.depth += 1;
        let mut members = Members { reader: self, end, is_first: true, is_over: false };
        // Not taken out of its result: values are large, and each time they would be moved.
        let value = read(&mut members);
        if !members.is_over {
            self.expect(end)?;
        }
        self.depth -= 1;
        value
    }
}

/// What is asked for is looked for, and nothing else: another value in its place is unusual.
macro_rules! read_as {
    ($($visit:ident: $($deserialize:ident)*;)*) => {$($(
        fn $deserialize<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.$visit(visitor)
        }
    )*)*};
}

impl<'de> Deserializer<'de> for &mut Quick<'de> {
    type Error = Unusual;

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
        // `RawValue` asks for its text so, in a map whose one key is the name it asks by.
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
            Text::Unescaped(_) => Err(Unusual),
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

/// What is between two brackets.
struct Members<'r, 'de> {
    reader: &'r mut Quick<'de>,
    end: u8,
    is_first: bool,
    is_over: bool,
}

impl Members<'_, '_> {
    /// Steps to the next member, if there is one.
    fn has_next(&mut self) -> Result<bool> {
        let next = self.reader.peek()?;
        if next == self.end {
            self.reader.at += 1;
            self.is_over = true;
            return Ok(false);
        }
        if !mem::take(&mut self.is_first) {
            if next != b',' {
                return Err(Unusual);
            }
            self.reader.at += 1;
        }
        Ok(true)
    }
}

impl<'de> de::SeqAccess<'de> for &mut Members<'_, 'de> {
    type Error = Unusual;

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
    type Error = Unusual;

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

/// The text of a value, in the form in which `RawValue` takes it.
struct Raw<'de> {
    name: Option<&'static str>,
    text: &'de str,
}

impl<'de> de::MapAccess<'de> for Raw<'de> {
    type Error = Unusual;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let name = self.name.take().map(BorrowedStrDeserializer::new);
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text))
    }
}
