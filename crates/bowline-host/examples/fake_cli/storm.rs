//! Everything at once, in an order that a seed decides: calls of tools, questions about permissions,
//! some withdrawn, words in between, and sometimes no end in order.

use serde_json::json;

use super::{Fake, argument, leave, result, tool};

/// Questions that are open at most.
const OPEN: usize = 6;

/// What happens before the end.
const STEPS: usize = 40;

/// Numbers in an order that nobody expects, and the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let seed = argument("--seed").and_then(|seed| seed.parse().ok()).unwrap_or(1);
        Self(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % sides
    }
}

impl Fake {
    /// Plays a storm. Its result says how many calls and questions there were, and how many of
    /// them were withdrawn, which may have been before the host had looked at them.
    pub(crate) fn storm(&mut self) {
        let mut dice = Dice::new();
        let (mut calls, mut questions, mut withdrawn, mut words) = (0, 0, 0, 0);
        let mut open: Vec<String> = Vec::new();
        for step in 0..STEPS {
            match dice.below(if open.len() < OPEN { 8 } else { 2 }) {
                // Whatever is read may be an answer, or a request that wants one.
                0 | 1 if !open.is_empty() => {
                    self.read();
                }
                2 | 3 => {
                    let id = format!("q{step}");
                    let mut question = tool("Bash");
                    question["tool_use_id"] = json!(id);
                    self.ask(&id, &question);
                    open.push(id);
                    questions += 1;
                }
                4 | 5 => {
                    let id = format!("c{step}");
                    let call = json!({
                        "jsonrpc": "2.0", "id": id, "method": "tools/call",
                        "params": {"name": "work", "arguments": {}, "_meta": {"claudecode/toolUseId": id}},
                    });
                    let message =
                        json!({"subtype": "mcp_message", "server_name": "desk", "message": call});
                    self.ask(&id, &message);
                    open.push(id);
                    calls += 1;
                }
                6 if !open.is_empty() => {
                    let id = open.swap_remove(dice.below(open.len() as u64) as usize);
                    self.say(&json!({"type": "control_cancel_request", "request_id": id}));
                    withdrawn += 1;
                }
                _ => {
                    words += 1;
                    self.assistant(&json!([{"type": "text", "text": "rolling"}]));
                }
            }
            open.retain(|id| self.answers.iter().all(|answer| answer["request_id"] != **id));
            if self.requests.iter().any(|request| request["subtype"] == "interrupt") {
                for id in &open {
                    self.say(&json!({"type": "control_cancel_request", "request_id": id}));
                }
                return self.say(&result("interrupted", true));
            }
            if argument("--fatal").is_some() && dice.below(STEPS as u64 / 2) == 0 {
                leave();
            }
        }
        while !open.is_empty() && self.read().is_some() {
            open.retain(|id| self.answers.iter().all(|answer| answer["request_id"] != **id));
        }
        let told = json!({
            "calls": calls, "questions": questions, "withdrawn": withdrawn, "words": words,
        });
        self.result(&told.to_string());
    }
}
