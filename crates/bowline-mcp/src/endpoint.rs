//! A server as it is configured: how it is reached, and the session it belongs to.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use bowline_protocol::{McpGrantType, McpRemoteServer, McpServerConfig};
use bowline_tools::Workspace;
use parking_lot::Mutex;
use serde_json::Number;
use tokio_util::sync::CancellationToken;

use crate::{
    config::Scope,
    host::{Elicit, McpObserver, SdkServers},
    in_process::CallLimits,
    login::{LoginFile, Wanted},
    options::Options,
    stderr_tail::StderrTail,
};

/// The parts of a session that all its servers use.
pub(crate) struct SessionContext {
    pub(crate) options: Options,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) sdk: Option<Arc<dyn SdkServers>>,
    pub(crate) elicit: Option<Arc<dyn Elicit>>,
    pub(crate) observer: Option<Arc<dyn McpObserver>>,
    /// The folder of the logins.
    pub(crate) logins: Option<PathBuf>,
    /// The number of changes of tools so far.
    pub(crate) version: AtomicU64,
}

/// A server as it is configured.
pub(crate) struct Endpoint {
    pub(crate) name: String,
    pub(crate) config: McpServerConfig,
    pub(crate) scope: Scope,
    pub(crate) session: Arc<SessionContext>,
    stderr: Mutex<Option<Arc<StderrTail>>>,
}

impl Endpoint {
    pub(crate) fn new(
        name: String,
        config: McpServerConfig,
        scope: Scope,
        session: Arc<SessionContext>,
    ) -> Self {
        Self { name, config, scope, session, stderr: Mutex::default() }
    }

    pub(crate) fn is_sdk(&self) -> bool {
        matches!(self.config, McpServerConfig::Sdk(_))
    }

    /// Its address, if it is on the network.
    pub(crate) fn remote(&self) -> Option<&McpRemoteServer> {
        match &self.config {
            McpServerConfig::Http(remote) | McpServerConfig::Sse(remote) => Some(remote),
            _ => None,
        }
    }

    /// Whether logins need no user, so that they can be repeated at any time.
    pub(crate) fn is_own_client(&self) -> bool {
        let oauth = self.remote().and_then(|remote| remote.oauth.as_ref());
        oauth.is_some_and(|oauth| oauth.grant_type == Some(McpGrantType::ClientCredentials))
    }

    /// The file of its login.
    pub(crate) fn login_file(&self) -> Option<LoginFile> {
        let folder = self.session.logins.as_ref()?;
        Some(LoginFile::new(folder, &self.name, &self.remote()?.url))
    }

    /// Adds scopes to the request of the next login.
    pub(crate) fn note_scopes(&self, wanted: &Wanted) {
        let Some(file) = self.login_file().filter(|_| !wanted.scopes.is_empty()) else { return };
        let noted = file.change(|kept| {
            let new = wanted.scopes.iter().filter(|scope| !kept.wanted_scopes.contains(scope));
            let new: Vec<_> = new.cloned().collect();
            kept.wanted_scopes.extend(new);
        });
        if let Err(error) = noted {
            tracing::warn!(server = self.name, %error, "cannot save the scopes that a server requires");
        }
    }

    /// The timeout of a call of one of its tools; progress restarts it.
    pub(crate) fn call_timeout(&self) -> Duration {
        let configured = match &self.config {
            McpServerConfig::Stdio(server) => server.timeout.as_ref(),
            McpServerConfig::Http(server) | McpServerConfig::Sse(server) => server.timeout.as_ref(),
            McpServerConfig::Sdk(server) => server.timeout.as_ref(),
            _ => None,
        };
        let configured = configured.and_then(Number::as_f64).filter(|ms| *ms > 0.0);
        let configured = configured.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
        configured.unwrap_or(self.session.options.call_timeout)
    }

    /// The limits of calls of its tools, if it runs in this process.
    pub(crate) fn call_limits(&self, closed: &CancellationToken) -> CallLimits {
        CallLimits {
            server: self.name.clone(),
            timeout: self.call_timeout(),
            max_result_chars: self.session.options.max_result_chars(),
            closed: closed.clone(),
        }
    }

    /// Sets the stderr of its program.
    pub(crate) fn set_stderr(&self, stderr: Arc<StderrTail>) {
        *self.stderr.lock() = Some(stderr);
    }

    /// The tail of its program's stderr, if it is a program.
    pub(crate) fn stderr(&self) -> Option<String> {
        self.stderr.lock().as_ref().map(|stderr| stderr.text())
    }
}
