//! `bowline mcp serve`: tools and a whole agent for MCP clients.

use std::{fs, process::ExitCode, sync::Arc};

use anyhow::{Context, bail};
use bowline_door_mcp::{Address, AddressError, Server, Token};
use bowline_engine::BoxFuture;
use bowline_tools::{Options, Registry};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    args::McpServeArgs, complain, environment::Environment, pipes, serving::until_stopped,
    sessions::UserSessions, signals::Signals, version,
};

/// Serves clients until they hang up, or until somebody stops it.
pub(crate) async fn run(args: McpServeArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let address = address(&args)?;
    let named = args.door.tool_names();
    let sessions = Arc::new(UserSessions::new(args.door, "mcp")?);
    let server = Server::open(sessions, version::BOWLINE).context("Error")?;
    if server.offers_nothing() && named.is_some_and(|names| !names.is_empty()) {
        let builtin = Registry::builtin(&Options::default());
        let known: Vec<_> = builtin.iter().map(|tool| tool.spec().name.to_string()).collect();
        bail!(
            "Error: --tools names no tool that can be served. There are agent, {}",
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
            complain(format!("Listening at http://{}/mcp", listener.local_addr()?));
            Box::pin(server.serve_http(listener, address, stop.clone()))
        }
    };
    let (served, code) = until_stopped(served, &stop, &mut signals).await;
    served.transpose().context("Error")?;
    Ok(code)
}

/// Where to listen for HTTP; `None` for stdin and stdout.
fn address(args: &McpServeArgs) -> anyhow::Result<Option<Address>> {
    let Some(listen) = args.http else { return Ok(None) };
    let token = match &args.token_file {
        Some(file) => {
            let text = fs::read_to_string(file)
                .with_context(|| format!("Error: --token-file {}", file.display()))?;
            let token = Token::new(&text);
            Some(token.with_context(|| format!("Error: {} is empty", file.display()))?)
        }
        None => Environment::of_process().mcp_token().and_then(Token::new),
    };
    let (hosts, origins) = (args.allow_host.clone(), args.allow_origin.clone());
    match Address::new(listen, token, hosts, origins) {
        Ok(address) => Ok(Some(address)),
        Err(error @ AddressError::TokenNeeded(_)) => {
            bail!("Error: --http {error} (--token-file FILE or BOWLINE_MCP_TOKEN)")
        }
        Err(error @ AddressError::HostNeeded(_)) => {
            bail!("Error: --http {error} (--allow-host NAME)")
        }
        Err(error @ AddressError::NotAHost(_)) => bail!("Error: --allow-host {error}"),
        Err(error) => bail!("Error: --http {error}"),
    }
}
