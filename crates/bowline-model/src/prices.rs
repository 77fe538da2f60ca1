//! Price table of the known models, and the cost of a response.
//!
//! List prices change; settings override them ([`Prices::overrides`]).

use std::collections::BTreeMap;

use bowline_protocol::{Maybe, Usage};
use serde::{Deserialize, Serialize};

use crate::{ModelRef, catalog::known_model};

/// List prices, by the id in the catalog.
const LIST_PRICES: &[(&str, Price)] = &[
    ("claude-opus-5-5", price([4.0, 20.0, 0.2, 5.0])),
    ("claude-fable-5-2", price([8.0, 40.0, 0.2, 10.0])),
    ("claude-sonnet-5-5", price([2.0, 10.0, 0.1, 2.5])),
    ("claude-haiku-5-5", price([0.1, 0.5, 0.01, 0.125])),
    ("claude-opus-4-8", price([5.0, 25.0, 0.5, 6.25])),
    ("claude-opus-4-6", price([5.0, 25.0, 0.5, 6.25])),
    ("claude-opus-4-5", price([5.0, 25.0, 0.5, 6.25])),
    ("claude-sonnet-5", price([2.0, 10.0, 0.2, 2.5])),
    ("claude-sonnet-4-6", price([3.0, 15.0, 0.3, 3.75])),
    ("claude-sonnet-4-5", price([3.0, 15.0, 0.3, 3.75])),
    ("claude-haiku-4-5", price([1.0, 5.0, 0.1, 1.25])),
    ("claude-3-5-haiku", price([0.8, 4.0, 0.08, 1.0])),
];

/// From dollars per million tokens: input, output, cache read, cache write.
const fn price([input, output, cache_read, cache_write]: [f64; 4]) -> Price {
    Price { input, output, cache_read, cache_write }
}

/// Price of a model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Input outside the prompt cache.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the prompt cache.
    pub cache_read: f64,
    /// Input written to the prompt cache for five minutes.
    pub cache_write: f64,
}

impl Price {
    /// Input cached for an hour costs twice the plain input.
    const HOUR_CACHE_FACTOR: f64 = 2.0;

    /// Cost of these tokens, in US dollars.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let count = |tokens: &Maybe<u64>| tokens.as_ref().copied().unwrap_or(0);
        let written = count(&usage.cache_creation_input_tokens);
        let for_an_hour = usage
            .extra
            .get("cache_creation")
            .and_then(|split| split.get("ephemeral_1h_input_tokens")?.as_u64())
            .unwrap_or(0)
            .min(written);
        let millionths = count(&usage.input_tokens) as f64 * self.input
            + count(&usage.output_tokens) as f64 * self.output
            + count(&usage.cache_read_input_tokens) as f64 * self.cache_read
            + (written - for_an_hour) as f64 * self.cache_write
            + for_an_hour as f64 * self.input * Self::HOUR_CACHE_FACTOR;
        millionths / 1_000_000.0
    }
}

/// Prices of all models: the list prices and the overrides of settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    /// Prices from settings, which take precedence.
    pub overrides: BTreeMap<String, Price>,
}

impl Prices {
    /// Price of a model; `None` if it is unknown.
    pub fn of(&self, model: &str) -> Option<Price> {
        let known = known_model(model);
        let by_id = || self.overrides.get(known?.id).copied();
        let overridden = self.overrides.get(model).copied().or_else(by_id);
        overridden.or_else(|| list_price(known?.id)).or_else(|| own_price(model))
    }

    /// Cost of a response of `model`, in US dollars; `None` if its price is unknown.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        self.of(model).map(|price| price.cost(usage))
    }
}

fn list_price(id: &str) -> Option<Price> {
    LIST_PRICES.iter().find(|(listed, _)| *listed == id).map(|(_, price)| *price)
}

/// The price of the script model and of recordings, which are free.
fn own_price(model: &str) -> Option<Price> {
    let model: ModelRef = model.parse().ok()?;
    matches!(model, ModelRef::Script(_) | ModelRef::Replay(_)).then(Price::default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KNOWN_MODELS;

    #[test]
    fn every_known_model_has_a_list_price() {
        let priced: Vec<_> = LIST_PRICES.iter().map(|(id, _)| *id).collect();
        assert_eq!(priced, KNOWN_MODELS.iter().map(|model| model.id).collect::<Vec<_>>());
    }
}
