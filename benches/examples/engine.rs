//! What the engine adds to what it runs: a turn, a command, a search.
//!
//! `cargo run --release --example engine -- [FOLDER]`; FOLDER is searched, beside `rg` if it is on the path.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bowline_engine::{BoxFuture, Host, Session, SessionConfig};
use bowline_model::Providers;
use bowline_protocol::{Message, PermissionMode, UserMessage};
use bowline_tools::{Options, Registry, Setup, ToolCall, Workspace};
use serde_json::json;
use tokio::sync::Notify;

/// A host that only counts results, and notes when those of tools came.
#[derive(Default)]
struct Counter {
    results: AtomicUsize,
    more: Notify,
    tool_results: Mutex<Vec<Instant>>,
}

impl Host for Counter {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        match message {
            Message::Result(_) => {
                self.results.fetch_add(1, Ordering::Relaxed);
                self.more.notify_one();
            }
            Message::User(_) => self.tool_results.lock().expect("not poisoned").push(Instant::now()),
            _ => {}
        }
        Box::pin(std::future::ready(()))
    }
}

impl Counter {
    async fn wait_for(&self, results: usize) {
        while self.results.load(Ordering::Relaxed) < results {
            self.more.notified().await;
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    turns(folder.path().to_path_buf()).await;
    long_turn(folder.path().to_path_buf()).await;
    commands(folder.path().to_path_buf()).await;
    if let Some(tree) = std::env::args().nth(1) {
        search(tree.into()).await;
    }
}

fn session(folder: PathBuf) -> (Session, Arc<Counter>, tokio::task::JoinHandle<()>) {
    let mut config = SessionConfig::new(folder, Arc::new(Providers::new()), "script");
    config.policy.mode = PermissionMode::BypassPermissions;
    let host = Arc::new(Counter::default());
    let (session, run) = Session::start(config, host.clone()).expect("the session starts");
    let run = async move {
        run.await;
    };
    (session, host, tokio::spawn(run))
}

/// One prompt, one response of the script model, no network.
async fn turns(folder: PathBuf) {
    const TURNS: usize = 300;
    let (session, host, running) = session(folder);
    let mut times = Vec::new();
    for turn in 1..=TURNS {
        let began = Instant::now();
        session.prompt(UserMessage::prompt("SAY x")).await;
        host.wait_for(turn).await;
        times.push(began.elapsed());
    }
    session.end_of_input().await;
    running.await.expect("the session ends");
    println!("a turn with the script model: median {:?} (goal: 1 ms)", median(&mut times));
}

/// One turn of many calls: what one costs at its beginning and at its end.
async fn long_turn(folder: PathBuf) {
    const CALLS: usize = 5000;
    const FEW: usize = 500;
    let (session, host, running) = session(folder);
    let script = "TOOL TaskList {}\nNEXT\n".repeat(CALLS);
    session.prompt(UserMessage::prompt(format!("{script}SAY done"))).await;
    host.wait_for(1).await;
    session.end_of_input().await;
    running.await.expect("the session ends");
    let times = host.tool_results.lock().expect("not poisoned").clone();
    let each = |times: &[Instant]| (times[times.len() - 1] - times[0]) / (times.len() - 1) as u32;
    let (first, last) = (each(&times[..FEW]), each(&times[times.len() - FEW..]));
    println!("a call in a turn of {CALLS}: {first:?} among the first {FEW}, {last:?} among the last");
}

/// A thousand times `true`, by the engine and by a bare loop.
async fn commands(folder: PathBuf) {
    const CALLS: usize = 1000;
    let (session, host, running) = session(folder.clone());
    let script = "TOOL Bash {\"command\": \"true\"}\nNEXT\n".repeat(CALLS);
    let began = Instant::now();
    session.prompt(UserMessage::prompt(format!("{script}SAY done"))).await;
    host.wait_for(1).await;
    let engine = began.elapsed();
    session.end_of_input().await;
    running.await.expect("the session ends");
    let began = Instant::now();
    for _ in 0..CALLS {
        let mut command = Command::new("bash");
        command.args(["-c", "true"]).current_dir(&folder).stdin(Stdio::null());
        command.output().expect("bash runs");
    }
    let bare = began.elapsed();
    let factor = engine.as_secs_f64() / bare.as_secs_f64();
    println!(
        "{CALLS} Bash calls: {engine:?}, bare spawn loop {bare:?}, factor {factor:.2} (goal: 2)"
    );
}

/// A search over a tree, by the Grep tool and by `rg`.
async fn search(tree: PathBuf) {
    const PATTERN: &str = "fn [a-z_]+_seed";
    let registry = Registry::builtin(&Options::default());
    let tool = registry.get("Grep").expect("Grep is built in").clone();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        let call = ToolCall {
            id: "t".into(),
            input: json!({"pattern": PATTERN, "path": tree, "output_mode": "files_with_matches", "head_limit": 0}),
            workspace: Workspace::new(&tree, Setup::default()),
            cancel: Default::default(),
            confinement: None,
        };
        let began = Instant::now();
        bowline_tools::run(&*tool, call).await.expect("the search succeeds");
        ours.push(began.elapsed());
        let began = Instant::now();
        let rg = Command::new("rg").args(["-l", "--hidden", "--glob", "!.git", PATTERN]).arg(&tree).output();
        if rg.is_err() {
            println!("rg is not on the path: nothing to compare with");
            return;
        }
        theirs.push(began.elapsed());
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let factor = ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "Grep over {}: {ours:?}, rg {theirs:?}, factor {factor:.2} (goal: 1.3)",
        tree.display()
    );
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}
