//! Opening a transcript to go on with it: a last line that was torn by a crash is cut off.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

/// Opens a transcript for appending, without a line that was torn.
pub(super) fn reopen(path: &Path) -> io::Result<File> {
    let mut file = bowline_private::open(path, OpenOptions::new().read(true).append(true))?;
    let length = file.metadata()?.len();
    let torn = last_piece(&mut file, length)?;
    if torn.is_empty() {
        return Ok(file);
    }
    if serde_json::from_slice::<serde::de::IgnoredAny>(&torn).is_ok() {
        // Whole after all: only its newline is missing.
        file.write_all(b"\n")?;
    } else {
        file.set_len(length - torn.len() as u64)?;
    }
    Ok(file)
}

/// Text after the last newline.
fn last_piece(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    const CHUNK: u64 = 64 * 1024;
    let mut piece = Vec::new();
    let mut start = length;
    while start > 0 {
        let size = CHUNK.min(start);
        start -= size;
        file.seek(SeekFrom::Start(start))?;
        let mut chunk = Vec::new();
        Read::take(&mut *file, size).read_to_end(&mut chunk)?;
        let newline = memchr::memrchr(b'\n', &chunk);
        chunk.drain(..newline.map_or(0, |newline| newline + 1));
        chunk.append(&mut piece);
        piece = chunk;
        if newline.is_some() {
            break;
        }
    }
    Ok(piece)
}
