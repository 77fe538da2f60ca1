//! Reading of tagged wire types: the tag first, then the line into the type of that tag.
//!
//! Serde's own tagged and untagged reading buffers the whole input, cannot hold
//! raw JSON and gives poor errors. These macros read twice instead: a quick pass
//! for the tag, a full one into the type it names. What is tagged inside of that is
//! read on the way wherever it can be; see [`pass`].

mod boxed;
mod closed;
mod nested;
mod open;
mod pass;
mod tag;

pub(crate) use closed::read_closed;
pub(crate) use nested::{Tagged, read_nested, unusual};
pub(crate) use open::{open_enum, read_open};
#[cfg(test)]
pub(crate) use tag::HOOK_BASE_FIELDS;
pub(crate) use tag::{Key, Tags, read_body, read_boxed, read_whole};

use crate::raw::RawJson;

/// Why a line or a value could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Not JSON, or not an object with a string tag where one is needed.
    #[error("not a message: {0}")]
    NotAMessage(#[source] serde_json::Error),
    /// The tag is known, the rest does not fit it.
    #[error("{tag}: {field}: {source}")]
    BadBody {
        /// The `type` or `subtype` that was read.
        tag: String,
        /// Path of the field that does not fit, as in `message.content[0]`.
        field: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl ReadError {
    /// The tag is missing, or not one of the few there are.
    pub(crate) fn unexpected_tag(
        what: &str,
        key: &str,
        found: Option<&str>,
        known: &[&str],
    ) -> Self {
        let known = known.join("` or `");
        let problem = match found {
            Some(found) => format!("unknown value `{found}`, expected `{known}`"),
            None => format!("missing, expected `{known}`"),
        };
        Self::BadBody {
            tag: what.to_owned(),
            field: key.to_owned(),
            source: serde::de::Error::custom(problem),
        }
    }
}

/// Copies one JSON value out of a line.
pub(crate) fn read_raw(json: &str) -> Result<RawJson, ReadError> {
    serde_json::from_str(json).map_err(ReadError::NotAMessage)
}

/// Reads an enum in two passes: the tag alone, then the text into that tag's type.
///
/// A known tag with a bad body is an error that names both; only an unknown tag
/// becomes `Unknown`, kept byte for byte. `"system" => System(SystemMessage)` hands
/// the tags on to an enum with another tag key of the same object. `in boxes` is for
/// enums all of whose payloads are in one.
macro_rules! read_by_tag {
    ($enum:ident, $key:ident, { $($variants:tt)* }) => {
        $crate::wire::read_by_tag!(@read read_body, $enum, $key, { $($variants)* });
    };
    ($enum:ident, $key:ident, in boxes, { $($variants:tt)* }) => {
        $crate::wire::read_by_tag!(@read read_boxed, $enum, $key, { $($variants)* });
    };
    (@read $read:ident, $enum:ident, $key:ident, {
        $($tag:literal => $variant:ident $(($nested:ident))?),* $(,)?
    }) => {
        impl $enum {
            /// The tags this version knows.
            pub const TAGS: &'static [&'static str] = &[$($tag),*];

            /// Reads one value from its JSON text.
            pub fn parse(json: &str) -> Result<Self, $crate::ReadError> {
                let tags = $crate::wire::Tags::read(json, $crate::wire::Key::$key)?;
                Self::from_tags(&tags, json)
            }

            pub(crate) fn from_tags(
                tags: &$crate::wire::Tags<'_>,
                json: &str,
            ) -> Result<Self, $crate::ReadError> {
                match tags.get($crate::wire::Key::$key) {
                    $(Some($tag) => $crate::wire::read_by_tag!(
                        @body $read, $tag, $key, tags, json $(, $nested)?
                    ).map(Self::$variant),)*
                    _ => $crate::wire::read_raw(json).map(Self::Unknown),
                }
            }
        }

        $crate::wire::read_inside!($enum, $key, { $($tag => $variant $(($nested))?),* });
    };
    (@body $read:ident, $tag:literal, $key:ident, $tags:ident, $json:ident) => {
        $crate::wire::$read($tag, $crate::wire::Key::$key, $json)
    };
    (@body $read:ident, $tag:literal, $key:ident, $tags:ident, $json:ident, $nested:ident) => {
        $nested::from_tags($tags, $json)
    };
}
pub(crate) use read_by_tag;

/// Has an enum that is read by its tag be read inside other values too, in one pass where the tag
/// comes first.
macro_rules! read_inside {
    ($enum:ident, $key:ident, { $($tag:literal => $variant:ident $(($nested:ident))?),* }) => {
        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::wire::read_nested(from)
            }
        }

        impl $crate::wire::Tagged for $enum {
            const KEY: $crate::wire::Key = $crate::wire::Key::$key;

            fn from_text(json: &str) -> Result<Self, $crate::ReadError> {
                Self::parse(json)
            }

            fn from_body<'de, D: serde::Deserializer<'de>>(
                tag: &str,
                body: D,
            ) -> Result<Self, D::Error> {
                match tag {
                    $($tag => $crate::wire::read_inside!(@straight body $(, $nested)?)
                        .map(Self::$variant),)*
                    _ => Err($crate::wire::unusual()),
                }
            }
        }
    };
    (@straight $body:ident) => { serde::Deserialize::deserialize($body) };
    (@straight $body:ident, $nested:ident) => { Err($crate::wire::unusual()) };
}
pub(crate) use read_inside;
