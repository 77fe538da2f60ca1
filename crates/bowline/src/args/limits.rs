//! Flags that limit what a session may cost.

use clap::Args;

/// What a session may cost.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// How often the model may be asked for one prompt; 0 for no limit
    #[arg(long, value_name = "turns", allow_hyphen_values = true, value_parser = number)]
    pub(crate) max_turns: Option<u64>,

    /// How much the session may cost
    #[arg(long, value_name = "amount", allow_hyphen_values = true, value_parser = dollars)]
    pub(crate) max_budget_usd: Option<f64>,

    /// How many tokens the model is told it has
    #[arg(
        long,
        hide = true,
        value_name = "tokens",
        allow_hyphen_values = true,
        value_parser = task_tokens
    )]
    pub(crate) task_budget: Option<u64>,
}

/// A number of something. Less than nothing is nothing.
pub(super) fn number(text: &str) -> Result<u64, String> {
    match text.trim().parse::<f64>() {
        // Casting cuts off what does not fit.
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
