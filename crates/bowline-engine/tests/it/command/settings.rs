//! Commands that change settings of the session, and the settings files that they write.

use std::fs;

use serde_json::{Value, json};

use crate::rig::{Rig, shapes};

/// The output of a command.
async fn command_output(rig: &mut Rig, command: &str) -> String {
    let frames = rig.run(command).await;
    frames.last().unwrap()["result"].as_str().unwrap().to_owned()
}

async fn applied(rig: &Rig, key: &str) -> Value {
    let answer = rig.control(json!({"subtype": "get_settings"})).await.unwrap();
    answer["applied"][key].clone()
}

/// A file of settings, as JSON.
fn kept(rig: &Rig, file: &str) -> Value {
    let text = fs::read_to_string(rig.path().join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A rig with styles, whose user's settings are in `home`.
fn rig() -> Rig {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".claude/output-styles")).unwrap();
    fs::write(folder.path().join(".claude/output-styles/Terse.md"), "Few words.").unwrap();
    let home = folder.path().join("home");
    Rig::in_folder(folder, |config| config.places.config_dir = home)
}

#[tokio::test]
async fn a_title_is_announced_before_its_command() {
    let mut rig = Rig::new();
    let frames = rig.run("/name  My\ttitle ").await;
    let expected = ["session_title_changed", "init", "assistant:text", "result:success"];
    assert_eq!(shapes(&frames), expected);
    assert_eq!(frames[0]["title"], "My title");
    assert_eq!(frames[2]["local_command_run"], json!({"command": "rename", "args": "My\ttitle"}));
    assert_eq!(frames[3]["local_command"], "name");
    assert_eq!(command_output(&mut rig, "/rename").await, "Usage: /rename <name>");
}

#[tokio::test]
async fn effort_is_for_this_session() {
    let mut rig = rig();
    assert_eq!(
        command_output(&mut rig, "/effort").await,
        "Usage: /effort <low|medium|high|xhigh|max|auto>"
    );
    command_output(&mut rig, "/effort High").await;
    assert_eq!(applied(&rig, "effort").await, "high");
    let said = command_output(&mut rig, "/effort zzz").await;
    assert!(said.contains("no effort level zzz"), "{said}");
    assert_eq!(applied(&rig, "effort").await, "high");
    command_output(&mut rig, "/effort auto").await;
    assert_eq!(applied(&rig, "effort").await, "medium");
    assert!(!rig.path().join("home/settings.json").exists());
}

#[tokio::test]
async fn a_style_is_chosen_for_the_project() {
    let mut rig = rig();
    let said = command_output(&mut rig, "/output-style").await;
    assert!(said.contains("\n- default (current)\n") && said.contains("\n- Terse"), "{said}");
    let frames = rig.run("/output-style terse").await;
    assert_eq!(frames[0]["output_style"], "Terse", "it holds when the command is announced");
    assert_eq!(frames.last().unwrap()["local_command"], "output_style");
    assert_eq!(kept(&rig, ".claude/settings.local.json"), json!({"outputStyle": "Terse"}));
    let said = command_output(&mut rig, "/output-style zzz").await;
    assert!(said.contains("no output style zzz"), "{said}");
}

#[tokio::test]
async fn settings_are_changed_and_kept() {
    let mut rig = rig();
    let said = command_output(&mut rig, "/config").await;
    assert!(said.contains("\n  autoCompact=true|false\n"), "{said}");
    let styles = said.lines().find(|line| line.starts_with("  outputStyle=default|")).unwrap();
    assert!(styles.contains("|Terse"), "{said}");
    let said =
        command_output(&mut rig, "/config autoCompact=false permissionMode=plan zzz=1 thinking=7")
            .await;
    let said: Vec<_> = said.lines().collect();
    assert_eq!(said[..2], ["Set Auto-compact to false", "Set Default permission mode to plan"]);
    assert!(said[2].contains("no setting zzz"), "{said:?}");
    assert_eq!(said[3], "Thinking mode stays as it is: it is one of true, false");
    let expected = json!({"autoCompactEnabled": false, "permissions": {"defaultMode": "plan"}});
    assert_eq!(kept(&rig, "home/settings.json"), expected);
    let said = command_output(&mut rig, "/settings word").await;
    assert!(said.starts_with("\"word\" is no key=value"), "{said}");
}

