//! By what a server knows that we may dial it.

use std::{fmt, fs, io, path::PathBuf};

use tokio_tungstenite::tungstenite::http::HeaderValue;

/// By what a server knows that we may dial it.
#[derive(Clone, Default)]
pub enum Token {
    /// By nothing.
    #[default]
    None,
    /// By this.
    Text(String),
    /// By what the file says when it is dialed, so that a new token needs no new agent.
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
    /// It cannot be read.
    #[error("the token in {}: {source}", path.display())]
    Unreadable {
        /// Where it should be.
        path: PathBuf,
        /// Why it is not there.
        source: io::Error,
    },
    /// It cannot be sent.
    #[error("the token holds characters that no header may hold")]
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
