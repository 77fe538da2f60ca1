//! Files for options that are too long for a command line.
//!
//! The system limits the length of an argument, and a program with many servers or rules must start
//! all the same. Texts that `initialize` has a field for go there instead.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde_json::json;
use tempfile::TempDir;

use super::{
    Options, Settings,
    arguments::{LONGEST_ARGUMENT, settings},
};
use crate::error::Error;

/// Files that the command line names. Deleted when this is dropped.
pub(crate) struct ArgumentFiles {
    _folder: TempDir,
}

/// Puts what is too long for an argument into files, and the options onto those.
pub(crate) fn into_files(options: &mut Options) -> Result<Option<ArgumentFiles>, Error> {
    let inline = matches!(options.settings.additional, Some(Settings::Inline(_)))
        || options.settings.sandbox.is_some();
    let settings = match inline {
        true => settings(options)?.and_then(|text| text.into_string().ok()),
        false => None,
    };
    let settings = settings.filter(|text| text.len() > LONGEST_ARGUMENT);
    let servers = json!({"mcpServers": options.tools.mcp_servers}).to_string();
    let servers = Some(servers).filter(|text| text.len() > LONGEST_ARGUMENT);
    if settings.is_none() && servers.is_none() {
        return Ok(None);
    }
    let failed = |error| Error::connection("writing options that are too long for a flag", error);
    let folder = bowline_private::disposable_folder("bowline-options-").map_err(failed)?;
    if let Some(text) = settings {
        let file = write(folder.path(), "settings.json", &text).map_err(failed)?;
        options.settings.additional = Some(Settings::File(file));
        options.settings.sandbox = None;
    }
    if let Some(text) = servers {
        let file = write(folder.path(), "servers.json", &text).map_err(failed)?;
        options.tools.mcp_config_files.insert(0, file);
        options.tools.mcp_servers.clear();
    }
    Ok(Some(ArgumentFiles { _folder: folder }))
}

/// Writes a private file: there may be secrets in it.
fn write(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let path = folder.join(name);
    bowline_private::create_new(&path)?.write_all(text.as_bytes())?;
    Ok(path)
}
