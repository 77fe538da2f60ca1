//! Dangerous commands that need approval whatever the rules allow.

use crate::{
    options::Arguments,
    script::{Command, RedirectionKind, Script},
    word::Word,
};

/// A command that may destroy the machine or a home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    /// The command.
    pub command: String,
    /// What it may do.
    pub reason: &'static str,
}

impl Script {
    /// The first dangerous command, however deep it is wrapped.
    pub fn danger(&self) -> Option<Danger> {
        let layers = self.commands.iter().flat_map(|command| command.layers().0);
        layers.into_iter().find_map(|command| {
            let reason = danger_of(&command)?;
            Some(Danger { command: command.text(), reason })
        })
    }
}

fn danger_of(command: &Command) -> Option<&'static str> {
    let on_device = command.redirections.iter().any(|redirection| {
        redirection.kind == RedirectionKind::Write && is_disk(&redirection.target, "")
    });
    if on_device {
        return Some("overwrites a disk");
    }
    let name = command.name()?;
    let words = &command.words[1..];
    let arguments = || Arguments::sort(words, &[]);
    match name.rsplit('/').next().unwrap_or(name) {
        "rm" | "rmdir" => {
            let arguments = arguments();
            let forced = arguments.has_any(&["-r", "-R", "-f", "--recursive", "--force"]);
            (forced && arguments.positionals.iter().any(is_precious))
                .then_some("removes a system or home directory")
        }
        "chmod" | "chown" | "chgrp" => {
            let arguments = arguments();
            (arguments.has_any(&["-R", "--recursive"])
                && arguments.positionals.iter().skip(1).any(is_precious))
            .then_some("changes the owner or mode of a whole system or home directory")
        }
        "mv" => arguments()
            .positionals
            .iter()
            .any(is_precious)
            .then_some("moves a system or home directory"),
        "find" => {
            let removes = words.iter().any(|word| word.is("-delete"))
                || command.layers().0.iter().skip(1).any(|inner| inner.name() == Some("rm"));
            (removes && words.first().is_some_and(is_precious))
                .then_some("removes files below a system or home directory")
        }
        "dd" => words.iter().any(|word| is_disk(word, "of=")).then_some("overwrites a disk"),
        "shred" | "wipefs" => {
            words.iter().any(|word| is_disk(word, "")).then_some("overwrites a disk")
        }
        name if name == "mkfs" || name.starts_with("mkfs.") => Some("formats a disk"),
        _ => None,
    }
}

/// The root, a directory right below it, a home directory, or all that is in one of them.
fn is_precious(word: &Word) -> bool {
    let home = ["$HOME", "${HOME}", "\"$HOME\"", "\"${HOME}\""];
    let raw = word.raw();
    let raw = raw.strip_suffix("/*").unwrap_or(raw).trim_end_matches('/');
    if home.contains(&raw) {
        return true;
    }
    let Some(text) = word.literal() else { return false };
    let text = text.strip_suffix('*').unwrap_or(text);
    // `/./` and `//` are the root as well.
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    if word.is_tilde() {
        return parts.len() <= 1;
    }
    text.starts_with('/')
        && match parts.as_slice() {
            [] => true,
            // Temporary files live right below `/tmp`, and it is theirs to be emptied.
            [top] => *top != "tmp",
            ["home" | "Users", _] => true,
            _ => false,
        }
}

fn is_disk(word: &Word, prefix: &str) -> bool {
    const DISKS: [&str; 6] =
        ["/dev/sd", "/dev/hd", "/dev/nvme", "/dev/vd", "/dev/disk", "/dev/mmcblk"];
    word.literal()
        .and_then(|text| text.strip_prefix(prefix))
        .is_some_and(|target| DISKS.iter().any(|disk| target.starts_with(disk)))
}
