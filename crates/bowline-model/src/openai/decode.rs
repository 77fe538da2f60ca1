//! Chunks and whole responses as stream events. No I/O.

use std::collections::VecDeque;

use bowline_protocol::{Extra, Maybe, StopReason, StreamEvent, Usage};
use serde_json::{Value, json};

use super::{
    assemble::{Assembly, generated_id},
    chunk::{CallPiece, Chunk, FunctionPiece, MessagePiece, TokenCounts},
    names::ToolNames,
};
use crate::{
    ErrorKind, ModelError, event,
    http::{Decoder, ErrorText},
    sse::SseEvent,
};

/// Reads a server's chunks.
pub(super) struct OpenAiDecoder {
    origin: String,
    /// The requested model; some servers do not repeat it.
    model: String,
    names: ToolNames,
    assembly: Assembly,
    begun: bool,
    refused: bool,
    finish_reason: Option<String>,
    counts: Option<TokenCounts>,
    ended: bool,
}

impl OpenAiDecoder {
    pub(super) fn new(origin: &str, model: &str, names: ToolNames) -> Self {
        Self {
            origin: origin.to_owned(),
            model: model.to_owned(),
            names,
            assembly: Assembly::default(),
            begun: false,
            refused: false,
            finish_reason: None,
            counts: None,
            ended: false,
        }
    }

    /// Reads a response that came in one piece.
    pub(super) fn read_whole(mut self, body: &[u8]) -> Result<VecDeque<StreamEvent>, ModelError> {
        let mut events = VecDeque::new();
        let text = String::from_utf8_lossy(body);
        self.read(&text, &mut events)?;
        if !self.begun {
            return Err(self.unreadable("it has no choices"));
        }
        self.end(&mut events);
        Ok(events)
    }

    fn read(&mut self, json: &str, out: &mut VecDeque<StreamEvent>) -> Result<(), ModelError> {
        let chunk: Chunk =
            serde_json::from_str(json).map_err(|error| self.unreadable(&error.to_string()))?;
        let Chunk { id, model, choices, usage, error } = chunk;
        if let Some(error) = error.filter(|error| !error.is_null()) {
            return Err(error_chunk(&json!({ "error": error })));
        }
        let Some(choices) = choices else {
            return match usage {
                Some(counts) => {
                    self.counts = Some(counts);
                    Ok(())
                }
                // Neither choices nor token counts: some servers report errors this way, others just
                // show that they are alive.
                None => {
                    let json = serde_json::from_str(json).unwrap_or(Value::Null);
                    match ErrorText::read(&json).message {
                        Some(_) => Err(error_chunk(&json)),
                        None => Ok(()),
                    }
                }
            };
        };
        self.begin(id, model, out);
        for choice in choices {
            // One response is requested; of several only the first is used.
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(piece) = choice.delta.or(choice.message) {
                self.receive(piece, out);
            }
            // Some servers send an empty text for none.
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
            }
        }
        if usage.is_some() {
            self.counts = usage;
        }
        Ok(())
    }

    fn begin(
        &mut self,
        id: Option<String>,
        model: Option<String>,
        out: &mut VecDeque<StreamEvent>,
    ) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| generated_id("msg"));
        let model = model.filter(|model| !model.is_empty()).unwrap_or_else(|| self.model.clone());
        // The counts come last.
        let nothing = TokenCounts::default();
        out.push_back(event::message_start(id, model, usage(&nothing)));
    }

    fn receive(&mut self, piece: MessagePiece, out: &mut VecDeque<StreamEvent>) {
        if let Some(thought) = piece.thought() {
            self.assembly.thinking(thought, out);
        }
        if let Some(text) = piece.text() {
            self.assembly.text(&text, out);
        }
        if let Some(refusal) = piece.refusal() {
            self.refused = true;
            self.assembly.text(refusal, out);
        }
        let single = piece.function_call.map(|function| CallPiece {
            index: Some(0),
            id: None,
            function: Some(function),
        });
        let calls = piece.tool_calls.unwrap_or_default().into_iter().chain(single);
        for (position, call) in calls.enumerate() {
            self.hear_call(position, call, out);
        }
    }

    fn hear_call(&mut self, position: usize, call: CallPiece, out: &mut VecDeque<StreamEvent>) {
        let CallPiece { index, id, function } = call;
        let function: FunctionPiece = function.unwrap_or_default();
        let id = id.unwrap_or_default();
        let name = function.name.as_deref().unwrap_or_default();
        let goes_on = id.is_empty() && name.is_empty();
        // Without a number, a bare piece goes on with the newest call; others go by index.
        let number = index
            .or_else(|| self.assembly.last_call_number().filter(|_| goes_on))
            .unwrap_or(position as u64);
        let name = self.names.ours(name);
        self.assembly.call(number, &id, &name, &function.arguments(), out);
    }

    /// Ends the response.
    fn end(&mut self, out: &mut VecDeque<StreamEvent>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.assembly.finish(out);
        let reason = match self.finish_reason.as_deref() {
            Some("length") => StopReason::MaxTokens,
            // Some servers send `stop` though there are calls to be run.
            _ if self.assembly.has_calls() => StopReason::ToolUse,
            Some("content_filter") => StopReason::Refusal,
            _ if self.refused => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        let counts = self.counts.take().unwrap_or_default();
        out.push_back(event::message_delta(Some(reason), usage(&counts)));
        out.push_back(event::message_stop());
    }

    fn unreadable(&self, why: &str) -> ModelError {
        let message = format!("{} sent a response that cannot be read: {why}", self.origin);
        ModelError::new(ErrorKind::Unreadable, message)
    }
}

