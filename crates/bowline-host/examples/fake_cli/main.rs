//! A stand-in for an agent's program that behaves as badly as it is told to, for the tests of this
//! crate: `--play PART` says how. It speaks the protocol by hand, so that it shares no mistake
//! with the code it tests.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what a program is for")]

mod storm;
mod strange;

use std::{
    io::{self, BufRead, Lines, StdinLock, Write},
    process::exit,
};

use serde_json::{Value, json};

fn main() {
    let mut fake =
        Fake { lines: io::stdin().lock().lines(), answers: Vec::new(), requests: Vec::new() };
    let part = argument("--play").unwrap_or_default();
    match part.as_str() {
        "exit_first" => leave(),
        "mute" => while fake.read().is_some() {},
        "stuck" => {
            eprintln!("waiting for somebody to log in");
            while fake.lines.next().is_some() {}
        }
        "loud" => {
            eprint!("{}", format!("{}\n", "noise ".repeat(20)).repeat(9_000));
            eprintln!("the last line");
            fake.serve(|fake| fake.result("heard"));
        }
        _ => fake.serve(|fake| fake.act(&part)),
    }
    if part == "stubborn" {
        // Its parent has told the system to ignore SIGTERM, and the end of input means nothing.
        loop {
            std::thread::park();
        }
    }
}

/// The value behind a flag.
fn argument(name: &str) -> Option<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)
}

/// Exits with `--code`, not without a word.
fn leave() -> ! {
    eprintln!("something broke");
    exit(argument("--code").and_then(|code| code.parse().ok()).unwrap_or(0))
}

struct Fake {
    lines: Lines<StdinLock<'static>>,
    /// Answers to our questions, in the order in which they came.
    answers: Vec<Value>,
    /// The host's requests, in the order in which they came.
    requests: Vec<Value>,
}

impl Fake {
    /// Answers the host's requests, and acts on each prompt, until input ends.
    fn serve(&mut self, mut act: impl FnMut(&mut Self)) {
        while let Some(line) = self.read() {
            if line["type"] == "user" {
                act(self);
            }
        }
    }

    /// Reads a line; the host's requests and answers are dealt with on the way.
    fn read(&mut self) -> Option<Value> {
        let line: Value =
            serde_json::from_str(&self.lines.next()?.ok()?).expect("hosts speak JSON");
        match line["type"].as_str() {
            Some("control_request") if argument("--play").as_deref() != Some("mute") => {
                self.answer(&line);
            }
            Some("control_response") => self.answers.push(line["response"].clone()),
            _ => {}
        }
        Some(line)
    }

    fn answer(&mut self, question: &Value) {
        let (id, request) = (&question["request_id"], &question["request"]);
        self.requests.push(request.clone());
        if request["model"] == "none" {
            let error = json!({"subtype": "error", "request_id": id, "error": "no such model"});
            return self.say(&json!({"type": "control_response", "response": error}));
        }
        if argument("--play").as_deref() == Some("refuse") {
            let error = json!({"subtype": "error", "request_id": id, "error": "not with you"});
            return self.say(&json!({"type": "control_response", "response": error}));
        }
        if request["model"] == "die" {
            leave();
        }
        let response = match request["subtype"].as_str() {
            Some("initialize") => json!({
                "commands": [{"name": "help", "description": "", "argumentHint": ""}],
                "agents": [], "models": [], "account": {}, "pid": std::process::id(),
                "claude_code_version": argument("--claims"),
            }),
            _ => json!({}),
        };
        let success = json!({"subtype": "success", "request_id": id, "response": response});
        self.say(&json!({"type": "control_response", "response": success}));
        if argument("--play").as_deref() == Some("repeat") {
            self.say(&json!({"type": "control_response", "response": success}));
        }
    }

