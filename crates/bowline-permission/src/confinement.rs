//! Reads that a command which runs without approval is confined to.

use std::path::PathBuf;

use bowline_sandbox::{Confinement, Readable};
use bowline_shell::Command;

use super::{
    call::ProposedCall,
    command::{CommandLine, Part},
    evaluation::Evaluation,
    location::Location,
    repository,
    word_path::WordPath,
};

/// Programs that may stand beside a version request: all they do is print.
const PRINTERS: &[&str] = &["echo", "head", "tail", "true", "which", "command", "type"];

impl Evaluation<'_> {
    /// The working directories, what else may be read without approval, what the line names, and the
    /// repositories that it looks at.
    pub(super) fn confinement(&self, call: &ProposedCall<'_>, line: &CommandLine) -> Confinement {
        if only_asks_versions(line) {
            return Confinement { readable: Readable::Everything, executable: Vec::new() };
        }
        let mut held = Confinement::default();
        let own = self.policy.plan_file.iter().chain(&self.policy.readable).map(PathBuf::as_path);
        let folders = self.policy.directories().chain(own).chain(self.memory);
        for folder in folders {
            held.read(Location::of(folder).real());
        }
        let named = line.parts.iter().flat_map(|part| &part.reads);
        for path in named {
            if let WordPath::Known(location) = path
                && self.may_read(location)
            {
                held.read(location.real());
            }
        }
        for directory in repositories(call, line) {
            for folder in repository::examine(&directory).unwrap_or_default().folders {
                held.read(folder);
            }
        }
        held
    }
}

/// The directories from which `git` looks for repositories, if the line has one: it starts in one of them, or
/// is sent there by `cd` or `-C`.
fn repositories(call: &ProposedCall<'_>, line: &CommandLine) -> Vec<PathBuf> {
    let is_git = |part: &Part| part.command.unwrapped().iter().any(|it| it.name() == Some("git"));
    if !line.parts.iter().any(is_git) {
        return Vec::new();
    }
    let named = line.parts.iter().flat_map(|part| &part.reads);
    let named = named.filter_map(|path| match path {
        WordPath::Known(location) => Some(location.real().to_owned()),
        WordPath::Unknown(_) => None,
    });
    named.chain([call.current_directory.to_owned()]).collect()
}

/// Whether a line asks for nothing but versions. Programs that version managers put in front of others look
/// for their parts in folders below the home folder, which cannot be listed; so the line must
/// leave no doubt.
fn only_asks_versions(line: &CommandLine) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_alphanumeric() || " \t-_+.;|&>/'\"=:,".contains(letter);
    let asks = |command: &Command| match &*command.words {
        [_, word] => word.is("--version") || word.is("-v") || word.is("-V") || word.is("version"),
        _ => false,
    };
    let prints = |part: &Part| {
        part.command.name().is_some_and(|name| PRINTERS.contains(&name)) && part.reads.is_empty()
    };
    let parts = &line.parts;
    line.text.chars().all(is_plain)
        && parts.iter().all(|part| part.command.assignments.is_empty())
        && parts.iter().any(|part| asks(&part.command))
        && parts.iter().all(|part| asks(&part.command) || prints(part))
}
