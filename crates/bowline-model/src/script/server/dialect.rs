//! What the two dialects have to say each in its own way.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bowline_protocol::{ApiMessage, StreamEvent};
use serde_json::{Value, json};

use super::super::answer::error_type;
use crate::{ModelError, ModelRequest};

/// A dialect of the script server.
pub(super) trait Dialect: Send + 'static {
    /// Reads a request, or says what is wrong with it.
    fn read(&mut self, body: &[u8]) -> Result<ModelRequest, String>;

    /// Adds an event to a stream.
    fn write_event(&mut self, event: &StreamEvent, out: &mut String);

    /// Adds an error to a stream.
    fn write_error(&mut self, error: &ModelError, out: &mut String);

    /// An answer in one piece.
    fn whole(&self, message: ApiMessage) -> Value;

    /// The body of an error; both dialects have room for it in the same place.
    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        let error = json!({ "type": error_type(status.as_u16()), "message": message });
        (status, Json(json!({ "type": "error", "error": error }))).into_response()
    }
}
