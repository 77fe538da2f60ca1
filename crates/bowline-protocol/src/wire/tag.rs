//! Finding the tag of an object, and reading the object without it.

use std::{borrow::Cow, fmt};

use bowline_json::try_read;
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeOwned, IntoDeserializer, value::BorrowedStrDeserializer},
};

use super::{ReadError, boxed::Boxed, pass::Pass};
use crate::surrogate::replace_lone_surrogates;

/// Keys by which the variants of wire enums are distinguished.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// `type`
    Type,
    /// `subtype`, possibly beside a `type` that was looked at before.
    Subtype,
    /// `behavior`, of decisions.
    Behavior,
    /// `hookEventName`, of hook output.
    HookEventName,
    /// `hook_event_name`, of hook input, beside the fields that every event has.
    HookInput,
}

impl Key {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Subtype => "subtype",
            Self::Behavior => "behavior",
            Self::HookEventName => "hookEventName",
            Self::HookInput => "hook_event_name",
        }
    }

    /// Whether a field is no part of the body.
    pub(super) fn is_tag(self, field: &str) -> bool {
        match self {
            Self::Type => field == "type",
            Self::Subtype => field == "type" || field == "subtype",
            Self::Behavior | Self::HookEventName => field == self.name(),
            Self::HookInput => field == self.name() || HOOK_BASE_FIELDS.contains(&field),
        }
    }
}

/// Fields of `HookBase`, which are in the same object as those of every hook event.
pub(crate) const HOOK_BASE_FIELDS: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "effort",
];

/// The tags of one object, as far as they were needed.
#[derive(Default)]
pub(crate) struct Tags<'a> {
    kind: Option<Cow<'a, str>>,
    subtype: Option<Cow<'a, str>>,
    other: Option<Cow<'a, str>>,
}

impl<'a> Tags<'a> {
    /// Reads as much of `json` as it takes to know the tags. The usual line begins with them.
    pub(crate) fn read(json: &'a str, wanted: Key) -> Result<Self, ReadError> {
        let mut tags = Self::leading(json);
        if tags.suffice(wanted) {
            return Ok(tags);
        }
        let mut reader = serde_json::Deserializer::from_str(json);
        let whole = reader.deserialize_map(TagVisitor { tags: &mut tags, wanted });
        // Stopping early looks like a missing end to the reader; reading the body finds the end.
        if !tags.suffice(wanted) {
            whole.map_err(ReadError::NotAMessage)?;
        }
        Ok(tags)
    }

