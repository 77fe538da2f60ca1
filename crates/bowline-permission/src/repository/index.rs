//! Files that an index of `git` names, other repositories among them.
//!
//! `git diff` shows files that no argument names, and it runs in each of the repositories inside, with
//! its settings. Asking `git` itself would take a process for every command that is judged.

use std::{fs, io, path::Path};

use super::Doubt;

/// More than the index of any project has.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What the mode of an entry says about another repository.
const REPOSITORY: u32 = 0o160_000;
const HEADER: usize = 12;
/// An entry up to its hash, and where its mode is.
const FIXED: usize = 40;
const MODE: usize = 24;
/// A flag that an entry has two bytes more.
const EXTENDED: u16 = 0x4000;

/// A file that is tracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where it is, below the folder with the files.
    pub(super) path: String,
    /// Whether it is a repository of its own.
    pub(super) is_repository: bool,
}

/// What is tracked; nothing if there is no index. One that is not understood is a doubt.
pub(super) fn tracked(path: &Path) -> Result<Vec<Entry>, Doubt> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(it) if it.is_file() && it.len() <= MAX_BYTES => {}
        _ => return Err(Doubt::about(path, "is not an ordinary file")),
    }
    let bytes = fs::read(path).map_err(|_| Doubt::about(path, "cannot be read"))?;
    // Hashes are of one kind in a repository, and only the right one fits to the end. One that can be
    // read both ways was made to be.
    match [20, 32].map(|hash| entries(&bytes, hash)) {
        [Some(found), None] | [None, Some(found)] => Ok(found),
        [Some(short), Some(long)] if short.is_empty() && long.is_empty() => Ok(short),
        _ => Err(Doubt::about(path, "is not understood")),
    }
}

fn entries(bytes: &[u8], hash: usize) -> Option<Vec<Entry>> {
    let header = bytes.get(..HEADER)?;
    let number =
        |at: usize, of: &[u8]| Some(u32::from_be_bytes(of.get(at..at + 4)?.try_into().ok()?));
    let version = number(4, header)?;
    if !header.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut rest = bytes.get(HEADER..bytes.len().checked_sub(hash)?)?;
    let mut name: Vec<u8> = Vec::new();
    let mut found = Vec::new();
    for _ in 0..number(8, header)? {
        let mode = number(MODE, rest)?;
        let flags = u16::from_be_bytes(rest.get(FIXED + hash..)?.get(..2)?.try_into().ok()?);
        let begin = FIXED + hash + if flags & EXTENDED != 0 { 4 } else { 2 };
        let named = rest.get(begin..)?;
        let length = match version {
            4 => {
                let (dropped, used) = dropped(named)?;
                name.truncate(name.len().checked_sub(dropped)?);
                let named = named.get(used..)?;
                let end = named.iter().position(|byte| *byte == 0)?;
                name.extend_from_slice(&named[..end]);
                begin + used + end + 1
            }
            _ => {
                let end = named.iter().position(|byte| *byte == 0)?;
                name = named[..end].to_vec();
                // Filled up with one to eight zeros.
                (begin + end + 8) & !7
            }
        };
        let is_repository = mode & 0o170_000 == REPOSITORY;
        // A name that is not UTF-8 matters only if `git` would go there.
        let path = match is_repository {
            true => String::from_utf8(name.clone()).ok()?,
            false => String::from_utf8_lossy(&name).into_owned(),
        };
        found.push(Entry { path, is_repository });
        rest = rest.get(length..)?;
    }
    extensions_are_known(rest)?.then_some(found)
}

/// How many bytes of the name before are dropped, and how many tell that.
fn dropped(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        value = value << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

/// Whether what follows the entries holds none: an index may be split in two.
fn extensions_are_known(mut rest: &[u8]) -> Option<bool> {
    while !rest.is_empty() {
        let (name, size) = (rest.get(..4)?, rest.get(4..8)?);
        let size = u32::from_be_bytes(size.try_into().ok()?) as usize;
        if name == b"link" {
            return Some(false);
        }
        rest = rest.get(8..)?.get(size..)?;
    }
    Some(true)
}
