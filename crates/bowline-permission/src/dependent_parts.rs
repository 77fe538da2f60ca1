//! Parts of a command line that depend on what an earlier part writes or moves.
//!
//! A line is judged before it runs, so what a path leads to is known only for the disk as it is now. A
//! link that is moved, copied or unpacked first leads elsewhere afterwards.

use super::{
    command::{CommandLine, Part},
    location::Location,
    word_path::WordPath,
};

impl CommandLine {
    /// Whether some part works on what another one has moved, so that nothing known now holds then.
    pub(super) fn has_dependent_parts(&self) -> bool {
        let goes_elsewhere = self.parts.iter().any(goes_elsewhere);
        self.parts.iter().enumerate().any(|(at, part)| {
            // In a loop, what stands before runs after as well.
            let others = if self.script.repeats { &self.parts[..] } else { &self.parts[..at] };
            let earlier = others.iter().filter(|other| !std::ptr::eq(*other, part));
            let mut earlier =
                earlier.filter(|other| other.moves || !other.written_paths().is_empty());
            earlier.any(|earlier| {
                is_git(part) && goes_elsewhere
                    || part.touched_paths().any(|it| depends_on(it, earlier))
            })
        })
    }
}

impl Part {
    fn written_paths(&self) -> Vec<&WordPath> {
        self.writes.iter().chain(&self.redirected).collect()
    }

    fn touched_paths(&self) -> impl Iterator<Item = &WordPath> {
        self.reads.iter().chain(&self.writes).chain(&self.redirected)
    }
}

/// Whether the target of a path may change when an earlier part has run.
fn depends_on(path: &WordPath, earlier: &Part) -> bool {
    let Some(location) = path.location() else { return false };
    let written: Vec<&Location> =
        earlier.written_paths().into_iter().filter_map(WordPath::location).collect();
    // What it unpacks or checks out is not in its arguments.
    let anywhere = earlier.moves && written.is_empty();
    if anywhere {
        return !location.real().is_dir();
    }
    let is_below = |written: &&Location| {
        location.paths().iter().any(|path| written.paths().iter().any(|it| path.starts_with(it)))
    };
    // A new folder changes nothing but the way back out of it.
    (earlier.moves || location.goes_back()) && written.iter().any(is_below)
}

/// Whether a part runs somewhere else than where the line begins.
fn goes_elsewhere(part: &Part) -> bool {
    let mut layers = part.command.unwrapped().into_iter();
    layers.any(|command| match command.name() {
        Some("cd" | "pushd" | "popd") => true,
        Some("git") => command.words.iter().any(|word| word.is("-C")),
        _ => false,
    })
}

fn is_git(part: &Part) -> bool {
    part.command.unwrapped().iter().any(|command| command.name() == Some("git"))
}
