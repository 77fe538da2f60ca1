//! Reload of plugins, skills and output styles.

use serde_json::{Value, json};

use crate::rig::Rig;

fn write(rig: &Rig, file: &str, text: &str) {
    let path = rig.path().join(".claude").join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().filter_map(|entry| entry["name"].as_str()).collect()
}

#[tokio::test]
async fn a_skill_that_was_written_meanwhile_is_found() {
    let rig = Rig::new();
    let request = json!({"subtype": "reload_skills"});
    assert_eq!(rig.control(request.clone()).await, Ok(json!({"skills": []})));
    write(&rig, "skills/knots/SKILL.md", "---\nname: knots\ndescription: ties\n---\nTie it.");
    let answer = rig.control(request).await.unwrap();
    assert_eq!(names(&answer["skills"]), ["knots"]);
    assert_eq!(answer["skills"][0]["description"], "ties (project)");
}

#[tokio::test]
async fn output_styles_are_looked_for_again() {
    let rig = Rig::new();
    let request = json!({"subtype": "reload_output_styles"});
    let styles = |answer: Value| answer["available_output_styles"].clone();
    let own = ["default", "Proactive", "Concise", "Explanatory", "Learning"];
    assert_eq!(styles(rig.control(request.clone()).await.unwrap()), json!(own));
    write(&rig, "output-styles/terse.md", "---\nname: Terse\n---\nBe brief.");
    let found = styles(rig.control(request).await.unwrap());
    assert_eq!(found.as_array().unwrap()[own.len()..], [json!("Terse")]);
}

