//! A whole session over a network that misbehaves, two hundred times.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bowline_door_ws::{KeepAlive, ReconnectPolicy};
use bowline_host::{
    Client, Listener, ListenerOptions, Message, Options, PermissionResult, ToolRequest,
};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time};

use crate::{
    plain_host::{Connection, PlainHost, prompt},
    proxy::Proxy,
    rig::Agent,
};

/// Sessions, and how many of them run side by side.
const RUNS: u64 = 200;
const AT_ONCE: usize = 16;

/// How long one of them may take, on a machine that is busy with the others.
const LIMIT: Duration = Duration::from_secs(120);

/// Turns of a session, each with two questions and two tools.
const TURNS: usize = 3;

/// How soon silence is noticed: late enough for a machine that is busy.
const KEEP_ALIVE: KeepAlive =
    KeepAlive { ping: Duration::from_millis(100), silence: Duration::from_millis(400) };

fn policy() -> ReconnectPolicy {
    let mut policy = ReconnectPolicy::default();
    policy.attempts = 100;
    policy.first_wait = Duration::from_millis(1);
    policy.longest_wait = Duration::from_millis(20);
    policy.keep_alive = KEEP_ALIVE;
    policy
}

/// A prompt whose two commands each leave one line in a file.
fn script(turn: usize) -> String {
    let note = |part: char| json!({"command": format!("echo {turn}{part} >> notes")});
    format!("TOOL Bash {}\nNEXT\nTOOL Bash {}\nNEXT\nSAY turn {turn}", note('a'), note('b'))
}

/// What the file says when each command has run once, and in order.
fn notes() -> String {
    (0..TURNS).map(|turn| format!("{turn}a\n{turn}b\n")).collect()
}

/// What a host hears of a session when nothing is lost and nothing comes twice.
fn whole_session() -> Vec<String> {
    let turn = |turn: usize| {
        ["init", "assistant", "user", "assistant", "user", "assistant"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("result turn {turn}")])
    };
    (0..TURNS).flat_map(turn).collect()
}

#[tokio::test]
async fn sessions_over_a_faulty_network_lose_and_repeat_no_message() {
    // One that failed names its seed, and is repeated by it.
    if let Ok(seed) = std::env::var("FAULT_SEED") {
        session(seed.parse().unwrap()).await;
        return;
    }
    let first = uuid::Uuid::new_v4().as_u64_pair().0;
    eprintln!("{RUNS} runs from FAULT_SEED={first} on");
    let (mut running, mut faults) = (JoinSet::new(), 0);
    for run in 0..RUNS {
        if running.len() == AT_ONCE {
            faults += running.join_next().await.unwrap().unwrap();
        }
        running.spawn(session(first.wrapping_add(run)));
    }
    while let Some(done) = running.join_next().await {
        faults += done.unwrap();
    }
    assert!(u64::from(faults) > RUNS, "the network was too good: {faults} faults");
}

/// One session; the number of its faults.
async fn session(seed: u64) -> u32 {
    let work = async {
        match seed.is_multiple_of(2) {
            true => with_the_sdk(seed).await,
            false => with_a_plain_host(seed).await,
        }
    };
    time::timeout(LIMIT, work).await.unwrap_or_else(|_| panic!("FAULT_SEED={seed} hangs"))
}

async fn with_the_sdk(seed: u64) -> u32 {
    let mut listening = ListenerOptions::default();
    listening.no_token = true;
    listening.ping = KEEP_ALIVE.ping;
    listening.silence = KEEP_ALIVE.silence;
    let listener = Listener::bind("127.0.0.1:0", listening).await.unwrap();
    let proxy = Proxy::before(listener.address(), seed).await;
    let remote = listener.expect("/one").unwrap();
    let mut agent = Agent::dialing(&format!("ws://{}/one", proxy.address), policy());
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let options = Options::default().websocket(remote).can_use_tool(move |_: ToolRequest| {
        count.fetch_add(1, Ordering::Relaxed);
        async { PermissionResult::allow() }
    });
    let client = Client::connect(options).await.unwrap();
    let mut heard = Vec::new();
    for turn in 0..TURNS {
        client.query(script(turn)).await.unwrap();
        let mut messages = client.receive_response();
        while let Some(message) = messages.next().await {
            let message = message.unwrap_or_else(|error| panic!("FAULT_SEED={seed}: {error}"));
            heard.extend(in_short(&serde_json::to_value::<Message>(message).unwrap()));
        }
    }
    assert_eq!(heard, whole_session(), "FAULT_SEED={seed}");
    assert_eq!(agent.text("notes"), notes(), "FAULT_SEED={seed}");
    assert_eq!(asked.load(Ordering::Relaxed), 2 * TURNS as u32, "FAULT_SEED={seed}");
    client.disconnect().await;
    agent.end().await.0.unwrap();
    proxy.faults()
}

async fn with_a_plain_host(seed: u64) -> u32 {
    let host = PlainHost::new().await;
    let proxy = Proxy::before(host.address(), seed).await;
    let mut agent = Agent::dialing(&format!("ws://{}/one", proxy.address), policy());
    let (mut heard, mut known) = (Vec::new(), HashSet::new());
    let mut turn = 0;
    while turn < TURNS {
        // It says its prompt on every connection, and knows what it has heard by its name.
        let Some(mut connection) = next_connection(&host).await else { continue };
        connection.prompt(&format!("u{turn}"), &script(turn)).await;
        while turn < TURNS
            && let Ok(Some(line)) = time::timeout(KEEP_ALIVE.silence, connection.hear()).await
        {
            if line["type"] == "control_request" {
                connection.answer(&line, json!({"behavior": "allow"})).await;
            } else if known.insert(line["uuid"].to_string()) {
                heard.extend(in_short(&line));
                if line["type"] == "result" {
                    turn += 1;
                    connection.say(&prompt(&format!("u{turn}"), &script(turn))).await;
                }
            }
        }
    }
    assert_eq!(heard, whole_session(), "FAULT_SEED={seed}");
    assert_eq!(agent.text("notes"), notes(), "FAULT_SEED={seed}");
    let goodbye = async {
        loop {
            if let Some(connection) = next_connection(&host).await {
                connection.hang_up().await;
            }
        }
    };
    tokio::select! {
        (served, _) = agent.end() => {
            served.unwrap();
        }
        _ = goodbye => {}
    }
    proxy.faults()
}

async fn next_connection(host: &PlainHost) -> Option<Connection> {
    Connection::over(host.accept_raw().await, None).await.ok()
}

/// A message in a word or two, if it is one that every session has.
fn in_short(line: &Value) -> Option<String> {
    match line["type"].as_str().unwrap() {
        "system" if line["subtype"] == "init" => Some("init".to_owned()),
        "result" => Some(format!("result {}", line["result"].as_str().unwrap())),
        kind @ ("assistant" | "user") => Some(kind.to_owned()),
        _ => None,
    }
}
