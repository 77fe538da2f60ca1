//! What tokens cost.

use std::collections::BTreeMap;

use bowline_protocol::{Maybe, Usage};
use serde::{Deserialize, Serialize};

use crate::{ModelRef, catalog::known_model};

/// The price of a model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Input that is not cached.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to the cache for five minutes.
    pub cache_write: f64,
}

impl Price {
    /// Input kept for an hour costs twice the plain input.
    const HOUR_CACHE_FACTOR: f64 = 2.0;

    /// What these tokens cost, in US dollars.
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

/// The price of every model: the built-in table, and what settings say instead.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    /// Prices that settings name; they win over the built-in ones.
    pub overrides: BTreeMap<String, Price>,
}

impl Prices {
    /// The price of a model; `None` if nobody knows it.
    pub fn of(&self, model: &str) -> Option<Price> {
        let known = known_model(model);
        let by_id = || self.overrides.get(known?.id).copied();
        let overridden = self.overrides.get(model).copied().or_else(by_id);
        overridden.or_else(|| known.map(|known| known.price)).or_else(|| own_price(model))
    }

    /// What an answer of `model` cost, in US dollars; `None` if nobody knows its price.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        self.of(model).map(|price| price.cost(usage))
    }
}

/// Models that are part of this program, and recordings, cost nothing.
fn own_price(model: &str) -> Option<Price> {
    let model: ModelRef = model.parse().ok()?;
    matches!(model, ModelRef::Script(_) | ModelRef::Replay(_)).then(Price::default)
}
