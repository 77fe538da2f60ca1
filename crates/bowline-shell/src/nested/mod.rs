//! Nested commands: those that `timeout`, `sudo` or `bash -c` run.

mod inputs;
mod shells;
mod wrappers;

pub(crate) use wrappers::{NICE, STDBUF, TIME, TIMEOUT};

use crate::script::{Command, Script};

/// How far wrappers inside wrappers are followed.
pub(crate) const MAX_LAYERS: usize = 8;

/// Commands that a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nested {
    /// No known one.
    None,
    /// Exactly this command, only later, slower or for a limited time: `timeout 5 …`.
    Same(Command),
    /// These commands, with another environment, user or more arguments: `sudo …`, `xargs …`.
    Others(Vec<Command>),
    /// A whole command line: `bash -c '…'`.
    Script(Script),
    /// Commands that are undecidable before the command runs.
    Unknown,
}

impl Command {
    /// The commands that this command runs besides itself.
    pub fn nested(&self) -> Nested {
        let Some(name) = self.name() else { return Nested::None };
        let name = name.rsplit('/').next().unwrap_or(name);
        let words = &self.words[1..];
        wrappers::nested(self, name, words)
            .or_else(|| shells::nested(name, words))
            .or_else(|| inputs::nested(name, words))
            .unwrap_or(Nested::None)
    }

    /// This command, and the same command without each of the wrappers that add nothing to it.
    pub fn unwrapped(&self) -> Vec<Self> {
        let mut found = vec![self.clone()];
        while found.len() <= MAX_LAYERS
            && let Some(outer) = found.last()
            // A program of that name in some directory may be anything.
            && outer.name().is_some_and(|name| !name.contains('/'))
            && let Nested::Same(inner) = outer.nested()
        {
            found.push(inner);
        }
        found
    }

    /// This command and all nested ones, from the outside in; and whether that is all.
    pub fn layers(&self) -> (Vec<Self>, bool) {
        let mut found = Vec::new();
        let complete = collect(self, &mut found, 0);
        (found, complete)
    }
}

fn collect(command: &Command, found: &mut Vec<Command>, depth: usize) -> bool {
    found.push(command.clone());
    let (inner, complete) = match command.nested() {
        Nested::None => return true,
        Nested::Unknown => return false,
        Nested::Same(inner) => (vec![inner], true),
        Nested::Others(inner) => (inner, true),
        Nested::Script(script) => (script.commands, script.opaque.is_none()),
    };
    if depth == MAX_LAYERS {
        return false;
    }
    inner.iter().fold(complete, |complete, inner| collect(inner, found, depth + 1) && complete)
}
