//! Benchmark of a compaction without the model: reading the conversation, requesting its summary,
//! replacing the conversation by it and writing the transcript.
//!
//! ```sh
//! cargo run --release -p bowline-engine --example compaction
//! ```
//!
//! The script model answers at once and in this process; reading the whole request is part of the
//! measurement, as sending it would be.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails stops")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bowline_engine::{BoxFuture, Host, Session, SessionConfig};
use bowline_model::Providers;
use bowline_protocol::{ApiMessage, ContentBlock, Message, UserMessage};
use bowline_sessions::{
    AssistantLine, ConfigHome, LineOrigin, ProjectKey, StartFrom, StartOptions, TranscriptWriter,
    UserLine, new_id,
};
use tokio::sync::mpsc;

/// How large the conversations are, in tokens; the last is the largest context that models have.
const SIZES: [usize; 3] = [10_000, 200_000, 1_000_000];

/// How long each message is, in tokens.
const MESSAGE: usize = 500;

/// The shortest of so many runs counts: what makes a run longer is the rest of the machine.
const RUNS: usize = 5;

/// More messages than a compaction emits.
const MOST_MESSAGES: usize = 64;

struct Ear(mpsc::Sender<Message>);

impl Host for Ear {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        Box::pin(async { self.0.send(message).await.unwrap_or_default() })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("| conversation | compaction, shortest of {RUNS} |\n|---|---|");
    for tokens in SIZES {
        let mut shortest = Duration::MAX;
        for _ in 0..RUNS {
            shortest = shortest.min(compact(tokens).await);
        }
        println!("| {tokens} tokens | {:.2} ms |", shortest.as_secs_f64() * 1000.0);
    }
}

/// Resumes a session of this size and measures how long its compaction takes.
async fn compact(tokens: usize) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let home = ConfigHome::new(folder.path().join("home"));
    let key = ProjectKey::for_directory(folder.path());
    let id = write_session(&home, &key, folder.path(), tokens);
    let wanted = StartOptions { from: StartFrom::Session(id), ..StartOptions::default() };
    let taken = wanted.open(&home, &key, origin(folder.path())).unwrap();

    let mut config = SessionConfig::new(folder.path(), Arc::new(Providers::new()), "script");
    (config.session_id, config.transcript, config.resumed) =
        (taken.id, taken.transcript, taken.context);
    let (ear, mut heard) = mpsc::channel(MOST_MESSAGES);
    let (session, run) = Session::start(config, Arc::new(Ear(ear))).unwrap();
    let running = tokio::spawn(run);
    let began = Instant::now();
    session.prompt(UserMessage::prompt("/compact")).await;
    let mut compacted = false;
    while let Some(message) = heard.recv().await {
        compacted |= matches!(message, Message::System(_)) && is_boundary(&message);
        if matches!(message, Message::Result(_)) {
            break;
        }
    }
    let took = began.elapsed();
    assert!(compacted, "the conversation was not compacted");
    session.end_of_input().await;
    running.await.unwrap();
    took
}

fn is_boundary(message: &Message) -> bool {
    serde_json::to_value(message).unwrap()["subtype"] == "compact_boundary"
}

/// Prompts and answers in turns; returns the session's name.
fn write_session(home: &ConfigHome, key: &ProjectKey, folder: &Path, tokens: usize) -> String {
    let files = home.session(key, &new_id());
    let id = files.id().to_string();
    let mut writer = TranscriptWriter::create(files, origin(folder)).unwrap();
    let words = "let depth = sound(chart);\n".repeat(MESSAGE * 4 / 26);
    for number in 0..tokens / MESSAGE / 2 {
        writer.push(UserLine::new(words.as_str()));
        let answer = ApiMessage {
            id: format!("m{number}"),
            content: vec![ContentBlock::text(words.as_str())],
            ..ApiMessage::default()
        };
        for line in AssistantLine::split(&answer, None) {
            writer.push(line);
        }
    }
    let _ = writer.flush();
    id
}

fn origin(folder: &Path) -> LineOrigin {
    LineOrigin { cwd: folder.display().to_string(), ..LineOrigin::default() }
}
