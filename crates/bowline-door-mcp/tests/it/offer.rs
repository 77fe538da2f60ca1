//! Tools offered to clients.

use bowline_engine::ToolSelection;
use serde_json::{Value, json};

use crate::rig::Client;

async fn tools(client: &mut Client) -> Vec<Value> {
    let listed = client.request("tools/list", json!({})).await;
    listed["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_tool_that_needs_no_conversation_and_an_agent() {
    let mut client = Client::new().await;
    let tools = tools(&mut client).await;
    let names = names(&tools);
    for name in ["Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "WebFetch", "Write"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert_eq!(names.last(), Some(&"agent"));
    for name in ["Agent", "Task", "Skill", "AskUserQuestion", "ExitPlanMode"] {
        assert!(!names.contains(&name), "{name}: {names:?}");
    }
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
    }
}

#[tokio::test]
async fn hints_say_what_calls_do() {
    let mut client = Client::new().await;
    let tools = tools(&mut client).await;
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let hints = &tool["annotations"];
        (hints["readOnlyHint"] == true, hints["destructiveHint"] == true)
    };
    assert_eq!(hints("Read"), (true, false));
    assert_eq!(hints("Grep"), (true, false));
    assert_eq!(hints("Bash"), (false, true));
    assert_eq!(hints("Write"), (false, true));
    assert_eq!(hints("agent"), (false, true));
}

#[tokio::test]
async fn the_offer_can_be_limited() {
    let mut client = Client::with(json!({}), |config| {
        config.tools = ToolSelection::Named(vec!["Read".to_owned(), "Grep".to_owned()]);
    })
    .await;
    assert_eq!(names(&tools(&mut client).await), ["Grep", "Read"]);
    let refused = client.request("tools/call", json!({"name": "Bash", "arguments": {}})).await;
    assert_eq!(refused["error"]["code"], -32602);
    let mut client = Client::with(json!({}), |config| {
        config.tools = ToolSelection::Named(vec!["agent".to_owned()]);
    })
    .await;
    assert_eq!(names(&tools(&mut client).await), ["agent"]);
}
