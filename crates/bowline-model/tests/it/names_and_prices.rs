//! Names of models, their limits and prices.

use bowline_model::{ErrorKind, KNOWN_MODELS, ModelRef, Price, Prices, known_model};
use bowline_protocol::Usage;
use serde_json::json;

#[test]
fn model_names_select_the_provider() {
    let anthropic = |name: &str| ModelRef::Anthropic(name.to_owned());
    let table = [
        ("opus", anthropic("claude-opus-5-5")),
        ("default", anthropic("claude-opus-5-5")),
        ("haiku", anthropic("claude-haiku-5-5")),
        ("claude-sonnet-4-5-20250929", anthropic("claude-sonnet-4-5-20250929")),
        ("anthropic/something", anthropic("something")),
        ("a-gateways-own", anthropic("a-gateways-own")),
        ("openai/gpt-oss:20b", ModelRef::OpenAi("gpt-oss:20b".to_owned())),
        ("openai/org/model", ModelRef::OpenAi("org/model".to_owned())),
        ("script", ModelRef::Script(None)),
        ("script:a/b.txt", ModelRef::Script(Some("a/b.txt".into()))),
        ("replay:a:b", ModelRef::Replay("a:b".into())),
    ];
    for (text, expected) in table {
        let read: ModelRef = text.parse().unwrap();
        assert_eq!(read, expected, "{text}");
        assert_eq!(read.to_string().parse::<ModelRef>().unwrap(), expected, "{text}");
    }
    for text in ["", "  ", "openai/", "script:", "replay:", "anthropic/"] {
        let error = text.parse::<ModelRef>().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported, "{text}");
    }
}

#[test]
fn dates_and_windows_do_not_change_a_model() {
    let id = |name| known_model(name).map(|model| model.id);
    assert_eq!(id("claude-haiku-4-5-20251001"), Some("claude-haiku-4-5"));
    assert_eq!(id("claude-3-5-haiku-20241022"), Some("claude-3-5-haiku"));
    assert_eq!(id("claude-sonnet-5"), Some("claude-sonnet-5"));
    assert_eq!(id("claude-sonnet-5-5[1m]"), Some("claude-sonnet-5-5"));
    assert_eq!(id("claude-sonnet-5-9"), None);
    assert_eq!(id("gpt-5"), None);
    let opus = known_model("opus").unwrap();
    assert_eq!((opus.context_window, opus.max_output), (1_000_000, 128_000));
}

fn usage(json: serde_json::Value) -> Usage {
    serde_json::from_value(json).unwrap()
}

#[test]
fn each_kind_of_token_has_its_price() {
    let prices = Prices::default();
    // A hundred thousand of one kind at a time is a tenth of the price per million.
    let table = [
        ("input_tokens", 0.4),
        ("output_tokens", 2.0),
        ("cache_read_input_tokens", 0.02),
        ("cache_creation_input_tokens", 0.5),
    ];
    for (kind, dollars) in table {
        let cost = prices.cost("claude-opus-5-5", &usage(json!({ kind: 100_000 }))).unwrap();
        assert!((cost - dollars).abs() < 1e-9, "{kind}: {cost}");
    }
    let hour = json!({
        "cache_creation_input_tokens": 100_000,
        "cache_creation": { "ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 100_000 },
    });
    let cost = prices.cost("opus", &usage(hour)).unwrap();
    assert!((cost - 0.8).abs() < 1e-9, "twice the input: {cost}");
}

#[test]
fn price_overrides_take_precedence_and_unknown_models_have_no_price() {
    let mut prices = Prices::default();
    let counts = usage(json!({ "input_tokens": 1_000_000 }));
    assert_eq!(prices.cost("mystery", &counts), None);
    let own = Price { input: 7.0, ..Price::default() };
    prices.overrides.insert("mystery".to_owned(), own);
    prices.overrides.insert("claude-haiku-4-5".to_owned(), own);
    assert_eq!(prices.cost("mystery", &counts), Some(7.0));
    assert_eq!(prices.cost("claude-haiku-4-5-20251001", &counts), Some(7.0));
    assert_eq!(prices.cost("claude-sonnet-5", &counts), Some(2.0));
}

#[test]
fn the_table_names_each_model_once() {
    for (place, model) in KNOWN_MODELS.iter().enumerate() {
        let first = KNOWN_MODELS.iter().position(|other| other.id == model.id);
        assert_eq!(first, Some(place), "{}", model.id);
        assert_eq!(known_model(model.id), Some(model));
    }
}
