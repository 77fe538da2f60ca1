//! Runs that are not wanted any more, and clients that go away.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};

use crate::rig::Client;

/// A command that says when it runs and that it ended.
fn sleeper(client: &Client) -> String {
    let pid = client.path().join("pid");
    let command = format!("echo $$ > {} && sleep 60", pid.display());
    let call = json!({"command": command});
    format!("TOOL Bash {call}\nNEXT\nSAY done")
}

async fn begun(client: &mut Client) -> String {
    let question = client.until(|line| line["method"] == "permission/request").await.pop().unwrap();
    let answer = json!({"behavior": "allow"});
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    let pid = client.path().join("pid");
    for _ in 0..4_000 {
        match std::fs::read_to_string(&pid) {
            Ok(pid) if pid.ends_with('\n') => return pid.trim().to_owned(),
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    panic!("the command does not begin");
}

/// Waits until a process is gone, or at least dead.
async fn gone(pid: &str) {
    let stat = Path::new("/proc").join(pid).join("stat");
    let dead = |stat: &str| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'));
    for _ in 0..2_000 {
        match std::fs::read_to_string(&stat) {
            Ok(stat) if !dead(&stat) => tokio::time::sleep(Duration::from_millis(5)).await,
            _ => return,
        }
    }
    panic!("process {pid} lives on");
}

#[tokio::test]
async fn a_cancelled_run_says_how_far_it_came() {
    let mut client = Client::new();
    let prompt = sleeper(&client);
    client.run(1, &prompt).await;
    let pid = begun(&mut client).await;
    client.call(2, "cancel", json!({})).await;
    let heard = client.until(|line| line["id"] == 1 && line.get("error").is_some()).await;
    let answered = heard.iter().find(|line| line["id"] == 2).unwrap();
    assert_eq!(answered["result"], json!({"cancelled": true}));
    let error = &heard.last().unwrap()["error"];
    assert_eq!(error["code"], -32003);
    assert_eq!(error["data"]["type"], "result");
    gone(&pid).await;
    client.call(3, "cancel", json!({})).await;
    assert_eq!(client.hear().await["error"]["code"], -32002);
}

#[tokio::test]
async fn a_client_that_vanishes_leaves_nothing_behind() {
    let mut client = Client::new();
    let prompt = sleeper(&client);
    client.run(1, &prompt).await;
    let pid = begun(&mut client).await;
    client.stop.cancel();
    client.vanish().await;
    gone(&pid).await;
}

#[tokio::test]
async fn a_client_that_stops_reading_ends_the_door() {
    let mut client = Client::new();
    client.run(1, "SAY one\nTOOL Bash {\"command\": \"true\"}\nNEXT\nDELAY 200\nSAY two").await;
    let first: Value = client.hear().await;
    assert_eq!(first["result"]["subtype"], "init");
    client.vanish().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_cannot_keep_the_door() {
    let mut client = Client::new();
    let id = "x".repeat(8 * 1024);
    // Until the door waits for us to read, and we for it.
    let stall = Duration::from_secs(1);
    while tokio::time::timeout(stall, client.call(id.as_str(), "status", json!({}))).await.is_ok() {
    }
    client.stop_unread().await;
}
