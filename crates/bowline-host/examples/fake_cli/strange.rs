//! Bytes and frames that no agent should write, and some do.

use std::{
    io::{self, Write},
    process::exit,
};

use serde_json::json;

use super::{Fake, assistant, leave, result, tool};

/// Deeper than anything that reads by calling itself could go.
const DEPTH: usize = 200_000;

impl Fake {
    /// Plays its part; `false` if it is none of these.
    pub(super) fn is_strange(&mut self, part: &str) -> bool {
        match part {
            "half_a_line" => {
                bytes(br#"{"type":"assistant","message":{"id":"#);
                leave();
            }
            "no_last_newline" => {
                bytes(result("whole", false).to_string().as_bytes());
                exit(0);
            }
            "windows" => {
                bytes(b"\r\n  \r\n\r\n");
                bytes(format!("{}\r\n", assistant(&json!([]))).as_bytes());
                bytes(format!("{}\r\n", result("with returns", false)).as_bytes());
            }
            "garbage" => {
                self.garbage();
                self.result("clean");
            }
            "frames" => {
                self.frames();
                self.wait_for(3);
                self.answers.sort_by_key(|answer| answer["request_id"].to_string());
                self.result(&self.heard());
            }
            "same_name" => {
                self.ask("1", &tool("Bash"));
                self.ask("1", &tool("Bash"));
                // The host answers once it has heard this, and so both of them.
                self.assistant(&json!([{"type": "text", "text": "asked twice"}]));
                self.wait_for(1);
                self.ask("1", &tool("Read"));
                self.wait_for(2);
                self.result(&self.heard());
            }
            "mutter" => {
                io::stderr().write_all(&b"x".repeat(1_000_000)).expect("the host reads");
                self.result("heard");
            }
            _ => return false,
        }
        true
    }

    /// Lines that are no messages, or none of which anybody can make anything.
    fn garbage(&self) {
        bytes(format!("\u{feff}{}\n", result("behind a mark", false)).as_bytes());
        bytes(format!("\0\0{}\n", result("behind nothing", false)).as_bytes());
        bytes(b"{\"type\":\"user\",\"message\":\"\xff\xfe\"}\n");
        let deep = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        bytes(format!("{{\"type\":\"deep\",\"value\":{deep}}}\n").as_bytes());
        bytes(format!("{{\"type\":\"assistant\",\"message\":{deep}}}\n").as_bytes());
        bytes(b"{}\nnull\n[]\n\"text\"\n7\n");
    }

    /// Frames that are wrong, beside three that are not.
    fn frames(&self) {
        for line in [
            json!({"type": "control_request", "request": {"subtype": "can_use_tool"}}),
            json!({"type": "control_request", "request_id": 7, "request": {}}),
            json!({"type": "control_request", "request_id": "1"}),
            json!({"type": "control_request", "request_id": "2", "request": "can_use_tool"}),
            json!({"type": "control_cancel_request", "request_id": "never asked"}),
            json!({"type": "control_cancel_request"}),
            json!({"type": "control_response", "response": {"subtype": "success", "request_id": "never asked"}}),
            json!({"type": "control_response", "response": null}),
        ] {
            self.say(&line);
        }
        self.ask("3", &tool("Bash"));
    }
}

/// Writes bytes as they are.
fn bytes(bytes: &[u8]) {
    let mut out = io::stdout();
    // Nobody listens any more: that is how sessions end.
    out.write_all(bytes).and_then(|()| out.flush()).ok();
}
