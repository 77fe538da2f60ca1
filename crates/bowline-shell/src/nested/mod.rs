//! Commands that run other commands: what `timeout`, `sudo` or `bash -c` carry.

mod inputs;
mod shells;
mod wrappers;

pub(crate) use wrappers::{NICE, STDBUF, TIME, TIMEOUT};

use crate::script::{Command, Script};

/// How far wrappers inside wrappers are followed.
pub(crate) const MAX_LAYERS: usize = 8;

/// What a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// Nothing that is known of.
    Nothing,
    /// Exactly this command, only later, slower or for a limited time: `timeout 5 …`.
    Same(Command),
    /// These commands, with another environment, user or more arguments: `sudo …`, `xargs …`.
    Others(Vec<Command>),
    /// A command line of its own: `bash -c '…'`.
    Script(Script),
    /// Something that cannot be told.
    Unknown,
}

impl Command {
    /// What this command runs besides itself.
    pub fn carried(&self) -> Carried {
        let Some(name) = self.name() else { return Carried::Nothing };
        let name = name.rsplit('/').next().unwrap_or(name);
        let words = &self.words[1..];
        wrappers::carried(self, name, words)
            .or_else(|| shells::carried(name, words))
            .or_else(|| inputs::carried(name, words))
            .unwrap_or(Carried::Nothing)
    }

    /// This command, and the same command without each of the wrappers that add nothing to it.
    pub fn unwrapped(&self) -> Vec<Self> {
        let mut found = vec![self.clone()];
        while found.len() <= MAX_LAYERS
            && let Some(outer) = found.last()
            // A program of that name in some directory may be anything.
            && outer.name().is_some_and(|name| !name.contains('/'))
            && let Carried::Same(inner) = outer.carried()
        {
            found.push(inner);
        }
        found
    }

    /// This command and all that it carries, from the outside in; and whether that is all.
    pub fn layers(&self) -> (Vec<Self>, bool) {
        let mut found = Vec::new();
        let complete = collect(self, &mut found, 0);
        (found, complete)
    }
}

fn collect(command: &Command, found: &mut Vec<Command>, depth: usize) -> bool {
    found.push(command.clone());
    let (inner, complete) = match command.carried() {
        Carried::Nothing => return true,
        Carried::Unknown => return false,
        Carried::Same(inner) => (vec![inner], true),
        Carried::Others(inner) => (inner, true),
        Carried::Script(script) => (script.commands, script.opaque.is_none()),
    };
    if depth == MAX_LAYERS {
        return false;
    }
    inner.iter().fold(complete, |complete, inner| collect(inner, found, depth + 1) && complete)
}
