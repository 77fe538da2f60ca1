//! Parts of an untrusted project that do not apply, listed for the user.

use std::path::Path;

use bowline_protocol::printable_line;

/// The tag of the message to the host about hooks that do not run.
pub const HOOKS_SKIPPED: &str = "hooks_skipped";

/// How many things of one kind are named.
const NAMED: usize = 4;
/// The same for hooks: one of them may be a guard that the user relies on.
const NAMED_HOOKS: usize = 12;
/// How many characters of a name are shown.
const LONGEST_NAME: usize = 80;

/// Parts of a project that do not apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkippedParts {
    /// The hooks that do not run.
    pub hooks: Vec<SkippedHook>,
    /// The rest, by kind and name.
    pub parts: Vec<(Part, String)>,
}

/// A hook that does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedHook {
    /// The event that it is for.
    pub event: String,
    /// Its command, address or prompt.
    pub label: String,
    /// The file that has it.
    pub file: String,
}

/// A kind of thing that a project brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// An MCP server.
    Server,
    /// A rule that allows.
    AllowRule,
    /// A further working directory.
    Directory,
    /// An environment variable.
    Variable,
    /// A plugin that it switches on or off.
    Plugin,
    /// Another key of settings.
    Setting,
    /// An agent, or a field of one.
    Agent,
    /// A command or skill, or a field of one.
    Command,
    /// An output style.
    Style,
    /// A file whose real path is outside of the project.
    Link,
}

impl Part {
    const ALL: [(Self, &'static str, &'static str); 10] = [
        (Self::Server, "MCP server", "MCP servers"),
        (Self::AllowRule, "allow rule", "allow rules"),
        (Self::Directory, "directory", "directories"),
        (Self::Variable, "variable", "variables"),
        (Self::Plugin, "plugin", "plugins"),
        (Self::Setting, "setting", "settings"),
        (Self::Agent, "part of agents", "parts of agents"),
        (Self::Command, "part of commands", "parts of commands"),
        (Self::Style, "output style", "output styles"),
        (Self::Link, "link out of the project", "links out of the project"),
    ];
}

impl SkippedParts {
    /// Whether all of it applies.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.parts.is_empty()
    }

    /// Adds something.
    pub fn add(&mut self, part: Part, name: impl Into<String>) {
        self.parts.push((part, name.into()));
    }

    /// Adds parts that were skipped elsewhere.
    pub fn extend(&mut self, other: Self) {
        self.hooks.extend(other.hooks);
        self.parts.extend(other.parts);
    }

    /// One line on what does not apply in a folder, and how to change it.
    pub fn line(&self, project: &Path) -> Option<String> {
        (!self.is_empty()).then(|| {
            format!(
                "{} is not trusted. Left out: {}. To use what it brings: `bowline trust` there, or \
                 --trust for one run.",
                plain(&project.display().to_string()),
                self.listed().join("; ")
            )
        })
    }

    /// The message to the host about the hooks that do not run.
    pub fn hooks_skipped(&self, project: &Path) -> Option<String> {
        (!self.hooks.is_empty()).then(|| {
            format!(
                "Skipped {}, because {} is not trusted. To run them: `bowline trust` there, \
                 --trust, or --setting-sources.",
                self.listed_hooks(),
                plain(&project.display().to_string())
            )
        })
    }

    /// What does not apply, kind by kind.
    pub fn listed(&self) -> Vec<String> {
        let hooks = (!self.hooks.is_empty()).then(|| self.listed_hooks());
        let parts = Part::ALL.iter().filter_map(|(part, one, many)| {
            let names: Vec<_> =
                self.parts.iter().filter(|(kind, _)| kind == part).map(|(_, name)| name).collect();
            let names = names.iter().map(|name| plain(name)).collect::<Vec<_>>();
            (!names.is_empty()).then(|| counted(&names, NAMED, one, many))
        });
        hooks.into_iter().chain(parts).collect()
    }

    fn listed_hooks(&self) -> String {
        let names = self.hooks.iter().map(|SkippedHook { event, label, file }| {
            format!("{} `{}` of {}", plain(event), plain(label), plain(file))
        });
        counted(&names.collect::<Vec<_>>(), NAMED_HOOKS, "hook", "hooks")
    }
}

/// The number of things, and the names of the first ones.
fn counted(names: &[String], shown: usize, one: &str, many: &str) -> String {
    let kind = if names.len() == 1 { one } else { many };
    let mut listed: Vec<_> = names.iter().take(shown).map(String::as_str).collect();
    if names.len() > shown {
        listed.push("…");
    }
    format!("{} {kind} ({})", names.len(), listed.join(", "))
}

/// A name as a terminal may show it: it is the project's choice, and must not control the terminal.
fn plain(name: &str) -> String {
    let end = name.char_indices().nth(LONGEST_NAME).map(|(end, _)| end);
    let plain = printable_line(&name[..end.unwrap_or(name.len())]).into_owned();
    if end.is_some() { format!("{plain}…") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_names_hooks_and_counts_the_rest() {
        let mut left_out = SkippedParts::default();
        assert_eq!(left_out.line(Path::new("/p")), None);
        left_out.hooks.push(SkippedHook {
            event: "PreToolUse".to_owned(),
            label: "guard\u{1b}]52;c\n.sh".to_owned(),
            file: ".claude/settings.json".to_owned(),
        });
        for name in ["a", "b", "c", "d", "e"] {
            left_out.add(Part::Server, name);
        }
        let line = left_out.line(Path::new("/p")).unwrap();
        assert_eq!(
            line,
            "/p is not trusted. Left out: 1 hook (PreToolUse `guard\\u{1b}]52;c\\u{a}.sh` of \
             .claude/settings.json); 5 MCP servers (a, b, c, d, …). To use what it brings: \
             `bowline trust` there, or --trust for one run."
        );
    }
}
