//! The folded view of a conversation, over every transport.

use bowline_host::{Client, protocol::Role, query};

use crate::rig::{agents, soon};

#[tokio::test]
async fn a_view_that_is_always_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    for (name, mut options) in agents(folder.path()).await {
        options.messages.include_partial_messages = true;
        let client = soon(name, Client::connect(options)).await.unwrap();
        let (mut messages, mut view) = client.receive_messages().follow();
        view.say("SAY one two three");
        client.query("SAY one two three").await.unwrap();
        let mut grew = false;
        loop {
            let message = soon(name, messages.next()).await.unwrap().unwrap();
            soon(name, view.changed()).await;
            let current = view.current();
            grew |= current.messages().last().is_some_and(|said| said.is_partial);
            if matches!(message, bowline_host::Message::Result(_)) {
                break;
            }
        }
        assert!(grew, "{name}");
        let current = view.current().clone();
        let told: Vec<_> =
            current.messages().iter().map(|said| (said.role.clone(), said.text())).collect();
        let expected = [
            (Role::User, "SAY one two three".to_owned()),
            (Role::Assistant, "one two three".to_owned()),
        ];
        assert_eq!(told, expected, "{name}");
        assert!(!current.messages()[1].is_partial, "{name}");
        assert!(!current.model_usage().is_empty() && current.session_id().is_some(), "{name}");
        soon(name, client.disconnect()).await;
    }
}

#[tokio::test]
async fn client_conversation_is_complete_with_any_reader_and_replayed_prompts() {
    let folder = tempfile::tempdir().unwrap();
    for (name, mut options) in agents(folder.path()).await {
        options.messages.replay_user_messages = true;
        let client = soon(name, Client::connect(options)).await.unwrap();
        client.query("SAY before the first view").await.unwrap();
        soon(name, client.receive_response().text()).await.unwrap();
        let conversation = client.conversation();
        for prompt in ["SAY one", "SAY two"] {
            client.query(prompt).await.unwrap();
            soon(name, client.receive_response().text()).await.unwrap();
        }
        let current = client.conversation().current().clone();
        let told: Vec<_> = current.messages().iter().map(|said| said.text()).collect();
        assert_eq!(told, ["SAY one", "one", "SAY two", "two"], "{name}");
        assert_eq!(*conversation.current(), current, "{name}: there is one");
        soon(name, client.disconnect()).await;
    }
}

#[tokio::test]
async fn calls_and_their_results_are_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()).await {
        let options = options.allow(["Bash"]);
        let prompt =
            "TOOL Bash {\"command\": \"echo hi\", \"description\": \"Say hi\"}\nNEXT\nSAY done";
        let view = soon(name, query(prompt, options).conversation()).await.unwrap();
        let roles: Vec<_> = view.messages().iter().map(|said| said.role.clone()).collect();
        assert_eq!(roles, [Role::Assistant, Role::User, Role::Assistant], "{name}");
        assert_eq!(view.messages()[2].text(), "done", "{name}");
    }
}
