//! Sums of the usage that the API reports. Fields that were never reported stay absent.

use bowline_protocol::{Maybe, Usage};
use serde_json::{Map, Value};

/// Adds one response: counts are summed, other values are replaced by the newest.
pub(super) fn add(total: &mut Usage, response: &Usage) {
    let sum = |total: &mut Maybe<u64>, more: &Maybe<u64>| {
        if let Maybe::Value(more) = more {
            *total = Maybe::Value(count(total) + more);
        }
    };
    sum(&mut total.input_tokens, &response.input_tokens);
    sum(&mut total.output_tokens, &response.output_tokens);
    sum(&mut total.cache_creation_input_tokens, &response.cache_creation_input_tokens);
    sum(&mut total.cache_read_input_tokens, &response.cache_read_input_tokens);
    add_fields(&mut total.extra, &response.extra);
}

/// The same with all four counts present, zero if not reported: hosts expect numbers.
pub(crate) fn with_counts(mut usage: Usage) -> Usage {
    for tokens in [
        &mut usage.input_tokens,
        &mut usage.output_tokens,
        &mut usage.cache_creation_input_tokens,
        &mut usage.cache_read_input_tokens,
    ] {
        *tokens = Maybe::Value(count(tokens));
    }
    usage
}

/// A count inside a group of them, as in `server_tool_use.web_search_requests`.
pub(super) fn detail(usage: &Usage, group: &str, name: &str) -> Option<u64> {
    usage.extra.get(group)?.get(name)?.as_u64()
}

pub(super) fn count(tokens: &Maybe<u64>) -> u64 {
    tokens.as_ref().copied().unwrap_or(0)
}

fn add_fields(total: &mut Map<String, Value>, response: &Map<String, Value>) {
    for (name, value) in response {
        match total.get_mut(name) {
            Some(known) => add_value(known, value),
            None => drop(total.insert(name.clone(), value.clone())),
        }
    }
}

fn add_value(total: &mut Value, response: &Value) {
    match (&mut *total, response) {
        (Value::Object(total), Value::Object(response)) => add_fields(total, response),
        (Value::Number(one), Value::Number(two)) => {
            *total = match (one.as_u64(), two.as_u64()) {
                (Some(one), Some(two)) => (one + two).into(),
                _ => (one.as_f64().unwrap_or(0.0) + two.as_f64().unwrap_or(0.0)).into(),
            };
        }
        (_, Value::Null) => {}
        _ => *total = response.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(value: Value) -> Usage {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn counts_are_summed_and_other_values_replaced() {
        let mut total = Usage::default();
        add(
            &mut total,
            &usage(json!({
                "input_tokens": 10,
                "output_tokens": 1,
                "service_tier": "standard",
                "server_tool_use": {"web_search_requests": 1},
            })),
        );
        add(
            &mut total,
            &usage(json!({
                "input_tokens": 5,
                "output_tokens": 2,
                "service_tier": "priority",
                "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 3},
                "speed": null,
            })),
        );
        assert_eq!(
            total,
            usage(json!({
                "input_tokens": 15,
                "output_tokens": 3,
                "service_tier": "priority",
                "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 3},
                "speed": null,
            }))
        );
    }

    #[test]
    fn unreported_fields_stay_absent_and_counts_are_zero() {
        assert_eq!(
            serde_json::to_value(with_counts(Usage::default())).unwrap(),
            json!({
                "input_tokens": 0,
                "output_tokens": 0,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            })
        );
    }
}
