//! Limits of a turn: round trips, cost, the schema of the result.

use bowline_engine::{ConnectedModel, Models};
use serde_json::json;

use crate::rig::{Rig, shapes};

const ECHO: &str = "TOOL Bash {\"command\": \"echo 1\"}";

#[tokio::test]
async fn the_number_of_round_trips() {
    let mut rig = Rig::with(|config| config.max_turns = Some(2));
    let frames = rig.run(&format!("{ECHO}\nNEXT\n{ECHO}\nNEXT\n{ECHO}\nNEXT\nSAY never")).await;
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["errors"], json!(["Reached maximum number of turns (2)"]));
    assert_eq!(result["num_turns"], 3);
    assert_eq!(rig.run("SAY next").await.last().unwrap()["result"], "next");
}

#[tokio::test]
async fn money() {
    let mut rig = Rig::with(|config| {
        config.max_budget_usd = Some(0.000_001);
        config.prices.overrides.insert(
            "script".to_owned(),
            bowline_model::Price { input: 10.0, output: 10.0, cache_read: 0.0, cache_write: 0.0 },
        );
    });
    let frames = rig.run(&format!("{ECHO}\nNEXT\nSAY never")).await;
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "error_max_budget_usd");
    assert_eq!(result["terminal_reason"], "budget_exhausted");
    assert_eq!(result["is_error"], true);
    let spent = rig.run("SAY nothing more").await;
    assert_eq!(spent.last().unwrap()["subtype"], "error_max_budget_usd");
}

#[tokio::test]
async fn budget_exceeded_by_the_last_response() {
    let mut rig = Rig::with(|config| {
        config.max_budget_usd = Some(0.000_001);
        let price =
            bowline_model::Price { input: 10.0, output: 10.0, cache_read: 0.0, cache_write: 0.0 };
        config.prices.overrides.insert("script".to_owned(), price);
    });
    let frames = rig.run("SAY too dear").await;
    assert_eq!(shapes(&frames), ["init", "assistant:text", "result:error_max_budget_usd"]);
}

#[tokio::test]
async fn budget_exceeded_by_an_interrupted_response() {
    let mut rig = Rig::with(|config| {
        config.include_partial_messages = true;
        config.max_budget_usd = Some(0.5);
        let price = bowline_model::Price { input: 1.0, ..Default::default() };
        config.prices.overrides.insert("script".to_owned(), price);
    });
    rig.prompt("USAGE {\"input_tokens\": 1000000}\nSAY words that never end\nHANG").await;
    rig.until(|frame| frame["event"]["type"] == "content_block_delta").await;
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    let frames = rig.turn().await;
    let result = frames.last().unwrap();
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    assert_eq!(result["usage"]["input_tokens"], 1_000_000);
    assert_eq!(result["total_cost_usd"], 1.0);
    assert_eq!(rig.run("SAY never").await.last().unwrap()["subtype"], "error_max_budget_usd");
}

#[tokio::test]
async fn a_model_without_a_price_is_named_once() {
    let mut rig = Rig::with(|config| {
        let script = config.models.connect("script").unwrap();
        config.models = std::sync::Arc::new(Elsewhere(script));
    });
    let warnings = |frames: &[serde_json::Value]| {
        let about_prices = frames.iter().filter(|frame| frame["tag"] == "model_without_price");
        about_prices.cloned().collect::<Vec<_>>()
    };
    let received = warnings(&rig.run("SAY one").await);
    assert_eq!(received.len(), 1);
    assert_eq!(received[0]["subtype"], "informational");
    assert_eq!(received[0]["level"], "warning");
    assert!(received[0]["content"].as_str().unwrap().contains("openai/any"), "{}", received[0]);
    let frames = rig.run("SAY two").await;
    assert_eq!(warnings(&frames), Vec::<serde_json::Value>::new());
    assert_eq!(frames.last().unwrap()["total_cost_usd"], 0.0);
    assert_eq!(frames.last().unwrap()["modelUsage"]["openai/any"]["costBasis"], "unknown");
}

/// The script model under a name that no price list has.
struct Elsewhere(ConnectedModel);

impl Models for Elsewhere {
    fn connect(&self, _: &str) -> Result<ConnectedModel, bowline_model::ModelError> {
        let ConnectedModel { model, wire_name, .. } = self.0.clone();
        Ok(ConnectedModel { model, wire_name, name: "openai/any".to_owned() })
    }
}

#[tokio::test]
async fn usage_is_what_the_api_reported_and_nothing_else() {
    let mut rig = Rig::new();
    let counted = |frames: &[serde_json::Value]| frames.last().unwrap()["usage"].clone();
    let plain = counted(&rig.run("SAY plain").await);
    let names: Vec<_> = plain.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        names,
        ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
    );
    let received = counted(
        &rig.run("USAGE {\"output_tokens\": 7, \"service_tier\": \"priority\"}\nSAY received")
            .await,
    );
    assert_eq!(received["output_tokens"], 7);
    assert_eq!(received["service_tier"], "priority");
}

fn schema() -> serde_json::Value {
    json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]})
}

#[tokio::test]
async fn a_result_of_the_right_shape_ends_the_turn() {
    let mut rig = Rig::with(|config| config.json_schema = Some(schema()));
    let frames = rig.run("TOOL StructuredOutput {\"n\": 1}\nNEXT\nSAY not reached").await;
    let result = frames.last().unwrap();
    assert_eq!(result["structured_output"], json!({"n": 1}));
    assert_eq!(result["result"], "{\"n\":1}");
    assert_eq!(
        shapes(&frames),
        ["init", "assistant:tool_use", "user:tool_result", "result:success"]
    );
}

#[tokio::test]
async fn a_result_of_the_wrong_shape_may_be_corrected() {
    let mut rig = Rig::with(|config| config.json_schema = Some(schema()));
    let frames = rig
        .run("TOOL StructuredOutput {\"n\": \"x\"}\nNEXT\nTOOL StructuredOutput {\"n\": 2}")
        .await;
    assert_eq!(frames.last().unwrap()["structured_output"], json!({"n": 2}));
}

#[tokio::test]
async fn a_result_that_never_fits_fails() {
    let mut rig = Rig::with(|config| config.json_schema = Some(schema()));
    let bad = "TOOL StructuredOutput {}\nNEXT\n".repeat(6);
    let frames = rig.run(&bad).await;
    assert_eq!(frames.last().unwrap()["subtype"], "error_max_structured_output_retries");
}

#[tokio::test]
async fn a_model_that_does_not_give_a_result_is_reminded_once() {
    let mut rig = Rig::with(|config| config.json_schema = Some(schema()));
    let frames = rig.run("SAY I will not").await;
    assert_eq!(
        shapes(&frames),
        ["init", "assistant:text", "user:text", "assistant:text", "result:success"]
    );
    assert_eq!(frames[2]["isSynthetic"], true);
    assert!(frames[4].get("structured_output").is_none());
}
