//! The token of the MCP server over HTTP: given by the user, or made and kept for the next start.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bowline_door_mcp::Token;

use crate::{environment::Environment, terminal::complain};

/// Where a token that was made is kept, in the configuration folder.
const FILE: &str = "mcp-token";

/// Bytes of a token that is made.
const BYTES: usize = 32;

/// The longest token that is read: a file with more is another file.
const MAX_LENGTH: u64 = 4096;

/// A token that was made here, and where it is kept.
#[derive(Debug)]
pub(super) struct OwnToken {
    pub(super) text: String,
    pub(super) file: PathBuf,
}

/// The token of a file that the user names.
pub(super) fn from_file(path: &Path) -> anyhow::Result<Token> {
    let told = || format!("Error: --token-file {}", path.display());
    let file = File::open(path).with_context(told)?;
    let others = file.metadata().with_context(told)?.mode() & 0o077;
    if others != 0 {
        complain(format!(
            "Warning: other users may read the token in {} (chmod 600 keeps it from them)",
            path.display()
        ));
    }
    let text = read(file).with_context(told)?;
    Token::new(&text).with_context(|| format!("Error: {} is empty", path.display()))
}

/// The token in the configuration folder. One is made if there is none.
pub(super) fn own(environment: &Environment) -> anyhow::Result<OwnToken> {
    let folder = environment.config_dir();
    let file = folder.join(FILE);
    let told = || format!("Error: no token can be kept in {}", file.display());
    if let Some(text) = kept(&file).with_context(told)? {
        return Ok(OwnToken { text, file });
    }
    bowline_private::folder_as_it_is(&folder).with_context(told)?;
    let text = made().with_context(told)?;
    // Readers see a whole token or none; of two servers that start at once, one makes it.
    let beside = folder.join(format!("{FILE}.{}", uuid::Uuid::new_v4()));
    let linked = write(&beside, &text).and_then(|()| fs::hard_link(&beside, &file));
    fs::remove_file(&beside).ok();
    match linked {
        Ok(()) => Ok(OwnToken { text, file }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let text = kept(&file).with_context(told)?.with_context(told)?;
            Ok(OwnToken { text, file })
        }
        Err(error) => Err(error).with_context(told),
    }
}

/// A token that was made at an earlier start. One that others may have read or written is not used.
fn kept(path: &Path) -> anyhow::Result<Option<String>> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = file.metadata()?;
    let own = rustix::process::geteuid().as_raw();
    if is_link || !found.is_file() || found.uid() != own || found.mode() & 0o077 != 0 {
        bail!("it is there already, and not a file that only you can read; remove it");
    }
    let text = read(file)?.trim().to_owned();
    if text.len() < BYTES {
        bail!("it is there already, and holds no token; remove it");
    }
    Ok(Some(text))
}

fn made() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = bowline_private::create_new(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

fn read(file: File) -> io::Result<String> {
    let mut text = String::new();
    file.take(MAX_LENGTH).read_to_string(&mut text)?;
    Ok(text)
}
