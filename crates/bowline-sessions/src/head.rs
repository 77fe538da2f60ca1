//! Head of a transcript line: the fields that determine its position. The rest is skipped, not parsed.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    hash::{BuildHasherDefault, Hash, Hasher},
    num::NonZeroU128,
};

use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny},
};
use uuid::Uuid;

use crate::scan::Span;

/// A name as a number: UUIDs are what they are, anything else is hashed. Never zero, so that none
/// at all takes no more room than one: long sessions have many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id(NonZeroU128);

/// Something by name.
pub(crate) type IdMap<T> = HashMap<Id, T, BuildHasherDefault<IdHasher>>;

/// A set of names.
pub(crate) type IdSet = HashSet<Id, BuildHasherDefault<IdHasher>>;

/// Names are random or hashed already.
#[derive(Debug, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, part: u64) {
        // Spreads names that were counted rather than drawn. The factor is the golden ratio's.
        self.0 = (self.0 ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let bits = self.0.get();
        state.write_u64((bits >> 64) as u64);
        state.write_u64(bits as u64);
    }
}

impl Id {
    pub(crate) fn new(text: &str) -> Self {
        const FNV_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let bits = match Uuid::try_parse(text) {
            Ok(uuid) => uuid.as_u128(),
            Err(_) => text
                .bytes()
                .fold(FNV_BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(FNV_PRIME)),
        };
        Self(NonZeroU128::new(bits).unwrap_or(NonZeroU128::MAX))
    }

    /// Sixteen characters that differ when the name does, for a file's name.
    pub(crate) fn short(self) -> String {
        let bits = self.0.get();
        format!("{:016x}", (bits ^ (bits >> 64)) & u128::from(u64::MAX))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
                Ok(Id::new(text))
            }
        }

        from.deserialize_str(Text)
    }
}

/// Kind of a line, as far as its position depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    User,
    Assistant,
    Attachment,
    System,
    CompactBoundary,
    /// A link of the chain without content, or of a type this version does not know.
    Link,
    LastPrompt,
    CustomTitle,
    AiTitle,
    Tag,
    Mode,
    CostState,
    ToolsUsed,
    ContentReplacement,
    Other,
}

impl Kind {
    /// Whether lines of this kind form the conversation.
    pub(crate) fn is_chain(self) -> bool {
        matches!(
            self,
            Self::User
                | Self::Assistant
                | Self::Attachment
                | Self::System
                | Self::CompactBoundary
                | Self::Link
        )
    }

    pub(crate) fn is_message(self) -> bool {
        matches!(self, Self::User | Self::Assistant)
    }
}

/// Position of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LineHead {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
    pub(crate) uuid: Option<Id>,
    pub(crate) parent: Option<Id>,
    /// Id of the response that an assistant line is a part of.
    pub(crate) response: Option<Id>,
    /// The line with the call that a result names as its source.
    pub(crate) source: Option<Id>,
    /// The calls that it makes or has results of.
    pub(crate) calls: Vec<Id>,
    pub(crate) has_result: bool,
    pub(crate) is_sidechain: bool,
    pub(crate) is_meta: bool,
    pub(crate) has_team: bool,
    /// The end of the conversation that a last-prompt note names.
    pub(crate) leaf: Option<Id>,
}

impl LineHead {
    /// Reads the head of a line; `None` for what is no JSON object with a type.
    pub(crate) fn read(span: Span, line: &[u8]) -> Option<Self> {
        let head: Fields = serde_json::from_slice(line).ok()?;
        let message = head.message.unwrap_or_default();
        let content = message.content.unwrap_or_default();
        let kind = match head.kind {
            Kind::System if head.is_boundary.is_some_and(|Boundary(is)| is) => {
                Kind::CompactBoundary
            }
            // Readers follow the chain through what they do not know.
            Kind::Other if head.uuid.is_some() && head.parent.is_some() => Kind::Link,
            kind => kind,
        };
        Some(Self {
            span,
            kind,
            uuid: head.uuid,
            parent: head.parent.flatten(),
            response: if kind == Kind::Assistant { message.id } else { None },
            source: head.source,
            calls: content.calls,
            has_result: content.has_result,
            is_sidechain: head.is_sidechain.unwrap_or_default(),
            is_meta: head.is_meta.unwrap_or_default(),
            has_team: head.has_team.is_some_and(|Present(is)| is),
            leaf: head.leaf,
        })
    }

