//! The SDK as a host in the rig that measures host SDKs: `host-bowline FAKECLI MODE` prints one line
//! of JSON. With the feature `embedded`, `host-bowline embedded` prints what an agent costs that needs
//! no process.

#[cfg(feature = "embedded")]
mod embedded;
mod usage;

use std::time::Instant;

use bowline_host::{
    Client, ContentBlock, Error, HookCall, HookEvent, HookMatcher, HookOutput, McpServer, Message,
    Options, PermissionResult, Tool, ToolRequest,
};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(cli), Some(mode)) => process(&cli, &mode).await,
        #[cfg(feature = "embedded")]
        (Some(mode), None) if mode == "embedded" => embedded::measure().await,
        _ => {
            eprintln!("host-bowline FAKECLI flood|mcp|perm|hook, or host-bowline embedded");
            std::process::exit(2);
        }
    }
}

async fn process(cli: &str, mode: &str) -> Result<(), Error> {
    let mut options = Options::default().cli_path(cli);
    match mode {
        "mcp" => {
            let echo = Tool::new("echo", "Echo", async |echo: Echo| echo.text);
            options = options.sdk_mcp_server(McpServer::new("bench").tool(echo));
        }
        "perm" => options = options.can_use_tool(async |_: ToolRequest| PermissionResult::allow()),
        "hook" => {
            let hook = HookMatcher::always().run(async |_: HookCall| HookOutput::default());
            options = options.hook(HookEvent::PreToolUse, hook);
        }
        _ => {}
    }
    let start = Instant::now();
    let client = Client::connect(options).await?;
    let connected = start.elapsed();
    let start = Instant::now();
    client.query("go").await?;
    let pause = std::env::var("HOST_PAUSE").ok().and_then(|seconds| seconds.parse().ok());
    if let Some(seconds) = pause {
        tokio::time::sleep(std::time::Duration::from_secs_f64(seconds)).await;
    }
    let (mut messages, mut bytes, mut text) = (0, 0, String::new());
    let mut response = client.receive_response();
    while let Some(message) = response.next().await {
        match message? {
            Message::Assistant(answer) => {
                messages += 1;
                for block in &answer.message.content {
                    if let ContentBlock::Text(block) = block {
                        bytes += block.text.len();
                    }
                }
            }
            Message::Result(result) => text = result.result.unwrap_or_default(),
            _ => {}
        }
    }
    let wall = start.elapsed();
    client.disconnect().await;
    let usage::Usage { cpu_seconds, peak_megabytes } = usage::usage();
    let line = json!({
        "sdk": concat!("bowline-host ", env!("CARGO_PKG_VERSION_MAJOR"), ".1 (Rust)"), "mode": mode,
        "messages": messages, "text_bytes": bytes, "result": text, "load_s": 0.0,
        "connect_s": connected.as_secs_f64(), "wall_s": wall.as_secs_f64(),
        "cpu_s": cpu_seconds, "rss_mb": peak_megabytes,
    });
    println!("{line}");
    Ok(())
}
