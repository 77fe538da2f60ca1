//! Bounded reading of files that another party may have prepared.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// More than any file of settings has.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The text of a regular file of bounded size. A pipe or a device at that path would block or never end.
pub fn read_regular(path: &Path) -> io::Result<String> {
    // Before it is opened: opening a pipe waits for a writer.
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > MAX_BYTES {
        let why = "not a regular file of at most 16 MB";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a");
        fs::write(&file, "text").expect("a file");
        assert_eq!(read_regular(&file).expect("readable"), "text");
        assert!(read_regular(folder.path()).is_err());
        assert!(read_regular(Path::new("/dev/zero")).is_err());
        let missing = read_regular(&folder.path().join("b")).expect_err("missing");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
