//! Hooks and agent kinds that act before the first prompt.

use std::fs;

use bowline_engine::{
    SetupTrigger,
    settings::{Settings, SettingsPaths},
};
use bowline_protocol::AgentDefinition;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rig::{Rig, shapes, text};

/// A session whose project has these hooks, programs all of them.
fn rig_with(
    hooks: &[(&str, &str)],
    change: impl FnOnce(&mut bowline_engine::SessionConfig),
) -> Rig {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let places = SettingsPaths::new(path.join("home"), &path);
    let groups = hooks.iter().map(|(event, command)| {
        ((*event).to_owned(), json!([{"hooks": [{"type": "command", "command": command}]}]))
    });
    let hooks: serde_json::Map<_, _> = groups.collect();
    fs::create_dir(path.join(".claude")).unwrap();
    let file = json!({"hooks": hooks}).to_string();
    fs::write(path.join(".claude/settings.json"), file).unwrap();
    Rig::in_folder(folder, |config| {
        config.settings = Settings::load(&places, &crate::rig::trusted()).unwrap();
        config.places = places;
        change(config);
    })
}

fn output(event: &str, fields: Value) -> String {
    let mut output = json!({"hookEventName": event});
    output.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    format!("echo '{}'", json!({"hookSpecificOutput": output}))
}

fn recorded_input(rig: &Rig, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(rig.path().join(file)).unwrap()).unwrap()
}

#[tokio::test]
async fn a_folder_is_set_up_before_the_session_starts() {
    for (trigger, name) in
        [(SetupTrigger::Init, "init"), (SetupTrigger::Maintenance, "maintenance")]
    {
        let setup = format!(
            "cat > setup.json; {}",
            output("Setup", json!({"additionalContext": "dust removed"}))
        );
        let start = "test -e setup.json && cat > start.json";
        let hooks = [("Setup", setup.as_str()), ("SessionStart", start)];
        let mut rig = rig_with(&hooks, |config| config.setup = Some(trigger));
        let frames = rig.run("SAY x").await;
        assert_eq!(recorded_input(&rig, "setup.json")["trigger"], name);
        assert_eq!(recorded_input(&rig, "start.json")["source"], "startup");
        // Their messages are sent even if the host does not subscribe to hook messages.
        let first = &shapes(&frames)[..2];
        assert_eq!(first, ["hook_started", "hook_response"], "{frames:#?}");
        assert_eq!(frames[0]["hook_name"], format!("Setup:{name}"));
    }
}

#[tokio::test]
async fn setup_hooks_run_only_on_request() {
    let mut rig = rig_with(&[("Setup", "touch done")], |_| {});
    rig.run("SAY x").await;
    assert!(!rig.path().join("done").exists());
}

#[tokio::test]
async fn scripts_of_setup_and_start_hooks_run_before_every_command() {
    let setup = "echo 'export COLOR=red' >> \"$CLAUDE_ENV_FILE\"";
    let start = "echo 'export SHAPE=\"round\"; paint() { echo \"$COLOR $SHAPE\"; }' >> \"$CLAUDE_ENV_FILE\"";
    let hooks = [("Setup", setup), ("SessionStart", start)];
    let mut rig = rig_with(&hooks, |config| config.setup = Some(SetupTrigger::Init));
    let frames = rig.run("TOOL Bash {\"command\": \"paint\"}\nNEXT\nSAY x").await;
    let result = frames.iter().find(|it| it["message"]["content"][0]["type"] == "tool_result");
    assert_eq!(text(result.unwrap()), "red round");
    let folder = rig.path().join("home/session-env");
    assert!(folder.exists());
    let path = rig.path().to_owned();
    rig.finish().await;
    assert!(!path.join("home/session-env").exists());
}

#[tokio::test]
async fn variables_of_a_directory_go_with_it() {
    let moved = "echo \"export HERE=$(basename \"$PWD\")\" >> \"$CLAUDE_ENV_FILE\"";
    let mut rig = rig_with(&[("CwdChanged", moved)], |_| {});
    fs::create_dir_all(rig.path().join("one/two")).unwrap();
    let step = |command: &str| format!("TOOL Bash {}\nNEXT\n", json!({"command": command}));
    let script = [step("cd one"), step("echo $HERE; cd two"), step("echo $HERE")].concat();
    let frames = rig.run(&format!("{script}SAY x")).await;
    let results: Vec<_> = frames
        .iter()
        .filter(|it| it["message"]["content"][0]["type"] == "tool_result")
        .map(text)
        .collect();
    assert_eq!(&results[1..], ["one", "two"]);
}

#[tokio::test]
async fn start_hook_sets_the_first_prompt_and_the_title() {
    let fields = json!({"initialUserMessage": "SAY from the hook", "sessionTitle": "Named"});
    let mut rig = rig_with(&[("SessionStart", &output("SessionStart", fields))], |_| {});
    let frames = rig.turn().await;
    assert_eq!(frames.last().unwrap()["result"], "from the hook");
    let title = frames.iter().find(|frame| frame["subtype"] == "session_title_changed");
    assert_eq!(title.unwrap()["title"], "Named");
    assert_eq!(rig.run("SAY mine").await.last().unwrap()["result"], "mine");
}

fn diver() -> AgentDefinition {
    AgentDefinition {
        description: "dives".to_owned(),
        prompt: "You dive.".to_owned(),
        model: Some("claude-haiku-5-5".to_owned()),
        initial_prompt: Some("SAY splash".to_owned()),
        permission_mode: Some("acceptEdits".into()),
        ..AgentDefinition::default()
    }
}

fn as_diver(config: &mut bowline_engine::SessionConfig) {
    config.agent = Some("diver".to_owned());
    config.agents.insert("diver".to_owned(), diver());
}

#[tokio::test]
async fn the_main_agent_has_the_model_of_its_kind_and_nothing_else_of_it() {
    let rig = Rig::with(as_diver);
    let answer = rig.control(json!({"subtype": "get_settings"})).await.unwrap();
    assert_eq!(answer["applied"]["model"], "claude-haiku-5-5");
    let mut rig = Rig::with(|config| {
        as_diver(config);
        config.model_is_chosen = true;
    });
    let answer = rig.control(json!({"subtype": "get_settings"})).await.unwrap();
    assert_eq!(answer["applied"]["model"], "script");
    let frames =
        rig.run("TOOL Write {\"file_path\": \"a\", \"content\": \"b\"}\nNEXT\nSAY x").await;
    assert!(shapes(&frames).contains(&"can_use_tool".to_owned()), "{frames:#?}");
}

#[tokio::test]
async fn initial_prompt_of_the_main_kind_is_queued_by_initialize() {
    let mut rig = Rig::with(|config| {
        as_diver(config);
        config.model_is_chosen = true;
    });
    for expected in ["splash", "after"] {
        rig.control(json!({"subtype": "initialize"})).await.unwrap();
        if expected == "after" {
            rig.prompt("SAY after").await;
        }
        assert_eq!(rig.turn().await.last().unwrap()["result"], expected);
    }
}

#[tokio::test]
async fn an_agent_of_the_host_can_be_the_main_one() {
    let rig = Rig::with(|config| config.agent = Some("diver".to_owned()));
    let agents = json!({"diver": {"description": "d", "prompt": "p", "model": "claude-opus-5-5"}});
    rig.control(json!({"subtype": "initialize", "agents": agents})).await.unwrap();
    let answer = rig.control(json!({"subtype": "get_settings"})).await.unwrap();
    assert_eq!(answer["applied"]["model"], "claude-opus-5-5");
}
