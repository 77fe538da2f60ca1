//! Services of the session for tools: summaries of pages, hidden files, web search.

use std::sync::Arc;

use bowline_engine::{ConnectedModel, Models, permission::RuleSource};
use bowline_protocol::PermissionBehavior;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::rig::{Rig, text};

fn result_of_call(frames: &[Value]) -> &Value {
    let of_call = |frame: &&Value| frame["message"]["content"][0]["type"] == "tool_result";
    frames.iter().find(of_call).unwrap()
}

#[tokio::test]
async fn web_page_is_summarized_by_a_model() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        let page = "<h1>Opening hours</h1><p>From nine to five.</p>";
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n",
            page.len()
        );
        stream.write_all(format!("{head}{page}").as_bytes()).await.unwrap();
    });
    let mut rig = Rig::with(|config| config.tool_options.private_addresses = true);
    let call = json!({"url": format!("http://{address}/"), "prompt": "SAY nine to five"});
    let frames = rig.run(&format!("TOOL WebFetch {call}\nNEXT\nSAY done")).await;
    serving.await.unwrap();
    let result = result_of_call(&frames);
    assert_eq!(text(result), "nine to five");
    assert_eq!(result["tool_use_result"]["code"], 200);
}

#[tokio::test]
async fn searches_leave_out_what_rules_forbid_to_read() {
    let mut rig = Rig::with(|config| {
        let deny = PermissionBehavior::Deny;
        config.policy.rules.add(RuleSource::Session, &deny, "Read(secrets/**)");
    });
    std::fs::create_dir(rig.path().join("secrets")).unwrap();
    std::fs::write(rig.path().join("secrets/key.txt"), "word").unwrap();
    std::fs::write(rig.path().join("open.txt"), "word").unwrap();
    let frames = rig.run("TOOL Grep {\"pattern\": \"word\"}\nNEXT\nSAY done").await;
    assert_eq!(text(result_of_call(&frames)), "Found 1 file\nopen.txt");
    let frames = rig.run("TOOL Glob {\"pattern\": \"**/*.txt\"}\nNEXT\nSAY done").await;
    assert_eq!(text(result_of_call(&frames)), "open.txt");
}

/// The script model under every name.
struct Everywhere(ConnectedModel);

impl Models for Everywhere {
    fn connect(&self, name: &str) -> Result<ConnectedModel, bowline_model::ModelError> {
        Ok(ConnectedModel { name: name.to_owned(), ..self.0.clone() })
    }
}

#[tokio::test]
async fn searching_the_web_is_offered_where_the_api_can_do_it() {
    for (model, offered) in [("claude-sonnet-5-5", true), ("openai/gpt", false), ("script", false)]
    {
        let mut rig = Rig::with(|config| {
            let script = config.models.connect("script").unwrap();
            config.models = Arc::new(Everywhere(script));
            config.model = model.to_owned();
        });
        let frames = rig.run("SAY hi").await;
        let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
        let tools = init["tools"].as_array().unwrap();
        assert_eq!(tools.contains(&json!("WebSearch")), offered, "{model}");
        // Another model, another choice.
        rig.control(json!({"subtype": "set_model", "model": "claude-opus-5-5"})).await.unwrap();
        let frames = rig.run("SAY hi").await;
        let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
        assert!(init["tools"].as_array().unwrap().contains(&json!("WebSearch")), "{model}");
    }
}

#[tokio::test]
async fn a_search_needs_permission_and_one_kind_of_list() {
    let mut rig = Rig::with(|config| {
        let script = config.models.connect("script").unwrap();
        config.models = Arc::new(Everywhere(script));
        config.model = "claude-sonnet-5-5".to_owned();
    });
    let call = json!({"query": "knots", "allowed_domains": ["a.example"], "blocked_domains": ["b.example"]});
    let frames = rig.run(&format!("TOOL WebSearch {call}\nNEXT\nSAY done")).await;
    assert!(text(result_of_call(&frames)).contains("Cannot specify both"));
    let frames = rig.run("TOOL WebSearch {\"query\": \"knots\"}\nNEXT\nSAY done").await;
    assert!(frames.iter().any(|frame| frame["type"] == "can_use_tool"));
    let received = text(result_of_call(&frames));
    assert!(received.starts_with("Web search results for query: \"knots\""), "{received}");
}
