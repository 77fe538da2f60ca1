//! The prompt: from the command line, from stdin, or both.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use tokio::{io::AsyncReadExt, time};

use crate::complain;

/// Timeout of the first byte on stdin when the command line has a prompt. Some programs leave a pipe
/// open that they never write to or close.
const STDIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Whether a prompt is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    /// The session has deferred calls to make without one.
    Optional,
}

/// Reads the prompt. `None` if it is empty and optional.
pub(super) async fn read(typed: Option<&str>, need: Need) -> anyhow::Result<Option<String>> {
    let is_blank = typed.is_some_and(|text| !text.is_empty() && text.trim().is_empty());
    let typed = typed.filter(|text| !text.trim().is_empty());
    let piped = if io::stdin().is_terminal() { String::new() } else { piped(typed).await? };
    match (typed, piped.trim().is_empty()) {
        (Some(typed), true) => Ok(Some(typed.to_owned())),
        (Some(typed), false) => Ok(Some(format!("{typed}\n{piped}"))),
        (None, false) => Ok(Some(piped)),
        (None, true) if need == Need::Optional => Ok(None),
        (None, true) if is_blank || !piped.is_empty() => anyhow::bail!(
            "Error: Input contained only whitespace. Provide a prompt with text through stdin or as \
             a prompt argument when using --print"
        ),
        (None, true) => anyhow::bail!(
            "Error: Input must be provided either through stdin or as a prompt argument when \
             using --print"
        ),
    }
}

async fn piped(typed: Option<&str>) -> anyhow::Result<String> {
    let mut stdin = tokio::io::stdin();
    let mut bytes = Vec::new();
    let first = stdin.read_buf(&mut bytes);
    if typed.is_some() {
        match time::timeout(STDIN_TIMEOUT, first).await {
            Ok(read) => read?,
            Err(_) => {
                complain("Warning: no data on stdin after 3 s; continuing without it.");
                return Ok(String::new());
            }
        };
    }
    stdin.read_to_end(&mut bytes).await?;
    String::from_utf8(bytes).map_err(|error| anyhow::anyhow!("Error: stdin is not text: {error}"))
}
