//! Errors, distinguished by what a program would do about them.

use std::{
    error::Error as StdError, fmt, io, ops::Deref, path::PathBuf, sync::Arc, time::Duration,
};

use bowline_peer::CallError;
use bowline_protocol::{ReadError, ResultMessage};

use crate::state::SessionState;

/// Why something did not work.
///
/// [`code`](Self::code) names the kind with a word that does not change between versions.
///
/// ```
/// use bowline_host::{Error, Options, query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let options = Options::default().cli_path("/no/such/agent");
/// match query("Hello?", options).text().await {
///     Ok(text) => println!("{text}"),
///     Err(Error::Process(end)) => println!("it ended with {:?}: {}", end.code, end.stderr),
///     Err(error) if error.is_worth_retrying() => println!("once more: {error}"),
///     Err(error) => assert_eq!(error.code(), "cli_not_found"),
/// }
/// # }
/// ```
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agent's program is nowhere. `cli_not_found`
    #[error(
        "the agent's program was not found; looked for {}; set `Options::cli_path` to where it is",
        Paths(.searched)
    )]
    NotFound {
        /// Where we looked, in order.
        searched: Vec<PathBuf>,
    },
    /// The agent could not be started or reached. `cli_connection`
    #[error("{what}")]
    Connection {
        /// What was tried.
        what: String,
        /// Why it failed.
        #[source]
        source: Option<Cause>,
    },
    /// The agent's process ended when it should not have. `process`
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// A tool failed that was [called directly](crate::Tool::call). `tool_execution`
    ///
    /// Called by an agent, a tool that fails has an error result, which the model reads.
    #[error("the tool `{tool}` failed: {message}")]
    Tool {
        /// The tool.
        tool: String,
        /// What the model would read.
        message: String,
    },
    /// The agent refused a request. `control_protocol`
    #[error("{subtype}: {message}")]
    Control {
        /// The request.
        subtype: &'static str,
        /// The agent's error message.
        message: String,
        /// The agent's error code, as in `unsupported_request`.
        code: Option<String>,
    },
    /// The agent took too long. `timeout`
    #[error("{subtype}: no response within {limit:?}{}", last_words("the agent's", .stderr))]
    Timeout {
        /// The request.
        subtype: &'static str,
        /// How long it was given.
        limit: Duration,
        /// The end of what its process has written to its stderr so far; empty if stderr is not
        /// read.
        stderr: Arc<str>,
    },
    /// A prompt has no form in JSON, and was not sent. `prompt`
    #[error("the prompt cannot be written: {source}")]
    Prompt {
        /// What is wrong with it.
        source: Cause,
    },
    /// A line of the agent is not JSON, not text, or too long. The session continues. `json`
    #[error("a line cannot be read: {source}; it begins with `{line}`")]
    Json {
        /// How the line begins.
        line: String,
        /// What is wrong with it.
        source: Cause,
    },
    /// A message of a known type does not have its shape. The session continues. `message`
    #[error("a message cannot be read: {source}; it begins with `{line}`")]
    Message {
        /// How the line begins.
        line: String,
        /// What is wrong with it.
        source: Arc<ReadError>,
    },
    /// The run failed, as its result describes: it was interrupted, reached a limit, or the API did
    /// not respond. `result`
    ///
    /// Only where the result cannot be returned; streams of messages and
    /// [`Session::wait`](crate::Session::wait) hand over the result itself.
    #[error("the run failed: {}", words(.0))]
    Failed(Box<ResultMessage>),
    /// The result does not have the requested [output](crate::Messages::output). `output`
    #[error("{0}")]
    Output(String),
    /// The options do not go together. `options`
    #[error("{0}")]
    Options(String),
    /// The session was closed by us. `closed`
    #[error("the session is closed")]
    Closed,
    /// The session was [cancelled](crate::Session::cancel). `cancelled`
    #[error("the session was cancelled")]
    Cancelled,
    /// The session is not where this could be done. `state`
    #[error("cannot {action} a session that is {state}")]
    State {
        /// The action that was attempted.
        action: &'static str,
        /// Where the session is.
        state: SessionState,
    },
}

/// What is shown of an error that `main` returns: its words and its code, then what lies below. The
/// fields of a failed result are left out.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.to_string();
        write!(f, "{words} ({})", self.code())?;
        let mut below = self.source();
        while let Some(cause) = below {
            let cause_words = cause.to_string();
            if !words.contains(&cause_words) {
                write!(f, "\n  because: {cause_words}")?;
            }
            below = cause.source();
        }
        Ok(())
    }
}

/// What lies below an error.
#[derive(Clone)]
pub struct Cause(Arc<dyn StdError + Send + Sync>);

impl<E: StdError + Send + Sync + 'static> From<E> for Cause {
    fn from(error: E) -> Self {
        Self(Arc::new(error))
    }
}

