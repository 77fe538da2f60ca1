//! Tagged objects nested in others.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _, value::MapAccessDeserializer},
};

use super::{
    Key, ReadError,
    pass::{Pass, inside},
    tag::{BorrowedText, UntaggedMap, read_text},
};
use crate::raw::RawJson;

/// An enum whose variants have tags.
pub(crate) trait Tagged: Sized {
    const KEY: Key;

    /// Reads a value from its text.
    fn from_text(json: &str) -> Result<Self, ReadError>;

    /// Reads a value whose tag is already known, if it is known at all.
    fn from_body<'de, D: Deserializer<'de>>(tag: &str, body: D) -> Result<Self, D::Error>;
}

/// Reads a tagged object wherever serde comes upon it.
pub(crate) fn read_nested<'de, T: Tagged, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let value = match Pass::current() {
        Pass::Straight => inside(|| from.deserialize_map(Straight(PhantomData))),
        Pass::Careful | Pass::Foreign => {
            let raw = RawJson::deserialize(from)?;
            inside(|| T::from_text(raw.get()).map_err(D::Error::custom))
        }
    };
    value.unwrap_or_else(|| Err(D::Error::custom("too many objects inside one another")))
}

/// The error of a straight reading that only a careful one can do, or explain. It is never shown.
pub(crate) fn unusual<E: de::Error>() -> E {
    E::custom("unusual")
}

struct Straight<T>(PhantomData<T>);

impl<'de, T: Tagged> de::Visitor<'de> for Straight<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut before = None;
        while let Some(BorrowedText(name)) = map.next_key()? {
            let BorrowedText(text) = map.next_value()?;
            if name == T::KEY.name() {
                let fields = Fields { before, value: None, after: map };
                let body = MapAccessDeserializer::new(UntaggedMap { map: fields, key: T::KEY });
                return T::from_body(&text, body);
            }
            if T::KEY.is_tag(&name) || before.replace((name, text)).is_some() {
                break;
            }
        }
        Err(unusual())
    }
}

/// The fields of an object of which one may have been read before the tag was found. In practice
/// that is an id.
struct Fields<'de, A> {
    before: Option<(Cow<'de, str>, Cow<'de, str>)>,
    /// The value of `before`, once its name was handed out.
    value: Option<Cow<'de, str>>,
    after: A,
}

impl<'de, A: de::MapAccess<'de>> de::MapAccess<'de> for Fields<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some((name, value)) = self.before.take() else {
            return self.after.next_key_seed(seed);
        };
        self.value = Some(value);
        read_text(seed, name).map(Some)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some(value) => read_text(seed, value),
            None => self.after.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentBlock, Message};

    fn straight<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
        Pass::Straight.run(|| serde_json::from_str(json)).ok()
    }

    /// Otherwise every line would be read twice, which only a benchmark would notice.
    #[test]
    fn recorded_agent_lines_read_straight_as_they_read_carefully() {
        let lines = include_str!("../../tests/fixtures/agent.ndjson").lines();
        let mut read = 0;
        // Not those with a second tag, nor those whose tag comes late: of whole lines,
        // unlike of what is inside them, the tags are found beforehand.
        for line in lines.filter(|line| {
            line.starts_with(r#"{"type":""#) && !line.starts_with(r#"{"type":"system""#)
        }) {
            let careful = Pass::Careful.run(|| Message::parse(line)).ok();
            // Control lines are no messages.
            if let Some(message) = careful.filter(|message| !matches!(message, Message::Unknown(_)))
            {
                assert_eq!(straight(line), Some(message), "{line}");
                read += 1;
            }
        }
        assert!(read > 10, "only {read}");
    }

    /// The fast path would be useless if recorded lines fell back to `serde_json`.
    #[test]
    fn recorded_agent_lines_take_the_fast_path() {
        let lines = include_str!("../../tests/fixtures/agent.ndjson").lines();
        let accepted = lines.filter(|line| {
            let fast = bowline_json::try_from_str::<serde_json::Value>(line);
            let is_accepted = fast.is_some();
            assert!(!is_accepted || fast == serde_json::from_str(line).ok(), "{line}");
            is_accepted
        });
        assert!(accepted.count() > 30);
    }

    #[test]
    fn unusual_objects_are_left_to_the_careful_pass() {
        let text = ContentBlock::text("a");
        assert_eq!(straight(r#"{"type":"text","text":"a"}"#), Some(text.clone()));
        assert_eq!(straight(r#"{"text":"a","type":"text"}"#), Some(text));
        for unusual in [
            r#"{"type":"novel"}"#,
            r#"{"type":null,"type":"text","text":"a"}"#,
            r#"{"text":"a"}"#,
            r#"{"extra":[1],"type":"text","text":"a"}"#,
            r#"{"extra":"b","text":"a","type":"text"}"#,
            r#"["text"]"#,
        ] {
            assert_eq!(straight::<ContentBlock>(unusual), None, "{unusual}");
        }
    }
}
