//! Usage of a session: tokens and cost, by turn and by model.

mod budget;
mod reported;
mod session;
mod times;

use std::{collections::BTreeMap, ops::AddAssign};

use bowline_model::{Prices, known_model};
use bowline_protocol::{CostBasis, ModelUsage, Usage};
use serde_json::Value;

use self::reported::{count, detail};
pub(crate) use self::{
    reported::with_counts,
    session::SessionUsage,
    times::{ApiTime, Times},
};

/// Context window of an unknown model.
const UNKNOWN_CONTEXT_WINDOW: u64 = 200_000;
/// Output limit of an unknown model.
const UNKNOWN_MAX_OUTPUT: u64 = 32_000;

/// The usage ledger of one session.
#[derive(Debug, Default)]
pub(crate) struct UsageLedger {
    prices: Prices,
    total: BTreeMap<String, ModelUsage>,
    since_result: BTreeMap<String, ModelUsage>,
    /// The usage that the API reported for the responses of the turn.
    turn: Usage,
    times: Times,
    /// Lines changed in files.
    changes: LineChanges,
    /// The input of the newest request of the main conversation: how full its context is.
    context_tokens: u64,
    /// The tokens of the newest response of the main conversation.
    newest: Option<Tokens>,
    without_price: Vec<String>,
    /// How often a model refused.
    refusals: u64,
}

/// Lines of files that were added and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineChanges {
    pub(crate) added: u64,
    pub(crate) removed: u64,
}

impl LineChanges {
    /// The changes of a call from its structured result; none if it changed no file.
    pub(crate) fn of(result: &Value) -> Self {
        let mut changes = Self::default();
        let is_new = result["type"] == "create";
        if let Some(content) = result["content"].as_str().filter(|_| is_new) {
            changes.added += content.lines().count() as u64;
        }
        let hunks = result["structuredPatch"].as_array().into_iter().flatten();
        for line in hunks.flat_map(|hunk| hunk["lines"].as_array().into_iter().flatten()) {
            match line.as_str().and_then(|line| line.chars().next()) {
                Some('+') => changes.added += 1,
                Some('-') => changes.removed += 1,
                _ => {}
            }
        }
        changes
    }
}

impl AddAssign for LineChanges {
    fn add_assign(&mut self, more: Self) {
        self.added += more.added;
        self.removed += more.removed;
    }
}

/// Plain token counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// Input that was neither read from nor written to the cache.
    pub(crate) input: u64,
    /// Output.
    pub(crate) output: u64,
    /// Input read from the cache.
    pub(crate) cache_read: u64,
    /// Input written to the cache.
    pub(crate) cache_write: u64,
    /// Searches the API made.
    pub(crate) web_searches: u64,
}

impl Tokens {
    /// All tokens.
    pub(crate) fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self {
            input: count(&usage.input_tokens),
            output: count(&usage.output_tokens),
            cache_read: count(&usage.cache_read_input_tokens),
            cache_write: count(&usage.cache_creation_input_tokens),
            web_searches: detail(usage, "server_tool_use", "web_search_requests").unwrap_or(0),
        }
    }
}

/// The conversation that a response belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// The main conversation.
    Main,
    /// A subagent, a summary or any other request beside it.
    Side,
}

impl UsageLedger {
    /// An empty ledger with these prices.
    pub(crate) fn new(prices: Prices) -> Self {
        Self { prices, ..Self::default() }
    }

    /// Enters one response. Returns a warning the first time a model has no known price.
    pub(crate) fn enter(&mut self, account: Account, model: &str, usage: &Usage) -> Option<String> {
        let tokens = Tokens::from(usage);
        if account == Account::Main {
            reported::add(&mut self.turn, usage);
            self.context_tokens = tokens.total();
            self.newest = Some(tokens);
        }
        let price = self.prices.cost(model, usage);
        for totals in [&mut self.total, &mut self.since_result] {
            let entry = totals.entry(model.to_owned()).or_insert_with(|| blank(model));
            entry.input_tokens += tokens.input;
            entry.output_tokens += tokens.output;
            entry.cache_read_input_tokens += tokens.cache_read;
            entry.cache_creation_input_tokens += tokens.cache_write;
            entry.web_search_requests += tokens.web_searches;
            add(&mut entry.thinking_tokens, usage, "output_tokens_details", "thinking_tokens");
            let written = "cache_creation";
            let for_minutes = &mut entry.cache_creation_ephemeral_5m_input_tokens;
            add(for_minutes, usage, written, "ephemeral_5m_input_tokens");
            let for_an_hour = &mut entry.cache_creation_ephemeral_1h_input_tokens;
            add(for_an_hour, usage, written, "ephemeral_1h_input_tokens");
            entry.cost_usd += price.unwrap_or(0.0);
            if price.is_none() {
                entry.cost_basis = Some(CostBasis::Unknown);
            }
        }
        let new = price.is_none() && !self.without_price.iter().any(|known| known == model);
        new.then(|| {
            self.without_price.push(model.to_owned());
            format!(
                "No price is known for {model}, so its tokens count as free. Settings can name one: \
                 bowline.prices[\"{model}\"]."
            )
        })
    }

    /// Durations of the session.
    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    /// The same, to add a measurement.
    pub(crate) fn times_mut(&mut self) -> &mut Times {
        &mut self.times
    }

