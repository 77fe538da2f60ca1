//! Report of a session that cannot be started, to the user and to the host.

use std::{
    ffi::OsStr,
    io::{self, BufRead},
    process::ExitCode,
    sync::mpsc,
    thread,
    time::Duration,
};

use bowline_doorway::InputError;
use bowline_protocol::{
    Maybe, Message, MessageUuid, ResultMessage, ResultSubtype, StartupFailureReason, Usage,
};
use serde_json::json;
use uuid::Uuid;

use crate::{
    args::{OutputFormat, RunArgs},
    complain,
    environment::Environment,
    setup::SetupError,
    terminal::{self, Form},
};

/// Timeout of the first line of a host. Hosts write it as soon as we run; for one that writes nothing
/// the exit is not delayed for long.
const FIRST_LINE_TIMEOUT: Duration = Duration::from_secs(1);

/// Reports why a session cannot be started: on stderr, and to a host in a result message.
pub(crate) fn report(
    args: &RunArgs,
    environment: &Environment,
    error: &SetupError,
) -> anyhow::Result<ExitCode> {
    complain(error);
    let streams = args.output.output_format == OutputFormat::StreamJson;
    match error {
        SetupError::NoMessage(_) if streams => {
            let session = args.session.resume.as_deref().unwrap_or_default();
            print_result(failed_start(&session_named(session), &error.to_string(), None))?;
        }
        SetupError::NoSandbox if streams => {
            let session = args.session.session_id.clone().unwrap_or_else(fresh_id);
            print_result(failed_start(&session, &error.to_string(), reason(error)))?;
        }
        SetupError::NoConversation { target, nearest } => {
            if streams {
                print_result(failed_start(&session_named(target), &error.to_string(), None))?;
            }
            if !nearest.is_empty() {
                complain(format!("Sessions here:\n  {}", nearest.join("\n  ")));
            }
        }
        _ if streams && environment.startup_failure_results() => {
            let session = args.session.session_id.clone().unwrap_or_else(fresh_id);
            print_result(failed_start(&session, &error.to_string(), reason(error)))?;
        }
        _ => {}
    }
    if !matches!(error, SetupError::Input(_) | SetupError::ManagedSettingsMissing) {
        await_first_line();
    }
    Ok(ExitCode::FAILURE)
}

/// Waits for the first line of a host before the process exits.
///
/// A host writes as soon as it has started us. If the pipe is closed by then, its write fails, and it
/// reports a broken pipe instead of our exit code and error.
pub(crate) fn await_first_line() {
    if !expects_lines(std::env::args_os().skip(1)) {
        return;
    }
    let (sender, first_line) = mpsc::sync_channel(1);
    // A blocking read from stdin cannot be cancelled; the process exits without it.
    thread::spawn(move || {
        let read = io::stdin().lock().skip_until(b'\n');
        sender.send(read).ok();
    });
    first_line.recv_timeout(FIRST_LINE_TIMEOUT).ok();
}

/// Whether a command line, valid or not, is that of a host which writes lines.
fn expects_lines(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> bool {
    let mut is_format = false;
    words.into_iter().any(|word| {
        let word = word.as_ref();
        let expects = word == "--input-format=stream-json" || is_format && word == "stream-json";
        is_format = word == "--input-format";
        expects
    })
}

/// The protocol's name of the failure, if it has one.
fn reason(error: &SetupError) -> Option<StartupFailureReason> {
    match error {
        SetupError::BypassAsRoot => Some(StartupFailureReason::BypassRoot),
        SetupError::NoSandbox => Some(StartupFailureReason::SandboxRequiredUnavailable),
        SetupError::Settings(_) => Some(StartupFailureReason::ConfigFileInvalid),
        SetupError::Input(InputError::InitializeNotFirst) => {
            Some(StartupFailureReason::InitializeNotFirst)
        }
        SetupError::ManagedSettingsMissing => {
            Some(StartupFailureReason::ManagedSettingsNotDelivered)
        }
        _ => None,
    }
}

/// The id of the requested session, or a new one if `target` is not an id.
fn session_named(target: &str) -> String {
    Uuid::parse_str(target).map_or_else(|_| fresh_id(), |_| target.to_owned())
}

fn fresh_id() -> String {
    Uuid::new_v4().to_string()
}

fn print_result(result: ResultMessage) -> anyhow::Result<()> {
    let line = serde_json::to_string(&Message::Result(Box::new(result)))?;
    Ok(terminal::print(&line, Form::Json)?)
}

/// The result of a session that could not be started.
fn failed_start(session: &str, error: &str, reason: Option<StartupFailureReason>) -> ResultMessage {
    ResultMessage {
        subtype: ResultSubtype::ErrorDuringExecution,
        is_error: true,
        session_id: session.into(),
        uuid: MessageUuid(fresh_id()),
        usage: no_usage(),
        errors: Some(vec![error.to_owned()]),
        result_index: Some(0),
        startup_failure_reason: reason,
        ..ResultMessage::default()
    }
}

/// Usage of no request. Hosts add up these fields without checking that they are there.
fn no_usage() -> Usage {
    let details = json!({
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    });
    Usage {
        input_tokens: Maybe::Value(0),
        cache_creation_input_tokens: Maybe::Value(0),
        cache_read_input_tokens: Maybe::Value(0),
        output_tokens: Maybe::Value(0),
        extra: details.as_object().cloned().unwrap_or_default().into(),
    }
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
