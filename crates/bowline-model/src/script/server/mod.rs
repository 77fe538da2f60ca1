//! The script model over HTTP, in both dialects, for clients that are not us.
//!
//! | request | response |
//! |---|---|
//! | `POST /v1/messages` | the Messages API, streamed or whole |
//! | `POST /v1/messages/count_tokens` | its token count |
//! | `POST /v1/chat/completions` | chat completions, streamed or whole |
//! | `GET /v1/models` | one model, `script` |

mod anthropic;
mod dialect;
mod openai;
mod perform;
mod request_log;

pub use request_log::SeenRequest;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{ScriptModel, tokens};
use anthropic::Anthropic;
use dialect::Dialect;
use openai::OpenAi;
use request_log::RequestLog;

/// A script model that is being served. Dropping it stops it.
#[derive(Debug)]
pub struct ScriptServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: AbortOnDropHandle<io::Result<()>>,
}

#[derive(Debug)]
struct Shared {
    model: ScriptModel,
    log: RequestLog,
    stop: CancellationToken,
}

/// Requests carry whole conversations with pictures; real APIs draw the line near here.
const LONGEST_REQUEST: usize = bowline_protocol::MAX_LINE_BYTES;

/// Shutdown deadline for responses that have started.
const GRACE: Duration = Duration::from_secs(1);

impl ScriptServer {
    /// Serves a model at `address`; port 0 chooses a free one.
    pub async fn bind(address: SocketAddr, model: ScriptModel) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let shared = Arc::new(Shared { model, log: RequestLog::default(), stop: stop.clone() });
        let serving = axum::serve(listener, routes(shared.clone()))
            .with_graceful_shutdown(stop.cancelled_owned());
        let serving = AbortOnDropHandle::new(tokio::spawn(serving.into_future()));
        Ok(Self { address, shared, serving })
    }

    /// Serves the model whose scripts are the prompts, on a free local port.
    pub async fn local() -> io::Result<Self> {
        Self::bind((Ipv4Addr::LOCALHOST, 0).into(), ScriptModel::new()).await
    }

    /// Address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Value for `ANTHROPIC_BASE_URL`. `OPENAI_BASE_URL` has `/v1` appended.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The newest requests that it received, oldest first.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.log.all()
    }

    /// Serves until it fails, which it does not do by itself.
    pub async fn wait(&mut self) -> io::Result<()> {
        (&mut self.serving).await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Graceful shutdown: no new connections, a short while for responses that have started.
    pub async fn shutdown(mut self) -> io::Result<()> {
        self.shared.stop.cancel();
        match tokio::time::timeout(GRACE, self.wait()).await {
            Ok(stopped) => stopped,
            // Dropping the task ends what is left.
            Err(_) => Ok(()),
        }
    }
}

impl Drop for ScriptServer {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

type Served = State<Arc<Shared>>;

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(|| async { "the script model\n" }))
        .route("/v1/models", get(models))
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/chat/completions", post(chat))
        .fallback(|| async { not_found() })
        .layer(DefaultBodyLimit::max(LONGEST_REQUEST))
        .layer(middleware::from_fn_with_state(shared.clone(), see))
        .with_state(shared)
}

/// Logs a request before the response.
async fn see(State(shared): Served, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match axum::body::to_bytes(body, LONGEST_REQUEST).await {
        Ok(body) => {
            shared.log.add(parts.clone(), body.clone());
            next.run(Request::from_parts(parts, body.into())).await
        }
        Err(_) => Anthropic.refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long"),
    }
}

async fn messages(State(shared): Served, body: Bytes) -> Response {
    perform::respond(shared, Anthropic, &body).await
}

async fn chat(State(shared): Served, body: Bytes) -> Response {
    perform::respond(shared, OpenAi::default(), &body).await
}

async fn count_tokens(body: Bytes) -> Response {
    match Anthropic.read(&body) {
        Ok(request) => {
            Json(json!({ "input_tokens": tokens::count_input(&request) })).into_response()
        }
        Err(problem) => Anthropic.refusal(StatusCode::BAD_REQUEST, &problem),
    }
}

async fn models() -> Response {
    let model = json!({
        "id": "script", "type": "model", "object": "model", "display_name": "Script",
        "created": 0, "created_at": "1970-01-01T00:00:00Z", "owned_by": "bowline",
    });
    let list = json!({
        "object": "list", "data": [model],
        "has_more": false, "first_id": "script", "last_id": "script",
    });
    Json(list).into_response()
}

fn not_found() -> Response {
    Anthropic.refusal(StatusCode::NOT_FOUND, "the script server does not know this call")
}