impl Cause {
    #[cfg(feature = "websocket")]
    pub(crate) fn of(error: Box<dyn StdError + Send + Sync>) -> Self {
        Self(Arc::from(error))
    }
}

impl Deref for Cause {
    type Target = dyn StdError + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error {
    /// Stable identifier of the kind of error, the same in every version.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "cli_not_found",
            Self::Connection { .. } => "cli_connection",
            Self::Process(_) => "process",
            Self::Tool { .. } => "tool_execution",
            Self::Control { .. } => "control_protocol",
            Self::Timeout { .. } => "timeout",
            Self::Prompt { .. } => "prompt",
            Self::Json { .. } => "json",
            Self::Message { .. } => "message",
            Self::Failed(_) => "result",
            Self::Output(_) => "output",
            Self::Options(_) => "options",
            Self::Closed => "closed",
            Self::Cancelled => "cancelled",
            Self::State { .. } => "state",
        }
    }

    /// Whether the session continues in spite of it.
    pub fn is_about_one_message(&self) -> bool {
        matches!(self, Self::Json { .. } | Self::Message { .. })
    }

    /// Whether the same may work if it is tried again: the agent could not be reached, has died or
    /// was too slow, or the API was busy or out of order. Every other error would occur again in the same way,
    /// or was wanted.
    pub fn is_worth_retrying(&self) -> bool {
        match self {
            Self::Connection { .. } | Self::Process(_) | Self::Timeout { .. } => true,
            Self::Failed(result) => {
                result.api_error_status.as_ref().is_some_and(|status| passes(*status))
            }
            _ => false,
        }
    }

    pub(crate) fn connection(what: impl Into<String>, source: io::Error) -> Self {
        Self::Connection { what: what.into(), source: Some(source.into()) }
    }

    /// The error of a control request that failed.
    pub(crate) fn request(subtype: &'static str, error: CallError) -> Self {
        match error {
            CallError::Closed => Self::Closed,
            CallError::TimedOut(limit) => Self::Timeout { subtype, limit, stderr: Arc::default() },
            CallError::Refused(failure) => {
                Self::Control { subtype, message: failure.error, code: failure.error_code }
            }
            other => Self::Control { subtype, message: other.to_string(), code: None },
        }
    }
}

/// Whether this HTTP status is transient.
fn passes(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || status >= 500
}

/// Description of a failed run from its result.
fn words(result: &ResultMessage) -> String {
    let errors = result.errors.as_deref().unwrap_or_default();
    match (&result.result, errors) {
        (Some(text), _) => text.clone(),
        (None, []) => result.subtype.to_string(),
        (None, errors) => format!("{}: {}", result.subtype, errors.join("; ")),
    }
}

/// How much of a line is quoted in an error.
const QUOTED: usize = 200;

/// The beginning of a line, for an error.
pub(crate) fn beginning(line: &str) -> String {
    line.chars().take(QUOTED).collect()
}

/// How the agent's process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessError {
    /// Its exit code; `None` if a signal killed it.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// The end of what it wrote to its stderr.
    pub stderr: Arc<str>,
}

impl fmt::Display for ProcessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "the agent's process ended with exit code {code}")?,
            (None, Some(signal)) => write!(f, "the agent's process was killed by signal {signal}")?,
            (None, None) => f.write_str("the agent's process ended")?,
        }
        f.write_str(&last_words("its", &self.stderr))
    }
}

/// Suffix with the end of stderr, if there is any.
fn last_words(whose: &str, stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        stderr => format!("; {whose} stderr ends with: {stderr}"),
    }
}

impl StdError for ProcessError {}

struct Paths<'a>(&'a [PathBuf]);

impl fmt::Display for Paths<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, path) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", path.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_of_an_error_is_readable() {
        let failed = ResultMessage {
            result: Some("API Error: no key".to_owned()),
            ..ResultMessage::default()
        };
        let failed = Error::Failed(Box::new(failed));
        assert_eq!(format!("{failed:?}"), "the run failed: API Error: no key (result)");
        let gone = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let gone = Error::connection("cannot start `bowline`", gone);
        let shown = "cannot start `bowline` (cli_connection)\n  because: no such file";
        assert_eq!(format!("{gone:?}"), shown);
    }

    #[test]
    fn a_prompt_that_cannot_be_written_is_not_a_line_that_cannot_be_read() {
        let odd = serde_json::to_string(&std::collections::BTreeMap::from([([1], 2)]));
        let error = Error::Prompt { source: odd.unwrap_err().into() };
        let words = "the prompt cannot be written: key must be a string";
        assert_eq!((error.code(), error.to_string().as_str()), ("prompt", words));
        assert!(!error.is_worth_retrying());
    }

    #[test]
    fn lines_are_quoted_by_characters() {
        let line = "ü".repeat(QUOTED + 1);
        assert_eq!(beginning(&line), "ü".repeat(QUOTED));
        assert_eq!(beginning("ü"), "ü");
    }
}
