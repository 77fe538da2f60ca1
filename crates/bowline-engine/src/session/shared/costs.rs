//! What the session costs: the books that all its agents share.

use bowline_protocol::{InformationalLevel, InformationalMessage, RawJson};
use bowline_sessions::CostState;

use super::Shared;
use crate::{
    clock::millis,
    response::ModelResponse,
    usage::{Account, LineChanges, Times, Tokens},
};

/// The tag of the message that nobody knows what a model costs.
const NO_PRICE_TAG: &str = "model_without_price";

impl Shared {
    /// Continues the books of a session that is taken up again.
    pub(crate) fn restore_costs(&self) {
        let cost = self.config.resumed.as_ref().and_then(|resumed| resumed.cost.as_ref());
        let Some(cost) = cost else { return };
        let used = cost.model_usage.iter();
        let by_model = used.filter_map(|(model, usage)| Some((model.clone(), usage.parse().ok()?)));
        let changes =
            LineChanges { added: cost.total_lines_added, removed: cost.total_lines_removed };
        self.ledger().restore(by_model.collect(), Times::restored(cost), changes);
    }

    fn cost_state(&self) -> CostState {
        let ledger = self.ledger();
        let used = ledger.by_model().iter();
        let model_usage = used
            .filter_map(|(model, usage)| Some((model.clone(), RawJson::from_value(usage).ok()?)))
            .collect();
        CostState {
            session_id: self.id(),
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

    /// Notes what the session cost, for whoever takes it up again.
    pub(crate) async fn note_costs(&self) {
        let cost = self.cost_state();
        self.emit_notice(self.journal.note(cost)).await;
    }

    pub(crate) fn over_budget(&self) -> bool {
        self.config.max_budget_usd.is_some_and(|budget| self.ledger().total_cost() >= budget)
    }

    /// Enters an answer, or an attempt at one, in the books.
    ///
    /// Returns how many tokens it took.
    pub(crate) fn enter_answer(&self, account: Account, answer: &mut ModelResponse) -> u64 {
        self.ledger().times_mut().enter_api(answer.take_api_time());
        let Some((model, usage)) = answer.take_usage() else { return 0 };
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
