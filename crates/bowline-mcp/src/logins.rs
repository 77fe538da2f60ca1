//! Login and logout of the servers of a session.

use std::sync::Arc;

use bowline_protocol::McpRemoteServer;

use crate::{
    connection::{has_authorization, http_client},
    endpoint::Endpoint,
    error::McpError,
    login::{Listener, Login, LoginError, LoginFile, LoginPage, Ongoing},
    server::Server,
    server_core::State,
    servers::McpServers,
    status::transport,
};

impl McpServers {
    /// Begins a login to a server and returns the page where the user consents. A login that was
    /// begun before is abandoned.
    ///
    /// The browser is to come back to `redirect_uri`, and then its address is handed in with
    /// [`finish_login`](Self::finish_login). Without one it comes back to a port of this machine,
    /// and the rest happens by itself.
    pub async fn begin_login(
        &self,
        name: &str,
        redirect_uri: Option<&str>,
    ) -> Result<LoginPage, McpError> {
        let server = self.directory.find(name)?;
        let (remote, file) = login_target(&server.core)?;
        let mut ongoing = server.login.lock().await;
        if let Some(before) = ongoing.take() {
            before.stop().await;
        }
        let listener = match redirect_uri {
            Some(_) => None,
            None => {
                let port = remote.oauth.as_ref().and_then(|oauth| oauth.callback_port);
                Some(Listener::bind(port).await.map_err(LoginError::from)?)
            }
        };
        let back = listener.as_ref().map(Listener::redirect_uri);
        let back = redirect_uri.map(str::to_owned).or(back).unwrap_or_default();
        let challenge = match server.core.state() {
            State::NeedsAuth(wanted) => wanted.challenge,
            _ => None,
        };
        let client = http_client(&remote.url, server.core.session.options.connect_timeout);
        let client = client.map_err(LoginError::from)?;
        let login = Login::begin(remote, file, challenge.as_deref(), &back, &client).await?;
        let weak = Arc::downgrade(&server);
        let reconnect = async move {
            if let Some(server) = weak.upgrade() {
                server.restart().await;
            }
        };
        let begun = Ongoing::new(login, listener, Box::pin(reconnect));
        let page = begun.page();
        *ongoing = Some(begun);
        Ok(page)
    }

    /// Finishes a login with the address that the browser came back to, and reconnects the server.
    /// An address that is not of this login leaves it as it was.
    pub async fn finish_login(&self, name: &str, callback_url: &str) -> Result<(), McpError> {
        let server = self.directory.find(name)?;
        let mut ongoing = server.login.lock().await;
        let waiting = ongoing.take_if(|login| login.outcome().borrow().is_none());
        let Some(waiting) = waiting else {
            return Err(LoginError::NotBegun(name.to_owned()).into());
        };
        let login = waiting.login();
        if let Err(error) = login.check(callback_url) {
            *ongoing = Some(waiting);
            return Err(error.into());
        }
        let finished = login.finish(callback_url).await;
        if finished.is_ok() {
            server.restart().await;
        }
        waiting.settle(finished.clone());
        waiting.stop().await;
        Ok(finished?)
    }

    /// Waits until the login that was begun last is finished or abandoned, and the server
    /// reconnected.
    pub async fn login_over(&self, name: &str) -> Result<(), McpError> {
        let server = self.directory.find(name)?;
        let outcome = server.login.lock().await.as_ref().map(Ongoing::outcome);
        if let Some(mut outcome) = outcome {
            let over = outcome.wait_for(Option::is_some).await;
            // The sender is gone: another login has replaced this one.
            let over = over.ok().and_then(|over| over.clone());
            over.unwrap_or(Err(LoginError::Replaced))?;
        }
        server.settled().await;
        Ok(())
    }

    /// Deletes a login and reconnects the server without it. Returns when that has succeeded or failed.
    pub async fn clear_login(&self, name: &str) -> Result<(), McpError> {
        let server = self.directory.find(name)?;
        let (_, file) = login_target(&server.core)?;
        if let Some(ongoing) = server.login.lock().await.take() {
            ongoing.stop().await;
        }
        file.remove().map_err(LoginError::from)?;
        reconnect(&server).await;
        Ok(())
    }
}

/// The address of a server and the file of its login, if it can have one.
fn login_target(endpoint: &Endpoint) -> Result<(&McpRemoteServer, LoginFile), LoginError> {
    let Some(remote) = endpoint.remote() else {
        return Err(LoginError::WrongKind(transport(&endpoint.config)));
    };
    if has_authorization(remote) {
        return Err(LoginError::HasHeader);
    }
    Ok((remote, endpoint.login_file().ok_or(LoginError::NoFolder)?))
}

/// Connects it again, unless it is disabled.
async fn reconnect(server: &Server) {
    if !matches!(server.core.state(), State::Disabled) {
        server.restart().await;
        server.settled().await;
    }
}
