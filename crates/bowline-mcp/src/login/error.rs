//! Errors of a login.

use std::io;

use rmcp::transport::auth::AuthError;

/// Why a login failed. The texts are for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// Only servers on the network have logins.
    #[error("Server type \"{0}\" does not support OAuth authentication")]
    WrongKind(&'static str),
    /// The configuration has an `Authorization` header.
    #[error(
        "the configuration of the server has an Authorization header, which has precedence over a login"
    )]
    HasHeader,
    /// There is no folder in which a login could be kept.
    #[error("there is no configuration folder to keep a login in")]
    NoFolder,
    /// The authorization server does not register clients, at least not us.
    #[error(
        "{0}; a client that was registered beforehand goes into `oauth.clientId` of the server"
    )]
    NoClient(String),
    /// No login to this server has been begun.
    #[error("No active OAuth flow for server: {0}")]
    NotBegun(String),
    /// The address has nothing in it that would end a login.
    #[error("that address has no code in it; the whole address of the last page is needed")]
    NoCode,
    /// The address is of another login. This one still waits.
    #[error("that address is of another login; this one still waits for its own")]
    OtherLogin,
    /// Another login to the same server was begun.
    #[error("another login was begun")]
    Replaced,
    /// The user did not come back.
    #[error("the login timed out: the browser did not come back in time")]
    TimedOut,
    /// The user or the authorization server refused.
    #[error("the login was refused: {0}")]
    Refused(String),
    /// Anything else on the way.
    #[error("{0}")]
    Failed(String),
}

impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<io::Error> for LoginError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<reqwest::Error> for LoginError {
    fn from(error: reqwest::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
