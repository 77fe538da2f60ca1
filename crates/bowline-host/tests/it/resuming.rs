//! Conversations that go on later, and settings, over every transport.

use bowline_host::{Client, Options, Resume, Settings, query};
use serde_json::json;

use crate::rig::{agents, result, soon};

/// Has a conversation of one turn, and returns its id.
async fn session_of(name: &str, options: Options) -> String {
    let client = soon(name, Client::connect(options)).await.unwrap();
    client.query("SAY first").await.unwrap();
    let mut messages = client.receive_response();
    let mut id = String::new();
    while let Some(message) = soon(name, messages.next()).await {
        if let bowline_host::Message::Result(end) = message.unwrap() {
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
    view.session_id().unwrap().to_string()
}

#[tokio::test]
async fn a_conversation_is_continued_by_id_as_the_newest_or_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()) {
        let id = session_of(name, options.clone()).await;
        assert_eq!(resumed(name, options.clone().resume(&id)).await, id, "{name}");
        let mut newest = options.clone();
        newest.resume = Resume::Newest;
        assert_eq!(resumed(name, newest).await, id, "{name}");
        let mut copy = options.clone().resume(&id);
        copy.fork_session = true;
        assert_ne!(resumed(name, copy).await, id, "{name}");
        let none = Client::connect(options.resume("00000000-0000-4000-8000-000000000000"));
        match soon(name, none).await {
            // Some say it when they are asked to work.
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
    for (name, mut options) in agents(folder.path()) {
        for (rules, allowed) in [("allow", true), ("deny", false)] {
            let rule = json!({"permissions": {rules: ["Bash(touch:*)"]}});
            options.settings = Some(Settings::Inline(rule));
            assert_eq!(result(query(prompt, options.clone())).await, "ok", "{name}");
            let made = folder.path().join("made");
            assert_eq!(made.exists(), allowed, "{name} {rules}");
            std::fs::remove_file(made).ok();
        }
    }
}
