//! Tools, resources and prompts of a server in a conversation.

use std::{fs, time::Duration};

use bowline_protocol::{Content, ContentBlock, Role};
use bowline_tools::{Access, ToolSource};
use serde_json::{Value, json};

use crate::{
    rig::{Rig, text_of},
    script::PNG,
};

#[tokio::test]
async fn tools_are_described_and_called() {
    let rig = Rig::new().connected().await;
    let echo = rig.tool("mcp__std__echo");
    let spec = echo.spec();
    assert_eq!(spec.description, "does echo");
    assert_eq!(spec.input_schema.to_value()["required"], json!(["text"]));
    assert!(spec.hints.read_only && !spec.checked);
    assert_eq!(spec.max_result_chars, 100_000);
    assert_eq!(echo.access(&json!({}), &rig.workspace), Access::Other);

    let output = rig.call("mcp__std__echo", json!({"text": "hi"})).await.unwrap();
    assert_eq!(output.content, Content::Blocks(vec![ContentBlock::text("echo: hi")]));
    assert_eq!(output.structured, Some(json!([{"type": "text", "text": "echo: hi"}])));
    assert_eq!(output.is_error, None);

    let name = rig.servers.display_name("mcp__std__echo").unwrap();
    assert_eq!((name.tool.as_str(), name.tool_name.as_str()), ("Say It Again", "echo"));
    assert_eq!(name.server, "The Script");
    assert_eq!(rig.servers.display_name("mcp__std__pid").unwrap().tool, "Pid");
    let server = rig.servers.server_of("mcp__std__echo").unwrap();
    assert_eq!((server.name.as_str(), server.source.as_deref()), ("std", Some("dynamic")));
}

#[tokio::test]
async fn a_list_of_tools_is_sorted_and_begins_with_those_for_resources() {
    let rig = Rig::new().connected().await;
    let names: Vec<_> =
        rig.servers.tools().iter().map(|tool| tool.spec().name.to_string()).collect();
    let expected = ["ListMcpResourcesTool", "ReadMcpResourceDirTool", "ReadMcpResourceTool"];
    assert_eq!(names[..3], expected);
    assert!(names[3..].is_sorted());
    assert_eq!(names.len(), 3 + 20);
    // Of two tools with one name the first counts, and a page that names itself is the last.
    assert_eq!(rig.servers.status()[0].tools.as_ref().unwrap().len(), 20);
}

#[tokio::test]
async fn failures_are_answers() {
    let rig = Rig::new().connected().await;
    let failure = rig.call("mcp__std__fail", json!({})).await.unwrap_err();
    assert_eq!(failure.content, "it failed");
    assert_eq!(failure.structured, json!("Error: it failed"));
    let failure = rig.call("mcp__std__nonsense", json!({})).await.unwrap_err();
    assert_eq!(failure.content, "invalid response from the server");
}

