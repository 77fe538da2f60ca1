//! A small MCP server in a process of its own, for the tests of this crate. It speaks by hand, so
//! that it shares no mistake with the code it tests.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

use std::io;

use serde_json::{Value, json};

fn main() {
    for line in io::stdin().lines() {
        let asked: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
        let result = match asked["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "fake", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{
                "name": "shout", "description": "Shouts",
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            }]}),
            Some("tools/call") => {
                let text = asked["params"]["arguments"]["text"].as_str().unwrap_or_default();
                json!({"content": [{"type": "text", "text": text.to_uppercase()}]})
            }
            _ => json!({}),
        };
        if asked.get("id").is_some() {
            println!("{}", json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
        }
    }
}
