//! `initialize`, the first request of a host.

use serde_json::{Value, json};

use crate::rig::{Rig, shapes};

#[tokio::test]
async fn initialize_response_lists_the_catalog() {
    let rig = Rig::new();
    let answer = rig.control(json!({"subtype": "initialize", "hooks": null})).await.unwrap();
    assert_eq!(answer["models"][0]["value"], "default");
    assert_eq!(answer["models"][0]["resolvedModel"], "script");
    assert_eq!(answer["account"]["tokenSource"], "none");
    assert_eq!(answer["session_state"], "idle");
    assert_eq!(answer["current_permission_mode"], "default");
    assert_eq!(answer["hook_on_failure_supported"], true);
    assert_eq!(answer["hooks_applied"], Value::Null, "there were none to apply");
    assert_eq!(answer["plugins_applied"], Value::Null);
    assert!(answer["pid"].is_u64());
}

#[tokio::test]
async fn second_initialize_replaces_hooks_and_lists_tasks() {
    let mut rig = Rig::new();
    let hooks_of_a_turn = async |rig: &mut Rig| {
        let shapes = shapes(&rig.run("SAY one").await);
        shapes.into_iter().filter(|shape| shape.starts_with("hook:")).collect::<Vec<_>>()
    };
    super::hook(&rig, "UserPromptSubmit").await;
    assert_eq!(hooks_of_a_turn(&mut rig).await, ["hook:UserPromptSubmit"]);
    let again = rig.control(json!({"subtype": "initialize", "hooks": null})).await.unwrap();
    assert_eq!(again["hooks_applied"], true);
    assert_eq!(rig.next().await["subtype"], "background_tasks_changed");
    assert_eq!(hooks_of_a_turn(&mut rig).await, ["hook:UserPromptSubmit"], "none came instead");
    super::hook(&rig, "Stop").await;
    assert_eq!(rig.next().await["subtype"], "background_tasks_changed");
    assert_eq!(hooks_of_a_turn(&mut rig).await, ["hook:Stop"]);
}

#[tokio::test]
async fn cancelled_permission_request_is_not_pending() {
    let mut rig = Rig::with(|config| {
        config.session_state_events = bowline_engine::SessionStateEvents::On;
    });
    rig.will_not_answer();
    rig.prompt("TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY done").await;
    rig.until(|frame| frame["type"] == "can_use_tool").await;
    rig.session.interrupt();
    let frames = rig.until(|frame| frame["state"] == "idle").await;
    let states: Vec<_> = frames.iter().filter_map(|frame| frame["state"].as_str()).collect();
    assert_eq!(states, ["running", "idle"]);
}

#[tokio::test]
async fn result_schema_applies_from_the_next_turn() {
    let mut rig = Rig::new();
    rig.run("SAY plain").await;
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    rig.control(json!({"subtype": "initialize", "jsonSchema": schema})).await.unwrap();
    let frames = rig.run("TOOL StructuredOutput {\"n\": 7}\nNEXT\nSAY done").await;
    assert_eq!(frames.last().unwrap()["structured_output"], json!({"n": 7}));
}

#[tokio::test]
async fn invalid_schema_is_refused() {
    let rig = Rig::new();
    let request = json!({"subtype": "initialize", "jsonSchema": {"type": "pigeon"}});
    let error = rig.control(request).await.unwrap_err();
    assert!(error.contains("JSON schema"), "{error}");
}

#[tokio::test]
async fn calls_of_one_tool_can_be_redirected_to_another() {
    let mut rig = Rig::new();
    let aliases = json!({"Shell": "Bash"});
    rig.control(json!({"subtype": "initialize", "toolAliases": aliases})).await.unwrap();
    let frames = rig.run("TOOL Shell {\"command\": \"echo ahoy\"}\nNEXT\nSAY done").await;
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(crate::rig::text(result), "ahoy");
}
