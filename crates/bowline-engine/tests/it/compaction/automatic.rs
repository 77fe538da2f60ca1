//! Automatic compaction.

use serde_json::{Value, json};

use crate::{
    request_log::RequestLog,
    rig::{Rig, shapes, text},
};

/// A script that reports this many tokens of context.
fn usage(tokens: u64) -> String {
    format!("USAGE {}", json!({"input_tokens": tokens, "output_tokens": 1}))
}

fn boundaries(frames: &[Value]) -> usize {
    frames.iter().filter(|frame| frame["subtype"] == "compact_boundary").count()
}

#[tokio::test]
async fn a_conversation_that_is_nearly_full_is_compacted_before_the_next_request() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| {
        log.record(config);
        config.auto_compact_window = Some(100_000);
    });
    let frames = rig.run(&format!("SUMMARY all of it\n{}\nSAY one", usage(60_000))).await;
    assert_eq!(boundaries(&frames), 0);
    let frames = rig.run(&format!("{}\nSAY two", usage(80_000))).await;
    assert_eq!(boundaries(&frames), 0, "33,000 tokens and more are still free");
    let frames = rig.run("SAY three").await;
    assert_eq!(
        shapes(&frames),
        [
            "init",
            "status",
            "status",
            "compact_boundary",
            "user:text",
            "assistant:text",
            "result:success",
        ]
    );
    assert_eq!(frames[1]["compact_output_chars"], 0);
    let metadata = &frames[3]["compact_metadata"];
    assert_eq!(metadata["trigger"], "auto");
    assert!(metadata["pre_tokens"].as_u64().unwrap() > 80_000);
    let dropped = metadata["cumulative_dropped_tokens"].as_u64().unwrap();
    let difference =
        metadata["pre_tokens"].as_u64().unwrap() - metadata["post_tokens"].as_u64().unwrap();
    assert_eq!(dropped, difference);
    assert_eq!(frames[4]["isSynthetic"], true);
    assert_eq!(frames[4].get("isReplay"), None);
    assert!(text(&frames[4]).contains("all of it"));
    assert_eq!(text(&frames[5]), "three");
    let received = log.conversation();
    assert_eq!(received.len(), 2, "{received:?}");
    assert_eq!(received[1], "U: SAY three", "the prompt stays as it is");
}

#[tokio::test]
async fn turn_continues_after_its_compaction() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| {
        log.record(config);
        config.auto_compact_window = Some(100_000);
    });
    let call = "TOOL Bash {\"command\": \"echo hi\"}";
    rig.run("SUMMARY half\nSAY one").await;
    let frames = rig.run(&format!("{}\n{call}\nNEXT\nSAY done", usage(90_000))).await;
    assert_eq!(boundaries(&frames), 1);
    assert_eq!(frames.last().unwrap()["subtype"], "success");
    let received = log.conversation();
    assert!(received[0].contains("half"), "{}", received[0]);
    assert!(
        received[0].contains("word for word:\n<request>\nUSAGE"),
        "the prompt is not lost: {}",
        received[0]
    );
    assert_eq!(received[1], "A: call Bash");
    assert_eq!(received[2], "U: result", "the last round stays as it is");
    let boundary = frames.iter().find(|it| it["subtype"] == "compact_boundary").unwrap();
    let kept = boundary["compact_metadata"]["preserved_messages"]["uuids"].as_array().unwrap();
    assert_eq!(kept.len(), 2, "a call and its result");
}

#[tokio::test]
async fn futile_compactions_stop() {
    let mut rig = Rig::with(|config| {
        config.auto_compact_window = Some(100_000);
        config.max_turns = Some(20);
    });
    let call = "TOOL Bash {\"command\": \"echo hi\"}";
    rig.run("SUMMARY half\nSAY one").await;
    // The second part is repeated, because each compaction leaves one response.
    let full = format!("{}\n{call}", usage(90_000));
    let frames = rig.run(&format!("{call}\nNEXT\n{full}\nNEXT\n{full}\nNEXT\nSAY done")).await;
    assert_eq!(boundaries(&frames), 4, "one that is needed, three in vain");
    let said: Vec<_> = frames.iter().filter(|it| it["type"] == "assistant").map(text).collect();
    assert!(said.contains(&"done"), "then it goes on as it is: {said:?}");
}

#[tokio::test]
async fn automatic_compaction_can_be_switched_off() {
    let mut rig = Rig::with(|config| {
        config.auto_compact_window = Some(100_000);
        config.auto_compact = false;
    });
    rig.run(&format!("{}\nSAY one", usage(99_000))).await;
    let frames = rig.run("SAY two").await;
    assert_eq!(boundaries(&frames), 0);
}

#[tokio::test]
async fn too_long_prompt_is_compacted_once() {
    let mut rig = Rig::new();
    rig.run("SUMMARY all of it\nSAY one").await;
    let error = "ERRMSG prompt is too long: 210000 tokens > 200000 maximum\nERRORS 400 -1";
    let frames = rig.run(error).await;
    assert_eq!(
        shapes(&frames),
        [
            "init",
            "status",
            "status",
            "compact_boundary",
            "user:text",
            "assistant:text",
            "result:success",
        ]
    );
    let result = frames.last().unwrap();
    assert_eq!(result["is_error"], true);
    assert_eq!(result["terminal_reason"], "prompt_too_long");
    assert_eq!(result["result"], "Prompt is too long");
    assert_eq!(result["num_turns"], 2);
    assert_eq!(result["api_error_status"], 400);
    let metadata = &frames[3]["compact_metadata"];
    assert_eq!(metadata["preserved_messages"]["uuids"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn conversation_without_a_response_is_not_compacted() {
    let mut rig = Rig::new();
    let error = "ERRMSG prompt is too long: 210000 tokens > 200000 maximum\nERRORS 400 -1";
    let frames = rig.run(error).await;
    assert_eq!(boundaries(&frames), 0);
    assert_eq!(frames.last().unwrap()["terminal_reason"], "prompt_too_long");
}
