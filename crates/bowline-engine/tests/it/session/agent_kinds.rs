//! Definitions of agent kinds in files: each field applies to agents of that kind only.

use std::{fs, sync::Arc};

use bowline_engine::settings::{Settings, SettingsPaths};
use bowline_model::ModelRequest;
use bowline_protocol::SessionId;
use bowline_sessions::{ConfigHome, LineOrigin, Page, ProjectKey, TranscriptWriter};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    request_log::RequestLog,
    rig::{Rig, text},
};

/// A session in a project with one kind of agent.
fn rig_with(head: &str) -> Rig {
    let folder = TempDir::new().unwrap();
    let agents = folder.path().join(".claude/agents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("diver.md"), format!("---\nname: diver\n{head}---\nYou dive.")).unwrap();
    let path = folder.path().canonicalize().unwrap();
    Rig::in_folder(folder, |config| config.places = SettingsPaths::new(path.join("none"), path))
}

fn dive(script: &str) -> String {
    let input = json!({
        "description": "dive", "prompt": script, "subagent_type": "diver", "run_in_background": false,
    });
    format!("TOOL Agent {input}\nNEXT\nSAY up again")
}

/// The results of the tools that the subagent called.
fn inner_results(frames: &[Value]) -> Vec<&str> {
    let inner = frames.iter().filter(|frame| !frame["parent_tool_use_id"].is_null());
    let results = inner.filter(|it| it["message"]["content"][0]["type"] == "tool_result");
    results.map(text).collect()
}

#[tokio::test]
async fn hooks_of_an_agent_kind_run_for_it_alone() {
    let mut rig = rig_with(
        "description: dives
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: \"echo too deep >&2; exit 2\"
  Stop:
    - hooks:
        - type: command
          command: touch surfaced
",
    );
    let frames = rig.run(&dive("TOOL Bash {\"command\": \"touch dived\"}\nNEXT\nSAY x")).await;
    assert!(inner_results(&frames)[0].contains("too deep"), "{frames:#?}");
    assert!(!rig.path().join("dived").exists());
    assert!(rig.path().join("surfaced").exists());

    fs::remove_file(rig.path().join("surfaced")).unwrap();
    rig.run("TOOL Bash {\"command\": \"touch walked\"}\nNEXT\nSAY x").await;
    assert!(rig.path().join("walked").exists());
    assert!(!rig.path().join("surfaced").exists());
}

#[tokio::test]
async fn settings_define_agents() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let write = |file: &str, text: String| {
        fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
        fs::write(path.join(file), text).unwrap();
    };
    let agent = |prompt: &str| json!({"description": "dives", "prompt": prompt, "tools": ["Read"]});
    let user = json!({"agents": {"diver": agent("low"), "rower": agent("rows"), "bad": 7}});
    let local = json!({"agents": {"diver": {"description": "dives", "prompt": "Dive high."}}});
    write("home/settings.json", user.to_string());
    write(".claude/settings.local.json", local.to_string());
    write(".claude/agents/diver.md", "---\nname: diver\ndescription: a file\n---\nfile".to_owned());
    let places = SettingsPaths::new(path.join("home"), &path);
    let settings = Settings::load(&places, &crate::rig::trusted()).unwrap();
    assert_eq!(settings.problems().len(), 1, "{:?}", settings.problems());
    let log = RequestLog::default();
    let mut rig = Rig::in_folder(folder, |config| {
        (config.settings, config.places) = (settings, places);
        log.record(config);
    });
    let answer = rig.control(json!({"subtype": "initialize"})).await.unwrap();
    let names: Vec<_> = answer["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Explore", "diver", "general-purpose", "rower"]);
    rig.run(&dive("SAY down")).await;
    let is_diver = |request: &Arc<ModelRequest>| {
        request.system.iter().any(|block| block.text.contains("Dive high."))
    };
    let of_diver = log.requests().into_iter().find(is_diver);
    let tools = of_diver.expect("the higher layer's counts, as a whole").tools.len();
    assert!(tools > 1, "the lower one's tools are not mixed in");
}

