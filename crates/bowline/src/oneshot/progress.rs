//! Progress line on the terminal while a session works.

use std::{
    fmt::{self, Write as _},
    io::Write,
    time::{Duration, Instant},
};

use bowline_model::Prices;
use bowline_protocol::{ApiMessage, ContentBlock, Maybe, Message, printable};

/// The progress line.
pub(super) struct Progress {
    out: Box<dyn Write + Send>,
    began: Instant,
    turns: u64,
    /// Id of the response that was counted last: each of its blocks is a message.
    counted: String,
    doing: String,
    /// Whether the user has interrupted the turn.
    stopping: bool,
    tokens: u64,
    /// Cost so far, in dollars; models without a known price are counted as free.
    cost: f64,
    prices: Prices,
    /// Whether a line is drawn.
    drawn: bool,
}

/// Moves to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Truncates the line at the width of the terminal. A wrapped part would not be cleared.
const CUT: (&str, &str) = ("\x1b[?7l", "\x1b[?7h");

/// Activity after an interrupt.
const STOPPING: &str = "stopping (Ctrl-C again to exit)";

impl Progress {
    pub(super) fn new(out: impl Write + Send + 'static, prices: Prices) -> Self {
        Self {
            out: Box::new(out),
            began: Instant::now(),
            turns: 0,
            counted: String::new(),
            doing: "thinking".to_owned(),
            stopping: false,
            tokens: 0,
            cost: 0.0,
            prices,
            drawn: false,
        }
    }

    /// Updates the line from a message.
    pub(super) fn watch(&mut self, message: &Message) {
        match message {
            Message::Assistant(assistant) => {
                if self.counted != assistant.message.id {
                    self.counted.clone_from(&assistant.message.id);
                    self.count(&assistant.message);
                }
                for block in &assistant.message.content {
                    if let ContentBlock::ToolUse(call) = block {
                        self.doing = printable(&call.name).into_owned();
                    }
                }
            }
            Message::User(_) => "thinking".clone_into(&mut self.doing),
            _ => return,
        }
        self.draw();
    }

    /// Notes that the user has interrupted the turn.
    pub(super) fn stop(&mut self) {
        self.stopping = true;
        self.draw();
    }

    fn count(&mut self, response: &ApiMessage) {
        self.turns += 1;
        let usage = &response.usage;
        let count = |tokens: &Maybe<u64>| tokens.as_ref().copied().unwrap_or(0);
        self.tokens += count(&usage.input_tokens) + count(&usage.output_tokens);
        self.cost += self.prices.cost(&response.model, usage).unwrap_or(0.0);
    }

    /// Draws the line.
    pub(super) fn draw(&mut self) {
        let doing = if self.stopping { STOPPING } else { &self.doing };
        let line = line(self.turns, doing, self.began.elapsed(), self.tokens, self.cost);
        let (cut, whole) = CUT;
        write!(self.out, "{CLEAR}{cut}{line}{whole}").and_then(|()| self.out.flush()).ok();
        self.drawn = true;
    }

    /// Clears the line.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write!(self.out, "{CLEAR}").and_then(|()| self.out.flush()).ok();
        }
    }
}

fn line(turns: u64, doing: &str, elapsed: Duration, tokens: u64, cost: f64) -> String {
    let mut line = format!("{doing} · {:.1}s", elapsed.as_secs_f64());
    if turns > 0 {
        write!(line, " · turn {turns}").ok();
    }
    match tokens {
        0 => {}
        1..1000 => drop(write!(line, " · {tokens} tokens")),
        _ => drop(write!(line, " · {:.1}k tokens", tokens as f64 / 1000.0)),
    }
    if cost > 0.0 {
        write!(line, " · ${cost:.4}").ok();
    }
    line
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("turns", &self.turns).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bowline_protocol::AssistantMessage;

    use super::*;

    #[test]
    fn response_of_several_blocks_is_one_turn() {
        let mut progress = Progress::new(std::io::sink(), Prices::default());
        for (id, text) in [("a", "first"), ("a", "second"), ("b", "third")] {
            let mut message = AssistantMessage::default();
            message.message.id = id.to_owned();
            message.message.usage.input_tokens = Maybe::Value(10);
            message.message.content = vec![ContentBlock::text(text)];
            progress.watch(&Message::Assistant(Box::new(message)));
        }
        assert_eq!((progress.turns, progress.tokens), (2, 20));
    }

    #[test]
    fn line_shows_activity_time_turns_tokens_and_cost() {
        assert_eq!(line(0, "thinking", Duration::from_millis(1260), 0, 0.0), "thinking · 1.3s");
        assert_eq!(
            line(2, "Bash", Duration::from_secs(61), 12_345, 0.0371),
            "Bash · 61.0s · turn 2 · 12.3k tokens · $0.0371"
        );
    }
}