impl Decoder for OpenAiDecoder {
    fn decode(
        &mut self,
        event: SseEvent,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ModelError> {
        match event.data.trim() {
            "" => Ok(()),
            "[DONE]" if self.begun => {
                self.end(out);
                Ok(())
            }
            "[DONE]" => Err(self.unreadable("it is empty")),
            // Only some servers name their errors.
            data if event.name.as_deref() == Some("error") => {
                Err(error_chunk(&serde_json::from_str(data).unwrap_or_else(|_| data.into())))
            }
            data => self.read(data, out),
        }
    }

    fn finish(&mut self, out: &mut VecDeque<StreamEvent>) -> Result<(), ModelError> {
        if self.finish_reason.is_some() {
            // Everything but the final event has arrived.
            self.end(out);
        }
        match (self.ended, self.begun) {
            (true, _) => Ok(()),
            (false, false) => Err(self.unreadable("it is empty")),
            (false, true) => {
                let message =
                    format!("the response of {} ended before it was complete", self.origin);
                Err(ModelError::new(ErrorKind::StreamCut, message))
            }
        }
    }
}

/// The error that an error inside a stream means.
fn error_chunk(json: &Value) -> ModelError {
    let text = ErrorText::read(json);
    let message = text.message.unwrap_or_else(|| format!("the server reported an error: {json}"));
    ModelError {
        status: text.status,
        api_type: text.api_type,
        request_id: text.request_id,
        ..ModelError::new(ErrorKind::Api, message)
    }
}

/// Counts in the Messages API's terms, where cached input is counted apart.
fn usage(counts: &TokenCounts) -> Usage {
    let input = counts.prompt_tokens_details.clone().unwrap_or_default();
    let output = counts.completion_tokens_details.clone().unwrap_or_default();
    let read = input.cached_tokens.unwrap_or(0);
    let written = input.cache_write_tokens.unwrap_or(0);
    let fresh = counts.prompt_tokens.unwrap_or(0).saturating_sub(read + written);
    let thinking = output.reasoning_tokens.filter(|count| *count > 0);
    let details = thinking
        .map(|count| ("output_tokens_details".to_owned(), json!({ "thinking_tokens": count })));
    Usage {
        input_tokens: Maybe::Value(fresh),
        cache_creation_input_tokens: Maybe::Value(written),
        cache_read_input_tokens: Maybe::Value(read),
        output_tokens: Maybe::Value(counts.completion_tokens.unwrap_or(0)),
        extra: Extra::from_iter(details),
    }
}
