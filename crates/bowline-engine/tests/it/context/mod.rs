//! Context of the model besides the conversation.

mod folders_above;
mod memory;
mod repository;
mod rules;
mod style;
mod system_prompt;
mod usage;

use std::{fs, path::Path};

/// Writes a file and the folders it is in.
pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