    /// Adds changed lines.
    pub(crate) fn enter_changes(&mut self, changes: LineChanges) {
        self.changes += changes;
    }

    /// Counts a refusal of a model.
    pub(crate) fn enter_refusal(&mut self) {
        self.refusals += 1;
    }

    /// How often models refused.
    pub(crate) fn refusals(&self) -> u64 {
        self.refusals
    }

    /// All changed lines.
    pub(crate) fn changes(&self) -> LineChanges {
        self.changes
    }

    /// The total cost.
    pub(crate) fn total_cost(&self) -> f64 {
        // An empty sum of floats is -0.0; adding 0.0 makes it 0.0.
        self.total.values().map(|usage| usage.cost_usd).sum::<f64>() + 0.0
    }

    /// The total usage by model.
    pub(crate) fn by_model(&self) -> &BTreeMap<String, ModelUsage> {
        &self.total
    }

    /// Whether a model was used without a known price.
    pub(crate) fn has_unknown_cost(&self) -> bool {
        self.total.values().any(|usage| usage.cost_basis == Some(CostBasis::Unknown))
    }

    /// How many tokens the newest request of the main conversation and its response took.
    pub(crate) fn context_tokens(&self) -> u64 {
        self.context_tokens
    }

    /// The tokens of the newest response of the main conversation.
    pub(crate) fn newest(&self) -> Option<Tokens> {
        self.newest
    }

    /// Corrects the fill of the context, after a compaction.
    pub(crate) fn set_context_tokens(&mut self, tokens: u64) {
        self.context_tokens = tokens;
    }

    /// Begins a turn.
    pub(crate) fn begin_turn(&mut self) {
        self.turn = Usage::default();
    }

    /// The tokens of the turn, as results show them.
    pub(crate) fn turn_usage(&self) -> Usage {
        with_counts(self.turn.clone())
    }

    /// Takes the usage since the last result, by model.
    pub(crate) fn take_since_result(&mut self) -> BTreeMap<String, ModelUsage> {
        std::mem::take(&mut self.since_result)
    }

    /// Continues an earlier ledger.
    pub(crate) fn restore(
        &mut self,
        by_model: BTreeMap<String, ModelUsage>,
        times: Times,
        changes: LineChanges,
    ) {
        self.total = by_model;
        self.times = times;
        self.changes = changes;
    }
}

/// The context window of a model, in tokens.
pub(crate) fn context_window(model: &str) -> u64 {
    known_model(model).map_or(UNKNOWN_CONTEXT_WINDOW, |known| known.context_window)
}

/// The output limit of a model, in tokens.
pub(crate) fn max_output(model: &str) -> u64 {
    known_model(model).map_or(UNKNOWN_MAX_OUTPUT, |known| known.max_output)
}

/// Adds a count that only some APIs report.
fn add(total: &mut Option<u64>, usage: &Usage, group: &str, name: &str) {
    if let Some(more) = detail(usage, group, name) {
        *total.get_or_insert_default() += more;
    }
}

fn blank(model: &str) -> ModelUsage {
    ModelUsage {
        context_window: context_window(model),
        max_output_tokens: max_output(model),
        canonical_model: Some(model.to_owned()),
        cost_basis: Some(CostBasis::List),
        ..ModelUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use bowline_protocol::Maybe;
    use serde_json::json;

    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        with_counts(Usage {
            input_tokens: Maybe::Value(input),
            output_tokens: Maybe::Value(output),
            ..Usage::default()
        })
    }

    #[test]
    fn turn_usage_is_reset_and_totals_continue() {
        let mut ledger = UsageLedger::default();
        ledger.enter(Account::Main, "claude-sonnet-5-5", &usage(10, 20));
        ledger.begin_turn();
        ledger.enter(Account::Main, "claude-sonnet-5-5", &usage(1, 2));
        ledger.enter(Account::Side, "claude-sonnet-5-5", &usage(100, 100));
        assert_eq!(ledger.turn_usage(), usage(1, 2));
        assert_eq!(ledger.by_model()["claude-sonnet-5-5"].input_tokens, 111);
        assert_eq!(ledger.context_tokens(), 3);
        assert!(ledger.total_cost() > 0.0);
    }

    #[test]
    fn unknown_model_is_free_and_warns_once() {
        let mut ledger = UsageLedger::default();
        assert!(ledger.enter(Account::Main, "openai/any", &usage(10, 20)).is_some());
        assert!(ledger.enter(Account::Main, "openai/any", &usage(10, 20)).is_none());
        assert_eq!(ledger.total_cost(), 0.0);
    }

    #[test]
    fn changed_lines_are_those_of_new_files_and_of_patches() {
        let mut changes = LineChanges::default();
        for result in [
            json!({"type": "create", "content": "a\nb\n", "structuredPatch": []}),
            json!({"structuredPatch": [{"lines": [" a", "-b", "+c", "+d"]}]}),
            json!("Error: no such file"),
        ] {
            changes += LineChanges::of(&result);
        }
        assert_eq!(changes, LineChanges { added: 4, removed: 1 });
    }

    #[test]
    fn usage_since_the_last_result_is_taken_once() {
        let mut ledger = UsageLedger::default();
        ledger.enter(Account::Main, "claude-sonnet-5-5", &usage(10, 20));
        assert_eq!(ledger.take_since_result()["claude-sonnet-5-5"].output_tokens, 20);
        assert!(ledger.take_since_result().is_empty());
    }
}
