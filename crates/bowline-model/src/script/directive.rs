//! The lines of a script.

use std::time::Duration;

use bowline_protocol::{Extra, RawJson};
use serde_json::Value;

use crate::{ErrorKind, ModelError};

/// One line of a script, understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Directive {
    Say(String),
    Think(String),
    Redacted,
    /// The input as it will be streamed, which need not be JSON.
    Tool {
        name: String,
        input: String,
    },
    Tokens(usize),
    EchoResult,
    Delay(Duration),
    Slow(Duration),
    Error {
        status: u16,
        times: Times,
    },
    ErrorMessage(String),
    RetryAfter(Duration),
    Break {
        how: Break,
        times: Times,
    },
    Stop(String),
    Usage(Extra),
    Summary(String),
    Next,
}

/// Way in which a response breaks off.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Break {
    Cut,
    Hang,
    Error { kind: String, message: String },
}

/// Attempts that fail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Times {
    Always,
    First(u32),
}

impl Times {
    /// Whether it befalls the attempt after this many earlier ones.
    pub(super) fn befall(self, earlier: u32) -> bool {
        match self {
            Self::Always => true,
            Self::First(times) => earlier < times,
        }
    }
}

/// Whether a text has a directive line.
pub(super) fn has_directives(text: &str) -> bool {
    text.lines().any(|line| !matches!(read_directive(line), Ok(None)))
}

/// Reads a script. Consecutive lines that are not directives are sent together.
pub(super) fn read_script(text: &str) -> Result<Vec<Directive>, ModelError> {
    let mut script: Vec<Directive> = Vec::new();
    let mut prose: Vec<&str> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match read_directive(line) {
            Ok(Some(directive)) => {
                flush(&mut prose, &mut script);
                script.push(directive);
            }
            Ok(None) => prose.push(line),
            Err(problem) => {
                let message = format!("line {} of the script: {problem}", number + 1);
                return Err(ModelError::new(ErrorKind::Script, message));
            }
        }
    }
    flush(&mut prose, &mut script);
    Ok(script)
}

fn flush(prose: &mut Vec<&str>, script: &mut Vec<Directive>) {
    let text = prose.join("\n");
    prose.clear();
    if !text.trim().is_empty() {
        script.push(Directive::Say(text.trim().to_owned()));
    }
}

/// Reads one directive; `None` if the line is not one.
///
/// A line that merely begins like one (`STOP the server`) is prose.
fn read_directive(line: &str) -> Result<Option<Directive>, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let (first, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let more = more.trim();
    let millis = || rest.parse().ok().map(Duration::from_millis);
    let status = || first.parse().ok().filter(|status| (400..600).contains(status));
    let alone = |line| rest.is_empty().then_some(line);
    let cut = |times| Directive::Break { how: Break::Cut, times };
    let directive = match word {
        "SAY" => non_empty(rest).map(Directive::Say),
        "THINK" => non_empty(rest).map(Directive::Think),
        "REDACTED" => alone(Directive::Redacted),
        "TOOL" => return read_call(first, more),
        "TOOLRAW" => non_empty(first).map(|name| Directive::Tool { name, input: more.to_owned() }),
        "TOKENS" => rest.parse().ok().map(Directive::Tokens),
        "ECHORESULT" => alone(Directive::EchoResult),
        "DELAY" => millis().map(Directive::Delay),
        "SLOW" => millis().map(Directive::Slow),
        "ERROR" if more.is_empty() => {
            status().map(|status| Directive::Error { status, times: Times::First(1) })
        }
        "ERRORS" => {
            status().zip(read_times(more)).map(|(status, times)| Directive::Error { status, times })
        }
        "ERRMSG" => non_empty(rest).map(Directive::ErrorMessage),
        "RETRYAFTER" => rest
            .parse()
            .ok()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(Directive::RetryAfter),
        "CUT" => alone(cut(Times::Always)),
        "CUTS" => read_times(rest).map(cut),
        "HANG" => alone(Directive::Break { how: Break::Hang, times: Times::Always }),
        "STREAMERR" => non_empty(first).map(|kind| Directive::Break {
            how: Break::Error { kind, message: more.to_owned() },
            times: Times::Always,
        }),
        "STOP" if more.is_empty() => non_empty(first).map(Directive::Stop),
        "USAGE" if rest.starts_with('{') => match serde_json::from_str(rest) {
            Ok(Value::Object(usage)) => Some(Directive::Usage(usage.into())),
            Ok(_) => return Err("USAGE wants an object".to_owned()),
            Err(error) => return Err(format!("USAGE: not JSON: {error}")),
        },
        "SUMMARY" => non_empty(rest).map(Directive::Summary),
        "NEXT" => alone(Directive::Next),
        _ => None,
    };
    Ok(directive)
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn read_times(text: &str) -> Option<Times> {
    match text {
        "" => Some(Times::First(1)),
        _ => {
            let times: i64 = text.parse().ok()?;
            Some(u32::try_from(times).map_or(Times::Always, Times::First))
        }
    }
}

fn read_call(name: &str, input: &str) -> Result<Option<Directive>, String> {
    let input = match input {
        "" => "{}",
        input if input.starts_with('{') => input,
        _ => return Ok(None),
    };
    if let Err(error) = RawJson::from_text(input.to_owned()) {
        return Err(format!("TOOL {name}: the input is not JSON: {error}"));
    }
    Ok(non_empty(name).map(|name| Directive::Tool { name, input: input.to_owned() }))
}
