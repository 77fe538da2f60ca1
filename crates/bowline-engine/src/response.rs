//! One model response: attempts, backoff between them, and the stream, as a sequence of steps.
//!
//! Nothing is emitted and nothing is decided here beyond whether to retry. A request is retried
//! only while no block of the response is complete, so no block is ever emitted twice.

use std::{pin::Pin, sync::Arc, time::Duration};

use bowline_model::{
    BoxFuture, Delivery, ErrorKind, EventStream, Folded, MessageFold, Model, ModelError,
    ModelRequest, RetryPolicy, model_family,
};
use bowline_protocol::{ApiMessage, ContentBlock, StreamEvent, Usage};
use futures_util::StreamExt;
use tokio::time::{Instant, Sleep};

use crate::{
    conversation::drop_thinking,
    usage::{ApiTime, Tokens},
};

/// How many overload errors in a row send the request to the fallback model.
const OVERLOADS_BEFORE_FALLBACK: u32 = 3;
/// The HTTP status of an invalid key.
const UNAUTHORIZED: u16 = 401;
/// The HTTP status of an overloaded API.
const OVERLOADED: u16 = 529;

/// A model and the request to it.
#[derive(Clone)]
pub(crate) struct Target {
    /// The model.
    pub(crate) model: Arc<dyn Model>,
    /// The name that messages and bills use.
    pub(crate) name: String,
    /// The request, built for that model.
    pub(crate) request: Arc<ModelRequest>,
}

/// A model response in progress.
pub(crate) struct ModelResponse {
    target: Target,
    fallbacks: Vec<Target>,
    policy: RetryPolicy,
    state: State,
    fold: MessageFold,
    /// The delivery of the newest attempt: streamed or whole.
    delivery: Delivery,
    retries: u32,
    overloads: u32,
    complete_blocks: usize,
    opening_usage: Option<Usage>,
    /// Usage of an attempt that is not recorded in the ledger yet, and its model.
    unbilled: Option<(String, Usage)>,
    request_id: Option<String>,
    pub(crate) timing: Timing,
}

/// Times of the attempts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// When the newest attempt began.
    pub(crate) attempt: Instant,
    /// Time from there to the first event.
    pub(crate) first_event: Option<Duration>,
    /// Time spent on ended attempts.
    pub(crate) spent: Duration,
}

enum State {
    Connecting(BoxFuture<'static, Result<EventStream, ModelError>>),
    Streaming(EventStream),
    Waiting(Pin<Box<Sleep>>),
    Over,
}

/// One step of a response.
#[derive(Debug)]
pub(crate) enum Step {
    /// An event, and the index of the block of the [message](ModelResponse::message) that it completes.
    Event(StreamEvent, Option<usize>),
    /// An attempt failed; another follows after the delay.
    Retry { error: ModelError, attempt: u32, delay: Duration },
    /// The model stays overloaded or does not respond; the next attempt goes to a fallback.
    Fallback { error: ModelError, from: String, to: String },
    /// The response is complete.
    Done,
    /// The stream broke off after a complete block.
    Cut(ModelError),
    /// The request failed and is not retried.
    Failed(ModelError),
}

impl ModelResponse {
    /// Requests `target`, and the fallbacks if it stays overloaded or does not respond.
    pub(crate) fn new(target: Target, fallbacks: Vec<Target>, policy: RetryPolicy) -> Self {
        let mut response = Self {
            state: State::Over,
            target,
            fallbacks,
            policy,
            fold: MessageFold::default(),
            delivery: Delivery::default(),
            retries: 0,
            overloads: 0,
            complete_blocks: 0,
            opening_usage: None,
            unbilled: None,
            request_id: None,
            timing: Timing { attempt: Instant::now(), first_event: None, spent: Duration::ZERO },
        };
        response.connect();
        response
    }

    /// The response so far: its complete blocks.
    pub(crate) fn message(&self) -> &ApiMessage {
        self.fold.message()
    }

    /// The response so far without its blocks.
    pub(crate) fn head(&self) -> ApiMessage {
        let whole = self.message();
        ApiMessage {
            id: whole.id.clone(),
            kind: whole.kind.clone(),
            role: whole.role.clone(),
            model: whole.model.clone(),
            content: Vec::new(),
            stop_reason: whole.stop_reason.clone(),
            stop_sequence: whole.stop_sequence.clone(),
            usage: whole.usage.clone(),
            extra: whole.extra.clone(),
        }
    }

    /// Everything received so far, incomplete blocks included.
    pub(crate) fn fold(&self) -> &MessageFold {
        &self.fold
    }

    /// The model of the current attempt.
    pub(crate) fn model(&self) -> &str {
        &self.target.name
    }

    /// Takes the API time since the last call of this function.
    pub(crate) fn take_api_time(&mut self) -> ApiTime {
        let last_attempt = match self.state {
            State::Waiting(_) => Duration::ZERO,
            _ => self.timing.attempt.elapsed(),
        };
        let all = std::mem::take(&mut self.timing.spent) + last_attempt;
        self.timing.attempt = Instant::now();
        ApiTime { all, last_attempt }
    }

    /// Takes the usage that the API has reported for the newest attempt, and its model.
    pub(crate) fn take_usage(&mut self) -> Option<(String, Usage)> {
        self.unbilled.take()
    }

    /// The usage that the API reported in `message_start`, which the frames of blocks carry.
    pub(crate) fn opening_usage(&self) -> Usage {
        self.opening_usage.clone().unwrap_or_default()
    }

