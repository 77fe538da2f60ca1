//! `kill -9` at any moment: what was acknowledged stays, the conversation stays valid, and the work
//! is finished by the process that takes over.
//!
//! Each run has a seed, which chooses the moment. `CRASH_SEED=n` begins with another one.

use std::{
    collections::HashSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use bowline_model::script::ScriptServer;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::{
    history,
    test_home::{Host, TestHome},
};

const RUNS: u64 = 300;

/// More than there are cores, because a run mostly waits for its processes.
const AT_ONCE: u64 = 4;

/// On a machine that is busy with other things, fewer runs have to do.
const LONGEST: Duration = Duration::from_secs(60);

/// Longest wait between a message and the kill: the next message comes sooner.
const LONGEST_WAIT: Duration = Duration::from_millis(8);

const SESSION: &str = "cccccccc-cccc-4ccc-8ccc-cccccccccccc";

/// What the model is made to say in place of what was compacted.
const SUMMARY: &str = "The chart was drawn and sounded.";

/// What the user asks for, one after the other: calls one by one and side by side, a subagent, a
/// compaction, an edit. All of it can be done twice.
fn prompts() -> Vec<String> {
    let bash = |command: &str| format!("TOOL Bash {}", json!({ "command": command }));
    let write = json!({ "file_path": "chart.txt", "content": "reef\n" });
    let edit = json!({ "file_path": "chart.txt", "old_string": "reef\n", "new_string": "reefs\n" });
    let agent = json!({
        "subagent_type": "general-purpose",
        "description": "Sound the depth",
        "run_in_background": false,
        "prompt": format!("{}\nNEXT\nSAY ten fathoms", bash("echo ten > depth.txt")),
    });
    vec![
        format!(
            "THINK where to begin\nSAY I draw.\nTOOL Write {write}\nNEXT\nSAY Two at once.\n{}\n{}\n\
             NEXT\nSAY drawn",
            bash("echo north > north.txt"),
            bash("echo south > south.txt"),
        ),
        format!("SAY I ask.\nTOOL Agent {agent}\nNEXT\nSAY sounded\nSUMMARY {SUMMARY}"),
        "/compact".to_owned(),
        format!(
            "TOOL Read {}\nNEXT\nTOOL Edit {edit}\nNEXT\nSAY corrected",
            json!({ "file_path": "chart.txt" })
        ),
        format!(
            "{}\nNEXT\nSAY home",
            bash("cat chart.txt depth.txt north.txt south.txt > log.txt")
        ),
    ]
}

/// When a process is killed.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// After so many lines of its output.
    lines: u64,
    /// And then so much later.
    wait: Duration,
}

impl Moment {
    fn of(seed: u64, lines_of_all: u64) -> Self {
        let mut state = seed;
        let mut below = |limit: u64| {
            // SplitMix64: two lines, and any seed will do.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % limit
        };
        let lines = below(lines_of_all);
        let longest = LONGEST_WAIT.as_micros() as u64;
        // Most waits are short: much happens right after a message.
        let limit = if below(2) == 0 { longest / 16 } else { longest };
        Self { lines, wait: Duration::from_micros(below(limit)) }
    }
}

/// A session that is driven through all prompts, by one process after another.
struct Drive {
    rig: TestHome,
    server: ScriptServer,
    /// How many prompts have had their result.
    finished: usize,
    /// Everything that was received, over all processes.
    received: Vec<Value>,
    /// How many processes have worked on it. Each tells the server its number, because requests of
    /// one that was killed may still arrive while the next one works.
    processes: u32,
}

impl Drive {
    fn begin(runtime: &Handle) -> Self {
        let server = runtime.block_on(ScriptServer::local()).unwrap();
        Self { rig: TestHome::new(), server, finished: 0, received: Vec::new(), processes: 0 }
    }

    fn start(&mut self) -> Host {
        self.processes += 1;
        let is_there = self.transcript().is_some_and(|file| fs::metadata(file).unwrap().len() > 0);
        let session = if is_there { "--resume" } else { "--session-id" };
        let args = [session, SESSION, "--replay-user-messages", "--allowedTools"];
        let tools = ["Bash", "Write", "Edit", "Read", "Agent"];
        let more = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
        let words = [&args[..], &tools, &more].concat();
        let mut command = self.rig.bowline(words);
        command.env("ANTHROPIC_BASE_URL", self.server.url()).env("ANTHROPIC_API_KEY", "none");
        command.env("ANTHROPIC_CUSTOM_HEADERS", format!("x-process: {}", self.processes));
        Host::of(command, &self.rig)
    }

    /// Works through the prompts that have no result yet; ends when all have, or with the process.
    fn work(&mut self, killed: Option<Moment>) -> u64 {
        let mut host = self.start();
        let mut lines = 0;
        match prompts().get(self.finished) {
            Some(next) => host.prompt(next),
            None => host.close_input(),
        }
        loop {
            if let Some(moment) = killed.filter(|moment| moment.lines == lines) {
                thread::sleep(moment.wait);
                host.kill();
            }
            let Some(line) = host.receive_raw() else { break };
            lines += 1;
            let is_result = line["type"] == "result";
            if is_result {
                assert_eq!(line["subtype"], "success", "{line}");
                self.finished += 1;
            }
            self.received.push(line);
            match prompts().get(self.finished) {
                Some(next) if is_result => host.prompt(next),
                Some(_) => {}
                None => host.close_input(),
            }
        }
        let ran = host.end();
        if killed.is_none() {
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        }
        lines
    }

