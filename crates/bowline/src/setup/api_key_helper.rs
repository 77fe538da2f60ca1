//! `apiKeyHelper`: a command that prints the key of a model.

use std::process::Stdio;

use bowline_model::{ModelRef, Secret};

use super::SetupError;
use crate::environment::Environment;

/// Whether a session with this model needs a key and has none.
pub(super) fn is_needed(model: &str, environment: &Environment) -> bool {
    matches!(model.parse(), Ok(ModelRef::Anthropic(_)))
        && environment.anthropic_api_key().is_none()
        && environment.anthropic_auth_token().is_none()
}

/// Runs the command and returns the key that it prints.
pub(super) fn run(command: &str) -> Result<Secret, SetupError> {
    let failed = |why: String| SetupError::from(format!("apiKeyHelper failed: {why}"));
    let done = bowline_process::blocking_command("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !done.status.success() {
        return Err(failed(done.status.to_string()));
    }
    let printed = String::from_utf8_lossy(&done.stdout);
    match printed.trim() {
        "" => Err(failed("it printed nothing".to_owned())),
        key => Ok(Secret::from(key)),
    }
}
