//! Token of the MCP server over HTTP: given by the user, or generated and kept for the next start.

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

/// File of the generated token, in the configuration folder.
const FILE: &str = "mcp-token";

/// Bytes of a generated token.
const BYTES: usize = 32;

/// Longest token: a larger file is not a token.
const MAX_LENGTH: u64 = 4096;

/// A generated token, and its file.
#[derive(Debug)]
pub(super) struct OwnToken {
    pub(super) text: String,
    pub(super) file: PathBuf,
}

/// Reads the token from the file that the user names.
pub(super) fn from_file(path: &Path) -> anyhow::Result<Token> {
    let context = || format!("Error: --token-file {}", path.display());
    let file = File::open(path).with_context(context)?;
    let others = file.metadata().with_context(context)?.mode() & 0o077;
    if others != 0 {
        complain(format!(
            "Warning: other users may read the token in {} (chmod 600 prevents it)",
            path.display()
        ));
    }
    let text = read(file).with_context(context)?;
    Token::new(&text).with_context(|| format!("Error: {} is empty", path.display()))
}

/// Reads the token in the configuration folder, or generates it.
pub(super) fn own(environment: &Environment) -> anyhow::Result<OwnToken> {
    let folder = environment.config_dir();
    let file = folder.join(FILE);
    let context = || format!("Error: the token cannot be kept in {}", file.display());
    if let Some(text) = kept(&file).with_context(context)? {
        return Ok(OwnToken { text, file });
    }
    bowline_private::folder_as_it_is(&folder).with_context(context)?;
    let text = generate().with_context(context)?;
    // The link is atomic: readers see a whole token or none, and of two concurrent starts one wins.
    let beside = folder.join(format!("{FILE}.{}", uuid::Uuid::new_v4()));
    let linked = write(&beside, &text).and_then(|()| fs::hard_link(&beside, &file));
    fs::remove_file(&beside).ok();
    match linked {
        Ok(()) => Ok(OwnToken { text, file }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let text = kept(&file).with_context(context)?.with_context(context)?;
            Ok(OwnToken { text, file })
        }
        Err(error) => Err(error).with_context(context),
    }
}

/// Reads a token of an earlier start. One that other users may have read or written is an error.
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
        bail!("the path exists, and is not a file that only you can read; remove it");
    }
    let text = read(file)?.trim().to_owned();
    if text.len() < BYTES {
        bail!("the file exists, and holds no token; remove it");
    }
    Ok(Some(text))
}

fn generate() -> io::Result<String> {
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
