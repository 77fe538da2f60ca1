//! Calls that are not wanted any more, and clients that go away.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::rig::{Client, allow, gone, line_in, text};

/// A call that writes down which process it is and then takes its time.
fn sleeper() -> Value {
    json!({"command": "echo $$ > pid && sleep 60"})
}

async fn begun(client: &mut Client, params: Value) -> (u64, String) {
    let id = client.ask("tools/call", params).await;
    let pid = line_in(&client.path().join("pid")).await;
    (id, pid)
}

async fn cancel(client: &mut Client, id: u64) {
    let params = json!({"requestId": id, "reason": "enough"});
    let method = "notifications/cancelled";
    client.say(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
}

#[tokio::test]
async fn a_cancelled_call_ends_its_processes() {
    let mut client = Client::with(json!({}), |config| allow(config, "Bash")).await;
    let (id, pid) = begun(&mut client, json!({"name": "Bash", "arguments": sleeper()})).await;
    cancel(&mut client, id).await;
    gone(&pid).await;
    let next = client.call("Bash", json!({"command": "echo on"})).await;
    assert_eq!(next["isError"], false);
}

#[tokio::test]
async fn a_cancelled_agent_ends_its_processes() {
    let mut client = Client::with(json!({}), |config| allow(config, "Bash")).await;
    let prompt = format!("TOOL Bash {}\nNEXT\nSAY done", sleeper());
    let params = json!({"name": "agent", "arguments": {"prompt": prompt}});
    let (id, pid) = begun(&mut client, params).await;
    cancel(&mut client, id).await;
    gone(&pid).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_can_cancel() {
    let mut client = Client::with(json!({}), |config| allow(config, "Bash")).await;
    // More than the pipe holds, so that progress is not told.
    for _ in 0..16 {
        client.ask("tools/list", json!({})).await;
    }
    let prompt = format!("SAY looking\nTOOL Bash {}\nNEXT\nSAY done", sleeper());
    let meta = json!({"progressToken": 1});
    let params = json!({"name": "agent", "arguments": {"prompt": prompt}, "_meta": meta});
    let (id, pid) = begun(&mut client, params).await;
    cancel(&mut client, id).await;
    gone(&pid).await;
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_nothing_behind() {
    let mut client = Client::with(json!({}), |config| allow(config, "Bash")).await;
    let (_, pid) = begun(&mut client, json!({"name": "Bash", "arguments": sleeper()})).await;
    client.hang_up().await.unwrap();
    gone(&pid).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_does_not_keep_the_server_of_a_client_that_hung_up() {
    let mut client = Client::new().await;
    let params = json!({"name": "agent", "arguments": {"prompt": "SAY waiting\nHANG"}});
    client.ask("tools/call", params).await;
    let since = Instant::now();
    client.hang_up().await.unwrap();
    // Clients wait two seconds before they use force, and rmcp would wait five.
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_receive_an_error_has_hung_up() {
    let mut client = Client::new().await;
    let params = json!({"name": "agent", "arguments": {"prompt": "SAY waiting\nHANG"}});
    client.ask("tools/call", params).await;
    let since = Instant::now();
    client.stop_listening("{oops").await.unwrap();
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn requests_before_the_end_of_input_get_their_response() {
    // Progress that can no longer be sent must not hold up the response.
    for meta in [json!({}), json!({"progressToken": 1})] {
        let mut client = Client::new().await;
        let arguments = json!({"prompt": "DELAY 500\nSAY there"});
        let params = json!({"name": "agent", "arguments": arguments, "_meta": meta});
        let id = client.ask("tools/call", params).await;
        client.end_input();
        assert_eq!(text(&client.answer(id).await["result"]), "there");
        client.hang_up().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_up_answers_no_question() {
    let mut client = Client::with(json!({"elicitation": {}}), |_| {}).await;
    let call = json!({"name": "Bash", "arguments": {"command": "touch made.txt"}});
    let id = client.ask("tools/call", call).await;
    client.wait_for(|line| line["method"] == "elicitation/create").await;
    let since = Instant::now();
    client.end_input();
    assert_eq!(client.answer(id).await["result"]["isError"], true);
    client.hang_up().await.unwrap();
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
}

#[tokio::test]
async fn a_client_that_says_nothing_is_no_error() {
    Client::silent(|_| {}).hang_up().await.unwrap();
}