#[tokio::test]
async fn permission_mode_of_an_agent_kind_applies_to_it_alone() {
    let write = |path: &str| {
        format!("TOOL Write {}\nNEXT\nSAY x", json!({"file_path": path, "content": "x"}))
    };
    let mut rig = rig_with("description: dives\npermissionMode: acceptEdits\n");
    let inside = rig.path().join("inside");
    let frames = rig.run(&dive(&write(&inside.display().to_string()))).await;
    assert!(frames.iter().all(|frame| frame["type"] != "can_use_tool"), "{frames:#?}");
    assert!(inside.exists());
    let outside = rig.path().join("outside").display().to_string();
    let frames = rig.run(&write(&outside)).await;
    assert!(frames.iter().any(|frame| frame["type"] == "can_use_tool"));

    // No user has agreed to sessions without permission requests, so a file cannot enable them.
    let mut rig = rig_with("description: dives\npermissionMode: bypassPermissions\n");
    let frames = rig.run(&dive("TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY x")).await;
    assert!(frames.iter().any(|frame| frame["type"] == "can_use_tool"));

    let mut rig = rig_with("description: dives\npermissionMode: dontAsk\n");
    let frames = rig.run(&dive("TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY x")).await;
    assert!(frames.iter().all(|frame| frame["type"] != "can_use_tool"), "{frames:#?}");
    assert!(inner_results(&frames)[0].contains("denied"), "{frames:#?}");
}

