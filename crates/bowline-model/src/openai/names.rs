//! Tool names within these servers' limits, and back again.

use std::{borrow::Cow, collections::HashMap};

/// Names of tools as a server accepts them.
#[derive(Debug, Default)]
pub(super) struct ToolNames {
    /// From the name on the wire to ours, where they differ.
    ours: HashMap<String, String>,
}

/// The longest name these servers take.
const LONGEST_NAME: usize = 64;

impl ToolNames {
    pub(super) fn new<'a>(tools: impl Iterator<Item = &'a str>) -> Self {
        let changed = tools.filter_map(|name| match on_wire(name) {
            Cow::Borrowed(_) => None,
            Cow::Owned(short) => Some((short, name.to_owned())),
        });
        Self { ours: changed.collect() }
    }

    /// Our name of a tool the server calls.
    pub(super) fn ours(&self, wire: &str) -> String {
        self.ours.get(wire).map_or(wire, String::as_str).to_owned()
    }
}

/// A name as the server accepts it: letters, digits, `_` and `-`, 64 at most. One that
/// has to change ends in a hash of the whole, so that two never become one.
pub(super) fn on_wire(name: &str) -> Cow<'_, str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.len() <= LONGEST_NAME && name.bytes().all(fits) {
        return Cow::Borrowed(name);
    }
    let hash = name
        .bytes()
        .fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let hash = format!("_{hash:08x}");
    let kept = name.chars().map(|char| match u8::try_from(char) {
        Ok(byte) if fits(byte) => char,
        _ => '_',
    });
    let kept: String = kept.take(LONGEST_NAME - hash.len()).collect();
    Cow::Owned(kept + &hash)
}
