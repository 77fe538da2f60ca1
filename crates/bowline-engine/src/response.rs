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

/// How many overloaded answers in a row send the request to the fallback model.
const OVERLOADS_BEFORE_FALLBACK: u32 = 3;
/// The HTTP status of an API that does not know the key.
const UNAUTHORIZED: u16 = 401;
/// The HTTP status of an overloaded API.
const OVERLOADED: u16 = 529;

/// Where a request can go.
#[derive(Clone)]
pub(crate) struct Target {
    /// What answers.
    pub(crate) model: Arc<dyn Model>,
    /// What we call it.
    pub(crate) name: String,
    /// The request, made for that model.
    pub(crate) request: Arc<ModelRequest>,
}

/// A model response in progress.
pub(crate) struct ModelResponse {
    target: Target,
    fallbacks: Vec<Target>,
    policy: RetryPolicy,
    state: State,
    fold: MessageFold,
    /// How the newest attempt is to be answered.
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

/// When things happened, measured from the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// When the newest attempt began.
    pub(crate) attempt: Instant,
    /// From there to the first event.
    pub(crate) first_event: Option<Duration>,
    /// All the time spent on attempts that are over.
    pub(crate) spent: Duration,
}

enum State {
    Connecting(BoxFuture<'static, Result<EventStream, ModelError>>),
    Streaming(EventStream),
    Waiting(Pin<Box<Sleep>>),
    Over,
}

/// What happens next in an answer.
#[derive(Debug)]
pub(crate) enum Step {
    /// An event came. With it the block at this place of the [message](ModelResponse::message) may be complete.
    Event(StreamEvent, Option<usize>),
    /// An attempt failed; another follows after the delay.
    Retry { error: ModelError, attempt: u32, delay: Duration },
    /// The model stays overloaded or does not answer; the next attempt goes to another.
    Fallback { error: ModelError, from: String, to: String },
    /// The answer is complete.
    Done,
    /// The stream broke off after a complete block.
    Cut(ModelError),
    /// There will be no answer.
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

    /// The answer so far: its complete blocks.
    pub(crate) fn message(&self) -> &ApiMessage {
        self.fold.message()
    }

    /// The answer so far without its blocks.
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

    /// All that came so far, blocks that are not complete included.
    pub(crate) fn fold(&self) -> &MessageFold {
        &self.fold
    }

    /// The model that is asked now.
    pub(crate) fn model(&self) -> &str {
        &self.target.name
    }

    /// How long the API has been at work since this was last asked.
    pub(crate) fn take_api_time(&mut self) -> ApiTime {
        let last_attempt = match self.state {
            State::Waiting(_) => Duration::ZERO,
            _ => self.timing.attempt.elapsed(),
        };
        let all = std::mem::take(&mut self.timing.spent) + last_attempt;
        self.timing.attempt = Instant::now();
        ApiTime { all, last_attempt }
    }

    /// What the newest attempt used as far as the API has said, once, and by which model.
    pub(crate) fn take_usage(&mut self) -> Option<(String, Usage)> {
        self.unbilled.take()
    }

    /// What the API said at the beginning of the answer: what frames of its blocks show.
    pub(crate) fn opening_usage(&self) -> Usage {
        self.opening_usage.clone().unwrap_or_default()
    }

    /// How many tokens went in and came out so far, as far as can be told while it streams.
    pub(crate) fn tokens_so_far(&self) -> u64 {
        /// Roughly so many characters make a token.
        const CHARS_PER_TOKEN: usize = 4;
        let input = Tokens { output: 0, ..Tokens::from(&self.opening_usage()) }.total();
        let text = self.message().content.iter().filter_map(ContentBlock::as_text);
        let chars: usize = text.map(|text| text.chars().count()).sum();
        input + chars.div_ceil(CHARS_PER_TOKEN) as u64
    }

    /// Whether the answer, or what came of the last attempt, comes piece by piece.
    pub(crate) fn is_streamed(&self) -> bool {
        self.delivery == Delivery::Stream
    }

    /// The API's name of the request.
    pub(crate) fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }

    /// How many retries there may be at most.
    pub(crate) fn max_retries(&self) -> u32 {
        self.policy.max_retries
    }

    /// What happens next.
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
            Folded::BlockDone(place) => Some(place),
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

    /// The stream ends with an error. One that the API reports in the middle of it need not happen
    /// to an answer in one piece.
    fn broken(&mut self, error: ModelError) -> Step {
        let reported = error.api_type.is_some() && self.complete_blocks == 0;
        match reported && self.ask_whole() {
            true => self.try_whole(error),
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
        // An unreadable stream may still be read in one piece.
        if error.kind == ErrorKind::Unreadable && self.ask_whole() {
            return self.try_whole(error);
        }
        // A key that is refused may be one that is just being replaced.
        let refused_key = error.status == Some(UNAUTHORIZED);
        let mut asked = error.clone();
        asked.should_retry = asked.should_retry.or(refused_key.then_some(true));
        match self.policy.delay(self.retries + 1, &asked) {
            Some(delay) => {
                self.retries += 1;
                self.connect_after(delay);
                Step::Retry { error, attempt: self.retries, delay }
            }
            None if error.kind == ErrorKind::StreamCut && self.ask_whole() => self.try_whole(error),
            None if error.is_retryable() && !self.fallbacks.is_empty() => self.fall_back(error),
            None => Step::Failed(error),
        }
    }

    /// Tries again at once, without a word to the host.
    fn try_whole(&mut self, error: ModelError) -> Step {
        self.connect_after(Duration::ZERO);
        Step::Retry { error, attempt: 0, delay: Duration::ZERO }
    }

    /// Begins another attempt after the delay. Until then what came of the last one can be looked at.
    fn connect_after(&mut self, delay: Duration) {
        self.timing.spent += self.timing.attempt.elapsed();
        self.state = State::Waiting(Box::pin(tokio::time::sleep(delay)));
    }

    /// Asks for the answer in one piece from now on, unless that is how it was asked already.
    fn ask_whole(&mut self) -> bool {
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
