//! Settings of models: thinking, effort and prices.

use std::collections::BTreeMap;

use bowline_model::{Price, Prices, Thinking};
use bowline_protocol::Effort;

use super::Settings;

impl Settings {
    /// Whether the model thinks before it answers, if the settings say so.
    pub fn thinking(&self) -> Option<Thinking> {
        let known = self.known();
        match (known.max_thinking_tokens, known.always_thinking_enabled) {
            (Some(0), _) | (None, Some(false)) => Some(Thinking::Disabled),
            (Some(budget_tokens), _) => Some(Thinking::Enabled { budget_tokens, display: None }),
            (None, Some(true)) => Some(Thinking::Adaptive { display: None }),
            (None, None) => None,
        }
    }

    /// How hard the model tries, if the settings say so; `notices` hears of a level that does not
    /// exist.
    pub fn effort(&self, notices: &mut Vec<String>) -> Option<Effort> {
        match self.known().effort_level.as_ref()?.parse() {
            Ok(effort) => Some(effort),
            Err(error) => {
                notices.push(format!("Ignoring the effort level: {error}"));
                None
            }
        }
    }

    /// The prices of tokens that the settings name; `notices` receives one for each invalid price.
    pub fn prices(&self, notices: &mut Vec<String>) -> Prices {
        let mut overrides = BTreeMap::new();
        for (model, price) in &self.known().bowline.prices {
            match serde_json::from_value::<Price>(price.clone()) {
                Ok(price) => {
                    overrides.insert(model.clone(), price);
                }
                Err(error) => notices.push(format!("Ignoring bowline.prices.{model}: {error}")),
            }
        }
        Prices { overrides }
    }
}
