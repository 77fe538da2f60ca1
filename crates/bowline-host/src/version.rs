//! Versions of agents, and the features that each requires.

use std::fmt;

/// The version of an agent, in the numbers of the official one: `2.1.325`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version([u32; 3]);

impl Version {
    /// The oldest that speaks the protocol as we do.
    pub(crate) const OLDEST: Self = Self([2, 0, 0]);
    /// The oldest that supports verbatim prompts.
    pub(crate) const VERBATIM_PROMPTS: Self = Self([2, 1, 248]);
    /// The oldest that takes `--await-initialize`.
    pub(crate) const AWAITS_INITIALIZE: Self = Self([2, 1, 261]);

    /// Reads a version; what follows its numbers does not count.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(3, '.').map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..end].parse().ok()
        });
        let (major, minor) = (numbers.next()??, numbers.next()??);
        Some(Self([major, minor, numbers.next().flatten().unwrap_or(0)]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let read = |text| Version::read(text).unwrap();
        assert!(read("1.0.128") < Version::OLDEST);
        assert_eq!(read("2.0.0-beta.1"), Version::OLDEST);
        assert!(read("2.1.99") < Version::VERBATIM_PROMPTS);
        assert!(read("2.1.325 (Claude Code)") >= Version::AWAITS_INITIALIZE);
        assert!(read("2.2") > Version::AWAITS_INITIALIZE);
        assert_eq!(["", "2", "new", "v2.1"].map(Version::read), [None; 4]);
    }
}