#[tokio::test]
async fn a_model_that_is_kept_is_used_from_the_next_prompt_on() {
    let mut rig = rig();
    let script = rig.path().join("other.txt");
    fs::write(&script, "SAY from the other model\n").unwrap();
    let other = format!("script:{}", script.display());
    let frames = rig.run(&format!("/config model={other}")).await;
    assert_eq!(frames[0]["model"], "script", "the model that got the prompt");
    assert_eq!(kept(&rig, "home/settings.json"), json!({"model": other}));
    assert_eq!(command_output(&mut rig, "hello").await, "from the other model");
}

#[tokio::test]
async fn reload_commands_read_the_disk_again() {
    let mut rig = rig();
    assert_eq!(
        command_output(&mut rig, "/reload-skills").await,
        "Reloaded: 0 skills (0 added, 0 removed)"
    );
    fs::create_dir_all(rig.path().join(".claude/skills/greet")).unwrap();
    let skill = "---\ndescription: greets\n---\nSAY hello";
    fs::write(rig.path().join(".claude/skills/greet/SKILL.md"), skill).unwrap();
    assert_eq!(
        command_output(&mut rig, "/reload-skills").await,
        "Reloaded: 1 skill (1 added, 0 removed)"
    );
    let said = command_output(&mut rig, "/reload-plugins").await;
    assert!(said.starts_with("Reloaded: 0 plugins · 1 skill · "), "{said}");
}

#[tokio::test]
async fn commands_of_a_terminal_are_no_prompts() {
    let mut rig = Rig::new();
    let frames = rig.run("/status now").await;
    assert_eq!(shapes(&frames), ["init", "assistant:text", "result:success"]);
    assert_eq!(frames[1]["local_command_outcome"], json!({"kind": "unavailable_headless"}));
    assert_eq!(frames[1].get("local_command_run"), None);
    assert_eq!(frames[2]["result"], "/status isn't available in this environment.");
    assert_eq!(frames[2].get("local_command"), None);

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".claude/commands")).unwrap();
    fs::write(folder.path().join(".claude/commands/status.md"), "SAY of the project").unwrap();
    let mut rig = Rig::in_folder(folder, |_| {});
    assert_eq!(command_output(&mut rig, "/status").await, "of the project");
}

#[tokio::test]
async fn without_commands_their_names_are_no_prompts_either() {
    let mut rig = Rig::with(|config| config.slash_commands = false);
    for name in ["/cost", "/exit"] {
        let frames = rig.run(name).await;
        assert_eq!(frames[1]["local_command_outcome"], json!({"kind": "unavailable_headless"}));
    }
    assert_eq!(command_output(&mut rig, "/mine").await, "/mine", "the script model repeats it");
}

#[tokio::test]
async fn servers_are_switched_off_and_on() {
    let mut rig = Rig::new();
    for (command, expected) in [
        ("/mcp", "There are no MCP servers."),
        ("/mcp disable", "There are no MCP servers."),
        ("/mcp enable calc", "There is no MCP server calc."),
        ("/mcp zzz", "/mcp cannot zzz. It can reconnect, enable and disable."),
    ] {
        assert_eq!(command_output(&mut rig, command).await, expected);
    }
    let config = json!({"type": "stdio", "command": "no-such-program-anywhere"});
    let servers = json!({"subtype": "mcp_set_servers", "servers": {"calc": config}});
    rig.control(servers).await.unwrap();
    assert_eq!(command_output(&mut rig, "/mcp disable calc").await, "calc: disabled");
    assert_eq!(command_output(&mut rig, "/mcp").await, "MCP servers:\n- calc: disabled, 0 tools");
    let said = command_output(&mut rig, "/mcp reconnect all").await;
    assert!(said.starts_with("calc: "), "{said}");
}
