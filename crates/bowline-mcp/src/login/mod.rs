//! Logins with OAuth: who the user is to a server on the network.
//!
//! Finding the authorization server, registering, PKCE and refreshing are `rmcp`'s. Here is what
//! is kept of a login ([`LoginFile`]), how one is begun and finished ([`Login`]), how the browser
//! comes back ([`Listener`]), and how connections use what came of it ([`authorized`]), or log in
//! without anybody ([`unattended`]). Nothing here opens a browser.

mod authority;
mod authorized;
mod body;
mod error;
mod file;
mod flow;
mod listener;
mod ongoing;
mod signed;
mod unattended;

pub(crate) use authorized::authorized;
pub use error::LoginError;
pub(crate) use file::LoginFile;
pub(crate) use flow::{Login, Wanted};
pub(crate) use listener::Listener;
pub(crate) use ongoing::Ongoing;

/// A login that waits for its user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginPage {
    /// The page on which the user agrees.
    pub url: String,
    /// What tells this login from others.
    pub state: String,
    /// The port of this machine that the browser comes back to, unless it goes elsewhere.
    pub callback_port: Option<u16>,
}
