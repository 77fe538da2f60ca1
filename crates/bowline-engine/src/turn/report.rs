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
    /// How it ended; `None` while it runs, or if no request was sent.
    pub(crate) ending: Option<Ending>,
    /// When it began.
    pub(crate) began: Instant,
    /// The model's last text.
    pub(crate) last_text: String,
    /// Why the model last stopped.
    pub(crate) stop_reason: Option<StopReason>,
    /// How many messages the model was sent: the prompt, results, nudges.
    pub(crate) messages: u64,
    /// The structured output that the host requested.
    pub(crate) structured_output: Option<RawJson>,
    /// The calls that were not allowed.
    pub(crate) denials: Vec<PermissionDenial>,
    /// The calls that hooks deferred, the last one last.
    pub(crate) deferred: Vec<DeferredToolUse>,
    /// Why the model could not be reached.
    pub(crate) failure: Option<ModelError>,
    /// The protocol's name of a failure that has no HTTP status.
    pub(crate) api_error: Option<&'static str>,
    /// Time from the beginning to the first request, event and content.
    pub(crate) first_request: Option<Duration>,
    pub(crate) first_event: Option<Duration>,
    pub(crate) first_content: Option<Duration>,
    /// How many tools were called.
    pub(crate) tool_uses: u64,
    /// The names of those that exist.
    pub(crate) tools_used: BTreeSet<String>,
    /// Calls by tool name.
    pub(crate) calls: BTreeMap<String, u64>,
    /// Lines that tools added to files and removed from them.
    pub(crate) changes: LineChanges,
    /// The usage of the last response.
    pub(crate) last_usage: Usage,
    /// The model of the last response.
    pub(crate) model: String,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self {
            ending: None,
            began: Instant::now(),
            last_text: String::new(),
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

    /// Counts a call of a tool, which may not exist.
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