    /// Whether it belongs to the main conversation.
    pub(crate) fn is_main(&self) -> bool {
        self.kind.is_chain() && !self.is_sidechain && !self.has_team
    }
}

#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    uuid: Option<Id>,
    /// Absent and `null` differ: only the second marks the root of a chain of an unknown type.
    #[serde(rename = "parentUuid", default, deserialize_with = "present")]
    parent: Option<Option<Id>>,
    #[serde(default)]
    message: Option<MessageFields>,
    #[serde(rename = "sourceToolAssistantUUID", default)]
    source: Option<Id>,
    #[serde(rename = "isSidechain", default)]
    is_sidechain: Option<bool>,
    #[serde(rename = "isMeta", default)]
    is_meta: Option<bool>,
    #[serde(rename = "teamName", default)]
    has_team: Option<Present>,
    #[serde(rename = "leafUuid", default)]
    leaf: Option<Id>,
    #[serde(rename = "subtype", default)]
    is_boundary: Option<Boundary>,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<Id>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[derive(Default, Deserialize)]
struct MessageFields {
    #[serde(default)]
    id: Option<Id>,
    #[serde(default)]
    content: Option<ContentShape>,
}

/// Tool calls and results in some content.
#[derive(Default)]
struct ContentShape {
    calls: Vec<Id>,
    has_result: bool,
}

impl<'de> Deserialize<'de> for ContentShape {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Shape;

        #[derive(Deserialize)]
        struct Block {
            #[serde(default)]
            id: Option<Id>,
            #[serde(default)]
            tool_use_id: Option<Id>,
        }

        impl<'de> de::Visitor<'de> for Shape {
            type Value = ContentShape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of content blocks")
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<ContentShape, E> {
                Ok(ContentShape::default())
            }

            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<ContentShape, A::Error> {
                let mut shape = ContentShape::default();
                while let Some(block) = seq.next_element::<Block>()? {
                    shape.has_result |= block.tool_use_id.is_some();
                    shape.calls.extend(block.tool_use_id.or(block.id));
                }
                Ok(shape)
            }
        }

        from.deserialize_any(Shape)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;

        impl de::Visitor<'_> for Text {
            type Value = Kind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a line type")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Kind, E> {
                Ok(match text {
                    "user" => Kind::User,
                    "assistant" => Kind::Assistant,
                    "attachment" => Kind::Attachment,
                    "system" => Kind::System,
                    "progress" => Kind::Link,
                    "last-prompt" => Kind::LastPrompt,
                    "custom-title" => Kind::CustomTitle,
                    "ai-title" => Kind::AiTitle,
                    "tag" => Kind::Tag,
                    "mode" => Kind::Mode,
                    "cost-state" => Kind::CostState,
                    "tools-used" => Kind::ToolsUsed,
                    "content-replacement" => Kind::ContentReplacement,
                    _ => Kind::Other,
                })
            }
        }

        from.deserialize_str(Text)
    }
}

/// Whether a subtype is that of a compaction's boundary.
struct Boundary(bool);

impl<'de> Deserialize<'de> for Boundary {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let id = Id::deserialize(from)?;
        Ok(Self(id == Id::new(crate::SystemLine::COMPACT_BOUNDARY)))
    }
}

/// Whether a field has a non-empty name as its value.
pub(crate) struct Present(pub(crate) bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NotEmpty;

        impl<'de> de::Visitor<'de> for NotEmpty {
            type Value = Present;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Present, E> {
                Ok(Present(!text.is_empty()))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Present, E> {
                Ok(Present(value))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Present, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Present(true))
            }
        }

        from.deserialize_any(NotEmpty)
    }
}