#[tokio::test]
async fn plugins_are_reloaded_unless_a_turn_runs_and_that_matters() {
    let mut rig = Rig::new();
    write(&rig, "commands/hoist.md", "Hoist the flag.");
    let answer = rig.control(json!({"subtype": "reload_plugins"})).await.unwrap();
    assert!(names(&answer["commands"]).contains(&"hoist"));
    assert_eq!((&answer["plugins"], &answer["error_count"]), (&json!([]), &json!(0)));
    let added = json!({"subtype": "reload_plugins", "add_plugins": [{"path": "/p"}]});
    assert!(rig.control(added).await.is_err(), "a plugin has a type");
    rig.prompt("HANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    let busy = json!({"subtype": "reload_plugins", "refuse_if_busy": true});
    assert!(rig.control(busy).await.is_err());
    assert!(rig.control(json!({"subtype": "reload_plugins"})).await.is_ok());
}

/// A plugin with one of everything.
fn harbor(rig: &Rig) -> std::path::PathBuf {
    let root = rig.path().join("harbor");
    for (file, text) in [
        (".claude-plugin/plugin.json", r#"{"name": "harbor", "version": "1.0.0"}"#),
        ("commands/dock.md", "---\ndescription: Docks\n---\nSAY docked in ${CLAUDE_PLUGIN_ROOT}"),
        ("skills/knots/SKILL.md", "---\ndescription: ties\n---\nTie ${CLAUDE_PLUGIN_ROOT}."),
        ("agents/pilot.md", "---\ndescription: pilots\n---\nYou pilot."),
        ("output-styles/terse.md", "---\nname: terse\n---\nBe brief."),
        (
            "hooks/hooks.json",
            r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command",
                "command": "echo \"[$CLAUDE_PLUGIN_ROOT]\" > ${CLAUDE_PLUGIN_ROOT}/hooked"}]}]}}"#,
        ),
        (".mcp.json", r#"{"tide": {"command": "${CLAUDE_PLUGIN_ROOT}/no-such-program"}}"#),
    ] {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

#[tokio::test]
async fn a_plugin_brings_everything_under_its_name() {
    let mut rig = Rig::new();
    let root = harbor(&rig);
    let missing = rig.path().join("missing");
    let plugins = json!([{"type": "local", "path": root}, {"type": "local", "path": missing}]);
    let request = json!({"subtype": "initialize", "plugins": plugins});
    let answer = rig.control(request).await.unwrap();
    assert_eq!(answer["plugins_applied"], true);
    let commands = names(&answer["commands"]);
    assert!(commands.contains(&"harbor:dock") && commands.contains(&"harbor:knots"), "{answer}");
    let is_knots = |command: &&Value| command["name"] == "harbor:knots";
    let knots = answer["commands"].as_array().unwrap().iter().find(is_knots).unwrap();
    let expected = (&json!("(harbor) ties"), &json!(["knots"]));
    assert_eq!((&knots["description"], &knots["aliases"]), expected);
    assert!(names(&answer["agents"]).contains(&"harbor:pilot"), "{answer}");
    let styles = answer["available_output_styles"].as_array().unwrap();
    assert_eq!(styles.last(), Some(&json!("harbor:terse")));

    rig.prompt("/harbor:dock").await;
    let init = rig.until(|frame| frame["subtype"] == "init").await.pop().unwrap();
    let loaded = json!([{
        "name": "harbor", "path": root, "version": "1.0.0", "source": "harbor@inline",
    }]);
    assert_eq!(init["plugins"], loaded);
    let error = &init["plugin_errors"][0];
    assert_eq!((&error["plugin"], &error["type"]), (&json!("inline[1]"), &json!("path-not-found")));
    let server = &init["mcp_servers"][0];
    let expected = (&json!("plugin:harbor:tide"), &json!("plugin"));
    assert_eq!((&server["name"], &server["source"]), expected);
    let result = rig.until(|frame| frame["type"] == "result").await.pop().unwrap();
    assert_eq!(result["result"], format!("docked in {}", root.display()));
    let hooked = std::fs::read_to_string(root.join("hooked")).unwrap();
    assert_eq!(hooked, format!("[{}]\n", root.display()));

    rig.prompt("/knots").await;
    let result = rig.until(|frame| frame["type"] == "result").await.pop().unwrap();
    let said = result["result"].as_str().unwrap().to_owned();
    assert!(said.contains(&format!("Tie {}.", root.display())), "{said}");

    let listing = rig.control(json!({"subtype": "get_hooks_listing"})).await.unwrap();
    let hook = &listing["hooks"][0];
    let expected = (&json!("pluginHook"), &json!("harbor@inline"));
    assert_eq!((&hook["source"], &hook["pluginName"]), expected);
}

#[tokio::test]
async fn plugins_come_and_go_when_they_are_reloaded() {
    let mut rig = Rig::new();
    let root = harbor(&rig);
    let added = json!([{"type": "local", "path": root}]);
    let request = json!({"subtype": "reload_plugins", "add_plugins": added});
    let answer = rig.control(request).await.unwrap();
    rig.until(|frame| frame["subtype"] == "commands_changed").await;
    assert_eq!((names(&answer["plugins"]), &answer["error_count"]), (vec!["harbor"], &json!(0)));
    let server = &answer["mcpServers"][0];
    assert_eq!(
        (&server["name"], &server["status"]),
        (&json!("plugin:harbor:tide"), &json!("failed"))
    );
    assert_eq!((&server["scope"], &server["source"]), (&json!("dynamic"), &json!("plugin")));

    std::fs::write(root.join("hooks/hooks.json"), "{oops").unwrap();
    std::fs::remove_file(root.join(".mcp.json")).unwrap();
    std::fs::remove_file(root.join("commands/dock.md")).unwrap();
    let answer = rig.control(json!({"subtype": "reload_plugins"})).await.unwrap();
    assert_eq!((&answer["mcpServers"], &answer["error_count"]), (&json!([]), &json!(1)));
    assert!(!names(&answer["commands"]).contains(&"harbor:dock"), "{answer}");
    let listing = rig.control(json!({"subtype": "get_hooks_listing"})).await.unwrap();
    assert_eq!(listing["hooks"], json!([]));
}

#[tokio::test]
async fn plugins_that_would_change_the_tools_of_a_conversation_can_be_held_back() {
    let mut rig = Rig::new();
    let root = rig.path().canonicalize().unwrap().join("quay");
    let servers = r#"{"mcpServers": {"crane": {"command": "/nonexistent/crane"}}}"#;
    for (file, text) in
        [(".claude-plugin/plugin.json", r#"{"name": "quay"}"#), (".mcp.json", servers)]
    {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    rig.run("SAY begun").await;
    let request = |hold: bool| {
        let added = json!([{"type": "local", "path": root}]);
        json!({"subtype": "reload_plugins", "hold_on_cache_impact": hold, "add_plugins": added})
    };
    let held = rig.control(request(true)).await.unwrap();
    assert_eq!((&held["held"], &held["plugins"]), (&json!(true), &json!([])), "{held}");
    assert!(held["cache_impact"].to_string().contains("crane"), "{held}");
    let done = rig.control(request(false)).await.unwrap();
    assert_eq!(names(&done["plugins"]), ["quay"], "{done}");
    let nothing_new = json!({"subtype": "reload_plugins", "hold_on_cache_impact": true});
    assert_eq!(rig.control(nothing_new).await.unwrap()["held"], false);
}