#[tokio::test]
async fn output_of_start_hooks_reaches_the_subagent() {
    let mut rig = rig_with("description: dives\n");
    let hooks = json!({"SubagentStart": [{"matcher": null, "hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    let received =
        json!({"hookEventName": "SubagentStart", "additionalContext": "SAY mind the eels"});
    rig.will_hook(json!({"hookSpecificOutput": received}));
    // A prompt without directives is echoed, with everything before it.
    let frames = rig.run(&dive("look around")).await;
    let answer = frames.iter().find(|frame| frame["tool_use_result"]["status"] == "completed");
    assert!(answer.unwrap()["tool_use_result"]["content"].to_string().contains("mind the eels"));
    let next = rig.run("and you?").await;
    assert!(!next.last().unwrap()["result"].to_string().contains("eels"));
}

/// The last model request of the subagent.
fn asked_by_diver(log: &RequestLog) -> Arc<ModelRequest> {
    let is_diver = |request: &Arc<ModelRequest>| {
        request.system.iter().any(|block| block.text.contains("You dive."))
    };
    log.requests().into_iter().rfind(is_diver).expect("the agent asked its model")
}

/// The system prompt of the subagent.
fn system_prompt(log: &RequestLog) -> String {
    let request = asked_by_diver(log);
    let system: Vec<_> = request.system.iter().map(|block| block.text.as_str()).collect();
    system.join("\n")
}

/// A session in a project with one kind of agent, instructions and a skill, and its request log.
fn prepared(head: &str) -> (Rig, RequestLog) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for (file, text) in [
        (".claude/agents/diver.md", format!("---\nname: diver\n{head}---\nYou dive.")),
        (".claude/skills/knots/SKILL.md", "---\ndescription: knots\n---\nTie well.".to_owned()),
        ("CLAUDE.md", "Mind the eels.".to_owned()),
    ] {
        fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
        fs::write(path.join(file), text).unwrap();
    }
    let log = RequestLog::default();
    let rig = Rig::in_folder(folder, |config| {
        config.places = SettingsPaths::new(path.join("home"), &path);
        log.record(config);
    });
    (rig, log)
}

#[tokio::test]
async fn subagent_knows_its_environment_and_instructions() {
    for (omits, knows) in [("", true), ("omitClaudeMd: true\n", false)] {
        let (mut rig, log) = prepared(&format!("description: dives\n{omits}"));
        rig.run(&dive("SAY down")).await;
        let received = system_prompt(&log);
        let place =
            format!("Working directory: {}\n", rig.path().canonicalize().unwrap().display());
        assert!(received.contains(&place), "{received}");
        assert!(received.contains("- knots: knots"), "{received}");
        assert_eq!(received.contains("Mind the eels."), knows, "{received}");
    }
}

#[tokio::test]
async fn subagent_gets_its_skills_with_the_prompt() {
    let (mut rig, log) = prepared("description: dives\nskills: knots, none\ntools: Read\n");
    rig.run(&dive("SAY down")).await;
    let first = log.requests().into_iter().map(|it| format!("{:?}", it.messages));
    let skilled: Vec<_> = first.filter(|messages| messages.contains("Tie well.")).collect();
    assert_eq!(skilled.len(), 1, "only the agent has its text");
    assert!(!system_prompt(&log).contains("# Skills"), "it cannot call up others");
}

#[tokio::test]
async fn agent_memory_is_writable_and_part_of_the_next_prompt() {
    let (mut rig, log) = prepared("description: dives\nmemory: project\ntools: Grep\n");
    let folder = rig.path().canonicalize().unwrap().join(".claude/agent-memory/diver");
    let write = |path: &str| {
        let input = json!({"file_path": path, "content": "The wreck lies north."});
        format!("TOOL Write {input}\nNEXT\nSAY x")
    };
    let index = folder.join("MEMORY.md").display().to_string();
    let frames = rig.run(&dive(&write(&index))).await;
    assert!(frames.iter().all(|frame| frame["type"] != "can_use_tool"), "{frames:#?}");
    assert!(system_prompt(&log).contains(&folder.display().to_string()));
    assert!(!system_prompt(&log).contains("The wreck"));
    rig.run(&dive("SAY x")).await;
    assert!(system_prompt(&log).contains("The wreck lies north."));
    // Other agents need permission, there and elsewhere.
    let frames = rig.run(&write(&index.replace("MEMORY", "other"))).await;
    assert!(frames.iter().any(|frame| frame["type"] == "can_use_tool"));
    let agents = rig.path().join(".claude/agents/diver.md").display().to_string();
    let frames = rig.run(&dive(&write(&agents))).await;
    assert!(frames.iter().any(|frame| frame["type"] == "can_use_tool"));
}

#[tokio::test]
async fn subagent_at_its_turn_limit_says_so() {
    let mut rig = rig_with("description: dives\nmaxTurns: 2\n");
    let turn = "TOOL Bash {\"command\": \"true\"}\nNEXT\n";
    let frames = rig.run(&dive(&format!("{turn}SAY halfway\n{turn}{turn}SAY x"))).await;
    let answer = frames.iter().find(|frame| frame["tool_use_result"]["status"] == "completed");
    let answer = answer.unwrap()["tool_use_result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        answer,
        "This agent was stopped at its limit of 2 turns, before it was done. Its last message:\n\
         halfway"
    );
}

#[tokio::test]
async fn background_agent_kind_does_not_block_the_turn() {
    let mut rig = rig_with("description: dives\nbackground: true\n");
    let frames = rig.run(&dive("SAY down")).await;
    let launched = |frame: &Value| frame["tool_use_result"]["status"] == "async_launched";
    assert!(frames.iter().any(launched), "the call says otherwise, and the kind knows better");
}

#[tokio::test]
async fn agent_definition_sets_tools_and_effort() {
    let head = "description: dives\ntools: Read, Bash, Grep\ndisallowedTools: Grep\neffort: low\n";
    let (mut rig, log) = prepared(head);
    rig.run(&dive("SAY down")).await;
    let request = asked_by_diver(&log);
    let tools: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["Bash", "Read"]);
    assert_eq!(request.effort, Some(bowline_protocol::Effort::Low));
}

#[tokio::test]
async fn nested_subagent_has_at_most_its_parents_tools() {
    let mut rig = rig_with("description: dives\ntools: Agent, Read\n");
    let below = json!({
        "description": "deeper", "run_in_background": false,
        "prompt": "TOOL Bash {\"command\": \"echo deep\"}\nTOOL Read {\"file_path\": \"x\"}\nNEXT\nSAY x",
    });
    let frames = rig.run(&dive(&format!("TOOL Agent {below}\nNEXT\nSAY x"))).await;
    let all = Value::from(frames).to_string();
    assert!(all.contains("No such tool available: Bash"), "{all}");
    assert!(all.contains("File does not exist"), "{all}");
}

#[tokio::test]
async fn a_file_of_a_source_that_is_left_out_defines_nothing() {
    for (sources, known) in [("project", true), ("user,local", false), ("", false)] {
        let folder = TempDir::new().unwrap();
        let agents = folder.path().join(".claude/agents");
        fs::create_dir_all(&agents).unwrap();
        let text = "---\nname: diver\ndescription: dives\n---\nYou dive.";
        fs::write(agents.join("diver.md"), text).unwrap();
        fs::write(agents.join("README.md"), "Who we send down.").unwrap();
        let mut rig = Rig::in_folder(folder, |config| {
            config.places = SettingsPaths::new(config.cwd.join("none"), &config.cwd);
            config.sources = sources.parse().unwrap();
        });
        let frames = rig.run("SAY hi").await;
        let agents = frames[0]["agents"].as_array().unwrap();
        assert_eq!(agents.contains(&json!("diver")), known, "{sources:?}: {agents:?}");
        assert!(!agents.contains(&json!("README")), "it says nothing of what it is for");
    }
}

#[tokio::test]
async fn agents_below_agents_come_to_an_end() {
    let mut rig = Rig::new();
    let below = |script: String| {
        let input = json!({"description": "down", "prompt": script, "run_in_background": false});
        format!("TOOL Agent {input}\nNEXT\nECHORESULT")
    };
    let frames = rig.run(&below(below(below(below("SAY the bottom".to_owned()))))).await;
    let started = frames.iter().filter(|frame| frame["subtype"] == "task_started").count();
    assert_eq!(started, 3, "{frames:#?}");
    let all = Value::from(frames).to_string();
    assert!(all.contains("No such tool available: Agent"), "{all}");
}

#[tokio::test]
async fn transcript_of_a_subagent_names_its_call() {
    let folder = TempDir::new().unwrap();
    let home = ConfigHome::new(folder.path().join("home"));
    let id = SessionId::from("0b9c5f0e-6a56-4f7e-9d0c-3f8a1c2d4e5f");
    let files = home.session(&ProjectKey::for_directory(folder.path()), &id);
    let mut rig = Rig::with(|config| {
        config.session_id = id.clone();
        config.transcript = Some(TranscriptWriter::create(files, LineOrigin::default()).unwrap());
    });
    let input = json!({"description": "d", "prompt": "SAY below", "run_in_background": false});
    let frames = rig.run(&format!("TOOL Agent {input}\nNEXT\nSAY x")).await;
    let call = &frames.iter().find(|frame| frame["type"] == "assistant").unwrap()["message"];
    let agents = bowline_sessions::subagents(&home, &id, None);
    let said = bowline_sessions::subagent_messages(&home, &id, &agents[0], None, Page::default());
    let parent = said[0].parent_tool_use_id.as_ref().unwrap();
    assert_eq!(call["content"][0]["id"], parent.as_str());
}

#[tokio::test]
async fn memory_of_a_subagent_is_not_readable_for_the_host() {
    let outside = TempDir::new().unwrap();
    let home = outside.path().canonicalize().unwrap();
    let folder = TempDir::new().unwrap();
    let agents = folder.path().join(".claude/agents");
    fs::create_dir_all(&agents).unwrap();
    let head = "---\nname: diver\ndescription: dives\nmemory: user\n---\nYou dive.";
    fs::write(agents.join("diver.md"), head).unwrap();
    let path = folder.path().canonicalize().unwrap();
    let places = SettingsPaths::new(home.clone(), path);
    let mut rig = Rig::in_folder(folder, |config| config.places = places);
    let index = home.join("agent-memory/diver/MEMORY.md");
    let input = json!({"file_path": index, "content": "The wreck lies north."});
    let frames = rig.run(&dive(&format!("TOOL Write {input}\nNEXT\nSAY x"))).await;
    assert!(frames.iter().all(|frame| frame["type"] != "can_use_tool"), "{frames:#?}");
    assert!(index.exists());

    let request = json!({"subtype": "read_file", "path": index});
    let denied = rig.control(request).await;
    assert_eq!(denied, Err(format!("read denied: {}", index.display())));
    rig.run("SAY done").await;
}
