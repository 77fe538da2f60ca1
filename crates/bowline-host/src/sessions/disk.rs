//! File work beside the runtime's own threads.

use std::path::Path;

use bowline_protocol::SessionId;
use bowline_sessions::{ConfigHome, SessionError, SessionFiles, Target, find};

use super::SessionsError;

/// Runs file work on a blocking thread.
pub(super) async fn with<T: Send + 'static>(
    home: &ConfigHome,
    work: impl FnOnce(&ConfigHome) -> T + Send + 'static,
) -> Result<T, SessionsError> {
    let home = home.clone();
    tokio::task::spawn_blocking(move || work(&home)).await.map_err(|_| SessionsError::Ending)
}

/// The files of a session.
pub(super) fn files(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
) -> Result<SessionFiles, SessionError> {
    let here = directory.unwrap_or(Path::new("."));
    match find(home, id.as_str(), here)? {
        Target::Session(files) => Ok(files),
        Target::File(_) => {
            Err(SessionError::NotFound { target: id.to_string(), nearest: Vec::new() })
        }
    }
}
