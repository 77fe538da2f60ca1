//! HTTP response whose head has arrived.

use std::time::Duration;

use reqwest::{Response, header::CONTENT_TYPE};

use super::failure;
use crate::{ErrorKind, ModelError};

/// A response whose body is still to be read. Dropping it closes the connection.
pub(crate) struct HttpResponse {
    response: Response,
    origin: String,
    silence: Duration,
}

impl HttpResponse {
    /// Size limit of a whole response; those of the API are far below.
    const LONGEST_WHOLE: usize = bowline_protocol::MAX_LINE_BYTES;
    /// Size to which an error body is truncated.
    const LONGEST_ERROR: usize = 64 << 10;

    pub(super) fn new(response: Response, origin: String, silence: Duration) -> Self {
        Self { response, origin, silence }
    }

    pub(super) fn is_success(&self) -> bool {
        self.response.status().is_success()
    }

    /// Whether the body is one JSON value rather than events.
    pub(crate) fn is_json(&self) -> bool {
        let kind = self.response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.trim_start().starts_with("application/json"))
    }

    /// The server's name for the request.
    pub(crate) fn request_id(&self) -> Option<String> {
        failure::request_id(self.response.headers())
    }

    /// The server, for messages.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, ModelError> {
        match tokio::time::timeout(self.silence, self.response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(failure::cut(&self.origin, error)),
            Err(_) => Err(failure::silent(&self.origin, self.silence)),
        }
    }

    /// The whole body.
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, ModelError> {
        let body = self.read_up_to(Self::LONGEST_WHOLE).await?;
        if body.len() > Self::LONGEST_WHOLE {
            let message = format!("the response of {} is too long", self.origin);
            return Err(ModelError::new(ErrorKind::Unreadable, message));
        }
        Ok(body)
    }

    pub(super) async fn into_error(mut self) -> ModelError {
        let status = self.response.status().as_u16();
        let headers = self.response.headers().clone();
        // A body that cannot be read takes nothing away from the status.
        let body = self.read_up_to(Self::LONGEST_ERROR).await.unwrap_or_default();
        failure::refused(status, &headers, &body)
    }

    /// Reads until the end, or until more than `limit` bytes have come.
    async fn read_up_to(&mut self, limit: usize) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while body.len() <= limit
            && let Some(chunk) = self.chunk().await?
        {
            body.extend_from_slice(chunk.as_ref());
        }
        Ok(body)
    }
}
