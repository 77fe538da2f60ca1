//! Messages of a turn and their order.

use serde_json::json;

use crate::rig::{Rig, shapes, text};

#[tokio::test]
async fn turn_has_init_response_and_result() {
    let mut rig = Rig::new();
    let frames = rig.run("SAY hello there").await;
    assert_eq!(shapes(&frames), ["init", "assistant:text", "result:success"]);
    assert_eq!(text(&frames[1]), "hello there");
    let result = &frames[2];
    assert_eq!(result["result"], "hello there");
    assert_eq!(result["is_error"], false);
    assert_eq!(result["num_turns"], 1);
    assert_eq!(result["stop_reason"], "end_turn");
    assert_eq!(result["terminal_reason"], "completed");
    assert_eq!(result["result_index"], 0);
    assert_eq!(result["session_id"], rig.session.id().as_str());
}

#[tokio::test]
async fn a_tool_runs_and_its_result_goes_back() {
    let mut rig = Rig::new();
    std::fs::write(rig.path().join("a.txt"), "alpha\n").unwrap();
    let path = rig.path().canonicalize().unwrap().join("a.txt");
    let frames =
        rig.run(&format!("TOOL Read {}\nNEXT\nECHORESULT", json!({"file_path": path}))).await;
    assert_eq!(
        shapes(&frames),
        ["init", "assistant:tool_use", "user:tool_result", "assistant:text", "result:success"]
    );
    assert_eq!(text(&frames[2]), "1\talpha\n2\t");
    assert_eq!(frames[2]["tool_use_result"]["file"]["content"], "alpha\n");
    let decision = &frames[2]["tool_result_meta"][0]["permission_decision"];
    assert_eq!(decision["decision"], "accept");
    assert_eq!(text(&frames[3]), "result was: 1\talpha\n2\t");
    assert_eq!(frames[4]["num_turns"], 2);
}

#[tokio::test]
async fn results_are_shown_as_they_complete_and_sent_in_the_order_of_the_calls() {
    let mut rig = Rig::new();
    let frames = rig
        .run(
            "TOOL Bash {\"command\": \"sleep 0.4; echo one\"}\n\
             TOOL Bash {\"command\": \"echo two\"}\nNEXT\nECHORESULT",
        )
        .await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "user").map(text).collect();
    assert_eq!(results, ["two", "one"]);
    // The script repeats the newest result of the request: the last of the calls.
    assert_eq!(frames.last().unwrap()["result"], "result was: two");
    assert_eq!(frames.last().unwrap()["num_turns"], 3);
}

#[tokio::test]
async fn unknown_tool_and_invalid_input_are_error_results() {
    let mut rig = Rig::new();
    let frames = rig.run("TOOL Nothing {}\nTOOL Read {\"file_path\": 7}\nNEXT\nSAY fine").await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "user").map(text).collect();
    assert!(results[0].contains("No such tool available: Nothing"), "{results:?}");
    assert!(results[1].contains("`file_path` type is expected as `string`"), "{results:?}");
    assert_eq!(frames.last().unwrap()["result"], "fine");
}

#[tokio::test]
async fn partial_messages_show_the_stream_and_the_block_before_its_stop() {
    let mut rig = Rig::with(|config| config.include_partial_messages = true);
    let frames = rig.run("SAY hi").await;
    let shapes = shapes(&frames);
    let at = |name: &str| shapes.iter().position(|shape| shape == name).unwrap();
    assert_eq!(&shapes[..3], ["init", "status", "event:message_start"]);
    assert!(at("event:content_block_delta") < at("assistant:text"));
    assert!(at("assistant:text") < at("event:content_block_stop"));
    assert!(at("event:message_stop") < at("result:success"));
}

#[tokio::test]
async fn costs_add_up_over_turns_and_usage_does_not() {
    let mut rig = Rig::new();
    let first = rig.run("SAY one").await;
    let second = rig.run("SAY two").await;
    let output = |frames: &[serde_json::Value]| {
        let result = frames.last().unwrap();
        let total = result["modelUsage"]["script"]["outputTokens"].as_u64().unwrap();
        (result["usage"]["output_tokens"].as_u64().unwrap(), total)
    };
    let ((one, total_one), (two, total_two)) = (output(&first), output(&second));
    assert_eq!(total_one, one);
    assert_eq!(total_two, one + two);
    assert_eq!(second.last().unwrap()["result_index"], 1);
}

#[tokio::test]
async fn stream_cut_before_a_block_is_retried_without_duplicates() {
    let mut rig = Rig::with(|config| config.retry.first_delay = std::time::Duration::ZERO);
    let frames = rig.run("CUTS 1\nSAY some words here").await;
    assert_eq!(shapes(&frames), ["init", "api_retry", "assistant:text", "result:success"]);
    assert_eq!(frames[1]["attempt"], 1);
    assert_eq!(frames[3]["result"], "some words here");
}

#[tokio::test]
async fn an_api_that_stays_down_ends_the_turn_with_an_error() {
    let mut rig = Rig::with(|config| {
        config.retry.first_delay = std::time::Duration::ZERO;
        config.retry.max_retries = 2;
    });
    let frames = rig.run("ERRORS 500 -1\nSAY never").await;
    assert_eq!(
        shapes(&frames),
        ["init", "api_retry", "api_retry", "assistant:text", "result:success"]
    );
    let result = frames.last().unwrap();
    assert_eq!((&result["is_error"], &result["api_error_status"]), (&json!(true), &json!(500)));
    assert_eq!(result["terminal_reason"], "api_error");
    let frames = rig.run("SAY alive").await;
    assert_eq!(frames.last().unwrap()["result"], "alive");
}

#[tokio::test]
async fn the_end_of_input_lets_the_running_turn_finish() {
    let rig = Rig::new();
    rig.prompt("DELAY 200\nSAY late").await;
    let (end, frames) = rig.finish().await;
    assert_eq!(end.last_turn_failed, Some(false));
    assert_eq!(frames.last().unwrap()["result"], "late");
}

#[tokio::test]
async fn a_prompt_of_blanks_is_not_sent() {
    let mut rig = Rig::new();
    let frames = rig.run(" \n\t").await;
    assert_eq!(shapes(&frames), ["init", "informational", "result:success"]);
    assert_eq!(frames[1]["level"], "warning");
    let result = frames.last().unwrap();
    assert_eq!((&result["is_error"], &result["num_turns"]), (&json!(false), &json!(0)));
    assert_eq!(result["result"], frames[1]["content"]);
    assert_eq!(rig.run("SAY words").await.last().unwrap()["result"], "words");
}
