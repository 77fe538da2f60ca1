//! Closed enums: an unknown tag is an error, never a guess.

/// Like [`read_by_tag!`](super::read_by_tag), but an unknown tag is an error that names the key.
macro_rules! read_closed {
    ($enum:ident, $key:ident, { $($tag:literal => $variant:ident),* $(,)? }) => {
        impl $enum {
            /// The tags there are.
            pub const TAGS: &'static [&'static str] = &[$($tag),*];

            /// Reads one value from its JSON text.
            pub fn parse(json: &str) -> Result<Self, $crate::ReadError> {
                let key = $crate::wire::Key::$key;
                let tags = $crate::wire::Tags::read(json, key)?;
                match tags.get(key) {
                    $(Some($tag) => $crate::wire::read_body($tag, key, json).map(Self::$variant),)*
                    tag => Err($crate::ReadError::unexpected_tag(
                        stringify!($enum), key.name(), tag, Self::TAGS,
                    )),
                }
            }
        }

        $crate::wire::read_inside!($enum, $key, { $($tag => $variant),* });
    };
}
pub(crate) use read_closed;
