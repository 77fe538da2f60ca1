//! Bearer token of the dialing agent.

use std::{fmt, fs, io, path::PathBuf};

use tokio_tungstenite::tungstenite::http::HeaderValue;

/// The bearer token that is sent in the handshake.
#[derive(Clone, Default)]
pub enum Token {
    /// No token.
    #[default]
    None,
    /// This token.
    Text(String),
    /// The content of a file, read at each dial, so that a rotated token needs no restart.
    File(PathBuf),
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Text(_) => f.write_str("Text(…)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read.
    #[error("the token in {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// The token is not a valid header value.
    #[error("the token contains characters that are not allowed in an HTTP header")]
    Unsendable,
}

impl Token {
    pub(crate) fn header(&self) -> Result<Option<HeaderValue>, TokenError> {
        let token = match self {
            Self::None => return Ok(None),
            Self::Text(token) => token.clone(),
            Self::File(path) => read_token(path.clone())?,
        };
        let header = format!("Bearer {token}").parse();
        let mut header: HeaderValue = header.map_err(|_| TokenError::Unsendable)?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

fn read_token(path: PathBuf) -> Result<String, TokenError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(source) => Err(TokenError::Unreadable { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_not_shown() {
        let token = Token::Text("abc123".to_owned());
        assert!(!format!("{token:?} {:?}", token.header().unwrap()).contains("abc123"));
        assert_eq!(token.header().unwrap().unwrap(), "Bearer abc123");
        assert!(Token::Text("a\nb".to_owned()).header().is_err());
    }
}
