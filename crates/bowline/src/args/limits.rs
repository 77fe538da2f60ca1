//! Flags that limit a session.

use clap::Args;

/// Limits of a session.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Maximum number of model requests for one prompt; 0 for no limit
    #[arg(long, value_name = "turns", allow_hyphen_values = true, value_parser = number)]
    pub(crate) max_turns: Option<u64>,

    /// Maximum cost of the session, in US dollars
    #[arg(long, value_name = "amount", allow_hyphen_values = true, value_parser = dollars)]
    pub(crate) max_budget_usd: Option<f64>,

    /// Compact the conversation at this many tokens, as in 500k, or auto
    #[arg(
        long,
        value_name = "auto|tokens",
        allow_hyphen_values = true,
        value_parser = AutoCompact::read
    )]
    pub(crate) autocompact: Option<AutoCompact>,

    /// Token budget of the task, as shown to the model
    #[arg(
        long,
        hide = true,
        value_name = "tokens",
        allow_hyphen_values = true,
        value_parser = task_tokens
    )]
    pub(crate) task_budget: Option<u64>,
}

/// When a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AutoCompact {
    /// When the model's own window is full.
    Auto,
    /// From so many tokens on.
    From(u64),
}

impl AutoCompact {
    fn read(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let lower = text.to_ascii_lowercase();
        let (digits, unit) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
            (Some(digits), _) => (digits, Some(1_000)),
            (_, Some(digits)) => (digits, Some(1_000_000)),
            (None, None) => (lower.as_str(), None),
        };
        let tokens = digits.parse::<u64>().ok().and_then(|number| {
            // A small number is in thousands: a window of single tokens is useless.
            let unit = unit.unwrap_or(if number < 1_000 { 1_000 } else { 1 });
            number.checked_mul(unit)
        });
        match tokens {
            Some(tokens @ 100_000..=1_000_000) => Ok(Self::From(tokens)),
            _ => Err("It must be 'auto', or between 100k and 1M (e.g. 500k, 200000, or 200 as \
                      shorthand)"
                .to_owned()),
        }
    }
}

/// Reads a count. Negative numbers and an empty text are 0.
pub(super) fn number(text: &str) -> Result<u64, String> {
    match text.trim().parse::<f64>() {
        Err(_) if text.is_empty() => Ok(0),
        // The cast saturates.
        Ok(number) if !number.is_nan() => Ok(number as u64),
        _ => Err("must be a number".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount > 0.0 && amount.is_finite() => Ok(amount),
        _ => Err("--max-budget-usd must be a positive number greater than 0".to_owned()),
    }
}

fn task_tokens(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(tokens) if tokens > 0 => Ok(tokens),
        _ => Err("--task-budget must be a positive integer".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_sizes_in_thousands_and_millions() {
        for (text, expected) in [
            ("auto", Some(AutoCompact::Auto)),
            ("500k", Some(AutoCompact::From(500_000))),
            ("200000", Some(AutoCompact::From(200_000))),
            ("200", Some(AutoCompact::From(200_000))),
            ("1M", Some(AutoCompact::From(1_000_000))),
            ("50", None),
            ("99k", None),
            ("2m", None),
            ("0.8", None),
            ("-1", None),
            ("k", None),
            ("", None),
        ] {
            assert_eq!(AutoCompact::read(text).ok(), expected, "{text:?}");
        }
    }
}
