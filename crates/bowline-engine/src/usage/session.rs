//! Usage of a session: the ledger that all its agents share, its budget, and its record on disk.

use std::sync::Arc;

use bowline_model::Prices;
use bowline_protocol::{InformationalLevel, InformationalMessage, RawJson, SessionId, Usage};
use bowline_sessions::CostState;
use parking_lot::{Mutex, MutexGuard};

use super::{Account, ApiTime, LineChanges, Times, Tokens, UsageLedger, budget::Budget};
use crate::{clock::millis, sink::MessageSink};

/// The tag of the message about a model without a known price.
const NO_PRICE_TAG: &str = "model_without_price";

/// The usage of a session.
pub(crate) struct SessionUsage {
    ledger: Mutex<UsageLedger>,
    prices: Prices,
    budget: Budget,
    sink: Arc<MessageSink>,
}

impl SessionUsage {
    pub(crate) fn new(prices: Prices, max_usd: Option<f64>, sink: &Arc<MessageSink>) -> Self {
        Self {
            ledger: Mutex::new(UsageLedger::new(prices.clone())),
            prices,
            budget: Budget { max_usd },
            sink: Arc::clone(sink),
        }
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, UsageLedger> {
        self.ledger.lock()
    }

    /// Begins a new ledger.
    pub(crate) fn reset(&self) {
        *self.ledger() = UsageLedger::new(self.prices.clone());
    }

    /// Continues the ledger of a session that is resumed.
    pub(crate) fn restore(&self, cost: &CostState) {
        let used = cost.model_usage.iter();
        let by_model = used.filter_map(|(model, usage)| Some((model.clone(), usage.parse().ok()?)));
        let changes =
            LineChanges { added: cost.total_lines_added, removed: cost.total_lines_removed };
        self.ledger().restore(by_model.collect(), Times::restored(cost), changes);
    }

    /// The ledger as transcripts record it, for resuming the session.
    pub(crate) fn cost_state(&self, session_id: SessionId) -> CostState {
        let ledger = self.ledger();
        let used = ledger.by_model().iter();
        let model_usage = used
            .filter_map(|(model, usage)| Some((model.clone(), RawJson::from_value(usage).ok()?)))
            .collect();
        CostState {
            session_id,
            total_cost_usd: ledger.total_cost(),
            total_api_duration: millis(ledger.times().api),
            total_api_duration_without_retries: millis(ledger.times().api_without_retries),
            total_tool_duration: millis(ledger.times().tools),
            total_duration: millis(ledger.times().wall()),
            start_time: ledger.times().began,
            total_lines_added: ledger.changes().added,
            total_lines_removed: ledger.changes().removed,
            model_usage,
            has_unknown_model_cost: ledger.has_unknown_cost(),
            ..CostState::default()
        }
    }

    pub(crate) fn is_over_budget(&self) -> bool {
        self.budget.is_exhausted_by(self.ledger().total_cost())
    }

    /// Records the time and tokens of a response, or of an attempt at one.
    ///
    /// Returns how many tokens it took.
    pub(crate) fn record(
        &self,
        account: Account,
        took: ApiTime,
        used: Option<(String, Usage)>,
    ) -> u64 {
        self.ledger().times_mut().enter_api(took);
        let Some((model, usage)) = used else { return 0 };
        let unpriced = self.ledger().enter(account, &model, &usage);
        if let Some(content) = unpriced {
            let level = InformationalLevel::Warning;
            self.sink.enqueue(InformationalMessage {
                content,
                level,
                tag: Some(NO_PRICE_TAG.to_owned()),
                ..InformationalMessage::default()
            });
        }
        Tokens::from(&usage).total()
    }
}
