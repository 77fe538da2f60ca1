//! Report of a turn: the data of its result message.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bowline_model::ModelError;
use bowline_protocol::{DeferredToolUse, PermissionDenial, RawJson, StopReason, Usage};
use tokio::time::Instant;

use super::machine::Ending;
use crate::usage::LineChanges;

/// The report of a turn.
#[derive(Debug)]
pub(crate) struct Report {
    /// How it ended; `None` while it runs, or if no model was asked.
    pub(crate) ending: Option<Ending>,
    /// When it began.
    pub(crate) began: Instant,
    /// The model's last words.
    pub(crate) last_words: String,
    /// Why the model last stopped.
    pub(crate) stop_reason: Option<StopReason>,
    /// How many messages the model was sent: the prompt, results, nudges.
    pub(crate) messages: u64,
    /// The answer in the shape the host asked for.
    pub(crate) structured_output: Option<RawJson>,
    /// The calls that were not allowed.
    pub(crate) denials: Vec<PermissionDenial>,
    /// The calls that hooks deferred, the last one last.
    pub(crate) deferred: Vec<DeferredToolUse>,
    /// Why the model could not be reached.
    pub(crate) failure: Option<ModelError>,
    /// The protocol's word for a failure that has no HTTP status.
    pub(crate) api_error: Option<&'static str>,
    /// From the beginning to the first request, event and content.
    pub(crate) first_request: Option<Duration>,
    pub(crate) first_event: Option<Duration>,
    pub(crate) first_content: Option<Duration>,
    /// How many tools were called.
    pub(crate) tool_uses: u64,
    /// Which, of those that there are.
    pub(crate) tools_used: BTreeSet<String>,
    /// How often each.
    pub(crate) calls: BTreeMap<String, u64>,
    /// Lines that tools put into files, and took out of them.
    pub(crate) changes: LineChanges,
    /// What the last answer cost.
    pub(crate) last_usage: Usage,
    /// Who gave it.
    pub(crate) model: String,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self {
            ending: None,
            began: Instant::now(),
            last_words: String::new(),
            stop_reason: None,
            messages: 1,
            structured_output: None,
            denials: Vec::new(),
            deferred: Vec::new(),
            failure: None,
            api_error: None,
            first_request: None,
            first_event: None,
            first_content: None,
            tool_uses: 0,
            tools_used: BTreeSet::new(),
            calls: BTreeMap::new(),
            changes: LineChanges::default(),
            last_usage: Usage::default(),
            model: String::new(),
        }
    }

    /// A tool was called, which need not exist.
    pub(crate) fn used(&mut self, tool: &str, exists: bool) {
        self.tool_uses += 1;
        match self.calls.get_mut(tool) {
            Some(count) => *count += 1,
            None => drop(self.calls.insert(tool.to_owned(), 1)),
        }
        if exists && !self.tools_used.contains(tool) {
            self.tools_used.insert(tool.to_owned());
        }
    }
}
