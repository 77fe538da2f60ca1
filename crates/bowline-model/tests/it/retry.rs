//! Retry policy.

use std::time::Duration;

use bowline_model::{ErrorKind, ModelError, RetryPolicy};

fn status(status: u16) -> ModelError {
    ModelError { status: Some(status), ..ModelError::new(ErrorKind::Status, "no") }
}

fn api(api_type: &str) -> ModelError {
    ModelError { api_type: Some(api_type.to_owned()), ..ModelError::new(ErrorKind::Api, "no") }
}

#[test]
fn retryable_errors() {
    let kind = |kind| ModelError::new(kind, "no");
    let with = |should_retry, error| ModelError { should_retry: Some(should_retry), ..error };
    let table = [
        (status(400), false),
        (status(401), false),
        (status(403), false),
        (status(404), false),
        (status(408), true),
        (status(409), true),
        (status(413), false),
        (status(429), true),
        (status(500), true),
        (status(503), true),
        (status(529), true),
        (with(false, status(529)), false),
        (with(true, status(400)), true),
        (api("overloaded_error"), true),
        (api("api_error"), true),
        (api("invalid_request_error"), false),
        (ModelError { status: Some(400), ..api("odd") }, false),
        (kind(ErrorKind::Connection), true),
        (kind(ErrorKind::Timeout), true),
        (kind(ErrorKind::StreamCut), true),
        (kind(ErrorKind::Unreadable), false),
        (kind(ErrorKind::NoCredentials), false),
        (kind(ErrorKind::Replay), false),
        (kind(ErrorKind::Script), false),
    ];
    for (error, expected) in table {
        assert_eq!(error.is_retryable(), expected, "{error:?}");
    }
}

#[test]
fn delays_double_up_to_a_limit_with_a_quarter_of_jitter() {
    let policy = RetryPolicy { seed: 1, ..RetryPolicy::default() };
    let base = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0, 32.0];
    for (attempt, base) in (1..).zip(base) {
        let delay = policy.delay(attempt, &status(529)).unwrap().as_secs_f64();
        assert!((base..=base * 1.25).contains(&delay), "attempt {attempt}: {delay}");
    }
    assert_eq!(policy.delay(11, &status(529)), None, "ten retries are enough");
    assert_eq!(policy.delay(1, &status(400)), None, "nothing would change");
}

#[test]
fn jitter_depends_only_on_the_seed() {
    let delay = |seed| RetryPolicy { seed, ..RetryPolicy::default() }.delay(1, &status(500));
    assert_eq!(delay(7), delay(7));
    let some: std::collections::BTreeSet<_> = (0..20).map(delay).collect();
    assert!(some.len() > 10, "different seeds spread: {some:?}");
}

#[test]
fn a_server_decides_how_long_to_wait() {
    let policy = RetryPolicy::default();
    let after = |wait| ModelError { retry_after: Some(wait), ..status(429) };
    let second = Duration::from_secs(1);
    assert_eq!(policy.delay(3, &after(second)), Some(second));
    assert_eq!(policy.delay(1, &after(policy.patience + second)), None, "that is a failure");
    assert!(policy.delay(1, &after(Duration::ZERO)).unwrap() >= Duration::from_millis(500));
}

#[test]
fn context_overflow_is_distinguished_from_other_errors() {
    let with = |message: &str| ModelError {
        status: Some(400),
        ..ModelError::new(ErrorKind::Status, message.to_owned())
    };
    let named = ModelError { api_type: Some("context_length_exceeded".to_owned()), ..with("no") };
    assert!(with("prompt is too long: 210000 tokens > 200000 maximum").is_context_overflow());
    assert!(with("This model's maximum context length is 4096 tokens").is_context_overflow());
    assert!(named.is_context_overflow());
    assert!(!with("messages: at least one message is required").is_context_overflow());
    assert!(!status(500).is_context_overflow());
}

#[test]
fn every_failure_has_a_protocol_error_name() {
    let table = [
        (status(401), "authentication_failed"),
        (status(403), "authentication_failed"),
        (status(402), "billing_error"),
        (status(404), "model_not_found"),
        (status(413), "invalid_request"),
        (status(429), "rate_limit"),
        (status(500), "server_error"),
        (status(529), "overloaded"),
        (status(400), "unknown"),
        (api("overloaded_error"), "overloaded"),
        (ModelError::new(ErrorKind::StreamCut, "cut"), "unknown"),
    ];
    for (error, expected) in table {
        assert_eq!(error.category(), expected, "{error:?}");
    }
}
