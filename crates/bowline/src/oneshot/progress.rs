//! One quiet line on the terminal while a session works.

use std::{
    fmt::{self, Write as _},
    io::Write,
    time::{Duration, Instant},
};

use bowline_model::Prices;
use bowline_protocol::{ContentBlock, Maybe, Message};

/// The progress line.
pub(super) struct Progress {
    out: Box<dyn Write + Send>,
    began: Instant,
    turns: u64,
    doing: String,
    tokens: u64,
    /// What it cost so far, in dollars; models without a known price cost nothing here.
    cost: f64,
    prices: Prices,
    /// Whether there is a line to be wiped.
    drawn: bool,
}

/// Goes to the beginning of the line and wipes it.
const WIPE: &str = "\r\x1b[K";

impl Progress {
    pub(super) fn new(out: impl Write + Send + 'static, prices: Prices) -> Self {
        Self {
            out: Box::new(out),
            began: Instant::now(),
            turns: 0,
            doing: "thinking".to_owned(),
            tokens: 0,
            cost: 0.0,
            prices,
            drawn: false,
        }
    }

    /// Takes note of a message.
    pub(super) fn watch(&mut self, message: &Message) {
        match message {
            Message::Assistant(said) => {
                self.turns += 1;
                let usage = &said.message.usage;
                let count = |tokens: &Maybe<u64>| tokens.as_ref().copied().unwrap_or(0);
                self.tokens += count(&usage.input_tokens) + count(&usage.output_tokens);
                self.cost += self.prices.cost(&said.message.model, usage).unwrap_or(0.0);
                for block in &said.message.content {
                    if let ContentBlock::ToolUse(call) = block {
                        self.doing.clone_from(&call.name);
                    }
                }
            }
            Message::User(_) => "thinking".clone_into(&mut self.doing),
            _ => return,
        }
        self.draw();
    }

    /// Draws the line.
    pub(super) fn draw(&mut self) {
        let line = line(self.turns, &self.doing, self.began.elapsed(), self.tokens, self.cost);
        write!(self.out, "{WIPE}{line}").and_then(|()| self.out.flush()).ok();
        self.drawn = true;
    }

    /// Wipes the line.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write!(self.out, "{WIPE}").and_then(|()| self.out.flush()).ok();
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
    use super::*;

    #[test]
    fn the_line() {
        assert_eq!(line(0, "thinking", Duration::from_millis(1260), 0, 0.0), "thinking · 1.3s");
        assert_eq!(
            line(2, "Bash", Duration::from_secs(61), 12_345, 0.0371),
            "Bash · 61.0s · turn 2 · 12.3k tokens · $0.0371"
        );
    }
}
