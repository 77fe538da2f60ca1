//! Supervision of a server: connect, keep its lists current, reconnect with backoff.

use std::{mem, sync::Arc};

use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::Greeting;
use crate::{
    catalog::{Catalog, Live},
    connection::{ConnectError, Opened, Owner, RequestError, open},
    server_core::{Core, State},
    tool::McpTool,
};

/// How often `initialize` is sent to a server inside the host before it is given up.
const SDK_GREETINGS: usize = 2;

/// Supervises a server until `stop` fires or there is nothing left to try.
pub(super) async fn live(core: Arc<Core>, mut greeting: Greeting, stop: CancellationToken) {
    let mut attempt = 0;
    let mut reached_before = false;
    loop {
        core.set(State::Pending);
        let reached = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            reached = reach(&core, mem::take(&mut greeting)) => reached,
        };
        match reached {
            Ok((owner, live)) => {
                reached_before = true;
                let since = Instant::now();
                core.set(State::Connected(Arc::clone(&live)));
                let connection = Arc::clone(&live.connection);
                let end = attend(&core, live, &stop).await;
                if end == End::Stopped {
                    owner.close().await;
                    return;
                }
                if let Some(wanted) = connection.refused().filter(|_| !core.is_own_client()) {
                    core.set(State::NeedsAuth(wanted.clone()));
                    owner.close().await;
                    return;
                }
                tracing::warn!(
                    server = core.name,
                    stderr = core.stderr(),
                    "MCP server disconnected"
                );
                core.set(State::Failed { error: "Connection closed".to_owned() });
                owner.close().await;
                if since.elapsed() >= core.session.options.backoff.steady {
                    attempt = 0;
                }
            }
            Err(ConnectError::NeedsAuth(wanted)) => {
                core.note_scopes(&wanted);
                return core.set(State::NeedsAuth(wanted));
            }
            Err(ConnectError::Failed(error)) => {
                tracing::warn!(server = core.name, error, "cannot connect to MCP server");
                core.set(State::Failed { error });
                if !reached_before {
                    return;
                }
            }
        }
        // A server inside the host reconnects only at the host's request.
        let pause = core.session.options.backoff.pause(attempt).filter(|_| !core.is_sdk());
        let Some(pause) = pause else { return };
        attempt += 1;
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = sleep(pause) => {}
        }
    }
}

/// Connects to a server and reads its lists, within the timeout.
async fn reach(core: &Arc<Core>, greeting: Greeting) -> Result<(Owner, Arc<Live>), ConnectError> {
    let limit = core.session.options.connect_timeout;
    let attempts = async {
        let (hello, greetings) = match greeting {
            Greeting::NotYet => (None, 0),
            Greeting::Succeeded(hello) => (Some(*hello), 1),
            Greeting::Failed => (None, 1),
        };
        let mut opened = open(core, hello).await;
        if opened.is_err() && core.is_sdk() && greetings + 1 < SDK_GREETINGS {
            opened = open(core, None).await;
        }
        let Opened { connection, owner, hello, tools } = opened?;
        if let Some(tools) = tools {
            let listings = tools.iter().map(|tool| tool.listing.clone()).collect();
            let catalog = Catalog { tools: listings, ..Catalog::default() };
            return Ok((owner, Arc::new(Live { connection, hello, catalog, tools })));
        }
        let catalog = Catalog::load(&connection, &hello, &core.session.options).await;
        let catalog = catalog.map_err(|error| match error {
            RequestError::Unauthorized(wanted) => ConnectError::NeedsAuth(wanted),
            error => ConnectError::Failed(error.to_string()),
        })?;
        let tools = McpTool::all(core, &catalog.tools);
        Ok((owner, Arc::new(Live { connection, hello, catalog, tools })))
    };
    timeout(limit, attempts).await.unwrap_or_else(|_| {
        Err(ConnectError::Failed(format!("no connection after {} s", limit.as_secs_f64())))
    })
}

/// Why supervision of a connection ended.
#[derive(PartialEq)]
enum End {
    Stopped,
    Lost,
}

/// Keeps the lists of a connected server current.
async fn attend(core: &Arc<Core>, mut live: Arc<Live>, stop: &CancellationToken) -> End {
    let options = &core.session.options;
    loop {
        let (changed, count) = tokio::select! {
            biased;
            () = stop.cancelled() => return End::Stopped,
            () = live.connection.closed() => return End::Lost,
            changed = live.connection.changed() => changed,
        };
        let mut catalog = live.catalog.clone();
        let update = catalog.update(&live.connection, &live.hello, options, changed);
        let updated = tokio::select! {
            biased;
            () = stop.cancelled() => return End::Stopped,
            updated = update => updated,
        };
        if let Err(error) = updated {
            tracing::warn!(server = core.name, %error, "cannot refresh a list");
            live.connection.caught_up(count);
            continue;
        }
        live = Arc::new(Live {
            connection: Arc::clone(&live.connection),
            hello: live.hello.clone(),
            tools: McpTool::all(core, &catalog.tools),
            catalog,
        });
        core.set(State::Connected(Arc::clone(&live)));
        live.connection.caught_up(count);
    }
}
