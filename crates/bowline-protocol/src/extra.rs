//! Unknown fields of an object.

use std::{
    borrow::Cow,
    fmt,
    ops::{Deref, DerefMut},
    sync::LazyLock,
};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, map};

/// The fields of an object that its type does not know.
///
/// Every wire struct ends with one, so that a message from a newer peer is
/// written back with everything it came with. It is used like the [`Map`] it stands for. Nearly
/// always nothing is in it, and then it takes no more than a pointer's room.
///
/// ```
/// use bowline_protocol::TextBlock;
///
/// let mut block: TextBlock = serde_json::from_str(r#"{"text":"Hi","citations":[]}"#)?;
/// assert_eq!(block.extra["citations"], serde_json::json!([]));
/// block.extra.remove("citations");
/// block.extra.insert("cache_control".to_owned(), "ephemeral".into());
/// assert_eq!(serde_json::to_string(&block)?, r#"{"text":"Hi","cache_control":"ephemeral"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Extra(Option<Box<Map<String, Value>>>);

/// What is in those in which nothing is.
static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl Extra {
    /// No fields.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|fields| fields.is_empty())
    }
}

impl Deref for Extra {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl DerefMut for Extra {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.get_or_insert_default()
    }
}

impl From<Map<String, Value>> for Extra {
    fn from(fields: Map<String, Value>) -> Self {
        Self((!fields.is_empty()).then(|| Box::new(fields)))
    }
}

impl From<Extra> for Map<String, Value> {
    fn from(extra: Extra) -> Self {
        extra.0.map(|fields| *fields).unwrap_or_default()
    }
}

impl FromIterator<(String, Value)> for Extra {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(fields: T) -> Self {
        Map::from_iter(fields).into()
    }
}

impl IntoIterator for Extra {
    type Item = (String, Value);
    type IntoIter = map::IntoIter;

    fn into_iter(self) -> map::IntoIter {
        Map::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Extra {
    type Item = (&'a String, &'a Value);
    type IntoIter = map::Iter<'a>;

    fn into_iter(self) -> map::Iter<'a> {
        self.iter()
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Extra {}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> de::Visitor<'de> for Fields {
            type Value = Extra;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Extra, A::Error> {
                let mut extra = Extra::new();
                while let Some((name, value)) = map.next_entry()? {
                    extra.insert(name, value);
                }
                Ok(extra)
            }
        }

        from.deserialize_map(Fields)
    }
}

impl JsonSchema for Extra {
    fn inline_schema() -> bool {
        Map::<String, Value>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Map::<String, Value>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Map::<String, Value>::json_schema(generator)
    }
}
