//! First line of a host, read before the session is set up because it carries managed settings.

use std::io::{self, BufRead, Read};

use bowline_doorway::InputError;
use bowline_protocol::{LineDecoder, MAX_LINE_BYTES};
use serde_json::Value;

use crate::{args::RunArgs, setup::SetupError};

/// Longest first line: the limit of every line.
const LONGEST: u64 = MAX_LINE_BYTES as u64;

/// Input that was read before the session was started.
#[derive(Debug, Default)]
pub(crate) struct FirstLine {
    /// Bytes that the door still has to read.
    pub(crate) bytes: Vec<u8>,
    /// The managed settings in them.
    pub(crate) managed: Option<String>,
}

impl FirstLine {
    /// Reads the line if `--managed-settings-in-initialize` is set.
    pub(crate) fn read(args: &RunArgs) -> Result<Self, SetupError> {
        if !args.sources.managed_settings_in_initialize {
            return Ok(Self::default());
        }
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .take(LONGEST)
            .read_until(b'\n', &mut bytes)
            .map_err(|error| format!("stdin cannot be read: {error}"))?;
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let managed = Some(managed_settings(&bytes)?);
        Ok(Self { bytes, managed })
    }
}

fn managed_settings(line: &[u8]) -> Result<String, SetupError> {
    let mut decoder = LineDecoder::default();
    let decoded = match decoder.next(&mut &*line) {
        None => decoder.finish(),
        decoded => decoded,
    };
    let text = decoded.and_then(Result::ok).map_or("", |line| line.text);
    let line: Value = serde_json::from_str(text).map_err(|_| InputError::InitializeNotFirst)?;
    let request = &line["request"];
    if line["type"] != "control_request" || request["subtype"] != "initialize" {
        return Err(InputError::InitializeNotFirst.into());
    }
    match &request["managedSettings"] {
        settings @ Value::Object(_) => Ok(settings.to_string()),
        _ => Err(SetupError::ManagedSettingsMissing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managed_settings_require_initialize_first() {
        let read = |line: &str| managed_settings(line.as_bytes()).map_err(|why| why.to_string());
        let line = |managed: &str| {
            format!(
                r#"{{"type":"control_request","request_id":"i","request":{{"subtype":"initialize"{managed}}}}}"#
            )
        };
        let settings = r#","managedSettings":{"model":"m"}"#;
        assert_eq!(read(&line(settings)), Ok(r#"{"model":"m"}"#.to_owned()));
        let missing = SetupError::ManagedSettingsMissing.to_string();
        assert_eq!(read(&line("")), Err(missing.clone()));
        assert_eq!(read(&line(r#","managedSettings":"x""#)), Err(missing));
        let other = InputError::InitializeNotFirst.to_string();
        assert_eq!(read(r#"{"type":"keep_alive"}"#), Err(other.clone()));
        assert_eq!(read("{oops"), Err(other));
        let lone_surrogate = r#","managedSettings":{"model":"\ud83d"}"#;
        assert_eq!(read(&line(lone_surrogate)), Ok("{\"model\":\"\u{fffd}\"}".to_owned()));
    }
}
