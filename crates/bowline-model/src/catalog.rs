//! The models this version knows: aliases, limits and list prices, in one table.
//!
//! Prices change. [`Prices`](crate::Prices) starts from this table and settings
//! override it.

use crate::Price;

/// A model this version knows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct KnownModel {
    /// Its id at the API, without a date.
    pub id: &'static str,
    /// The short name people type, if this is the current model of its kind.
    pub alias: Option<&'static str>,
    /// What people call it.
    pub display_name: &'static str,
    /// What it costs.
    pub price: Price,
    /// How many tokens a conversation may have.
    pub context_window: u64,
    /// How many tokens an answer may have.
    pub max_output: u64,
    /// Whether it decides itself how much to think, with a budget, or not at all.
    pub thinks: Thinks,
    /// Whether it can be told how much effort to make.
    pub takes_effort: bool,
}

/// How a model can be asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinks {
    /// It decides itself how much.
    Adaptively,
    /// It has to be given a budget.
    WithBudget,
    /// It does not.
    Never,
}

/// The model that is used when nobody names one.
pub const DEFAULT_MODEL: &str = "claude-opus-5-5";

/// Every model this version knows, newest first.
pub const KNOWN_MODELS: &[KnownModel] = &[
    current("claude-opus-5-5", "opus", "Opus 5.5", [4.0, 20.0, 0.2, 5.0]),
    current("claude-fable-5-2", "fable", "Fable 5.2", [8.0, 40.0, 0.2, 10.0]),
    current("claude-sonnet-5-5", "sonnet", "Sonnet 5.5", [2.0, 10.0, 0.1, 2.5]),
    current("claude-haiku-5-5", "haiku", "Haiku 5.5", [0.1, 0.5, 0.01, 0.125]),
    older("claude-opus-4-8", "Opus 4.8", [5.0, 25.0, 0.5, 6.25], 1_000_000, 64_000),
    older("claude-opus-4-6", "Opus 4.6", [5.0, 25.0, 0.5, 6.25], 200_000, 64_000),
    older("claude-opus-4-5", "Opus 4.5", [5.0, 25.0, 0.5, 6.25], 200_000, 32_000).with_budget(),
    older("claude-sonnet-5", "Sonnet 5", [2.0, 10.0, 0.2, 2.5], 1_000_000, 64_000),
    older("claude-sonnet-4-6", "Sonnet 4.6", [3.0, 15.0, 0.3, 3.75], 200_000, 32_000),
    older("claude-sonnet-4-5", "Sonnet 4.5", [3.0, 15.0, 0.3, 3.75], 200_000, 32_000)
        .with_budget()
        .effortless(),
    older("claude-haiku-4-5", "Haiku 4.5", [1.0, 5.0, 0.1, 1.25], 200_000, 32_000)
        .with_budget()
        .effortless(),
    older("claude-3-5-haiku", "Haiku 3.5", [0.8, 4.0, 0.08, 1.0], 200_000, 8_192)
        .thoughtless()
        .effortless(),
];

/// The known model of this name, with or without a date (`-20251001`) or a
/// window (`[1m]`) behind it. Aliases are names too.
pub fn known_model(name: &str) -> Option<&'static KnownModel> {
    let name = resolve_alias(name);
    let name = name.strip_suffix("[1m]").unwrap_or(name);
    KNOWN_MODELS.iter().find(|model| {
        name.strip_prefix(model.id).is_some_and(|rest| rest.is_empty() || is_date(rest))
    })
}

/// The part of a model's name before its version. Only models of one family can verify each other's
/// reasoning.
pub fn model_family(name: &str) -> &str {
    let end = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    &name[..end]
}

/// The model an alias stands for; other names stay as they are.
pub(crate) fn resolve_alias(name: &str) -> &str {
    if matches!(name, "default" | "best") {
        return DEFAULT_MODEL;
    }
    // Whatever an alias stands for has the large window anyway.
    let alias = name.strip_suffix("[1m]").unwrap_or(name);
    let aliased = KNOWN_MODELS.iter().find(|model| model.alias == Some(alias));
    aliased.map_or(name, |model| model.id)
}

fn is_date(suffix: &str) -> bool {
    suffix
        .strip_prefix('-')
        .is_some_and(|date| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Dollars per million tokens: input, output, cache read, cache write.
type Dollars = [f64; 4];

const fn current(
    id: &'static str,
    alias: &'static str,
    display_name: &'static str,
    dollars: Dollars,
) -> KnownModel {
    let model = older(id, display_name, dollars, 1_000_000, 128_000);
    KnownModel { alias: Some(alias), ..model }
}

const fn older(
    id: &'static str,
    display_name: &'static str,
    [input, output, cache_read, cache_write]: Dollars,
    context_window: u64,
    max_output: u64,
) -> KnownModel {
    let price = Price { input, output, cache_read, cache_write };
    let (thinks, takes_effort) = (Thinks::Adaptively, true);
    let alias = None;
    KnownModel { id, alias, display_name, price, context_window, max_output, thinks, takes_effort }
}

impl KnownModel {
    const fn with_budget(self) -> Self {
        Self { thinks: Thinks::WithBudget, ..self }
    }

    const fn thoughtless(self) -> Self {
        Self { thinks: Thinks::Never, ..self }
    }

    const fn effortless(self) -> Self {
        Self { takes_effort: false, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::model_family;

    #[test]
    fn versions_of_one_model_are_a_family() {
        assert_eq!(model_family("claude-opus-5-5"), model_family("claude-opus-4-8"));
        assert_ne!(model_family("claude-opus-5-5"), model_family("claude-haiku-5-5"));
        assert_eq!(model_family("script"), "script");
    }
}
