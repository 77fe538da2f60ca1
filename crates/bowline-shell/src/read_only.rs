//! Read-only commands: those known to change nothing.

use crate::{
    known,
    nested::{MAX_LAYERS, NICE, Nested, STDBUF, TIME, TIMEOUT},
    script::{Command, Script},
    variables::{is_harmless_setting, is_script_variable},
    word::Word,
};

impl Script {
    /// Whether the script only reads: see [`is_read_only`](crate::is_read_only).
    pub fn is_read_only(&self) -> bool {
        // A function may have the name of a harmless program, and may call itself without end.
        self.opaque.is_none()
            && !self.defines_functions
            && self.commands.iter().all(Command::is_read_only)
    }
}

impl Command {
    /// Whether this command is known to change nothing, and its output goes to no file.
    ///
    /// Commands in its substitutions are commands of their own: ask each of them.
    pub fn is_read_only(&self) -> bool {
        self.file_access().writes.is_empty() && self.runs_read_only()
    }

    /// The same, wherever its output goes.
    pub fn runs_read_only(&self) -> bool {
        self.innermost_reads(0).is_some()
    }

    /// Whether all it does is print the version of a program.
    pub fn asks_version(&self) -> bool {
        let inner = self.unwrapped().pop().unwrap_or_default();
        inner.name().is_some_and(|name| known::asks_version(name, &inner.words[1..]))
    }

    /// What it reads, through the wrappers that add nothing, if reading is all it does.
    pub(crate) fn innermost_reads(&self, depth: usize) -> Option<known::Reads> {
        if self.words.is_empty() {
            let own = self.assignments.iter().all(|it| is_script_variable(&it.name));
            return own.then(known::Reads::default);
        }
        if !self.assignments.iter().all(is_harmless_setting) {
            return None;
        }
        let name = self.name()?;
        let words = &self.words[1..];
        known::reads(name, words).or_else(|| match self.nested() {
            Nested::Same(inner) if depth < MAX_LAYERS && is_plain_wrapper(name, words, &inner) => {
                inner.innermost_reads(depth + 1)
            }
            _ => None,
        })
    }
}

/// Whether a wrapper adds nothing to the command it runs. `nohup` may write a file and is not here.
fn is_plain_wrapper(name: &str, words: &[Word], inner: &Command) -> bool {
    let synopsis = match name {
        "timeout" => TIMEOUT,
        "nice" => NICE,
        "stdbuf" => STDBUF,
        "command" | "time" => TIME,
        _ => return false,
    };
    let own = words.len().saturating_sub(inner.words.len());
    synopsis.matched(&words[..own]).is_some()
}
