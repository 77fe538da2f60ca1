//! Catalog of known models: aliases, context windows and output limits.
//!
//! Their list prices are in `prices.rs`.

/// A model of the catalog.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct KnownModel {
    /// Its id in the API, without a date.
    pub id: &'static str,
    /// The short name people type, if this is the current model of its kind.
    pub alias: Option<&'static str>,
    /// Name for display.
    pub display_name: &'static str,
    /// Context window, in tokens.
    pub context_window: u64,
    /// Output limit of a response, in tokens.
    pub max_output: u64,
    /// Way in which thinking is requested.
    pub thinks: Thinks,
    /// Whether requests may set an effort.
    pub takes_effort: bool,
}

/// Way in which thinking is requested from a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinks {
    /// The model decides how much.
    Adaptively,
    /// The request sets a token budget.
    WithBudget,
    /// Not supported.
    Never,
}

/// Default model.
pub const DEFAULT_MODEL: &str = "claude-opus-5-5";

/// Every model this version knows, newest first.
pub const KNOWN_MODELS: &[KnownModel] = &[
    current("claude-opus-5-5", "opus", "Opus 5.5"),
    current("claude-fable-5-2", "fable", "Fable 5.2"),
    current("claude-sonnet-5-5", "sonnet", "Sonnet 5.5"),
    current("claude-haiku-5-5", "haiku", "Haiku 5.5"),
    older("claude-opus-4-8", "Opus 4.8", 1_000_000, 64_000),
    older("claude-opus-4-6", "Opus 4.6", 200_000, 64_000),
    older("claude-opus-4-5", "Opus 4.5", 200_000, 32_000).with_budget(),
    older("claude-sonnet-5", "Sonnet 5", 1_000_000, 64_000),
    older("claude-sonnet-4-6", "Sonnet 4.6", 200_000, 32_000),
    older("claude-sonnet-4-5", "Sonnet 4.5", 200_000, 32_000).with_budget().without_effort(),
    older("claude-haiku-4-5", "Haiku 4.5", 200_000, 32_000).with_budget().without_effort(),
    older("claude-3-5-haiku", "Haiku 3.5", 200_000, 8_192).without_thinking().without_effort(),
];

/// The known model of this name, with or without a date (`-20251001`) or a
/// window (`[1m]`) after it, or of this alias.
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

/// Resolves an alias to a model id; other names stay as they are.
pub(crate) fn resolve_alias(name: &str) -> &str {
    if matches!(name, "default" | "best") {
        return DEFAULT_MODEL;
    }
    // Every model with an alias has the large window.
    let alias = name.strip_suffix("[1m]").unwrap_or(name);
    let aliased = KNOWN_MODELS.iter().find(|model| model.alias == Some(alias));
    aliased.map_or(name, |model| model.id)
}

fn is_date(suffix: &str) -> bool {
    suffix
        .strip_prefix('-')
        .is_some_and(|date| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
}

const fn current(id: &'static str, alias: &'static str, display_name: &'static str) -> KnownModel {
    let model = older(id, display_name, 1_000_000, 128_000);
    KnownModel { alias: Some(alias), ..model }
}

const fn older(
    id: &'static str,
    display_name: &'static str,
    context_window: u64,
    max_output: u64,
) -> KnownModel {
    let (thinks, takes_effort) = (Thinks::Adaptively, true);
    let alias = None;
    KnownModel { id, alias, display_name, context_window, max_output, thinks, takes_effort }
}

impl KnownModel {
    const fn with_budget(self) -> Self {
        Self { thinks: Thinks::WithBudget, ..self }
    }

    const fn without_thinking(self) -> Self {
        Self { thinks: Thinks::Never, ..self }
    }

    const fn without_effort(self) -> Self {
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