    /// The tags that the text begins with, where it does so in the usual spelling.
    fn leading(json: &'a str) -> Self {
        let mut tags = Self::default();
        if let Some((kind, rest)) = json.strip_prefix(r#"{"type":""#).and_then(plain_text) {
            tags.kind = Some(kind.into());
            let subtype = rest.strip_prefix(r#","subtype":""#).and_then(plain_text);
            tags.subtype = subtype.map(|(subtype, _)| subtype.into());
        }
        tags
    }

    pub(crate) fn get(&self, key: Key) -> Option<&str> {
        match key {
            Key::Type => self.kind.as_deref(),
            Key::Subtype => self.subtype.as_deref(),
            Key::Behavior | Key::HookEventName | Key::HookInput => self.other.as_deref(),
        }
    }

    fn suffice(&self, wanted: Key) -> bool {
        match wanted {
            Key::Subtype => self.subtype.is_some(),
            Key::Type => match self.kind.as_deref() {
                // Only system messages have a second tag.
                Some("system") => self.subtype.is_some(),
                kind => kind.is_some(),
            },
            Key::Behavior | Key::HookEventName | Key::HookInput => self.other.is_some(),
        }
    }
}

/// Text up to the closing quote, and the rest after it.
fn plain_text(json: &str) -> Option<(&str, &str)> {
    let is_special = |byte: u8| byte == b'"' || byte == b'\\' || byte.is_ascii_control();
    let (text, rest) = json.split_at(json.bytes().position(is_special)?);
    Some((text, rest.strip_prefix('"')?))
}

struct TagVisitor<'t, 'a> {
    tags: &'t mut Tags<'a>,
    wanted: Key,
}

impl<'de> de::Visitor<'de> for TagVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // In an object with another key, these are ordinary fields.
        let told_by_type = matches!(self.wanted, Key::Type | Key::Subtype);
        while let Some(BorrowedText(key)) = map.next_key()? {
            match &*key {
                "type" if told_by_type => self.tags.kind = text_value(&mut map)?,
                "subtype" if told_by_type => self.tags.subtype = text_value(&mut map)?,
                name if name == self.wanted.name() => self.tags.other = text_value(&mut map)?,
                _ => {
                    map.next_value::<de::IgnoredAny>()?;
                }
            }
            if self.tags.suffice(self.wanted) {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn text_value<'de, A: de::MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_value::<Option<BorrowedText<'de>>>()?.map(|BorrowedText(text)| text))
}

/// A string that borrows from the input when it can. (`Cow` by itself never does.)
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct BorrowedText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Reads something from a string at hand. One that is kept need not be copied for that.
pub(super) fn read_text<'de, S: de::DeserializeSeed<'de>, E: de::Error>(
    seed: S,
    text: Cow<'de, str>,
) -> Result<S::Value, E> {
    match text {
        Cow::Borrowed(text) => seed.deserialize(BorrowedStrDeserializer::new(text)),
        Cow::Owned(text) => seed.deserialize(text.into_deserializer()),
    }
}

/// Reads a whole body whose tag is already known: straight if that can be done, else carefully.
pub(crate) fn read_body<T: DeserializeOwned>(
    tag: &str,
    key: Key,
    json: &str,
) -> Result<T, ReadError> {
    if Pass::current() != Pass::Careful
        && let Some(body) = Pass::Straight.run(|| read_untagged(key, json))
    {
        return Ok(body);
    }
    // Lines of the wire have no lone surrogates, but transcripts and model output never passed the codec.
    let json = replace_lone_surrogates(Cow::Borrowed(json));
    Pass::Careful.run(|| read_carefully(tag, key, &json))
}

/// [`read_body`] of one that is large.
pub(crate) fn read_boxed<T: DeserializeOwned>(
    tag: &str,
    key: Key,
    json: &str,
) -> Result<Box<T>, ReadError> {
    read_body(tag, key, json).map(|Boxed(body)| body)
}

fn read_untagged<T: DeserializeOwned>(key: Key, json: &str) -> Option<T> {
    try_read(json, |reader| T::deserialize(Untagged { from: reader, key }))
}

/// Keeps the path at hand, so that a bad field needs no further reading to be named: bodies
/// inside bodies would each be read twice as often as the one around them.
#[cold]
fn read_carefully<T: DeserializeOwned>(tag: &str, key: Key, json: &str) -> Result<T, ReadError> {
    let bad = |field, source| ReadError::BadBody { tag: tag.to_owned(), field, source };
    let mut reader = serde_json::Deserializer::from_str(json);
    let body = serde_path_to_error::deserialize(Untagged { from: &mut reader, key })
        .map_err(|error| bad(error.path().to_string(), error.into_inner()))?;
    reader.end().map_err(|error| bad(".".to_owned(), error))?;
    Ok(body)
}

/// Reads an object that has no tag, with errors that name it and the field.
pub(crate) fn read_whole<T: DeserializeOwned>(name: &str, json: &str) -> Result<T, ReadError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| ReadError::BadBody {
        tag: name.to_owned(),
        field: error.path().to_string(),
        source: error.into_inner(),
    })
}

/// Reads an object as if its tags were not there, so that they do not count as unknown fields.
struct Untagged<D> {
    from: D,
    key: Key,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Untagged<D> {
    type Error = D::Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.from.deserialize_map(UntaggedVisitor { visitor, key: self.key })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

struct UntaggedVisitor<V> {
    visitor: V,
    key: Key,
}

impl<'de, V: de::Visitor<'de>> de::Visitor<'de> for UntaggedVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(UntaggedMap { map, key: self.key })
    }
}

/// The fields of an object but for its tags.
pub(super) struct UntaggedMap<A> {
    pub(super) map: A,
    pub(super) key: Key,
}

impl<'de, A: de::MapAccess<'de>> de::MapAccess<'de> for UntaggedMap<A> {
    type Error = A::Error;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(BorrowedText(key)) = self.map.next_key()? {
            if self.key.is_tag(&key) {
                self.map.next_value::<de::IgnoredAny>()?;
            } else {
                return read_text(seed, key).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
