//! Root causes of the errors of `rmcp`.

use std::{error::Error, io};

use reqwest::StatusCode;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
};

/// The message of the innermost error.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = below(cause) {
        cause = deeper;
    }
    cause.to_string()
}

/// Whether the server is gone, as opposed to one that refuses this message.
pub(super) fn is_gone(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            return error.is_connect();
        }
        if error.is::<io::Error>() {
            return true;
        }
        cause = below(error);
    }
    false
}

/// What a server said when it refused us for who we are, or for not being anybody: the
/// `WWW-Authenticate` header of a 401 or 403, if it had one.
pub(super) fn refusal(error: &(dyn Error + 'static)) -> Option<Option<String>> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<AuthRequiredError>() {
            return Some(Some(error.www_authenticate_header.clone()));
        }
        if let Some(error) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(Some(error.www_authenticate_header.clone()));
        }
        if let Some(error) = error.downcast_ref::<reqwest::Error>()
            && error.status() == Some(StatusCode::UNAUTHORIZED)
        {
            return Some(None);
        }
        cause = below(error);
    }
    // Without a header `rmcp` has the status in words only.
    root_cause(error).contains("HTTP 401").then_some(None)
}

/// The next deeper error, also where `rmcp` does not name it as the source.
fn below<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(client)) => Some(client),
        _ => error.source(),
    }
}
