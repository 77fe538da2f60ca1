//! A model that refuses repeatedly, or never fits into its limits.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    request_log::RequestLog,
    rig::{Rig, shapes, text},
};

/// A session whose model ends this many responses for this reason, and then responds normally. The script
/// is in a file, because the engine's own prompts come in between.
fn rig(reason: &str, times: usize) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let answers = format!("SAY words\nSTOP {reason}\nNEXT\n").repeat(times);
    let file = folder.path().join("answers");
    std::fs::write(&file, format!("{answers}SAY after\nNEXT\nSAY more")).unwrap();
    Rig::in_folder(folder, |config| config.model = format!("script:{}", file.display()))
}

fn hooks(events: &[&str]) -> Value {
    let registered = |event: &&str| ((*event).to_owned(), json!([{"hookCallbackIds": [event]}]));
    let hooks: serde_json::Map<_, _> = events.iter().map(registered).collect();
    json!({"subtype": "initialize", "hooks": hooks})
}

#[tokio::test]
async fn a_second_refusal_ends_the_turn_with_an_error() {
    let mut rig = rig("refusal", 2);
    rig.control(hooks(&["Stop", "StopFailure"])).await.unwrap();
    let frames = rig.run("go").await;
    assert_eq!(
        shapes(&frames),
        [
            "init",
            "assistant:text",
            "informational",
            "user:text",
            "assistant:text",
            "model_refusal_no_fallback",
            "assistant:text",
            "hook:StopFailure",
            "result:success",
        ]
    );
    let received =
        frames.iter().find(|frame| frame["subtype"] == "model_refusal_no_fallback").unwrap();
    assert_eq!(received["api_refusal_category"], Value::Null);
    assert!(received["refused_user_message_uuid"].is_string(), "{received}");
    let failure = &frames[frames.len() - 3];
    assert_eq!(failure["error"], "invalid_request");
    assert_eq!(failure["message"]["stop_reason"], "refusal");
    assert_eq!(failure["refused_message_id"], frames[4]["message"]["id"]);
    let result = frames.last().unwrap();
    assert_eq!(result["is_error"], true);
    assert_eq!(result["stop_reason"], "refusal");
    assert_eq!(result["terminal_reason"], "api_error");
    assert_eq!(result["result"], text(failure));
    assert_eq!(result["safety_stops"], 2);
    // The conversation stays and continues, and the session counts the refusals.
    let after = rig.run("go on").await;
    assert_eq!(after.last().unwrap()["result"], "after");
    assert_eq!(after.last().unwrap()["safety_stops"], 2);
}

#[tokio::test]
async fn refusal_after_a_call_continues_with_its_result() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    let call = "TOOL Bash {\"command\": \"echo ran\"}";
    let frames = rig.run(&format!("{call}\nSTOP refusal\nNEXT\nSAY went on")).await;
    let users: Vec<_> = frames.iter().filter(|frame| frame["type"] == "user").collect();
    assert_eq!(users[0]["message"]["content"][0]["content"], "ran");
    assert_eq!(users[1]["isSynthetic"], true);
    assert_eq!(frames.last().unwrap()["result"], "went on");
    let asked = log.conversation();
    assert_eq!(asked[1..3], ["A: call Bash", "U: result"]);
    assert!(asked[3].starts_with("U: A safety check stopped"), "{asked:?}");
    assert_eq!(asked.len(), 4, "one call, one result");
}

#[tokio::test]
async fn declining_subagent_fails_and_its_parent_continues() {
    let mut rig = rig("refusal", 2);
    let call = json!({"description": "d", "prompt": "go", "run_in_background": false});
    let frames = rig.run(&format!("TOOL Agent {call}\nNEXT\nSAY went on")).await;
    assert!(!shapes(&frames).contains(&"informational".to_owned()), "{:?}", shapes(&frames));
    let ended = frames.iter().find(|frame| frame["subtype"] == "task_notification").unwrap();
    assert_eq!(ended["status"], "failed");
    let result = frames.iter().find(|frame| frame["message"]["content"][0]["is_error"] == true);
    let received = result.unwrap()["message"]["content"][0]["content"].as_str().unwrap();
    assert!(received.contains("declines to answer"), "{received}");
    let result = frames.last().unwrap();
    assert_eq!((&result["result"], &result["safety_stops"]), (&json!("went on"), &json!(2)));
}

#[tokio::test]
async fn response_that_never_fits_ends_the_turn_with_an_error() {
    for (reason, cut, named) in [
        ("max_tokens", "output_limit", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        ("model_context_window_exceeded", "context_window", "context window"),
    ] {
        let mut rig = rig(reason, 4);
        rig.control(hooks(&["StopFailure"])).await.unwrap();
        let frames = rig.run("go").await;
        let [.., failure, hook, result] = &frames[..] else { panic!("{:?}", shapes(&frames)) };
        assert_eq!(failure["message"]["model"], "<synthetic>");
        assert_eq!(failure["error"], "max_output_tokens");
        assert_eq!(failure["api_error_params"], json!({ "cut": cut }));
        assert!(text(failure).contains(named), "{failure}");
        assert_eq!(hook["call"]["input"]["error"], "max_output_tokens");
        assert_eq!(result["api_error"], "max_output_tokens");
        assert_eq!(result["stop_reason"], "stop_sequence");
        assert_eq!(result["is_error"], true);
        assert_eq!(result["num_turns"], 4);
        assert_eq!(rig.run("go on").await.last().unwrap()["result"], "after");
    }
}

#[tokio::test]
async fn stream_error_falls_back_to_a_response_without_streaming() {
    for kind in ["overloaded_error", "rate_limit_error", "invalid_request_error"] {
        let mut rig = Rig::with(|config| {
            config.include_partial_messages = true;
            config.retry.first_delay = Duration::ZERO;
        });
        let frames = rig.run(&format!("SAY hello there\nSTREAMERR {kind} busy")).await;
        let events: Vec<_> = frames
            .iter()
            .filter(|frame| frame["type"] == "stream_event")
            .map(|frame| frame["event"]["type"].as_str().unwrap())
            .collect();
        let broken = ["message_start", "content_block_start", "content_block_delta"];
        assert_eq!(events[..3], broken, "{kind}");
        assert_eq!(events[3..], ["content_block_stop", "message_stop"], "{kind}");
        let said: Vec<_> =
            frames.iter().filter(|frame| frame["type"] == "assistant").map(text).collect();
        assert_eq!(said, ["hello there"], "{kind}");
        assert_eq!(frames.last().unwrap()["is_error"], false);
    }
}
