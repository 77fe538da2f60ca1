//! Runs that are not wanted any more, and clients that go away.

use std::{path::Path, time::Duration};

use serde_json::json;

use crate::rig::Client;

/// A command that says when it runs and that it ended.
fn sleeper(client: &Client) -> String {
    let pid = client.path().join("pid");
    let command = format!("echo $$ > {} && sleep 300", pid.display());
    let call = json!({"command": command});
    format!("TOOL Bash {call}\nNEXT\nSAY done")
}

/// Answers the first question with yes.
async fn permit(client: &mut Client) {
    let question = client.until(|line| line["method"] == "permission/request").await.pop().unwrap();
    let answer = json!({"behavior": "allow"});
    client.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
}

async fn begun(client: &mut Client) -> String {
    permit(client).await;
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
async fn a_cancelled_run_ends_with_all_it_began() {
    let mut client = Client::new();
    let prompt = sleeper(&client);
    let agent = json!({"description": "work", "prompt": prompt, "run_in_background": true});
    client.run(1, &format!("TOOL Agent {agent}\nNEXT\nSAY waiting\nHANG")).await;
    let pid = begun(&mut client).await;
    // A client that is not sure may send it again; in one batch, so that the run cannot end in between.
    let cancel = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "cancel"});
    client.say(json!([cancel(2), cancel(3)])).await;
    let heard = client.until(|line| line["id"] == 1 && line.get("error").is_some()).await;
    let cancelled = |id: u64| json!({"jsonrpc": "2.0", "id": id, "result": {"cancelled": true}});
    assert!(heard.contains(&json!([cancelled(2), cancelled(3)])), "{heard:?}");
    assert_eq!(heard.last().unwrap()["error"]["data"]["type"], "result");
    gone(&pid).await;
}

#[tokio::test]
async fn a_run_that_is_stopped_with_the_door_says_how_far_it_came() {
    let mut client = Client::new();
    let prompt = sleeper(&client);
    client.run(1, &prompt).await;
    let pid = begun(&mut client).await;
    client.stop.cancel();
    let heard = client.rest().await;
    let last = heard.last().unwrap();
    assert_eq!((&last["id"], &last["error"]["code"]), (&json!(1), &json!(-32003)), "{last}");
    assert_eq!(last["error"]["data"]["type"], "result");
    gone(&pid).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_not_end_in_time_is_answered_as_well() {
    // It cannot end while we do not read what it has to say.
    let prompt = format!("SAY {}", "many words ".repeat(10_000));
    let params = json!({"prompt": prompt, "stream": true});
    let run = json!({"jsonrpc": "2.0", "id": 1, "method": "run", "params": params});
    let status = json!({"jsonrpc": "2.0", "id": 2, "method": "status"});
    for alone in [true, false] {
        let mut client = Client::new();
        client.say(if alone { run.clone() } else { json!([run, status]) }).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        client.stop.cancel();
        tokio::time::sleep(Duration::from_secs(5)).await;
        let mut last = client.rest().await.pop().unwrap();
        if !alone {
            assert_eq!(last[0]["result"]["state"], "running");
            last = last[1].take();
        }
        assert_eq!((&last["id"], &last["error"]["code"]), (&json!(1), &json!(-32003)), "{last}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_listen_any_more_leaves_nothing_behind() {
    let mut client = Client::new();
    let prompt = sleeper(&client);
    client.run(1, &prompt).await;
    let pid = begun(&mut client).await;
    client.stop_listening().await;
    gone(&pid).await;
}

#[tokio::test]
async fn a_client_that_vanishes_ends_the_door() {
    let mut client = Client::new();
    let command = json!({"command": "until [ -e go ]; do sleep 0.01; done"});
    // A run that would never end, but has something to say to nobody.
    client.run(1, &format!("TOOL Bash {command}\nNEXT\nSAY on\nHANG")).await;
    client.until(|line| line["result"]["type"] == "assistant").await;
    let folder = client.folder();
    let ended = client.vanish();
    std::fs::write(folder.path().join("go"), "").unwrap();
    ended.await;
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
