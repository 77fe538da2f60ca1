//! Boxes allocated before their value is read.

use serde::{Deserialize, Deserializer};

/// A box, whose room was made before its value was read. Serde makes it afterwards, and on the way
/// there the value is moved once more: for the largest messages that is a tenth of their reading.
pub(super) struct Boxed<T>(pub(super) Box<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Boxed<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let room = Box::new_uninit();
        match T::deserialize(from) {
            Ok(value) => Ok(Self(Box::write(room, value))),
            Err(error) => Err(error),
        }
    }
}
