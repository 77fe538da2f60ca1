//! Why a login does not happen.

use std::io;

use rmcp::transport::auth::AuthError;

/// Why a login does not happen. The texts are for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// Only servers on the network have logins.
    #[error("Server type \"{0}\" does not support OAuth authentication")]
    WrongKind(&'static str),
    /// The configuration already says who the user is.
    #[error("the configuration of the server has an Authorization header, which counts")]
    HasHeader,
    /// There is no folder in which a login could be kept.
    #[error("there is no place to keep a login in")]
    NoPlace,
    /// The authorization server does not register clients, at least not us.
    #[error(
        "{0}; a client that was registered beforehand goes into `oauth.clientId` of the server"
    )]
    NoClient(String),
    /// Nobody has begun to log in to this server.
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
    #[error("nobody logged in")]
    TimedOut,
    /// The user, or the authorization server, said no.
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
