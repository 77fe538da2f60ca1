//! What an agent in this process costs: to start, to have idle, and to call a tool of ours.

use std::time::{Duration, Instant};

use bowline_host::{Client, Embedded, Error, McpServer, Message, Options, Tool};

use crate::{
    Echo,
    usage::{memory, usage},
};

const STARTS: usize = 200;
const CALLS: usize = 20_000;
/// Calls that the model makes in one response, so that only the calls are measured.
const CALLS_PER_TURN: usize = 1000;
const IDLE: usize = 1000;

/// Prints the three figures.
pub async fn measure() -> Result<(), Error> {
    let folder = std::env::temp_dir();
    let agent = || Options::default().embedded(Embedded::script(&folder));

    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let client = Client::connect(agent()).await?;
        starts.push(start.elapsed());
        client.disconnect().await;
    }
    starts.sort();
    println!("session start, median of {STARTS}: {:?}", starts[STARTS / 2]);

    let echo = Tool::new("echo", "Echo", async |echo: Echo| echo.text);
    let options = agent()
        .sdk_mcp_server(McpServer::new("bench").tool(echo))
        .allow(["mcp__bench__echo"]);
    let client = Client::connect(options).await?;
    let call = "TOOL mcp__bench__echo {\"text\": \"hello\"}\n";
    let prompt = format!("{}NEXT\nSAY done", call.repeat(CALLS_PER_TURN));
    // Once without looking, so that everything has been touched.
    turn(&client, &prompt).await?;
    let (start, before) = (Instant::now(), usage().cpu_seconds);
    for _ in 0..CALLS / CALLS_PER_TURN {
        turn(&client, &prompt).await?;
    }
    let each = start.elapsed() / u32::try_from(CALLS).unwrap_or(u32::MAX);
    let cpu = Duration::from_secs_f64((usage().cpu_seconds - before) / CALLS as f64);
    println!("tool round trip, {CALLS} in turns of {CALLS_PER_TURN}: {each:?}, {cpu:?} of CPU time");
    client.disconnect().await;

    let before = memory("VmRSS:");
    let mut clients = Vec::new();
    for _ in 0..IDLE {
        let client = Client::connect(agent()).await?;
        turn(&client, "SAY hello").await?;
        clients.push(client);
    }
    let (now, grown) = (memory("VmRSS:"), memory("VmRSS:") - before);
    println!("{IDLE} idle sessions after a turn each: {now:.0} MB in all, {grown:.0} MB of it theirs");
    for client in clients {
        client.disconnect().await;
    }
    Ok(())
}

async fn turn(client: &Client, prompt: &str) -> Result<(), Error> {
    client.query(prompt).await?;
    let mut response = client.receive_response();
    while let Some(message) = response.next().await {
        if let Message::Result(result) = message? {
            assert!(!result.is_error, "{result:?}");
        }
    }
    Ok(())
}