    fn transcript(&self) -> Option<PathBuf> {
        let files = self.rig.transcripts().into_iter();
        files.into_iter().find(|file| file.file_stem().is_some_and(|stem| stem == SESSION))
    }

    /// The lines of all transcripts, subagents' included. The last one of a file may be torn.
    fn written(&self) -> Vec<Value> {
        let Some(transcript) = self.transcript() else { return Vec::new() };
        let subagents = fs::read_dir(transcript.with_extension("").join("subagents"));
        let subagents = subagents.into_iter().flatten().map(|entry| entry.unwrap().path());
        let subagents = subagents.filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
        std::iter::once(transcript).chain(subagents).flat_map(|file| lines_of(&file)).collect()
    }

    /// Whether everything that the host received of the conversation is on disk.
    fn check_nothing_lost(&self) {
        let written = self.written();
        let names: HashSet<_> = written.iter().filter_map(|line| line["uuid"].as_str()).collect();
        for line in &self.received {
            // A command and what it prints are no part of the conversation.
            let text = line["message"]["content"].as_str().unwrap_or_default();
            let is_command = text.starts_with("<command-") || text.starts_with("<local-command-");
            if matches!(line["type"].as_str(), Some("user" | "assistant")) && !is_command {
                let name = line["uuid"].as_str().unwrap();
                assert!(names.contains(name), "acknowledged, but not written: {line}");
            }
        }
    }

    /// Whether the model was told by the last process, from its first request on, everything that
    /// the host had received before.
    fn check_history(&self, received_before: usize) {
        let requests = self.server.requests();
        for request in &requests {
            if let Err(problem) = history::check(&request.body["messages"]) {
                panic!("{problem}: {}", request.body["messages"]);
            }
        }
        let number = self.processes.to_string();
        let mut own = requests.iter().filter(|it| it.header("x-process") == Some(number.as_str()));
        let Some(first) = own.next() else { return };
        let notice = first.body["messages"].to_string();
        if notice.contains(SUMMARY) {
            return;
        }
        for line in &self.received[..received_before] {
            let is_ours = line["parent_tool_use_id"].is_null();
            let blocks = line["message"]["content"].as_array();
            for block in blocks.into_iter().flatten().filter(|_| is_ours) {
                let mark = match block["type"].as_str() {
                    Some("tool_use") => &block["id"],
                    Some("tool_result") => &block["tool_use_id"],
                    Some("text") => &block["text"],
                    _ => continue,
                };
                assert!(notice.contains(&mark.to_string()), "{mark} is missing in {notice}");
            }
        }
    }

    fn check_work(&self) {
        assert_eq!(self.finished, prompts().len());
        let log = fs::read_to_string(self.rig.cwd().join("log.txt")).unwrap();
        assert_eq!(log, "reefs\nten\nnorth\nsouth\n");
    }
}

fn lines_of(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn killed_and_resumed(runtime: &Handle, moment: Moment) {
    let mut drive = Drive::begin(runtime);
    drive.work(Some(moment));
    drive.check_nothing_lost();
    let received = drive.received.len();
    drive.work(None);
    drive.check_nothing_lost();
    drive.check_history(received);
    drive.check_work();
}

#[test]
fn kill_9_loses_no_acknowledged_message() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (servers, over) = (runtime.handle(), CancellationToken::new());
    thread::scope(|scope| {
        scope.spawn(|| runtime.block_on(over.cancelled()));
        let _over = over.clone().drop_guard();
        let mut whole = Drive::begin(servers);
        let lines = whole.work(None);
        whole.check_nothing_lost();
        whole.check_history(0);
        whole.check_work();

        let given = std::env::var("CRASH_SEED").ok().map(|seed| seed.parse().unwrap());
        let first: u64 = given.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0 >> 16);
        println!("seeds {first} to {}, {lines} lines in a whole run", first + RUNS - 1);
        let (next, began) = (AtomicU64::new(0), Instant::now());
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while began.elapsed() < LONGEST
                        && let Some(seed) = run_after(&next).map(|run| first + run)
                    {
                        let moment = Moment::of(seed, lines);
                        let run = AssertUnwindSafe(|| killed_and_resumed(servers, moment));
                        if let Err(panic) = catch_unwind(run) {
                            eprintln!("seed {seed}: killed at {moment:?}");
                            resume_unwind(panic);
                        }
                    }
                });
            }
        });
        println!("{} runs in {:.1?}", next.into_inner().min(RUNS), began.elapsed());
    });
}

fn run_after(next: &AtomicU64) -> Option<u64> {
    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|run| *run < RUNS)
}
