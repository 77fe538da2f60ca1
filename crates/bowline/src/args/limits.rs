//! Flags that limit what a session may cost.

use clap::Args;

/// What a session may cost.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// How often the model may be asked for one prompt; 0 for no limit
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    pub(crate) max_turns: Option<u32>,

    /// How much the session may cost
    #[arg(long, value_name = "DOLLARS", allow_hyphen_values = true, value_parser = dollars)]
    pub(crate) max_budget_usd: Option<f64>,

    /// How many tokens the model is told it has
    #[arg(long, hide = true, value_name = "TOKENS", allow_hyphen_values = true)]
    pub(crate) task_budget: Option<u64>,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount > 0.0 && amount.is_finite() => Ok(amount),
        _ => Err("must be a number greater than 0".to_owned()),
    }
}
