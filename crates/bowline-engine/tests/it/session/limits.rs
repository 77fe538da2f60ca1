//! What bounds a turn: round trips, money, the shape of the result.

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
