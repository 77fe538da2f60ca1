//! Key order of a JSON document, kept when an edited copy of the document is written.
//!
//! `serde_json` sorts keys unless its feature `preserve_order` is on, and a library that switches it on
//! does so for the whole program it is linked into. Files that people edit keep their order by this
//! instead.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::{Number, Value};

/// Order of the keys in a JSON document.
#[derive(Debug, Clone, Default)]
pub struct KeyOrder(Tree);

impl KeyOrder {
    /// Reads the order of a document.
    pub fn of(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text).map(Self)
    }

    /// An edited copy of the document, to be serialized: keys of the original come first and in their
    /// order, added ones after them.
    pub fn apply<'a>(&'a self, edited: &'a Value) -> impl Serialize + 'a {
        Ordered { value: edited, like: Some(&self.0) }
    }
}

/// A document with its keys in order.
#[derive(Debug, Clone, Default)]
enum Tree {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Tree {
    fn equals(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(one), Value::Bool(other)) => one == other,
            (Self::Number(one), Value::Number(other)) => one == other,
            (Self::String(one), Value::String(other)) => one == other,
            (Self::Array(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, it)| one.equals(it))
            }
            (Self::Object(one), Value::Object(other)) => {
                let is_same = |(key, tree): &(String, Self)| {
                    other.get(key).is_some_and(|value| tree.equals(value))
                };
                one.len() == other.len() && one.iter().all(is_same)
            }
            _ => false,
        }
    }

    /// Whether both are objects with the same keys.
    fn has_keys_of(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Object(one), Value::Object(other)) => {
                one.len() == other.len() && one.iter().all(|(key, _)| other.contains_key(key))
            }
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TreeVisitor;

        impl<'de> Visitor<'de> for TreeVisitor {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
                Ok(Tree::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
                Ok(Tree::Number(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
                Ok(Tree::Number(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
                Ok(Number::from_f64(value).map_or(Tree::Null, Tree::Number))
            }

            fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
                Ok(Tree::String(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
                let mut array = Vec::new();
                while let Some(item) = items.next_element()? {
                    array.push(item);
                }
                Ok(Tree::Array(array))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
                let mut object: Vec<(String, Tree)> = Vec::new();
                while let Some((key, value)) = entries.next_entry::<String, Tree>()? {
                    // The last of duplicate keys applies, as in `serde_json`.
                    match object.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, known)) => *known = value,
                        None => object.push((key, value)),
                    }
                }
                Ok(Tree::Object(object))
            }
        }

        from.deserialize_any(TreeVisitor)
    }
}

/// A value that is serialized with the key order of another.
struct Ordered<'a> {
    value: &'a Value,
    like: Option<&'a Tree>,
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match (self.value, self.like) {
            (Value::Object(object), Some(Tree::Object(like))) => {
                let mut map = to.serialize_map(Some(object.len()))?;
                for (key, like) in like {
                    if let Some(value) = object.get(key) {
                        map.serialize_entry(key, &Ordered { value, like: Some(like) })?;
                    }
                }
                for (key, value) in object {
                    if like.iter().all(|(known, _)| known != key) {
                        map.serialize_entry(key, value)?;
                    }
                }
                map.end()
            }
            (Value::Array(items), Some(Tree::Array(like))) => {
                let mut sequence = to.serialize_seq(Some(items.len()))?;
                // Items that were not edited follow each other, so that the search is short.
                let mut expected = 0;
                for value in items {
                    let like = match similar(value, like, expected) {
                        Some(index) => {
                            expected = index + 1;
                            like.get(index)
                        }
                        None => None,
                    };
                    sequence.serialize_element(&Ordered { value, like })?;
                }
                sequence.end()
            }
            (value, _) => value.serialize(to),
        }
    }
}

/// The index of the original of an array's item: the one that it equals, or else one with its keys.
fn similar(value: &Value, originals: &[Tree], expected: usize) -> Option<usize> {
    if !value.is_object() && !value.is_array() {
        return None;
    }
    let (before, after) = originals.split_at(expected.min(originals.len()));
    let indexed = || {
        let after = after.iter().enumerate().map(|(index, tree)| (before.len() + index, tree));
        after.chain(before.iter().enumerate())
    };
    let equal = indexed().find(|(_, tree)| tree.equals(value));
    let index = equal.or_else(|| indexed().find(|(_, tree)| tree.has_keys_of(value)));
    index.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(original: &str, edited: Value, expected: &str) {
        let order = KeyOrder::of(original).unwrap();
        assert_eq!(serde_json::to_string(&order.apply(&edited)).unwrap(), expected);
    }

    #[test]
    fn original_keys_keep_their_order_and_added_ones_follow() {
        check(
            r#"{"z":1,"a":{"y":2,"b":3}}"#,
            json!({"a": {"b": 4, "y": 2}, "z": 1}),
            r#"{"z":1,"a":{"y":2,"b":4}}"#,
        );
        check(r#"{"z":1,"b":2}"#, json!({"b": 2, "c": 3, "z": 1}), r#"{"z":1,"b":2,"c":3}"#);
        check(r#"{"z":1,"b":2,"a":3}"#, json!({"a": 3, "z": 1}), r#"{"z":1,"a":3}"#);
        check("null", json!({"a": 1}), r#"{"a":1}"#);
    }

    #[test]
    fn array_items_follow_their_originals_when_they_move() {
        let original = r#"[{"z":1,"a":1},{"a":2,"z":2},{"y":3,"z":3}]"#;
        let edited = json!([{"a": 2, "z": 2}, {"a": 9, "z": 9}, {"y": 3, "z": 3}]);
        check(original, edited, r#"[{"a":2,"z":2},{"z":9,"a":9},{"y":3,"z":3}]"#);
    }

    #[test]
    fn every_kind_of_value_survives() {
        let text =
            r#"{"s":"ü","n":-1,"u":18446744073709551615,"f":1.5,"t":true,"x":null,"l":[1,"a",[]]}"#;
        check(text, serde_json::from_str(text).unwrap(), text);
    }
}
