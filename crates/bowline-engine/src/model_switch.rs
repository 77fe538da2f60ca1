//! Switch of the session's model, which hooks may refuse.

use bowline_model::model_family;
use bowline_protocol::{
    EventInput, Extra, HookEvent, HookPermissionDecision, Maybe, ModelSwitchInput, Usage,
};
use serde_json::Number;
use tokio_util::sync::CancellationToken;

use crate::{identity::Identity, session_context::SessionContext};

/// The default lifetime of the API's prompt cache.
const CACHE_TTL: &str = "5m";

/// A hook refused the switch.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct SwitchRefused {
    pub(crate) message: String,
    /// The model that stays.
    pub(crate) current: String,
}

/// Switches the model from the next request on, to the default one if none is named, unless a
/// hook objects. Returns the name of the model.
pub(crate) async fn switch(
    session: &SessionContext,
    asked: Option<&str>,
    source: &str,
) -> Result<String, SwitchRefused> {
    let name = asked.unwrap_or(&session.config.default_model);
    let (from, to) = (session.models.name(), session.models.resolve(name));
    let switch = describe(session, &from, &to, asked, source);
    if from != to {
        run_hooks(session, &switch).await?;
    }
    session.models.select(name);
    if from != to {
        if model_family(&from) != model_family(&to) {
            session.pending.thinking_is_foreign();
        }
        session.pending.model_switched(switch);
        // The API of the new model may lack what some tools need.
        session.pending.tools_changed();
    }
    Ok(to)
}

fn describe(
    session: &SessionContext,
    from: &str,
    to: &str,
    asked: Option<&str>,
    source: &str,
) -> ModelSwitchInput {
    let context_tokens = session.usage.ledger().context_tokens();
    let cache_creation_input_tokens = Maybe::Value(context_tokens);
    let written = Usage { cache_creation_input_tokens, ..Usage::default() };
    let price = session.config.prices.cost(to, &written);
    ModelSwitchInput {
        from_model: from.to_owned(),
        to_model: to.to_owned(),
        requested_model: asked.map_or(Maybe::Null, |asked| Maybe::Value(asked.to_owned())),
        source: source.to_owned(),
        context_tokens: Some(context_tokens),
        prompt_cache_warm: Some(context_tokens > 0),
        cache_ttl: Some(CACHE_TTL.to_owned()),
        estimated_cache_write_usd: price.map_or(Maybe::Null, |price| Maybe::Value(cents(price))),
        pricing: Some(if price.is_some() { "catalog" } else { "unknown" }.to_owned()),
        extra: Extra::new(),
    }
}

async fn run_hooks(
    session: &SessionContext,
    switch: &ModelSwitchInput,
) -> Result<(), SwitchRefused> {
    if !session.hooks.has(HookEvent::PreModelSwitch) {
        return Ok(());
    }
    let event = EventInput::PreModelSwitch(switch.clone());
    let report = session.hooks.run(&Identity::Main, event, &CancellationToken::new()).await;
    let denied = report
        .verdict
        .filter(|verdict| verdict.decision == HookPermissionDecision::Deny)
        .map(|verdict| verdict.reason);
    let objection = report.blocks.first().map(|block| Some(block.reason.clone()));
    let Some(reason) = denied.or(objection) else { return Ok(()) };
    let to = &switch.to_model;
    let message = match reason {
        Some(reason) => format!("A hook keeps the model from being switched to {to}: {reason}"),
        None => format!("A hook keeps the model from being switched to {to}"),
    };
    Err(SwitchRefused { message, current: switch.from_model.clone() })
}

/// An amount rounded to a hundredth of a cent; zero is a plain 0.
fn cents(price: f64) -> Number {
    let rounded = (price * 10_000.0).round() / 10_000.0;
    Number::from_f64(rounded).filter(|_| rounded > 0.0).unwrap_or_else(|| Number::from(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_are_nothing() {
        assert_eq!(cents(0.000_037_5), Number::from(0));
        assert_eq!(cents(0.012_34).as_f64(), Some(0.0123));
    }
}