#[tokio::test]
async fn pictures_are_shown_and_saved() {
    let rig = Rig::new().connected().await;
    let output = rig.call("mcp__std__picture", json!({})).await.unwrap();
    let shown = serde_json::to_value(&output.content).unwrap();
    assert_eq!(Some(&shown), output.structured.as_ref());
    let source = json!({"type": "base64", "media_type": "image/png", "data": PNG});
    assert_eq!(shown[0], json!({"type": "image", "source": source}));
    let note = shown[1]["text"].as_str().unwrap();
    let path = note.strip_prefix("[Image: source: ").unwrap().strip_suffix(']').unwrap();
    let expected = rig.dir.path().join("results").join("mcp-std-blob-");
    assert!(path.starts_with(expected.to_str().unwrap()) && path.ends_with(".png"), "{path}");
    assert!(fs::read(path).unwrap().starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn every_kind_of_content_reaches_the_model() {
    let rig = Rig::new().connected().await;
    let output = rig.call("mcp__std__structured", json!({})).await.unwrap();
    let content = json!([{"type": "text", "text": r#"{"sum":3}"#}]);
    assert_eq!(serde_json::to_value(&output.content).unwrap(), content);
    let structured = json!({"content": content, "structuredContent": {"sum": 3}});
    assert_eq!(output.structured, Some(structured));
    let output = rig.call("mcp__std__empty", json!({})).await.unwrap();
    assert_eq!(output.content.to_text(), "(mcp__std__empty completed with no output)");
    assert_eq!(output.structured, Some(json!([])));
    let odd: Value = serde_json::from_str(&rig.text("mcp__std__odd", json!({})).await).unwrap();
    assert_eq!(odd, json!({"type": "hologram", "depth": 3}));
    let many = rig.text("mcp__std__many", json!({})).await;
    assert!(many.starts_with("[Audio: source: "), "{many}");
    assert!(many.ends_with("[Resource: note://x]\ninside\n[Resource link: y note://y]"), "{many}");
}

#[tokio::test]
async fn large_results_are_kept_in_a_file() {
    let rig = Rig::with(|setup| setup.options.max_output_tokens = 1000).connected().await;
    let small = rig.call("mcp__std__big", json!({"chars": 4000})).await.unwrap();
    assert!(matches!(small.content, Content::Blocks(_)));
    let large = rig.call("mcp__std__big", json!({"chars": 4001})).await.unwrap();
    let text = large.content.to_text();
    assert_eq!(large.structured, Some(json!(text)), "programs need not carry it about either");
    assert!(text.starts_with("<persisted-output>\nOutput too large (3.9KB)."), "{text}");
    let saved = rig.dir.path().join("results/toolu_1.txt");
    assert_eq!(fs::read_to_string(saved).unwrap().len(), 4001);
}

#[tokio::test]
async fn calls_say_which_call_of_the_model_they_are_and_take_progress() {
    let rig = Rig::new().connected().await;
    let meta: Value = serde_json::from_str(&rig.text("mcp__std__meta", json!({})).await).unwrap();
    assert_eq!(meta["claudecode/toolUseId"], "toolu_1");
    assert!(meta["progressToken"].is_u64());
    assert_eq!(rig.text("mcp__std__progress", json!({})).await, "done");
}

#[tokio::test]
async fn a_changed_list_is_read_again() {
    let rig = Rig::new().connected().await;
    let version = rig.servers.version();
    rig.text("mcp__std__grow", json!({})).await;
    // Already: a call that changes the list waits for the new one.
    assert_eq!(rig.text("mcp__std__extra", json!({})).await, "extra called");
    assert!(rig.servers.version() > version);
}

#[tokio::test]
async fn host_calls_tools() {
    let rig = Rig::new().connected().await;
    let arguments = bowline_protocol::RawJson::from(json!({"text": "direct"}));
    let result = rig.servers.call("mcp__std__echo", Some(&arguments), None).await.unwrap();
    assert_eq!(result.to_value(), json!({"content": [{"type": "text", "text": "echo: direct"}]}));
    let error = async |tool| rig.servers.call(tool, None, None).await.unwrap_err().to_string();
    assert_eq!(error("mcp__std__fail").await, "it failed");
    assert_eq!(error("mcp__std__nope").await, "no such tool");
    assert_eq!(error("mcp__other__x").await, "MCP server not connected: other");
    let limit = Some(Duration::from_millis(50));
    let late = rig.servers.call("mcp__std__hang", None, limit).await.unwrap_err();
    assert_eq!(late.to_string(), "no response after 0.05 s");
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let rig = Rig::new().connected().await;
    let one =
        json!({"name": "one", "uri": "note://one", "mimeType": "text/plain", "server": "std"});
    let two =
        json!({"name": "two", "uri": "note://two/blob", "description": "bytes", "server": "std"});
    let list = rig.call("ListMcpResourcesTool", json!({})).await.unwrap();
    assert_eq!(list.structured, Some(json!([one, two])));
    assert_eq!(serde_json::from_str::<Value>(&text_of(list)).unwrap(), json!([one, two]));
    let under = rig.call("ReadMcpResourceDirTool", json!({"server": "std", "uri": "note://two"}));
    assert_eq!(under.await.unwrap().structured, Some(json!({"resources": [two]})));

    let read = async |uri: &str| {
        let input = json!({"server": "std", "uri": uri});
        rig.call("ReadMcpResourceTool", input).await.unwrap().structured.unwrap()
    };
    let note = json!({"uri": "note://one", "mimeType": "text/plain", "text": "a note"});
    assert_eq!(read("note://one").await, json!({"contents": [note]}));
    let blob = read("note://two/blob").await;
    let saved = blob["contents"][0]["blobSavedTo"].as_str().unwrap();
    assert!(fs::read(saved).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(read("note://no").await, json!({"contents": [], "error": "Resource not found"}));

    let unknown = rig.call("ReadMcpResourceTool", json!({"server": "x", "uri": "y"})).await;
    assert_eq!(unknown.unwrap_err().content, "Server \"x\" not found. Available servers: std");
    let direct = rig.servers.read_resource("std", "note://one").await.unwrap();
    assert_eq!(direct.contents[0].to_value()["text"], "a note");
}

#[tokio::test]
async fn prompts_are_commands() {
    let rig = Rig::new().connected().await;
    let prompts = rig.servers.prompts();
    assert_eq!(prompts[0].command, "mcp__std__greet");
    let listed = serde_json::to_value(prompts[0].slash_command()).unwrap();
    let expected = json!({"name": "std:greet (MCP)", "description": "Greets", "argumentHint": ""});
    assert_eq!(listed, expected);
    for command in ["mcp__std__greet", "std:greet (MCP)"] {
        let messages = rig.servers.get_prompt(command, "Ada Lovelace").await.unwrap();
        assert_eq!(messages[0].role, Role::User);
        assert_eq!(messages[0].content.to_text(), "hello Ada Lovelace");
    }
    assert!(rig.servers.get_prompt("mcp__std__no", "").await.is_err());
}
