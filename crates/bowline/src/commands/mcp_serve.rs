//! `bowline mcp serve`: tools and a whole agent for MCP clients.

use std::{process::ExitCode, sync::Arc};

use anyhow::{Context, bail};
use bowline_door_mcp::{Access, Address, AddressError, Server, Token};
use bowline_engine::BoxFuture;
use bowline_tools::{Options, Registry};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::mcp_token::{self, OwnToken};
use crate::{
    args::McpServeArgs, complain, environment::Environment, pipes, serving::until_stopped,
    sessions::UserSessions, signals::Signals, version,
};

/// Serves clients until they disconnect or a signal stops it.
pub(crate) async fn run(args: McpServeArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let (address, own_token) = address(&args)?.unzip();
    let named = args.door.tool_names();
    let sessions = Arc::new(UserSessions::new(args.door, "mcp")?);
    let server = Server::open(sessions, version::BOWLINE).context("Error")?;
    if server.offers_nothing() && named.is_some_and(|names| !names.is_empty()) {
        let builtin = Registry::builtin(&Options::default());
        let known: Vec<_> = builtin.iter().map(|tool| tool.spec().name.to_string()).collect();
        bail!(
            "Error: --tools names no tool that can be served. Available: agent, {}",
            known.join(", ")
        );
    }
    let stop = CancellationToken::new();
    let served: BoxFuture<'_, _> = match address {
        None => Box::pin(server.serve(pipes::stdin(), pipes::stdout(), stop.clone())),
        Some(address) => {
            let listen = address.listen();
            let listener = TcpListener::bind(listen)
                .await
                .with_context(|| format!("Error: cannot listen at {listen}"))?;
            let url = format!("http://{}/mcp", listener.local_addr()?);
            complain(format!("Listening at {url}"));
            match own_token.flatten() {
                Some(token) => complain(client_configuration(&url, &token)),
                None if args.no_token => complain(UNPROTECTED),
                None => {}
            }
            Box::pin(server.serve_http(listener, address, stop.clone()))
        }
    };
    let (served, code) = until_stopped(served, &stop, &mut signals).await;
    served.transpose().context("Error")?;
    Ok(code)
}

/// Warning about a server without a token.
const UNPROTECTED: &str = "Warning: no token is required. Every user and program of this machine can \
    call what the rules allow; clients are not prompted for permission.";

/// Describes the token that was generated, and the configuration of a client.
fn client_configuration(url: &str, token: &OwnToken) -> String {
    let headers = json!({"Authorization": format!("Bearer {}", token.text)});
    let server = json!({"type": "http", "url": url, "headers": headers});
    let client = json!({"mcpServers": {"bowline": server}});
    let file = token.file.display();
    format!("Clients need the token in {file}. In a client's configuration:\n{client}")
}

/// Returns the HTTP address, with a token that was generated; `None` for stdin and stdout.
fn address(args: &McpServeArgs) -> anyhow::Result<Option<(Address, Option<OwnToken>)>> {
    let Some(listen) = args.http else { return Ok(None) };
    let environment = Environment::of_process();
    let mut own = None;
    let access = match (&args.token_file, environment.mcp_token().and_then(Token::new)) {
        _ if args.no_token => Access::Anyone,
        (Some(file), _) => Access::Token(mcp_token::from_file(file)?),
        (None, Some(token)) => Access::Token(token),
        (None, None) => {
            let made = own.insert(mcp_token::own(&environment)?);
            Access::Token(Token::new(&made.text).context("Error: the token is empty")?)
        }
    };
    let (hosts, origins) = (args.allow_host.clone(), args.allow_origin.clone());
    match Address::new(listen, access, hosts, origins) {
        Ok(address) => Ok(Some((address, own))),
        Err(error @ AddressError::TokenNeeded(_)) => {
            bail!("Error: --http {error}, so --no-token is for addresses of this machine only")
        }
        Err(error @ AddressError::HostNeeded(_)) => {
            bail!("Error: --http {error} (--allow-host NAME)")
        }
        Err(error @ AddressError::NotAHost(_)) => bail!("Error: --allow-host {error}"),
        Err(error) => bail!("Error: --http {error}"),
    }
}
