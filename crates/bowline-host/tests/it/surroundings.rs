//! Setup of a session, over every transport: conversations that continue, settings,
//! plugins, servers.

use std::sync::{Arc, Mutex};

use bowline_host::{
    Client, McpServer, McpServerConfig, Options, PermissionResult, Resume, Settings, Tool,
    ToolRequest, protocol::McpStdioServer, query,
};
use serde_json::json;

use crate::rig::{agents, example, result, soon};

/// Has a conversation of one turn, and returns its id.
async fn session_of(name: &str, options: Options) -> String {
    let client = soon(name, Client::connect(options)).await.expect("it starts");
    client.query("SAY first").await.expect("it listens");
    let mut messages = client.receive_response();
    let mut id = String::new();
    while let Some(message) = soon(name, messages.next()).await {
        if let bowline_host::Message::Result(end) = message.expect("it speaks") {
            id = end.session_id.to_string();
        }
    }
    soon(name, client.disconnect()).await;
    id
}

/// Has another turn of it, and returns its id.
async fn resumed(name: &str, options: Options) -> String {
    let (messages, view) = query("SAY second", options).follow();
    assert_eq!(result(messages).await, "second", "{name}");
    let view = view.current();
    view.session_id().expect("it says so").to_string()
}

#[tokio::test]
async fn a_conversation_is_continued_by_id_as_the_newest_or_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()).await {
        let id = session_of(name, options.clone()).await;
        assert_eq!(resumed(name, options.clone().resume(&id)).await, id, "{name}");
        let mut newest = options.clone();
        newest.resume = Resume::Newest;
        assert_eq!(resumed(name, newest).await, id, "{name}");
        let mut copy = options.clone().resume(&id);
        copy.session.fork_session = true;
        assert_ne!(resumed(name, copy).await, id, "{name}");
        let none = Client::connect(options.resume("00000000-0000-4000-8000-000000000000"));
        match soon(name, none).await {
            // Some report it when they get a prompt.
            Ok(client) => {
                client.query("SAY x").await.ok();
                let mut messages = client.receive_messages();
                let mut failed = false;
                while let Some(message) = soon(name, messages.next()).await {
                    failed |= match message {
                        Ok(bowline_host::Message::Result(end)) => end.is_error,
                        Ok(_) => false,
                        Err(_) => true,
                    };
                }
                assert!(failed, "{name}");
            }
            Err(error) => assert!(["process", "cli_connection"].contains(&error.code()), "{name}"),
        }
    }
}

#[tokio::test]
async fn settings_decide_as_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let prompt = "TOOL Bash {\"command\": \"touch made\", \"description\": \"Make\"}\nNEXT\nSAY ok";
    for (name, mut options) in agents(folder.path()).await {
        if name == "official 2.1.7, dialing in" {
            // Without settings files, it does not apply the settings it is given either.
            continue;
        }
        for (rules, allowed) in [("allow", true), ("deny", false)] {
            let rule = json!({"permissions": {rules: ["Bash(touch:*)"]}});
            options.settings.additional = Some(Settings::Inline(rule));
            assert_eq!(result(query(prompt, options.clone())).await, "ok", "{name}");
            let made = folder.path().join("made");
            assert_eq!(made.exists(), allowed, "{name} {rules}");
            std::fs::remove_file(made).ok();
        }
    }
}

#[tokio::test]
async fn skills_and_commands_of_a_plugin_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("plugin");
    for (path, text) in
        [(".claude-plugin/plugin.json", "{\"name\": \"knots\"}"), ("commands/tie.md", "SAY tied")]
    {
        let path = plugin.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for (name, options) in agents(folder.path()).await {
        let client = soon(name, Client::connect(options.plugin(&plugin))).await.unwrap();
        let commands = client.supported_commands();
        assert!(commands.iter().any(|command| command.name == "knots:tie"), "{name}");
        soon(name, client.disconnect()).await;
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn always_ask_tool_prompts_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let tool = |name: &str| Tool::new(name, "", async |_: Nothing| "it ran");
    let server = McpServer::new("desk")
        .tool(tool("free"))
        .tool(tool("careful").always_ask())
        .tool(tool("closed").always_deny());
    for (name, options) in agents(folder.path()).await {
        if name == "official 2.1.7, dialing in" {
            // It does not know a server's configuration of its tools.
            continue;
        }
        let asked = Arc::new(Mutex::new(Vec::new()));
        let note = asked.clone();
        let options = options
            .sdk_mcp_server(server.clone())
            .allow(["mcp__desk__free", "mcp__desk__careful", "mcp__desk__closed"])
            .can_use_tool(move |request: ToolRequest| {
                note.lock().unwrap().push(request.tool_name.clone());
                async { PermissionResult::allow() }
            });
        let client = soon(name, Client::connect(options)).await.unwrap();
        for (tool, runs) in [("free", true), ("careful", true), ("closed", false)] {
            let prompt = format!("TOOL mcp__desk__{tool} {{}}\nNEXT\nECHORESULT");
            client.query(prompt).await.unwrap();
            let text = soon(name, client.receive_response().text()).await.unwrap();
            assert_eq!(text.contains("it ran"), runs, "{name}: {tool}: {text}");
        }
        assert_eq!(*asked.lock().unwrap(), ["mcp__desk__careful"], "{name}");
        soon(name, client.disconnect()).await;
    }
}

#[tokio::test]
async fn a_server_in_a_process_of_its_own_lends_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()).await {
        let server = McpStdioServer {
            command: example("fake_server").display().to_string(),
            ..McpStdioServer::default()
        };
        let options =
            options.mcp_server("loud", McpServerConfig::Stdio(server)).allow(["mcp__loud__shout"]);
        let prompt = "TOOL mcp__loud__shout {\"text\": \"ahoy\"}\nNEXT\nECHORESULT";
        let client = soon(name, Client::connect(options)).await.unwrap();
        // Servers are connected in the background; a turn that is sooner does without them.
        soon(name, async {
            loop {
                let status = client.mcp_status().await.unwrap();
                let servers = serde_json::to_value(&status.mcp_servers).unwrap();
                if servers.to_string().contains("\"connected\"") {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        })
        .await;
        client.query(prompt).await.unwrap();
        let text = soon(name, client.receive_response().text()).await.unwrap();
        assert!(text.contains("AHOY"), "{name}: {text}");
        soon(name, client.disconnect()).await;
    }
}
