//! Searching trees of files with ripgrep's libraries, for Glob and Grep.

mod files;
mod pattern;
mod sink;
mod walk;

pub(crate) use files::find;
pub(crate) use pattern::{Contexts, Pattern, Query, Show};
pub(crate) use sink::{FileHits, HitLine};
pub(crate) use walk::{Found, Scope, search};

/// What ripgrep's libraries say is wrong with a search.
pub(crate) fn rejected(error: impl std::fmt::Display) -> String {
    format!(
        "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\nrg: \
         {error}"
    )
}
