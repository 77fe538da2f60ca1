//! Limit of the values in one message.
//!
//! A value of two bytes takes some forty in memory, and more while it is read: a message of the
//! longest length would take gigabytes. Strings, which is what long messages are made of, take their
//! length.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Bytes of a message that is not worth a look.
const SHORT: usize = 256 * 1024;

/// Values in one message.
const MAX_VALUES: usize = 250_000;

/// What a message with more values is told.
const TOO_MANY: &str = "a message with too many values";

/// Checks that a message has no more values than may be kept. What is not JSON passes: the parser that reads
/// it reports the fault.
pub(crate) fn check(json: &[u8]) -> Result<(), String> {
    if json.len() <= SHORT {
        return Ok(());
    }
    let seen = Cell::new(0);
    let mut reader = serde_json::Deserializer::from_slice(json);
    match Count(&seen).deserialize(&mut reader) {
        Err(_) if seen.get() > MAX_VALUES => {
            Err(format!("{TOO_MANY}; at most {MAX_VALUES} are taken"))
        }
        _ => Ok(()),
    }
}

/// Counts values without keeping them.
#[derive(Clone, Copy)]
struct Count<'a>(&'a Cell<usize>);

impl Count<'_> {
    fn one<E: Error>(self) -> Result<(), E> {
        self.0.set(self.0.get() + 1);
        match self.0.get() > MAX_VALUES {
            true => Err(E::custom(TOO_MANY)),
            false => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.one()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.one()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.one()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.one()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.one()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.one()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.one()?;
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.one()?;
        while fields.next_key::<IgnoredAny>()?.is_some() {
            fields.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_refused_and_long_ones_are_not() {
        let many = |count: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(count));
        // The object and the list are values as well.
        assert_eq!(check(many(MAX_VALUES - 3).as_bytes()), Ok(()));
        let refused = check(many(MAX_VALUES - 2).as_bytes()).unwrap_err();
        assert_eq!(refused, "a message with too many values; at most 250000 are taken");
        let text = format!("{{\"a\":\"{}\"}}", "0,[]{}".repeat(1024 * 1024));
        assert_eq!(check(text.as_bytes()), Ok(()));
        let nested = format!("{}{}", "[".repeat(SHORT), "]".repeat(SHORT));
        assert_eq!(check(nested.as_bytes()), Ok(()), "what reads it refuses its depth");
        assert_eq!(check(&vec![b'x'; SHORT + 1]), Ok(()));
    }
}
