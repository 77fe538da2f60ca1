//! Built-in commands.

use serde_json::{Value, json};

use crate::{
    request_log::RequestLog,
    rig::{Rig, shapes, text},
};

#[tokio::test]
async fn builtin_command_runs_without_a_model_request() {
    let mut rig = Rig::new();
    rig.run("SAY one").await;
    let frames = rig.run("/cost").await;
    assert_eq!(shapes(&frames), ["init", "assistant:text", "result:success"]);
    let [_, answer, result] = &frames[..] else { unreachable!() };
    assert!(text(answer).starts_with("Total cost:            $0.0000\n"), "{}", text(answer));
    assert!(text(answer).contains("script:"), "usage by model");
    assert_eq!(answer["message"]["model"], "<synthetic>");
    assert_eq!(answer["message"]["stop_reason"], "end_turn");
    assert_eq!(answer["message"]["stop_sequence"], Value::Null);
    let source = format!("<local-command-stdout>{}</local-command-stdout>", text(answer));
    assert_eq!(answer["local_command_source"], source);
    assert_eq!(answer["local_command_run"], json!({"command": "usage", "args": ""}));
    assert_eq!(result["result"], text(answer));
    assert_eq!(result["local_command"], "cost", "as it was typed");
    assert_eq!(result["num_turns"], 0);
    assert_eq!(result["stop_reason"], Value::Null);
    assert_eq!(result["duration_api_ms"], 0);
    assert_eq!(result.get("terminal_reason"), None);
    assert_eq!(result.get("api_error_status"), None);
}

#[tokio::test]
async fn unknown_command_goes_to_the_model() {
    let mut rig = Rig::new();
    for prompt in ["/nosuchcommand x", "/etc/passwd x", "/ cost", "a /cost"] {
        let frames = rig.run(prompt).await;
        assert_eq!(shapes(&frames), ["init", "assistant:text", "result:success"]);
        assert_eq!(text(&frames[1]), prompt, "the script model repeats it");
        assert_eq!(frames[2].get("local_command"), None);
    }
}

#[tokio::test]
async fn command_is_not_joined_with_queued_prompts() {
    let mut rig = Rig::new();
    rig.prompt("DELAY 50\nSAY one").await;
    rig.prompt("SAY two").await;
    rig.prompt("/help").await;
    rig.prompt("SAY three").await;
    let mut results = Vec::new();
    for _ in 0..4 {
        results.push(rig.turn().await.pop().unwrap()["result"].as_str().unwrap().to_owned());
    }
    assert!(results[2].starts_with("Commands:\n"), "{results:?}");
    assert_eq!([&results[0], &results[1], &results[3]], ["one", "two", "three"]);
}

#[tokio::test]
async fn command_output_is_not_sent_to_the_model() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    rig.run("SAY one").await;
    rig.run("/help").await;
    rig.run("SAY two").await;
    assert_eq!(log.conversation(), ["U: SAY one", "A: one", "U: SAY two"]);
}

#[tokio::test]
async fn the_model_can_be_changed_and_a_model_that_cannot_be_reached_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("other.txt");
    std::fs::write(&script, "SAY from the other model\n").unwrap();
    let other = format!("script:{}", script.display());
    let mut rig = Rig::in_folder(folder, |_| {});
    let frames = rig.run(&format!("/model {other}")).await;
    let set = format!("Set model to `{other}` for this session only");
    assert_eq!(frames.last().unwrap()["result"], set);
    assert_eq!(frames[0]["model"], "script", "the announcement came before");
    let frames = rig.run("hello").await;
    assert_eq!(frames[0]["model"], other);
    assert_eq!(frames.last().unwrap()["result"], "from the other model");
    let frames = rig.run("/model claude-sonnet-5-5").await;
    let received = frames.last().unwrap()["result"].as_str().unwrap();
    assert!(received.starts_with("The model stays as it is: "), "{received}");
    let frames = rig.run("/model").await;
    let received = frames.last().unwrap()["result"].as_str().unwrap();
    assert!(received.starts_with(&format!("The model is `{other}`.")), "{received}");
}

#[tokio::test]
async fn list_commands_show_their_items() {
    let mut rig = Rig::with(|config| {
        config.policy.rules.add(
            bowline_engine::permission::RuleSource::CliArg,
            &bowline_protocol::PermissionBehavior::Allow,
            "Bash(ls:*)",
        );
    });
    for (command, expected) in [
        ("/help", "- /compact [what the summary should keep]: "),
        ("/mcp", "There are no MCP servers."),
        ("/permissions", "- allow: Bash(ls:*) (cliArg)"),
        ("/permissions", "Permission mode: default"),
    ] {
        let frames = rig.run(command).await;
        let received = frames.last().unwrap()["result"].as_str().unwrap();
        assert!(received.contains(expected), "{command}: {received}");
    }
}

#[tokio::test]
async fn commands_are_listed_for_hosts() {
    let mut rig = Rig::new();
    let answer = rig.control(json!({"subtype": "initialize"})).await.unwrap();
    let commands = answer["commands"].as_array().unwrap();
    let document = include_str!("../../../../../docs/commands.md");
    for name in commands.iter().map(|it| it["name"].as_str().unwrap()) {
        assert!(document.contains(&format!("`/{name}")), "{name} is not in docs/commands.md");
    }
    let usage = commands.iter().find(|it| it["name"] == "usage").unwrap();
    assert_eq!(usage["aliases"], json!(["cost", "stats"]));
    assert_eq!(usage["builtin"], true);
    let frames = rig.run("SAY hi").await;
    let names = frames[0]["slash_commands"].as_array().unwrap();
    for name in ["clear", "compact", "context", "help", "mcp", "model", "permissions", "agents"] {
        assert!(names.contains(&json!(name)), "{name}");
    }
}
