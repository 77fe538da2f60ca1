//! Faults of a server: they cost its own tools, and nothing else.

use std::time::Duration;

use bowline_protocol::McpServerStatus;
use bowline_tools::{FailureStage, ToolSource};
use serde_json::{Value, json};

use crate::rig::{PATIENCE, Rig, program, text_of};

#[tokio::test]
async fn death_in_a_call_is_an_answer_at_once_and_the_server_comes_back() {
    let rig = Rig::with(|setup| {
        setup.options.backoff.first = Duration::from_millis(10);
        setup.options.backoff.attempts = 2;
    });
    let rig = rig.connected().await;
    let pid = rig.text("mcp__std__pid", json!({})).await;
    let failure = tokio::time::timeout(PATIENCE, rig.call("mcp__std__die", json!({})));
    let failure = failure.await.unwrap().unwrap_err();
    assert_eq!(failure.stage, FailureStage::Interrupted);
    assert!(failure.content.starts_with("The tool call was interrupted"), "{}", failure.content);
    rig.log.wait_for("std is failed", 1).await;
    rig.log.wait_for("std is connected", 2).await;
    assert_ne!(rig.text("mcp__std__pid", json!({})).await, pid);
}

#[tokio::test]
async fn a_dead_server_is_given_up_until_somebody_asks() {
    let rig = Rig::with(|setup| setup.options.backoff.attempts = 0).connected().await;
    rig.call("mcp__std__die", json!({})).await.unwrap_err();
    rig.log.wait_for("std is failed", 1).await;
    assert!(rig.servers.tools().is_empty());
    assert_eq!(rig.servers.status()[0].error.as_deref(), Some("Connection closed"));
    rig.servers.reconnect("std").await.unwrap();
    assert_eq!(rig.text("mcp__std__echo", json!({"text": "back"})).await, "echo: back");
}

#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_only_its_end_is_kept() {
    let rig = Rig::new().connected().await;
    assert_eq!(rig.text("mcp__std__spew", json!({})).await, "spewed");
    assert!(rig.servers.stderr("std").unwrap().len() <= 8 * 1024);
}

#[tokio::test]
async fn garbage_on_stdout_is_skipped() {
    let rig = Rig::new().connected().await;
    assert_eq!(rig.text("mcp__std__noise", json!({})).await, "quiet again");
    assert_eq!(rig.text("mcp__std__echo", json!({"text": "ok"})).await, "echo: ok");
}

#[tokio::test]
async fn silence_in_a_call_ends_in_time() {
    let rig = Rig::new();
    let mut config = program("");
    config["timeout"] = json!(100);
    rig.add("std", config);
    let rig = rig.start().await;
    let failure = rig.call("mcp__std__hang", json!({})).await.unwrap_err();
    assert_eq!(failure.content, "MCP server \"std\" tool \"hang\" timed out after 0.1s");
    heard_cancel(&rig).await;
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_server_hears_of_it() {
    let rig = Rig::new().connected().await;
    let call = rig.tool_call(json!({}));
    let cancel = call.cancel.clone();
    let tool = rig.tool("mcp__std__hang");
    let (failure, ()) = tokio::join!(bowline_tools::run(&*tool, call), async {
        // The server has the call once it answers a later one.
        rig.text("mcp__std__echo", json!({})).await;
        cancel.cancel();
    });
    assert_eq!(failure.unwrap_err().stage, FailureStage::Interrupted);
    heard_cancel(&rig).await;
    assert_eq!(rig.status_of("std"), McpServerStatus::Connected);
}

/// Asks until the server says that it heard of a cancelled call.
async fn heard_cancel(rig: &Rig) {
    let asking = async {
        loop {
            // Where calls have little time, a slow answer is one to ask for again.
            let Ok(heard) = rig.call("mcp__std__heard", json!({})).await else { continue };
            let heard: Vec<Value> = serde_json::from_str(&text_of(heard)).unwrap();
            if heard.iter().any(|note| note["method"] == "notifications/cancelled") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("the server hears of it");
}

#[tokio::test]
async fn one_bad_server_leaves_the_others_alone() {
    let rig = Rig::with(|setup| setup.options.backoff.attempts = 0);
    rig.add("bad", program(""));
    rig.add("good", program(""));
    let rig = rig.start().await;
    let die = rig.tool("mcp__bad__die");
    bowline_tools::run(&*die, rig.tool_call(json!({}))).await.unwrap_err();
    rig.log.wait_for("bad is failed", 1).await;
    assert_eq!(rig.text("mcp__good__echo", json!({"text": "hi"})).await, "echo: hi");
    // Who still holds a tool of the dead server gets an answer.
    let failure = bowline_tools::run(&*die, rig.tool_call(json!({}))).await.unwrap_err();
    assert_eq!(failure.content, "The MCP server of mcp__bad__die is not connected");
}