    /// Plays its part.
    fn act(&mut self, part: &str) {
        if self.is_strange(part) {
            return;
        }
        match part {
            "exit" => leave(),
            "exit_in_callback" => {
                self.ask("1", &tool("Bash"));
                // The host says when the callback runs.
                while self.read().is_some_and(|line| line["type"] != "user") {}
                leave();
            }
            "odd" => self.odd(),
            "big" => {
                let length = argument("--length").and_then(|length| length.parse().ok());
                let text = "x".repeat(length.unwrap_or(5_000_000));
                self.assistant(&json!([{"type": "text", "text": text}]));
                self.result("big");
            }
            "two_questions" => {
                self.ask("1", &tool("Bash"));
                self.ask("2", &tool("Read"));
                self.wait_for(2);
                self.result(&self.heard());
            }
            "three_at_once" => {
                self.ask("1", &tool("Bash"));
                for (id, name) in [("2", "a"), ("3", "b")] {
                    let call = json!({
                        "jsonrpc": "2.0", "id": id, "method": "tools/call",
                        "params": {"name": name, "arguments": {}},
                    });
                    self.ask(
                        id,
                        &json!({"subtype": "mcp_message", "server_name": "calc", "message": call}),
                    );
                }
                self.wait_for(3);
                self.result(&self.heard());
            }
            "withdraw" => {
                self.ask("1", &tool("Bash"));
                while self.read().is_some_and(|line| line["type"] != "user") {}
                self.say(&json!({"type": "control_cancel_request", "request_id": "1"}));
                self.ask("2", &json!({"subtype": "no_such_request"}));
                self.wait_for(1);
                self.result(&self.heard());
            }
            "nobody" => {
                self.ask("1", &tool("Bash"));
                self.ask("2", &json!({"subtype": "hook_callback", "callback_id": "hook_9", "input": {
                    "hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "",
                    "stop_hook_active": false,
                }}));
                let hello =
                    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}});
                self.ask(
                    "3",
                    &json!({
                        "subtype": "mcp_message", "server_name": "none", "message": hello,
                    }),
                );
                self.ask(
                    "4",
                    &json!({"subtype": "elicitation", "mcp_server_name": "m", "message": "?"}),
                );
                self.wait_for(4);
                self.answers.sort_by_key(|answer| answer["request_id"].to_string());
                self.result(&self.heard());
            }
            "flood" => {
                let line = assistant(&json!([{"type": "text", "text": "drop in the ocean"}]));
                let lines = format!("{line}\n").repeat(1_000);
                for _ in 0..200 {
                    io::stdout().write_all(lines.as_bytes()).expect("the host reads");
                }
                self.ask("1", &tool("Bash"));
                self.wait_for(1);
                self.result(&self.heard());
            }
            "works_on" => {
                self.state("running");
                self.result("first");
                self.ask("1", &tool("Bash"));
                self.wait_for(1);
                self.result(&self.heard());
                self.state("idle");
            }
            "stays" => {
                self.state("idle");
                self.result("done");
                // Input ends, and this program does not.
                while self.read().is_some() {}
                std::thread::park();
            }
            "hang" | "stubborn" => {
                if let Some(place) = argument("--note") {
                    let id = std::process::id().to_string();
                    std::fs::write(place, id).expect("it can be written");
                }
            }
            "requests" => self.result(&json!(self.requests).to_string()),
            "surroundings" => {
                let cwd = std::env::current_dir().expect("there is one");
                let told = ["GIVEN", "CLAUDE_CODE_SDK_READS_SESSION_STATE", "CLAUDECODE"]
                    .map(|name| std::env::var(name).unwrap_or_else(|_| "unset".to_owned()));
                self.result(&format!("{} {}", cwd.display(), told.join(" ")));
            }
            "fail" => {
                let mut failure = result("it went wrong", true);
                failure["api_error_status"] =
                    json!(argument("--status").map(|it| it.parse::<u16>().ok()));
                self.say(&failure);
                exit(1);
            }
            "storm" => self.storm(),
            "files" => {
                let told = ["--settings", "--mcp-config"].map(|flag| {
                    let path = argument(flag).unwrap_or_default();
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    let read: Value = serde_json::from_str(&text).unwrap_or_default();
                    let keys = read.as_object().map(|it| it.keys().cloned().collect::<Vec<_>>());
                    json!({"path": path, "keys": keys, "length": text.len()})
                });
                self.result(&json!(told).to_string());
            }
            _ => self.result("heard"),
        }
    }

    /// What a newer agent, a chatty library and a broken pipe would write.
    fn odd(&self) {
        self.say(&json!({"type": "from_the_future", "x": 1}));
        self.say(&json!({"type": "system", "subtype": "from_the_future", "session_id": "s", "uuid": "u"}));
        println!("loading plugins … done");
        self.assistant(&json!([{"type": "hologram"}, {"type": "text", "text": "hi"}]));
        println!(r#"{{"type":"assistant","message":{{"#);
        self.say(&json!({"type": "assistant", "message": 7}));
        self.result("odd");
    }

    fn say(&self, line: &Value) {
        // Nobody listens any more: that is how sessions end.
        writeln!(io::stdout(), "{line}").ok();
    }

    fn ask(&self, id: &str, request: &Value) {
        self.say(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    fn wait_for(&mut self, count: usize) {
        while self.answers.len() < count && self.read().is_some() {}
    }

    /// What came of our questions, in words.
    fn heard(&self) -> String {
        let heard = self.answers.iter().map(|answer| {
            let what = match answer["subtype"].as_str() {
                Some("success") => answer["response"].to_string(),
                _ => answer["error"].as_str().unwrap_or("?").to_owned(),
            };
            format!("{}: {what}", answer["request_id"].as_str().unwrap_or("?"))
        });
        heard.collect::<Vec<_>>().join("\n")
    }

    fn state(&self, state: &str) {
        self.say(&json!({
            "type": "system", "subtype": "session_state_changed", "state": state,
            "sdk_host_only": true, "uuid": "u", "session_id": "s",
        }));
    }

    fn assistant(&self, content: &Value) {
        self.say(&assistant(content));
    }

    fn result(&self, text: &str) {
        self.say(&result(text, false));
    }
}

fn tool(name: &str) -> Value {
    json!({"subtype": "can_use_tool", "tool_name": name, "input": {}, "tool_use_id": "t"})
}

fn assistant(content: &Value) -> Value {
    json!({
        "type": "assistant", "parent_tool_use_id": null, "session_id": "s", "uuid": "u",
        "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "fake", "content": content,
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    })
}

fn result(text: &str, is_error: bool) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": is_error, "result": text,
        "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "stop_reason": null,
        "total_cost_usd": 0.0, "usage": {}, "uuid": "u", "session_id": "s",
    })
}
