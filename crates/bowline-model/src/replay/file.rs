//! The lines of a recording, and the file they are in.

use std::{
    fs::File,
    io::Write,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use bowline_protocol::StreamEvent;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ErrorKind, ModelError, ModelRequest, secret::Redactor};

/// One line, as it is written.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum LineOut<'a> {
    Request {
        exchange: u64,
        at_ms: u64,
        request: &'a ModelRequest,
    },
    Begin {
        exchange: u64,
        at_ms: u64,
        request_id: &'a str,
    },
    Event {
        exchange: u64,
        at_ms: u64,
        event: &'a StreamEvent,
    },
    End {
        exchange: u64,
        at_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<RecordedError>,
        /// The caller cancelled the rest.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dropped: bool,
    },
}

/// One line, as it is read.
#[derive(Debug, Deserialize)]
pub(super) struct LineIn {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) exchange: u64,
    pub(super) at_ms: u64,
    #[serde(default)]
    pub(super) request: Option<Value>,
    #[serde(default)]
    pub(super) request_id: Option<String>,
    #[serde(default)]
    pub(super) event: Option<StreamEvent>,
    #[serde(default)]
    pub(super) error: Option<RecordedError>,
}

/// A failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RecordedError {
    kind: ErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    api_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    should_retry: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

impl From<&ModelError> for RecordedError {
    fn from(error: &ModelError) -> Self {
        Self {
            kind: error.kind,
            message: error.message.clone(),
            status: error.status,
            api_type: error.api_type.clone(),
            retry_after_ms: error.retry_after.map(millis),
            should_retry: error.should_retry,
            request_id: error.request_id.clone(),
        }
    }
}

impl From<RecordedError> for ModelError {
    fn from(error: RecordedError) -> Self {
        Self {
            status: error.status,
            api_type: error.api_type,
            retry_after: error.retry_after_ms.map(Duration::from_millis),
            should_retry: error.should_retry,
            request_id: error.request_id,
            ..Self::new(error.kind, error.message)
        }
    }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A recording in the making.
#[derive(Debug)]
pub struct RecordFile {
    file: Mutex<File>,
    began: Instant,
    exchanges: AtomicU64,
    failed: AtomicBool,
    redactor: Redactor,
}

impl RecordFile {
    /// Creates the file, or empties it. Only its owner may read it: it holds
    /// conversations.
    pub fn create(path: &Path) -> Result<Self, ModelError> {
        let file = bowline_private::named_file(path, false).map_err(|error| {
            let message = format!("cannot record to {}: {error}", path.display());
            ModelError::new(ErrorKind::Replay, message)
        })?;
        Ok(Self {
            file: Mutex::new(file),
            began: Instant::now(),
            exchanges: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            redactor: Redactor::default(),
        })
    }

    /// Keeps secrets out of the file, whether in requests or responses.
    pub(crate) fn with_redactor(self, redactor: Redactor) -> Self {
        Self { redactor, ..self }
    }

    /// Secrets to redact.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The number of the next exchange.
    pub(super) fn next_exchange(&self) -> u64 {
        self.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Milliseconds since the recording began.
    pub(super) fn now(&self) -> u64 {
        millis(self.began.elapsed())
    }

    /// Writes a line. A full disk costs the recording, not the session.
    pub(super) fn write(&self, line: &LineOut<'_>) {
        let written = serde_json::to_string(line).map_err(std::io::Error::other).and_then(|text| {
            let mut text = self.redactor.redact(text);
            text.push('\n');
            self.file.lock().write_all(text.as_bytes())
        });
        if let Err(error) = written
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(%error, "the recording is incomplete");
        }
    }
}
