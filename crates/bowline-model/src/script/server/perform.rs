//! Responses of the script model, played over HTTP.

use std::{io, sync::Arc};

use axum::{
    Json,
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        model::wait,
        response::{Play, Plays},
    },
    Shared,
    dialect::Dialect,
};
use crate::{Delivery, MessageFold, ModelError};

/// Responds to one request.
pub(super) async fn respond<D: Dialect>(
    shared: Arc<Shared>,
    mut dialect: D,
    body: &[u8],
) -> Response {
    let request = match dialect.read(body) {
        Ok(request) => request,
        Err(problem) => return dialect.refusal(StatusCode::BAD_REQUEST, &problem),
    };
    let scripted = match shared.model.respond(&request) {
        Ok(response) => response,
        Err(error) => return dialect.refusal(StatusCode::BAD_REQUEST, &error.message),
    };
    wait(scripted.delay).await;
    let mut response = match (scripted.plays, request.delivery) {
        (Err(error), _) => failure(&dialect, &error),
        (Ok(plays), Delivery::Stream) => stream(plays, dialect, shared.stop.clone()),
        (Ok(plays), Delivery::Whole) => whole(plays, &dialect).await,
    };
    if let Ok(request_id) = HeaderValue::from_str(&scripted.request_id) {
        response.headers_mut().insert("request-id", request_id);
    }
    response
}

fn failure(dialect: &impl Dialect, error: &ModelError) -> Response {
    let status = error.status.and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = dialect.refusal(status, &error.message);
    let wait = error.retry_after.map(|wait| HeaderValue::from_str(&wait.as_secs_f64().to_string()));
    if let Some(Ok(seconds)) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

async fn whole(plays: Plays, dialect: &impl Dialect) -> Response {
    let mut fold = MessageFold::new();
    for play in plays {
        match play {
            Play::Event(event) => {
                fold.apply(&event);
            }
            Play::Pause(pause) => wait(pause).await,
            // Only streams break off.
            Play::Hang | Play::Cut | Play::Fail(_) => {}
        }
    }
    Json(dialect.whole(fold.into_message())).into_response()
}

fn stream(plays: Plays, dialect: impl Dialect, stop: CancellationToken) -> Response {
    let performance = Performance { plays, dialect, stop, pending: None };
    let body = Body::from_stream(stream::unfold(Some(performance), |performance| async {
        let mut performance = performance?;
        match performance.next().await? {
            Ok(piece) => Some((Ok(piece), Some(performance))),
            Err(error) => Some((Err(error), None)),
        }
    }));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

struct Performance<D> {
    plays: Plays,
    dialect: D,
    stop: CancellationToken,
    /// Interruption of the last piece.
    pending: Option<Play>,
}

/// Events that follow each other at once travel together.
const EVENTS_IN_A_PIECE: usize = 64;

impl<D: Dialect> Performance<D> {
    /// The next piece of the stream; an error breaks the connection.
    async fn next(&mut self) -> Option<io::Result<String>> {
        match self.pending.take() {
            Some(Play::Pause(pause)) => wait(pause).await,
            Some(Play::Hang) => {
                self.stop.cancelled().await;
                return None;
            }
            Some(Play::Cut) => {
                // Earlier events are sent before the connection breaks.
                tokio::task::yield_now().await;
                return Some(Err(io::Error::other("scripted cut")));
            }
            Some(Play::Fail(_) | Play::Event(_)) | None => {}
        }
        let mut piece = String::new();
        for _ in 0..EVENTS_IN_A_PIECE {
            match self.plays.next() {
                Some(Play::Event(event)) => self.dialect.write_event(&event, &mut piece),
                Some(Play::Fail(error)) => {
                    self.dialect.write_error(&error, &mut piece);
                    self.plays = Box::new(std::iter::empty());
                    break;
                }
                Some(play) => {
                    self.pending = Some(play);
                    break;
                }
                None => break,
            }
        }
        match (piece.is_empty(), &self.pending) {
            (true, None) => None,
            _ => Some(Ok(piece)),
        }
    }
}
