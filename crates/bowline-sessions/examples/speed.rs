//! Benchmark of resuming a long session and of listing many: time and memory.
//!
//! ```sh
//! cargo run --release -p bowline-sessions --example speed
//! ```
//!
//! Each measurement is a process of its own, started by this one, so that its memory is its own.
#![expect(clippy::disallowed_methods, reason = "an example is a program and reads its environment")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails stops")]

use std::{
    env, fs,
    io::{BufWriter, Write},
    path::Path,
    process::Command,
    time::Instant,
};

use bowline_protocol::{ContentBlock, SessionId};
use bowline_sessions::{ConfigHome, ListOptions, ProjectKey, ResumeAt, list, resume};
use serde_json::{Value, json};

const LINES: usize = 100_000;
const SESSIONS: usize = 10_000;

/// The shortest of so many runs counts: what makes a run longer is the rest of the machine.
const RUNS: usize = 7;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["resume", path] => measure_resume(Path::new(path)),
        ["list", home, directory] => measure_list(home, directory),
        _ => measure_all(),
    }
}

fn measure_all() {
    let folder = tempfile::tempdir().unwrap();
    let (home, directory) = (folder.path().join("home"), folder.path().join("work"));
    fs::create_dir_all(&directory).unwrap();
    let key = ProjectKey::for_directory(&directory);
    let files = ConfigHome::new(&home);
    let project = files.session(&key, &SessionId::from(id(0))).project_folder().to_owned();
    fs::create_dir_all(&project).unwrap();

    let long = folder.path().join("long.jsonl");
    write_session(&long, LINES, 800);
    let old = folder.path().join("compacted.jsonl");
    write_compacted(&old, LINES);
    for number in 0..SESSIONS {
        let path = files.session(&key, &SessionId::from(id(number))).transcript();
        // From some kilobytes to more than the two ends that a listing reads.
        write_session(&path, if number % 10 == 0 { 200 } else { 12 }, 800);
    }

    println!("| what | shortest of {RUNS} | more memory at the peak | |\n|---|---|---|---|");
    for (what, path) in [("all live", &long), ("compacted before the last 100", &old)] {
        let size = fs::metadata(path).unwrap().len() >> 20;
        let what = format!("resume, {LINES} lines, {size} MB, {what}");
        report(&what, &["resume", path.to_str().unwrap()]);
    }
    let words = ["list", home.to_str().unwrap(), directory.to_str().unwrap()];
    report(&format!("list {SESSIONS} sessions"), &words);
}

/// Runs a measurement several times and prints the best of each number.
fn report(what: &str, words: &[&str]) {
    let runs = (0..RUNS).map(|_| {
        let output = Command::new(env::current_exe().unwrap()).args(words).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut numbers = text.split_whitespace().map(|number| number.parse::<f64>().unwrap());
        let mut next = || numbers.next().unwrap();
        (next(), next(), next())
    });
    let (seconds, memory, live) = runs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let factor = match live > 0.0 {
        true => format!("{:.1}× the live context of {live:.0} MB", memory / live),
        false => String::new(),
    };
    println!("| {what} | {seconds:.3} s | {memory:.0} MB | {factor} |");
}

fn measure_resume(path: &Path) {
    let (before, began) = (peak_memory(), Instant::now());
    let context = resume(path, &ResumeAt::End).unwrap();
    let took = began.elapsed().as_secs_f64();
    let memory = peak_memory() - before;
    let blocks = context.messages.iter().flat_map(|message| &message.content);
    let live: usize = blocks.map(bytes_of).sum();
    println!("{took} {memory} {}", live as f64 / f64::from(1 << 20));
}

fn measure_list(home: &str, directory: &str) {
    let (before, began) = (peak_memory(), Instant::now());
    let found = list(&ConfigHome::new(home), &ListOptions::of(directory));
    let took = began.elapsed().as_secs_f64();
    assert_eq!(found.len(), SESSIONS);
    println!("{took} {} 0", peak_memory() - before);
}

fn bytes_of(block: &ContentBlock) -> usize {
    serde_json::to_string(block).unwrap().len()
}

/// The most memory this process has had, in megabytes.
fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}

fn write_session(path: &Path, lines: usize, length: usize) {
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    let mut parent = None;
    for number in 0..lines {
        writeln!(file, "{}", line(number, &mut parent, length)).unwrap();
    }
    let leaf = json!({ "type": "last-prompt", "lastPrompt": "on", "leafUuid": parent });
    writeln!(file, "{leaf}").unwrap();
}

fn write_compacted(path: &Path, lines: usize) {
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    let mut parent = None;
    for number in 0..lines - 100 {
        writeln!(file, "{}", line(number, &mut parent, 800)).unwrap();
    }
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": id(lines * 2), "parentUuid": null,
        "timestamp": "2026-01-02T03:04:05.678Z", "compactMetadata": { "trigger": "auto", "preTokens": 1 },
    });
    writeln!(file, "{boundary}").unwrap();
    parent = Some(id(lines * 2));
    for number in lines - 100..lines {
        writeln!(file, "{}", line(number, &mut parent, 800)).unwrap();
    }
}

/// A line of a session in which every prompt has an answer that calls a tool, its result, and an
/// answer in words.
fn line(number: usize, parent: &mut Option<String>, length: usize) -> Value {
    let (name, turn) = (id(number), number / 4);
    let words = "    let depth = sound(chart, \"reef\"); // and so on\n".repeat(length / 50);
    let (kind, message) = match number % 4 {
        0 => ("user", json!({ "role": "user", "content": format!("prompt {turn}: {words}") })),
        2 => (
            "user",
            json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("t{turn}"), "content": words },
        ] }),
        ),
        part => (
            "assistant",
            json!({
                "id": format!("m{turn}.{part}"), "type": "message", "role": "assistant", "model": "m",
                "usage": { "input_tokens": 1, "output_tokens": 2 }, "stop_reason": "end_turn",
                "content": [match part {
                    1 => json!({ "type": "tool_use", "id": format!("t{turn}"), "name": "Write",
                        "input": { "file_path": "/w/x", "content": words } }),
                    _ => json!({ "type": "text", "text": words }),
                }],
            }),
        ),
    };
    let line = json!({
        "parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": name,
        "timestamp": "2026-01-02T03:04:05.678Z", "sessionId": id(0), "cwd": "/w", "version": "1",
        "gitBranch": "main", "userType": "external", "entrypoint": "sdk-py",
    });
    *parent = Some(name);
    line
}

fn id(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}
