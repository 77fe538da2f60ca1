//! Limits on the files that a checkpoint from a transcript may name.
//!
//! A transcript may come from elsewhere (`--resume FILE` or a URL). A rewind must not read a copy that
//! this program did not make, nor write or remove a file that is not the session's to edit.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use crate::line::Backup;

/// The working directories of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    directories: Vec<PathBuf>,
}

impl Limits {
    pub(super) fn add(&mut self, directory: &Path) {
        self.directories.push(directory.to_owned());
    }

    /// Checks a file and its copy from a transcript.
    pub(super) fn check(&self, path: &Path, copy: &Backup) -> Result<(), &'static str> {
        if copy.backup_file_name.as_deref().is_some_and(|name| !is_copy_name(name)) {
            return Err("the transcript names a copy that does not belong to the session");
        }
        self.check_file(path)
    }

    /// Why a file that a transcript names is left alone. Checked again when it is written: a folder on
    /// the way may be a link by now.
    pub(super) fn check_file(&self, path: &Path) -> Result<(), &'static str> {
        let real = real_path(path);
        let is_inside = |real: &Path| {
            let mut directories = self.directories.iter().map(fs::canonicalize);
            directories.any(|directory| {
                directory.is_ok_and(|directory| real.starts_with(&directory) && real != directory)
            })
        };
        match real.is_ok_and(|real| is_inside(&real)) {
            true => Ok(()),
            false => Err("it is outside the working directories of the session"),
        }
    }
}

/// Whether a copy can have this name: sixteen hexadecimal digits, `@v` and a number.
fn is_copy_name(name: &str) -> bool {
    let Some((hash, version)) = name.split_once("@v") else { return false };
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    hash.len() == 16
        && hash.bytes().all(is_hex)
        && !version.is_empty()
        && version.bytes().all(|byte| byte.is_ascii_digit())
}

/// Resolved path of a file: the real path of the folders that exist, and the names that do not.
/// The last name is not resolved; a link there is skipped by the caller.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut missing = Vec::new();
    let mut rest = path;
    while let (Some(parent), Some(name)) = (rest.parent(), rest.file_name()) {
        missing.push(name);
        rest = parent;
        match fs::canonicalize(rest) {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            // A dangling link is there, but leads nowhere that is known.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !rest.is_symlink() => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_one_form_of_name() {
        for good in ["0123456789abcdef@v1", "ffffffffffffffff@v18446744073709551615"] {
            assert!(is_copy_name(good), "{good}");
        }
        for bad in [
            "",
            "@v1",
            "0123456789abcdef@v",
            "0123456789abcdef@v-1",
            "0123456789abcdef@v1/../x",
            "0123456789ABCDEF@v1",
            "0123456789abcde@v1",
            "0123456789abcdef@v1\n",
            "../../../../p/evil",
            "/etc/passwd",
            "0123456789abcdef",
        ] {
            assert!(!is_copy_name(bad), "{bad}");
        }
    }
}
