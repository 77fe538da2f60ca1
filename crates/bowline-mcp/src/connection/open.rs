//! Opening and closing a connection to a server of any kind.

use std::{
    error::Error,
    io,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bowline_protocol::{McpRemoteServer, McpServerConfig};
use reqwest::Client;
use rmcp::{
    RoleClient, ServiceExt,
    service::{ClientInitializeError, RunningService},
    transport::{Transport, auth::AuthClient},
};
use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Connection, Hello, Link,
    cause::{refusal, root_cause},
    changes::Changes,
    handler::Handler,
    http,
    line::LineTransport,
    process::Process,
    request::RequestError,
    rmcp_link::RmcpLink,
    sdk::{SdkClient, greet},
    sse::SseTransport,
    watched::Watched,
};
use crate::{
    endpoint::Endpoint,
    in_process::InProcessServer,
    login::{Wanted, authorized},
    spec::ServerTool,
};

/// How long an orderly close may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Why a server cannot be connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConnectError {
    /// It requires a login, or one with more scopes.
    NeedsAuth(Wanted),
    /// Anything else.
    Failed(String),
}

impl From<reqwest::Error> for ConnectError {
    fn from(error: reqwest::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A connected server.
pub(crate) struct Opened {
    pub(crate) connection: Arc<Connection>,
    pub(crate) owner: Owner,
    pub(crate) hello: Hello,
    /// Its tools, if it runs in this process: they are not listed but handed over.
    pub(crate) tools: Option<Vec<ServerTool>>,
}

/// The owner of a connection. Dropping it ends the connection and kills the program.
pub(crate) struct Owner {
    process: Option<Process>,
    service: Option<RunningService<RoleClient, Handler>>,
    asides: TaskTracker,
    closed: CancellationToken,
}

impl Owner {
    /// Ends the connection in an orderly way.
    pub(crate) async fn close(mut self) {
        let close = async {
            self.asides.close();
            self.asides.wait().await;
            self.closed.cancel();
            if let Some(mut service) = self.service.take() {
                let _ = service.close().await;
            }
        };
        if timeout(CLOSE_TIMEOUT, close).await.is_err() {
            tracing::debug!("a server was not closed in time");
        }
        self.closed.cancel();
        drop(self.service.take());
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }
}

/// Connects to a server. `greeting` is the result of an `initialize` that was sent ahead of time.
pub(crate) async fn open(
    endpoint: &Endpoint,
    greeting: Option<Hello>,
) -> Result<Opened, ConnectError> {
    let options = &endpoint.session.options;
    match &endpoint.config {
        McpServerConfig::Stdio(program) => {
            let started = Process::start(program, endpoint.scope, &endpoint.session.workspace);
            let (process, stdout, stdin) =
                started.map_err(|error| ConnectError::Failed(not_started(&error)))?;
            endpoint.set_stderr(process.stderr());
            match serve(endpoint, LineTransport::new(stdout, stdin)).await {
                Ok(mut opened) => {
                    opened.owner.process = Some(process);
                    Ok(opened)
                }
                Err(error) => {
                    process.end().await;
                    Err(error)
                }
            }
        }
        McpServerConfig::Http(remote) => {
            let client = http::client(&remote.url, options.connect_timeout)?;
            match logged_in(endpoint, remote, &client).await? {
                Some(client) => serve(endpoint, http::streamable(remote, client)?).await,
                None => serve(endpoint, http::streamable(remote, client)?).await,
            }
        }
        McpServerConfig::Sse(remote) => {
            let client = http::client(&remote.url, options.connect_timeout)?;
            let authorized = logged_in(endpoint, remote, &client).await?;
            serve(endpoint, SseTransport::open(remote, client, authorized).await?).await
        }
        McpServerConfig::Sdk(_) => open_sdk(endpoint, greeting).await,
        other => Err(ConnectError::Failed(format!("unknown kind of MCP server: {other:?}"))),
    }
}

/// A client with the user's login, if there is one. An `Authorization` header of the configuration
/// has precedence.
async fn logged_in(
    endpoint: &Endpoint,
    remote: &McpRemoteServer,
    client: &Client,
) -> Result<Option<AuthClient<Client>>, ConnectError> {
    if has_authorization(remote) {
        return Ok(None);
    }
    let client = authorized(remote, endpoint.login_file().as_ref(), client).await;
    client.map_err(|error| ConnectError::Failed(error.to_string()))
}

/// Whether the configuration has an `Authorization` header.
pub(crate) fn has_authorization(remote: &McpRemoteServer) -> bool {
    let mut names = remote.headers.iter().flat_map(|headers| headers.keys());
    names.any(|name| name.eq_ignore_ascii_case("authorization"))
}

async fn serve<T>(endpoint: &Endpoint, transport: T) -> Result<Opened, ConnectError>
where
    T: Transport<RoleClient> + 'static,
{
    let (closed, changes) = (CancellationToken::new(), Arc::new(Changes::default()));
    let handler = Handler::new(
        &endpoint.name,
        &endpoint.session.options.client,
        endpoint.session.elicit.clone(),
        Arc::clone(&endpoint.session.workspace),
    );
    let transport =
        Watched { inner: transport, closed: closed.clone(), changes: Arc::clone(&changes) };
    let url = endpoint.remote().map(|remote| remote.url.clone());
    let service = handler.serve(transport).await;
    let service = service.map_err(|error| not_greeted(&error, url.as_deref()))?;
    let peer = service.peer().clone();
    let info = peer.peer_info().and_then(|info| serde_json::to_value(&*info).ok());
    let hello = info.and_then(|info| serde_json::from_value(info).ok()).unwrap_or_default();
    let asides = TaskTracker::new();
    Ok(Opened {
        connection: Arc::new(Connection {
            link: Link::Rmcp(RmcpLink { peer, url }),
            closed: closed.clone(),
            changes,
            asides: asides.clone(),
            refused: OnceLock::new(),
        }),
        owner: Owner { process: None, service: Some(service), asides, closed },
        hello,
        tools: None,
    })
}

async fn open_sdk(endpoint: &Endpoint, greeting: Option<Hello>) -> Result<Opened, ConnectError> {
    let failed = |error: RequestError| ConnectError::Failed(error.to_string());
    let servers = endpoint.session.sdk.clone();
    let servers = servers.ok_or_else(|| {
        ConnectError::Failed("no host with MCP servers of its own is attached".to_owned())
    })?;
    let closed = CancellationToken::new();
    let client = SdkClient::new(Arc::clone(&servers), &endpoint.name);
    let (hello, tools) = match servers.in_process(&endpoint.name, endpoint.call_limits(&closed)) {
        Some(InProcessServer { info, instructions, tools }) => {
            (Hello::of_tools(info, instructions), Some(tools))
        }
        None => {
            let hello = match greeting {
                Some(hello) => hello,
                None => {
                    let client = &endpoint.session.options.client;
                    greet(&servers, &endpoint.name, client).await.map_err(failed)?
                }
            };
            client.complete_handshake().await.map_err(failed)?;
            (hello, None)
        }
    };
    let asides = TaskTracker::new();
    Ok(Opened {
        connection: Arc::new(Connection {
            link: Link::Sdk(Arc::new(client)),
            closed: closed.clone(),
            changes: Arc::default(),
            asides: asides.clone(),
            refused: OnceLock::new(),
        }),
        owner: Owner { process: None, service: None, asides, closed },
        hello,
        tools,
    })
}

/// The error of a failed handshake.
fn not_greeted(error: &ClientInitializeError, url: Option<&str>) -> ConnectError {
    let failed = |text: &str| ConnectError::Failed(text.to_owned());
    match error {
        ClientInitializeError::ConnectionClosed(_) => failed("Connection closed"),
        ClientInitializeError::JsonRpcError(error) => failed(&error.message),
        ClientInitializeError::TransportError { error, .. } if error.error.is::<io::Error>() => {
            // It exited before it read `initialize`.
            failed("Connection closed")
        }
        ClientInitializeError::TransportError { error, .. } => refused(error, url),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => failed("invalid response to initialize"),
        other => failed(&other.to_string()),
    }
}

/// The error of a request without a response.
pub(super) fn refused(error: &(dyn Error + 'static), url: Option<&str>) -> ConnectError {
    match url.zip(refusal(error)) {
        Some((url, challenge)) => ConnectError::NeedsAuth(Wanted::new(challenge, url)),
        None => ConnectError::Failed(root_cause(error)),
    }
}

/// Why a program does not start, in the texts that hosts match. The program itself stands beside
/// it in the status.
fn not_started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "ENOENT: no such file or directory, posix_spawn 'stdio'".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "EACCES: permission denied, posix_spawn 'stdio'".to_owned()
        }
        _ => error.to_string(),
    }
}
