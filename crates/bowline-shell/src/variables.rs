//! Variables that a command line sets or shows, and which of them are harmless.

use crate::script::{Assignment, Command, Script};

impl Script {
    /// Variables of the environment whose values a command shows to the reader of its output, and
    /// which may be secrets.
    pub fn secret_variables<'a>(&'a self, taken: &'a [String]) -> impl Iterator<Item = &'a str> {
        taken.iter().map(String::as_str).filter(|name| !is_public(name) && !self.assigns(name))
    }

    /// Whether the line itself gives this variable a value.
    fn assigns(&self, name: &str) -> bool {
        let set_by = |command: &Command| {
            let loop_variable = command.name() == Some("for")
                && command.words.get(1).is_some_and(|variable| variable.is(name));
            loop_variable
                || command.words.is_empty() && command.assignments.iter().any(|it| it.name == name)
        };
        is_script_variable(name) && self.commands.iter().any(set_by)
    }

    /// Whether a variable may hold a pattern, which an expansion without quotes would apply.
    pub fn keeps_patterns(&self) -> bool {
        const WILD: [char; 3] = ['*', '?', '['];
        self.commands.iter().any(|command| {
            let is_wild = |raw: &str| raw.contains(WILD) || raw.contains("$'");
            let in_value = command.assignments.iter().any(|it| is_wild(&it.raw));
            let in_list = command.name() == Some("for")
                && command.words.iter().any(|it| !it.is_glob() && is_wild(it.raw()));
            in_value || in_list
        })
    }
}

impl Command {
    /// Whether its assignments cannot change what it runs, so that it may be judged without them.
    pub fn has_harmless_assignments(&self) -> bool {
        self.assignments.iter().all(is_harmless_setting)
    }
}

/// A variable of the script's own. Those that shells and programs act upon are in capitals.
pub(crate) fn is_script_variable(name: &str) -> bool {
    !name.contains(|letter: char| letter.is_ascii_uppercase())
}

/// A variable that every process has, and that holds no secret.
fn is_public(name: &str) -> bool {
    const PUBLIC: &[&str] = &[
        "BASH_VERSION",
        "COLUMNS",
        "EUID",
        "HOME",
        "HOSTNAME",
        "IFS",
        "LINENO",
        "LINES",
        "LOGNAME",
        "OLDPWD",
        "OSTYPE",
        "PATH",
        "PPID",
        "PWD",
        "RANDOM",
        "SECONDS",
        "SHELL",
        "SHLVL",
        "TMPDIR",
        "UID",
        "USER",
    ];
    SETTINGS.contains(&name) || name.starts_with("LC_") || PUBLIC.contains(&name)
}

/// Variables that change how a program prints, not what it runs.
const SETTINGS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CI",
    "DEBUG",
    "NODE_ENV",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "CARGO_TERM_COLOR",
    "GOOS",
    "GOARCH",
    "CGO_ENABLED",
];

/// An assignment that changes how a program prints, not what it runs or reads. Locales, message
/// catalogues and time zones are files: a value with a slash could name any.
pub(crate) fn is_harmless_setting(assignment: &Assignment) -> bool {
    let Assignment { name, raw } = assignment;
    let value = raw.split_once('=').map_or("", |(_, value)| value);
    let plain = |it: char| it.is_ascii_alphanumeric() || "_.,:@+=-".contains(it);
    let zone = name == "TZ" && !value.starts_with([':', '/']) && !value.contains("..");
    (SETTINGS.contains(&name.as_str()) || name.starts_with("LC_"))
        && value.chars().all(|it| plain(it) || zone && it == '/')
}
