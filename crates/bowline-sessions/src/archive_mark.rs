//! Mark beside a transcript that archives its session until the next prompt.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use serde::{Deserialize, Serialize};

use crate::{
    clock,
    info::{Ends, is_prompt_after},
};

/// Upper bound for the size of a mark. A larger file is not one.
const LARGEST_MARK: u64 = 4096;

/// The mark, as the TypeScript SDK reads and writes it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ArchiveMark {
    archived: bool,
    at: String,
    #[serde(default)]
    by: String,
}

impl ArchiveMark {
    pub(crate) fn new(archived: bool) -> Self {
        Self { archived, at: clock::now(), by: "bowline".to_owned() }
    }

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            bowline_private::folder(folder)?;
        }
        bowline_private::replace(path, serde_json::to_vec(self)?)
    }
}

/// Whether a session is archived; `None` if it never was.
pub(crate) fn is_archived(mark: &Path, ends: &Ends) -> Option<bool> {
    let mut text = Vec::new();
    File::open(mark).ok()?.take(LARGEST_MARK + 1).read_to_end(&mut text).ok()?;
    let mark: ArchiveMark = serde_json::from_slice(&text).ok()?;
    let at = clock::to_millis(&mark.at)?;
    let prompted_since = || ends.parts().any(|part| part.lines().any(|it| is_prompt_after(it, at)));
    Some(mark.archived && !prompted_since())
}
