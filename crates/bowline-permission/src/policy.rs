//! State that decides what a session may do: mode, rules and working directories.

use std::path::{Path, PathBuf};

use bowline_protocol::{PermissionBehavior, PermissionMode};

use super::{
    location::Location, path_pattern::PathPattern, roots::Roots, rule::Subject, rule_set::RuleSet,
    source::RuleSource,
};

/// Everything that decides what a session may do.
#[derive(Debug, Clone)]
pub struct Policy {
    /// How strict the session is. Use [`set_mode`](Self::set_mode) once it runs.
    pub mode: PermissionMode,
    /// Whether the session may switch to `bypassPermissions` later.
    pub bypass_available: bool,
    /// The rules.
    pub rules: RuleSet,
    /// The plan of plan mode, which may be written at any time.
    pub plan_file: Option<PathBuf>,
    /// Files of the session itself that may be read although they lie elsewhere.
    pub readable: Vec<PathBuf>,
    /// The variables that settings give to commands, by name.
    pub variables: Vec<String>,
    /// Whether tools that read files are kept inside the working directories.
    pub blocks_reads_outside: bool,
    /// The same for tools that change files.
    pub blocks_writes_outside: bool,
    pub(super) roots: Roots,
    current: Location,
    pub(super) directories: Vec<(RuleSource, Location)>,
}

impl Policy {
    /// A policy without rules, with one working directory.
    pub fn new(roots: Roots) -> Self {
        Self {
            mode: PermissionMode::Default,
            bypass_available: false,
            rules: RuleSet::new(roots.clone()),
            plan_file: None,
            readable: Vec::new(),
            variables: Vec::new(),
            blocks_reads_outside: false,
            blocks_writes_outside: false,
            current: Location::of(&roots.current_directory),
            directories: Vec::new(),
            roots,
        }
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.roots.home.as_deref()
    }

    /// Adds a working directory.
    pub fn add_directory(&mut self, source: RuleSource, directory: &Path) {
        let location = Location::of(&self.roots.current_directory.join(directory));
        let known = self.directories.iter().any(|(_, known)| *known == location);
        if !known && location != self.current {
            self.directories.push((source, location));
        }
    }

    /// Takes back a working directory that was added by this source.
    pub fn remove_directory(&mut self, source: RuleSource, directory: &Path) {
        let named = self.roots.current_directory.join(directory);
        self.directories.retain(|(of, known)| *of != source || known.named() != named);
    }

    /// The working directories: the one the session started in, then the added ones.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let added = self.directories.iter().map(|(_, location)| location.named());
        std::iter::once(self.roots.current_directory.as_path()).chain(added)
    }

    /// Whether a path really lies in a working directory.
    pub fn is_inside(&self, location: &Location) -> bool {
        location.is_within(&self.current)
            || self.directories.iter().any(|(_, directory)| location.is_within(directory))
    }

    /// Whether commands certainly have no variable of this name. Those in capitals may come from anywhere.
    #[expect(
        clippy::disallowed_methods,
        reason = "commands inherit the environment of this program"
    )]
    pub(super) fn is_unset(&self, name: &str) -> bool {
        !name.contains(|letter: char| letter.is_ascii_uppercase())
            && !self.variables.iter().any(|set| set == name)
            && std::env::var_os(name).is_none()
    }

    /// Whether any rule forbids reading certain files.
    pub fn denies_reading(&self) -> bool {
        self.read_denials().next().is_some()
    }

    /// Whether a rule forbids reading a file, so that searches leave it out.
    pub fn is_read_denied(&self, path: &Path) -> bool {
        let mut patterns = self.read_denials();
        patterns.next().is_some_and(|first| {
            let location = Location::of(path);
            first.touches(&location) || patterns.any(|pattern| pattern.touches(&location))
        })
    }

    fn read_denials(&self) -> impl Iterator<Item = &PathPattern> {
        self.rules.with_behavior(&PermissionBehavior::Deny).filter_map(|rule| match &rule.subject {
            Subject::Read(pattern) => Some(pattern),
            _ => None,
        })
    }
}
