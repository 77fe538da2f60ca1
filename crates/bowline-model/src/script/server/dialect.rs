//! Trait of the two API dialects of the script server.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bowline_protocol::{ApiMessage, StreamEvent};
use serde_json::{Value, json};

use super::super::response::error_type;
use crate::{ModelError, ModelRequest};

/// A dialect of the script server.
pub(super) trait Dialect: Send + 'static {
    /// Reads a request, or returns what is invalid.
    fn read(&mut self, body: &[u8]) -> Result<ModelRequest, String>;

    /// Adds an event to a stream.
    fn write_event(&mut self, event: &StreamEvent, out: &mut String);

    /// Adds an error to a stream.
    fn write_error(&mut self, error: &ModelError, out: &mut String);

    /// A response in one piece.
    fn whole(&self, message: ApiMessage) -> Value;

    /// The body of an error; both dialects have it in the same field.
    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        let error = json!({ "type": error_type(status.as_u16()), "message": message });
        (status, Json(json!({ "type": "error", "error": error }))).into_response()
    }
}