    /// An estimate of the input and output tokens so far.
    pub(crate) fn tokens_so_far(&self) -> u64 {
        /// A rough average.
        const CHARS_PER_TOKEN: usize = 4;
        let input = Tokens { output: 0, ..Tokens::from(&self.opening_usage()) }.total();
        let text = self.message().content.iter().filter_map(ContentBlock::as_text);
        let chars: usize = text.map(|text| text.chars().count()).sum();
        input + chars.div_ceil(CHARS_PER_TOKEN) as u64
    }

    /// Whether the newest attempt is streamed.
    pub(crate) fn is_streamed(&self) -> bool {
        self.delivery == Delivery::Stream
    }

    /// The API's id of the request.
    pub(crate) fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }

    /// The maximum number of retries.
    pub(crate) fn max_retries(&self) -> u32 {
        self.policy.max_retries
    }

    /// The next step.
    ///
    /// Cancel safety: nothing is lost when the future is dropped; call it again.
    pub(crate) async fn next(&mut self) -> Step {
        loop {
            match &mut self.state {
                State::Connecting(connecting) => match connecting.await {
                    Ok(stream) => {
                        self.request_id = stream.request_id().map(str::to_owned);
                        self.state = State::Streaming(stream);
                    }
                    Err(error) => return self.failed(error),
                },
                State::Streaming(stream) => match stream.next().await {
                    Some(Ok(event)) => return self.received(event),
                    Some(Err(error)) => return self.broken(error),
                    None => {
                        self.state = State::Over;
                        return Step::Done;
                    }
                },
                State::Waiting(sleep) => {
                    sleep.await;
                    self.connect();
                }
                State::Over => std::future::pending().await,
            }
        }
    }

    fn connect(&mut self) {
        self.opening_usage = None;
        self.timing.spent += self.timing.attempt.elapsed();
        self.timing.attempt = Instant::now();
        self.timing.first_event = None;
        self.fold = MessageFold::default();
        let Target { model, request, .. } = self.target.clone();
        self.delivery = request.delivery;
        self.state = State::Connecting(Box::pin(async move { model.stream(request).await }));
    }

    fn received(&mut self, event: StreamEvent) -> Step {
        let attempt = self.timing.attempt;
        self.timing.first_event.get_or_insert_with(|| attempt.elapsed());
        if let StreamEvent::MessageStart(start) = &event {
            self.opening_usage = Some(start.message.usage.clone());
        }
        let complete = match self.fold.apply(&event) {
            Folded::BlockDone(index) => Some(index),
            _ => None,
        };
        if complete.is_some() {
            self.complete_blocks += 1;
        }
        if matches!(event, StreamEvent::MessageStart(_) | StreamEvent::MessageDelta(_)) {
            let usage = self.fold.message().usage.clone();
            self.unbilled = Some((self.target.name.clone(), usage));
        }
        Step::Event(event, complete)
    }

    /// Handles a stream that ends with an error. An error that the API reports in mid-stream may not
    /// occur in a response without streaming.
    fn broken(&mut self, error: ModelError) -> Step {
        let reported = error.api_type.is_some() && self.complete_blocks == 0;
        match reported && self.disable_streaming() {
            true => self.retry_whole(error),
            false => self.failed(error),
        }
    }

    fn failed(&mut self, error: ModelError) -> Step {
        self.state = State::Over;
        if self.complete_blocks > 0 {
            return Step::Cut(error);
        }
        if error.status == Some(OVERLOADED) {
            self.overloads += 1;
            if self.overloads >= OVERLOADS_BEFORE_FALLBACK && !self.fallbacks.is_empty() {
                return self.fall_back(error);
            }
        }
        // A response without streaming may be readable where the stream was not.
        if error.kind == ErrorKind::Unreadable && self.disable_streaming() {
            return self.retry_whole(error);
        }
        // An invalid key may be one that is being rotated.
        let invalid_key = error.status == Some(UNAUTHORIZED);
        let mut hinted = error.clone();
        hinted.should_retry = hinted.should_retry.or(invalid_key.then_some(true));
        match self.policy.delay(self.retries + 1, &hinted) {
            Some(delay) => {
                self.retries += 1;
                self.connect_after(delay);
                Step::Retry { error, attempt: self.retries, delay }
            }
            None if error.kind == ErrorKind::StreamCut && self.disable_streaming() => {
                self.retry_whole(error)
            }
            None if error.is_retryable() && !self.fallbacks.is_empty() => self.fall_back(error),
            None => Step::Failed(error),
        }
    }

    /// Retries at once without streaming; attempt 0 is not reported to the host.
    fn retry_whole(&mut self, error: ModelError) -> Step {
        self.connect_after(Duration::ZERO);
        Step::Retry { error, attempt: 0, delay: Duration::ZERO }
    }

    /// Starts another attempt after the delay. Until then the last one can still be read.
    fn connect_after(&mut self, delay: Duration) {
        self.timing.spent += self.timing.attempt.elapsed();
        self.state = State::Waiting(Box::pin(tokio::time::sleep(delay)));
    }

    /// Switches to requests without streaming; `false` if that is already so.
    fn disable_streaming(&mut self) -> bool {
        if self.target.request.delivery == Delivery::Whole {
            return false;
        }
        Arc::make_mut(&mut self.target.request).delivery = Delivery::Whole;
        true
    }

    fn fall_back(&mut self, error: ModelError) -> Step {
        let next = self.fallbacks.remove(0);
        let from = std::mem::replace(&mut self.target, next).name;
        if model_family(&from) != model_family(&self.target.name) {
            drop_thinking(&mut Arc::make_mut(&mut self.target.request).messages);
        }
        self.overloads = 0;
        self.retries = 0;
        self.connect_after(Duration::ZERO);
        Step::Fallback { error, from, to: self.target.name.clone() }
    }
}
