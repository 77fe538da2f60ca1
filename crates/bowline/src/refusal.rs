//! A session that cannot be started, and how whoever started us learns of it.

use std::{
    ffi::OsStr,
    io::{self, BufRead},
    process::ExitCode,
    sync::mpsc,
    thread,
    time::Duration,
};

use bowline_door_stdio::InputError;
use serde_json::json;
use uuid::Uuid;

use crate::{
    args::{OutputFormat, RunArgs},
    complain,
    environment::Environment,
    setup::SetupError,
    terminal::{self, Form},
};

/// How long a refused host may take to say its first line. Hosts write it as soon as we run; one
/// that writes nothing at all is not kept waiting long.
const FIRST_LINE: Duration = Duration::from_secs(1);

/// Tells why a session cannot be started. A host that reads messages hears of it in one.
pub(crate) fn refuse(
    args: &RunArgs,
    environment: &Environment,
    error: &SetupError,
) -> anyhow::Result<ExitCode> {
    complain(error);
    let streams = args.output.output_format == OutputFormat::StreamJson;
    match error {
        SetupError::NoMessage(_) if streams => {
            let session = args.session.resume.as_deref().unwrap_or_default();
            say_json(&failed_start(&session_named(session), &error.to_string(), None))?;
        }
        SetupError::NoSandbox if streams => {
            let session = args.session.session_id.clone().unwrap_or_else(fresh_id);
            say_json(&failed_start(&session, &error.to_string(), reason(error)))?;
        }
        SetupError::NoConversation { target, nearest } => {
            if streams {
                say_json(&failed_start(&session_named(target), &error.to_string(), None))?;
            }
            if !nearest.is_empty() {
                complain(format!("Sessions here:\n  {}", nearest.join("\n  ")));
            }
        }
        _ if streams && environment.startup_failure_results() => {
            let session = args.session.session_id.clone().unwrap_or_else(fresh_id);
            say_json(&failed_start(&session, &error.to_string(), reason(error)))?;
        }
        _ => {}
    }
    if !matches!(error, SetupError::Input(_) | SetupError::ManagedSettingsMissing) {
        hear_host_out();
    }
    Ok(ExitCode::FAILURE)
}

/// Waits for the first line of a host before the process ends without it.
///
/// A host writes as soon as it has started us. If nobody is left to read, its write fails, and it
/// reports a broken pipe instead of our exit code and our words.
pub(crate) fn hear_host_out() {
    if !expects_lines(std::env::args_os().skip(1)) {
        return;
    }
    let (heard, first_line) = mpsc::sync_channel(1);
    // A read from stdin cannot be called back; the process ends without it.
    thread::spawn(move || {
        let read = io::stdin().lock().skip_until(b'\n');
        heard.send(read).ok();
    });
    first_line.recv_timeout(FIRST_LINE).ok();
}

/// Whether a command line, be it understood or not, has a host write lines to us.
fn expects_lines(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> bool {
    let mut is_format = false;
    words.into_iter().any(|word| {
        let word = word.as_ref();
        let expects = word == "--input-format=stream-json" || is_format && word == "stream-json";
        is_format = word == "--input-format";
        expects
    })
}

/// Why a session cannot be started, in the protocol's own word, if it has one.
fn reason(error: &SetupError) -> Option<&'static str> {
    match error {
        SetupError::BypassAsRoot => Some("bypass_root"),
        SetupError::NoSandbox => Some("sandbox_required_unavailable"),
        SetupError::Settings(_) => Some("config_file_invalid"),
        SetupError::Input(InputError::InitializeNotFirst) => Some("initialize_not_first"),
        SetupError::ManagedSettingsMissing => Some("managed_settings_not_delivered"),
        _ => None,
    }
}

/// The id of a session that was asked for, or a new one if that is no id.
fn session_named(target: &str) -> String {
    Uuid::parse_str(target).map_or_else(|_| fresh_id(), |_| target.to_owned())
}

fn fresh_id() -> String {
    Uuid::new_v4().to_string()
}

fn say_json(json: &str) -> anyhow::Result<()> {
    Ok(terminal::print(json, Form::Json)?)
}

/// The result of a session that could not be started.
fn failed_start(session: &str, why: &str, reason: Option<&str>) -> String {
    let mut result = json!({
        "type": "result", "subtype": "error_during_execution", "is_error": true,
        "duration_ms": 0, "duration_api_ms": 0, "num_turns": 0, "stop_reason": null,
        "session_id": session, "total_cost_usd": 0,
        "usage": {
            "input_tokens": 0, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": 0,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        },
        "modelUsage": {}, "permission_denials": [], "uuid": fresh_id(),
        "errors": [why], "result_index": 0,
    });
    if let Some(reason) = reason {
        result["startup_failure_reason"] = reason.into();
    }
    result.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_known_by_their_input_format() {
        for (words, expected) in [
            (vec!["--input-format", "stream-json"], true),
            (vec!["--nonsense", "--input-format=stream-json", "--model", "m"], true),
            (vec!["--input-format", "text", "stream-json"], false),
            (vec!["--output-format", "stream-json", "-p", "hi"], false),
            (vec![], false),
        ] {
            assert_eq!(expects_lines(&words), expected, "{words:?}");
        }
    }
}
