//! Model that responds from a recording.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bowline_protocol::StreamEvent;
use futures_util::stream;
use parking_lot::Mutex;
use serde_json::Value;

use super::{
    difference::{Difference, essence},
    file::LineIn,
};
use crate::{BoxFuture, ErrorKind, EventStream, Model, ModelError, ModelRequest, secret::Redactor};

/// Speed of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As fast as it is read.
    #[default]
    AtOnce,
    /// With the pauses of the recording.
    AsRecorded,
}

/// Plays a recording.
#[derive(Debug)]
pub struct ReplayModel {
    path: PathBuf,
    pace: Pace,
    exchanges: Mutex<Vec<Exchange>>,
    redactor: Redactor,
}

#[derive(Debug, Default)]
struct Exchange {
    number: u64,
    essence: Value,
    asked_at: u64,
    request_id: Option<String>,
    events: Arc<Vec<(u64, StreamEvent)>>,
    ended_at: u64,
    error: Option<ModelError>,
    played: bool,
}

impl ReplayModel {
    /// Reads a recording.
    pub fn open(path: &Path, pace: Pace) -> Result<Self, ModelError> {
        let problem = |what: String| {
            let message = format!("cannot replay {}: {what}", path.display());
            ModelError::new(ErrorKind::Replay, message)
        };
        let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
        let mut exchanges: BTreeMap<u64, Exchange> = BTreeMap::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            let line: LineIn = serde_json::from_str(line)
                .map_err(|error| problem(format!("line {}: {error}", number + 1)))?;
            let exchange = exchanges.entry(line.exchange).or_default();
            exchange.number = line.exchange;
            exchange.take(line);
        }
        if exchanges.is_empty() {
            return Err(problem("it holds no exchange".to_owned()));
        }
        let exchanges = Mutex::new(exchanges.into_values().collect());
        Ok(Self { path: path.to_owned(), pace, exchanges, redactor: Redactor::default() })
    }

    /// Takes requests for those of a recording that was made with the same secrets hidden.
    pub(crate) fn with_redactor(self, redactor: Redactor) -> Self {
        Self { redactor, ..self }
    }

    /// Finds the response to a request and marks it as played.
    fn find(&self, request: &ModelRequest) -> Result<Script, ModelError> {
        let requested = serde_json::to_string(request).map(|text| self.redactor.redact(text));
        let requested: Value =
            requested.and_then(|text| serde_json::from_str(&text)).map_err(|error| {
                ModelError::new(ErrorKind::Replay, "the request cannot be compared")
                    .with_source(error)
            })?;
        let requested = essence(&requested);
        let mut exchanges = self.exchanges.lock();
        let same = |exchange: &Exchange| exchange.essence == requested;
        let fresh = exchanges.iter().position(|exchange| !exchange.played && same(exchange));
        match fresh.or_else(|| exchanges.iter().rposition(same)) {
            Some(index) => {
                exchanges[index].played = true;
                Ok(exchanges[index].script())
            }
            None => Err(self.mismatch(&exchanges, &requested)),
        }
    }

    /// Error that names the closest exchange and the difference.
    fn mismatch(&self, exchanges: &[Exchange], requested: &Value) -> ModelError {
        let nearness = |exchange: &&Exchange| {
            let common = Difference::common_messages(&exchange.essence, requested);
            (common, !exchange.played, std::cmp::Reverse(exchange.number))
        };
        let closest = exchanges.iter().max_by_key(nearness);
        let how = closest.and_then(|closest| {
            let difference = Difference::find(&closest.essence, requested)?;
            Some(format!("request {} is closest and differs {difference}", closest.number))
        });
        let how = how.unwrap_or_else(|| "it holds no request".to_owned());
        let message = format!("{} has no response to this request: {how}", self.path.display());
        ModelError::new(ErrorKind::Replay, message)
    }
}

impl Exchange {
    fn take(&mut self, line: LineIn) {
        self.ended_at = line.at_ms;
        match line.kind.as_str() {
            "request" => {
                self.asked_at = line.at_ms;
                self.essence = essence(&line.request.unwrap_or_default());
            }
            "begin" => self.request_id = line.request_id,
            "event" => {
                let event = line.event.map(|event| (line.at_ms, event));
                Arc::make_mut(&mut self.events).extend(event);
            }
            "end" => self.error = line.error.map(ModelError::from),
            // Lines of a newer version.
            _ => {}
        }
    }

    fn script(&self) -> Script {
        let is_whole = matches!(self.events.last(), Some((_, StreamEvent::MessageStop(_))));
        let not_received = || {
            let message = "the rest of this response was not received when it was recorded";
            ModelError::new(ErrorKind::StreamCut, message)
        };
        let error = match &self.error {
            Some(error) => Some(error.clone()),
            None => (!is_whole).then(not_received),
        };
        let error = error.map(|error| (self.ended_at, error));
        Script {
            request_id: self.request_id.clone(),
            events: self.events.clone(),
            next: 0,
            clock: self.asked_at,
            error,
        }
    }
}

/// An exchange being played.
struct Script {
    request_id: Option<String>,
    events: Arc<Vec<(u64, StreamEvent)>>,
    next: usize,
    /// The time in the recording.
    clock: u64,
    error: Option<(u64, ModelError)>,
}

impl Script {
    /// The next thing that happened, and how long it took.
    fn next(&mut self) -> Option<(Duration, Result<StreamEvent, ModelError>)> {
        let (at, item) = match self.events.get(self.next) {
            Some((at, event)) => {
                self.next += 1;
                (*at, Ok(event.clone()))
            }
            None => {
                let (at, error) = self.error.take()?;
                (at, Err(error))
            }
        };
        let pause = Duration::from_millis(at.saturating_sub(self.clock));
        self.clock = at;
        Some((pause, item))
    }
}

impl Model for ReplayModel {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let mut script = self.find(&request)?;
            let pace = self.pace;
            // An exchange that failed before it began fails here too.
            if script.events.is_empty()
                && let Some((pause, Err(error))) = script.next()
            {
                pace.keep(pause).await;
                return Err(error);
            }
            let request_id = script.request_id.clone();
            let events = stream::unfold(script, move |mut script| async move {
                let (pause, item) = script.next()?;
                pace.keep(pause).await;
                Some((item, script))
            });
            Ok(EventStream::new(events).with_request_id(request_id))
        })
    }

    /// A recording has no token counts.
    fn count_tokens(&self, _: Arc<ModelRequest>) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(async { Ok(None) })
    }
}

impl Pace {
    async fn keep(self, pause: Duration) {
        if self == Self::AsRecorded {
            tokio::time::sleep(pause).await;
        }
    }
}
