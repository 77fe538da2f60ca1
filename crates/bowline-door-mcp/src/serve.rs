//! The life of a server, whatever it is reached by.

use std::{pin::pin, time::Duration};

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    time,
};
use tokio_util::sync::CancellationToken;

use crate::{Server, ServerError, call::CALL_ENDS, http::Address, pipes::Pipes};

/// How long calls may take to end: longer than each of them may, so that none is cut off because it was
/// waited for before.
const CALLS_END: Duration = CALL_ENDS.saturating_add(Duration::from_secs(1));

/// How long the session of the tools may take to end behind them.
const SESSION_ENDS: Duration = Duration::from_secs(6);

/// How long the last words to a client may take when somebody stops us.
const GOODBYE: Duration = Duration::from_secs(2);

/// How long calls may go on when the client has said its last word: enough for those of a script
/// that does not wait for answers, and short of the two seconds after which clients that hang up
/// usually end a server by force.
const LAST_CALLS: Duration = Duration::from_secs(1);

impl Server {
    /// Serves one client over two pipes, until it hangs up or `stop` fires. What it asked for before
    /// it hung up is answered if that is soon done, and ended otherwise.
    pub async fn serve(
        self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        stop: CancellationToken,
    ) -> Result<(), ServerError> {
        let handler = self.handler.clone();
        let hung_up = handler.hung_up();
        let pipes = Pipes::new(reader, writer, hung_up.clone());
        let connection = async {
            let served = serve_server_with_ct(handler.clone(), pipes, stop.clone());
            let running = match served.await {
                Ok(running) => running,
                // A client that leaves before it says anything wants nothing.
                Err(
                    ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled,
                ) => return Ok(()),
                Err(error) => return Err(ServerError::Opening(error.to_string())),
            };
            if let Err(error) = running.waiting().await {
                tracing::error!(%error, "the connection");
            }
            Ok(())
        };
        // A client that does not read what we write cannot keep us.
        let late = async {
            stop.cancelled().await;
            time::sleep(GOODBYE).await;
        };
        let last_calls = async {
            let hung_up_for_long = async {
                hung_up.cancelled().await;
                time::sleep(LAST_CALLS).await;
            };
            tokio::select! {
                () = hung_up_for_long => {}
                () = stop.cancelled() => hung_up.cancel(),
            }
            handler.end_calls();
            std::future::pending().await
        };
        let connection = async {
            tokio::select! {
                served = connection => served,
                () = late => Ok(()),
                served = last_calls => served,
            }
        };
        self.run(connection).await
    }

    /// Serves any number of clients over HTTP, until `stop` fires.
    pub async fn serve_http(
        self,
        listener: TcpListener,
        address: Address,
        stop: CancellationToken,
    ) -> Result<(), ServerError> {
        let handler = self.handler.clone();
        let served = async {
            address.serve(listener, handler, stop).await;
            Ok(())
        };
        self.run(served).await
    }

    /// Keeps the session of the tools alive while the connection is, then ends it with all it runs.
    async fn run(
        self,
        connection: impl Future<Output = Result<(), ServerError>>,
    ) -> Result<(), ServerError> {
        let Self { handler, session, work, .. } = self;
        let mut work = pin!(work);
        let served = tokio::select! {
            served = connection => served,
            _ = &mut work => return Ok(()),
        };
        handler.end_calls();
        let ended = async {
            // Calls happen in the session, so that it works until they have ended.
            time::timeout(CALLS_END, handler.calls_ended()).await.ok();
            session.shutdown();
        };
        let ended = async { tokio::join!(ended, work) };
        time::timeout(CALLS_END + SESSION_ENDS, ended).await.ok();
        served
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bowline_engine::{OpenError, SessionConfig, SessionRequest, Sessions};
    use bowline_model::Providers;
    use tempfile::TempDir;

    use super::*;

    struct ScriptSessions(TempDir);

    impl Sessions for ScriptSessions {
        fn open(&self, _: SessionRequest) -> Result<SessionConfig, OpenError> {
            let path = self.0.path().canonicalize().unwrap();
            Ok(SessionConfig::new(path, Arc::new(Providers::new()), "script"))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_session_of_the_tools_ends_behind_the_calls() {
        let sessions = Arc::new(ScriptSessions(tempfile::tempdir().unwrap()));
        let mut server = Server::open(sessions, "1.2.3").unwrap();
        let (cancel, session_ended) = (CancellationToken::new(), CancellationToken::new());
        let (work, ended) = (server.work, session_ended.clone());
        server.work = Box::pin(async move {
            let end = work.await;
            ended.cancel();
            end
        });
        let handler = server.handler.clone();
        // It takes as long as a call may.
        let call = async {
            cancel.cancelled().await;
            time::sleep(CALL_ENDS).await;
            Ok(session_ended.is_cancelled())
        };
        let call = handler.take_in(call, &cancel);
        let (ended_before, served) = tokio::join!(biased; call, server.run(async { Ok(()) }));
        served.unwrap();
        assert_eq!(ended_before, Ok(false));
        assert!(session_ended.is_cancelled());
    }
}
