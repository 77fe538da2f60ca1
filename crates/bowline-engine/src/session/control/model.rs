//! Using another model.

use std::sync::Arc;

use bowline_model::{known_model, model_family};
use bowline_protocol::{
    Content, EventInput, Extra, HookEvent, HookPermissionDecision, Maybe, ModelSwitchInput,
    SetModel, SetModelResponse, Usage, UserMessage,
};
use serde_json::Number;
use tokio_util::sync::CancellationToken;

use super::{Answered, ControlError, ControlReply};
use crate::{clock::timestamp, identity::Identity, session::Shared};

/// How long the API keeps a prompt that it was not told to keep longer.
const CACHE_TTL: &str = "5m";

pub(super) async fn set_model(shared: &Arc<Shared>, request: SetModel) -> Answered {
    let asked = request.model.into_option().filter(|name| name != "default");
    if asked.as_deref().is_some_and(|name| name.trim().is_empty()) {
        let error = ControlError::coded("set_model: a model must have a name", "catalog_unknown");
        return Err(error.with("model", shared.model_name()));
    }
    let before = shared.model_name();
    let resolved = shared.switch_model(asked.as_deref(), "sdk").await?;
    let response =
        SetModelResponse { model: Some(resolved.clone()), ..SetModelResponse::default() };
    // Before the first turn there is nothing that another model would interrupt.
    let has_begun = !shared.live().turn_id.is_empty() || shared.config.resumed.is_some();
    if resolved == before || !has_begun {
        return Ok(ControlReply::payload(&response));
    }
    let shown = match asked {
        Some(asked) if asked != resolved => format!("{asked} ({resolved})"),
        _ => resolved.clone(),
    };
    let text = format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>");
    let mut said = UserMessage::prompt(Content::from(text));
    said.is_replay = Some(true);
    said.timestamp = Some(timestamp());
    shared.sink.send(said).await;
    Ok(ControlReply::payload(&response))
}

impl Shared {
    /// Uses another model from the next request on, the default one if none is named, unless a
    /// hook objects. Returns what it is called.
    pub(crate) async fn switch_model(
        &self,
        asked: Option<&str>,
        source: &str,
    ) -> Result<String, ControlError> {
        let name = asked.unwrap_or(&self.config.default_model);
        let (from, to) = (self.model_name(), self.resolve_model(name));
        let switch = self.describe_switch(&from, &to, asked, source);
        if from != to {
            self.ask_about_switch(&switch).await?;
        }
        let mut live = self.live();
        live.model = name.to_owned();
        if from != to {
            live.unnoticed.foreign_thinking |= model_family(&from) != model_family(&to);
            live.unnoticed.model_switch = Some(switch);
            // Not every model's API can do what some tools need.
            live.tools_changed = true;
        }
        Ok(to)
    }

    /// What a model is called, whether or not it can be reached.
    pub(crate) fn resolve_model(&self, name: &str) -> String {
        match self.config.models.connect(name) {
            Ok(connected) => connected.name,
            Err(_) => known_model(name).map_or(name, |known| known.id).to_owned(),
        }
    }

    fn describe_switch(
        &self,
        from: &str,
        to: &str,
        asked: Option<&str>,
        source: &str,
    ) -> ModelSwitchInput {
        let context_tokens = self.ledger().context_tokens();
        let cache_creation_input_tokens = Maybe::Value(context_tokens);
        let written = Usage { cache_creation_input_tokens, ..Usage::default() };
        let price = self.config.prices.cost(to, &written);
        ModelSwitchInput {
            from_model: from.to_owned(),
            to_model: to.to_owned(),
            requested_model: asked.map_or(Maybe::Null, |asked| Maybe::Value(asked.to_owned())),
            source: source.to_owned(),
            context_tokens: Some(context_tokens),
            prompt_cache_warm: Some(context_tokens > 0),
            cache_ttl: Some(CACHE_TTL.to_owned()),
            estimated_cache_write_usd: price
                .map_or(Maybe::Null, |price| Maybe::Value(cents(price))),
            pricing: Some(if price.is_some() { "catalog" } else { "unknown" }.to_owned()),
            extra: Extra::new(),
        }
    }

    async fn ask_about_switch(&self, switch: &ModelSwitchInput) -> Result<(), ControlError> {
        if !self.has_hooks(HookEvent::PreModelSwitch) {
            return Ok(());
        }
        let event = EventInput::PreModelSwitch(switch.clone());
        let report = self.run_hooks(&Identity::Main, event, &CancellationToken::new()).await;
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
        let error = ControlError::coded(message, "blocked_by_hook");
        Err(error.with("model", switch.from_model.clone()))
    }
}

/// An amount to the hundredth of a cent; nothing is a plain 0.
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
