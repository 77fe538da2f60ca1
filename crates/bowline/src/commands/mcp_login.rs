//! `bowline mcp login` and `bowline mcp logout`: OAuth logins to MCP servers.

use std::{
    process::{ExitCode, Stdio},
    time::Duration,
};

use anyhow::bail;
use bowline_engine::SessionConfig;
use bowline_mcp::{McpError, McpServers, NamedServer, Setup};
use bowline_protocol::McpServerStatus;
use bowline_tools::Workspace;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines, Stdin},
    process::Child,
};

use crate::{
    args::{McpServerArgs, ModelArgs, RunArgs, SessionArgs},
    complain,
    environment::Environment,
    print_line,
    setup::{self, Audience},
    signals::Signals,
    working_directory,
};

/// The browser that shows the login page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Browser {
    /// Opened by this program.
    Opened,
    /// Opened by the user, on any machine.
    Elsewhere,
}

/// Logs in to a server and keeps the login for the sessions to come.
pub(crate) async fn login(args: McpServerArgs, browser: Browser) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let name = args.name.clone();
    let environment = Environment::of_process();
    let (servers, limit) = server(args, &environment)?;
    servers.start();
    // The refusal of the first request names the authorization server.
    servers.wait_ready(limit).await;
    let page = servers.begin_login(&name, None).await.map_err(explain)?;
    complain(format!("To log in to {name}, open this page:\n\n{}\n", page.url));
    let _shown = match browser {
        Browser::Opened => open(&page.url, &environment),
        Browser::Elsewhere => {
            complain(
                "Then paste the address of the last page here, even if the page cannot be shown:",
            );
            None
        }
    };
    let over = tokio::select! {
        over = servers.login_over(&name) => over,
        over = pasted(&servers, &name), if browser == Browser::Elsewhere => over,
        stop = signals.next() => {
            servers.close().await;
            return Ok(stop.exit_code());
        }
    };
    let state = servers.status().into_iter().find(|state| state.name == name);
    servers.close().await;
    over.map_err(explain)?;
    match state {
        Some(state) if state.status == McpServerStatus::Connected => {
            print_line(&format!("Logged in to {name}."))
        }
        Some(state) => {
            let why = state.error.unwrap_or_else(|| "it requires another login".to_owned());
            bail!("Error: logged in to {name}, but it cannot be used: {why}")
        }
        None => bail!("Error: the MCP server {name} was removed during the login"),
    }
}

/// Deletes the login to a server.
pub(crate) async fn logout(args: McpServerArgs) -> anyhow::Result<ExitCode> {
    let name = args.name.clone();
    let (servers, _) = server(args, &Environment::of_process())?;
    // A disabled server is not connected to.
    servers.set_enabled(&name, false).await?;
    servers.clear_login(&name).await.map_err(explain)?;
    print_line(&format!("Logged out of {name}."))
}

/// Returns the server, not connected yet, and its connection timeout.
fn server(
    args: McpServerArgs,
    environment: &Environment,
) -> anyhow::Result<(McpServers, Duration)> {
    let cwd = working_directory()?;
    // A session that is never started, with a model that needs no key.
    let model = ModelArgs { model: Some("script".to_owned()), ..ModelArgs::default() };
    let session = SessionArgs { no_session_persistence: true, ..SessionArgs::default() };
    let run = RunArgs { sources: args.sources, model, session, ..RunArgs::default() };
    let prepared = setup::prepare(&run, environment, cwd.clone(), Audience::Reader)?;
    prepared.notices.iter().for_each(complain);
    let SessionConfig { mcp_servers, mcp_options, places, .. } = prepared.config;
    let Some(server) = mcp_servers.iter().find(|server| server.name == args.name) else {
        bail!("Error: {}", unknown(&args.name, &mcp_servers));
    };
    let limit = mcp_options.connect_timeout;
    let mut setup = Setup::new(Workspace::new(&cwd, bowline_tools::Setup::default()));
    setup.options = mcp_options;
    setup.logins = Some(places.mcp_logins());
    let servers = McpServers::new(setup);
    servers.add(server.clone());
    Ok((servers, limit))
}

fn unknown(name: &str, servers: &[NamedServer]) -> String {
    let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
    match names.as_slice() {
        [] => format!("no MCP server {name}: none is configured"),
        names => format!("no MCP server {name}; configured are: {}", names.join(", ")),
    }
}

fn explain(error: McpError) -> anyhow::Error {
    anyhow::anyhow!("Error: {error}")
}

/// Opens a page in the user's browser. A failure is not an error: the address has been printed.
fn open(url: &str, environment: &Environment) -> Option<Child> {
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let browser = environment.browser().unwrap_or(usual);
    let started = bowline_process::detached_command(browser)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.inspect_err(|error| complain(format!("{browser} cannot be started: {error}"))).ok()
}

/// Finishes the login with an address that the user pastes.
async fn pasted(servers: &McpServers, name: &str) -> Result<(), McpError> {
    let mut lines: Lines<BufReader<Stdin>> = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match servers.finish_login(name, line.trim()).await {
            Ok(()) => return servers.login_over(name).await,
            Err(error @ McpError::Login(_)) if !line.trim().is_empty() => complain(error),
            Err(McpError::Login(_)) => {}
            Err(error) => return Err(error),
        }
    }
    // End of input; the browser may still be redirected back to us.
    servers.login_over(name).await
}
