//! Text of `/cost`: usage of the session.

use std::time::Duration;

use bowline_protocol::ModelUsage;

use crate::{session_context::SessionContext, usage::LineChanges};

/// The usage of the session so far, as `/cost` and `get_session_cost` return it.
pub(crate) fn cost_text(session: &SessionContext) -> String {
    let ledger = session.usage.ledger();
    let mut lines = vec![
        format!("Total cost:            {}", dollars(ledger.total_cost())),
        format!("Total duration (API):  {}", duration(ledger.times().api)),
        format!("Total duration (wall): {}", duration(ledger.times().wall())),
        format!("Total code changes:    {}", code_changes(ledger.changes())),
    ];
    lines.push(match ledger.by_model().is_empty() {
        true => format!("Usage:                 {}", of_model(&ModelUsage::default())),
        false => "Usage by model:".to_owned(),
    });
    let width = ledger.by_model().keys().map(String::len).max().unwrap_or(0) + 1;
    for (model, usage) in ledger.by_model() {
        let model = format!("{model}:");
        let (tokens, cost) = (of_model(usage), dollars(usage.cost_usd));
        lines.push(format!("   {model:<width$}  {tokens} ({cost})"));
    }
    lines.join("\n")
}

fn code_changes(changes: LineChanges) -> String {
    let lines =
        |count: u64| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    format!("{} added, {} removed", lines(changes.added), lines(changes.removed))
}

fn of_model(usage: &ModelUsage) -> String {
    format!(
        "{} input, {} output, {} cache read, {} cache write",
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
    )
}

fn dollars(amount: f64) -> String {
    match amount < 0.5 {
        true => format!("${amount:.4}"),
        false => format!("${amount:.2}"),
    }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h {minutes}m {seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_show_their_fractions() {
        assert_eq!(
            [0.0, 0.00022, 0.5, 12.345].map(dollars),
            ["$0.0000", "$0.0002", "$0.50", "$12.35"]
        );
    }

    #[test]
    fn durations_leave_out_what_is_zero_in_front() {
        let shown = [0, 59, 61, 3661].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0s", "59s", "1m 1s", "1h 1m 1s"]);
    }
}
