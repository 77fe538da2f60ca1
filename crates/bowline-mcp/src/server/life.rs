//! The life of a server: it is reached, listened to, lost, and reached again.

use std::{mem, sync::Arc};

use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Core, Greeting, State};
use crate::{
    catalog::{Catalog, Live},
    connection::{ConnectError, Opened, Owner, RequestError, open},
    tool::McpTool,
};

/// How often a server inside the host is greeted before it counts as missing.
const SDK_GREETINGS: usize = 2;

/// Looks after a server until `stop` fires or there is nothing left to try.
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
                tracing::warn!(server = core.name, stderr = core.stderr(), "an MCP server is gone");
                core.set(State::Failed { error: "Connection closed".to_owned() });
                owner.close().await;
                if since.elapsed() >= core.shared.options.backoff.steady {
                    attempt = 0;
                }
            }
            Err(ConnectError::NeedsAuth(wanted)) => {
                core.note_scopes(&wanted);
                return core.set(State::NeedsAuth(wanted));
            }
            Err(ConnectError::Failed(error)) => {
                tracing::warn!(server = core.name, error, "an MCP server could not be reached");
                core.set(State::Failed { error });
                if !reached_before {
                    return;
                }
            }
        }
        // A server inside the host comes back only when the host says so.
        let pause = core.shared.options.backoff.pause(attempt).filter(|_| !core.is_sdk());
        let Some(pause) = pause else { return };
        attempt += 1;
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = sleep(pause) => {}
        }
    }
}

/// Reaches a server and reads its lists, in time.
async fn reach(core: &Arc<Core>, greeting: Greeting) -> Result<(Owner, Arc<Live>), ConnectError> {
    let limit = core.shared.options.connect_timeout;
    let attempts = async {
        let (hello, greetings) = match greeting {
            Greeting::NotYet => (None, 0),
            Greeting::Answered(hello) => (Some(*hello), 1),
            Greeting::Unanswered => (None, 1),
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
        let catalog = Catalog::load(&connection, &hello, &core.shared.options).await;
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

/// Why nobody attends to a server any more.
#[derive(PartialEq)]
enum End {
    Stopped,
    Lost,
}

/// Keeps the lists of a connected server up to date.
async fn attend(core: &Arc<Core>, mut live: Arc<Live>, stop: &CancellationToken) -> End {
    let options = &core.shared.options;
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
            tracing::warn!(server = core.name, %error, "a list cannot be read again");
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
