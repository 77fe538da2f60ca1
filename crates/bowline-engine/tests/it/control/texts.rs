//! Requests whose responses are texts and numbers.

use serde_json::{Value, json};

use crate::rig::Rig;

async fn ask(rig: &Rig, subtype: &str) -> Value {
    rig.control(json!({"subtype": subtype})).await.unwrap()
}

#[tokio::test]
async fn cost_and_usage_are_those_of_the_session() {
    let mut rig = Rig::new();
    rig.run("SAY one").await;
    let cost = ask(&rig, "get_session_cost").await;
    let text = cost["text"].as_str().unwrap();
    assert!(text.starts_with("Total cost:            $0.0000\n"), "{text}");
    assert!(text.contains("script:"), "{text}");
    let usage = ask(&rig, "get_usage").await;
    assert_eq!(usage["rate_limits_available"], false);
    assert_eq!(usage["subscription_type"], Value::Null);
    assert!(usage["session"]["model_usage"]["script"]["outputTokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn the_context_is_counted_by_category() {
    let mut rig = Rig::new();
    rig.run("SAY one").await;
    let usage = ask(&rig, "get_context_usage").await;
    let total = usage["totalTokens"].as_u64().unwrap();
    let used = |category: &&Value| category["kind"] == "used";
    let categories = usage["categories"].as_array().unwrap();
    let counted: u64 =
        categories.iter().filter(used).map(|it| it["tokens"].as_u64().unwrap()).sum();
    assert_eq!(counted, total);
    assert!(total > 0);
    assert_eq!(usage["model"], "script");
}

#[tokio::test]
async fn models_version_and_status_are_listed() {
    let rig = Rig::with(|config| {
        config.version = "1.2.3".to_owned();
        config.build_time = "2026-01-02T03:04:05Z".to_owned();
    });
    let models = ask(&rig, "list_models").await;
    assert_eq!(models["models"][0]["value"], "default");
    let expected = json!({"version": "1.2.3", "buildTime": "2026-01-02T03:04:05Z"});
    assert_eq!(ask(&rig, "get_binary_version").await, expected);
    let status = ask(&rig, "get_status").await;
    assert_eq!(status["sections"][0]["title"], "Session");
    assert_eq!(status["sections"][0]["rows"][0], json!({"label": "Version", "value": "1.2.3"}));
}

#[tokio::test]
async fn a_plan_is_shown_once_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.md");
    let rig = Rig::in_folder(folder, |config| config.policy.plan_file = Some(plan.clone()));
    assert_eq!(ask(&rig, "get_plan").await, json!({"exists": false}));
    std::fs::write(&plan, "1. mend").unwrap();
    let expected = json!({"exists": true, "path": plan, "plan": "1. mend"});
    assert_eq!(ask(&rig, "get_plan").await, expected);
}

#[tokio::test]
async fn a_conversation_can_be_taken_along() {
    let mut rig = Rig::new();
    rig.run("TOOL Bash {\"command\": \"echo ahoy\"}\nNEXT\nSAY done").await;
    let export = ask(&rig, "export_conversation").await;
    let text = export["text"].as_str().unwrap();
    assert!(text.starts_with("User:\nTOOL Bash"), "{text}");
    assert!(
        text.contains("Assistant calls Bash:\n{\"command\":\"echo ahoy\"}\n\nResult:\nahoy"),
        "{text}"
    );
    assert!(text.ends_with("Assistant:\ndone"), "{text}");
    let name = export["default_filename"].as_str().unwrap();
    assert!(name.starts_with("conversation-20") && name.ends_with(".txt"), "{name}");
}
