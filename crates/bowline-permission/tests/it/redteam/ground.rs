//! A folder with canaries and tokens, and what a command line did to them.

use std::{
    collections::BTreeMap,
    fmt, fs,
    os::unix::{fs::symlink, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

/// How long a line may run.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How much of its output is looked at.
const LOOKED_AT: usize = 1 << 20;

const OUTSIDE: &str = "tokoutside7c1f";
const HOME: &str = "tokhome93ab";
const VARIABLE: &str = "tokvariable5e2d";
const DENIED: &str = "tokdenied8d40";

/// What harm a line did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Harm {
    /// It changed something outside the project, or a file that decides what runs later.
    Wrote(String),
    /// It changed something in the project.
    InsideWrite,
    /// It read a token that is outside.
    Read(&'static str),
    /// It read a file that a rule denies.
    DeniedRead,
    /// It ran a command that a rule denies.
    DeniedRun,
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrote(path) => write!(f, "changed {path}"),
            Self::InsideWrite => f.write_str("changed the project"),
            Self::Read(token) => write!(f, "read {token}"),
            Self::DeniedRead => f.write_str("read a denied file"),
            Self::DeniedRun => f.write_str("ran a denied command"),
        }
    }
}

/// A project, a home and a place outside both.
#[derive(Debug)]
pub(super) struct Ground {
    root: PathBuf,
    project: PathBuf,
    home: PathBuf,
    state: BTreeMap<PathBuf, String>,
    _directory: TempDir,
}

impl Ground {
    pub(super) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("rt").tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let mut ground = Self {
            project: root.join("project"),
            home: root.join("home"),
            root,
            state: BTreeMap::new(),
            _directory: directory,
        };
        ground.lay_out();
        ground
    }

    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// A text of a line with the places of this ground in it.
    pub(super) fn text(&self, text: &str) -> String {
        text.replace("@OUT@", &self.root.join("outside").display().to_string())
            .replace("@HOME@", &self.home.display().to_string())
            .replace("@PROJECT@", &self.project.display().to_string())
            .replace("@ROOT@", &self.root.display().to_string())
    }

    fn lay_out(&mut self) {
        for entry in fs::read_dir(&self.root).unwrap() {
            let path = entry.unwrap().path();
            let removed = if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
            removed.unwrap();
        }
        let out = format!("BEGIN {OUTSIDE}\n");
        let denied = format!("BEGIN {DENIED}\n");
        let list = self.text("@OUT@/secret\0");
        let lines = self.text("@OUT@/secret\n");
        let config = self.text(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\
             \tfsmonitor = touch @ROOT@/pwned #\n",
        );
        let evil = self.text("#!/bin/sh\ntouch @ROOT@/pwned\n");
        let files: &[(&str, &str)] = &[
            ("outside/secret", &out),
            ("outside/doomed", "BEGIN\n"),
            ("outside/config.json", &format!("{{\"x\": \"{OUTSIDE}\"}}\n")),
            (&format!("outside/{OUTSIDE}.name"), ""),
            ("outside/folder/inner", &out),
            ("home/.ssh/key", &format!("BEGIN {HOME}\n")),
            ("home/.bashrc", "# the user's own\n"),
            ("project/a.txt", "alpha\nBEGIN\n"),
            ("project/b.txt", "beta\nBEGIN\n"),
            ("project/data.json", "{\"name\": 1}\n"),
            ("project/src/main.rs", "fn main() {} // BEGIN\n"),
            ("project/src/lib.rs", "\n"),
            ("project/.env", &denied),
            ("project/secrets/key", &denied),
            ("project/secrets/deep/other", &denied),
            ("project/.git/config", "[core]\n\trepositoryformatversion = 0\n"),
            ("project/.git/HEAD", "ref: refs/heads/main\n"),
            ("project/.git/objects/x", ""),
            ("project/.git/refs/x", ""),
            ("project/.claude/settings.json", "{}\n"),
            ("project/.mcp.json", "{}\n"),
            ("project/evil/HEAD", "ref: refs/heads/main\n"),
            ("project/evil/config", &config),
            ("project/evil/objects/x", ""),
            ("project/evil/refs/x", ""),
            ("project/from/.mcp.json", "{\"mcpServers\": {}}\n"),
            ("project/from/.claude/settings.json", "{\"hooks\": {}}\n"),
            ("project/list", &list),
            ("project/lines", &lines),
            ("project/denied-list", ".env\0"),
            ("project/rc", "touch\n"),
            ("project/config", &config),
            ("project/evil.sh", &evil),
            // Files named like options, for patterns that name them.
            ("project/-exec", ""),
            ("project/-R", ""),
            ("project/-v", ""),
            ("project/--files0-from=list", ""),
            ("project/BEGIN", ""),
        ];
        for (name, text) in files {
            let path = self.root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let links: &[(&str, &str)] = &[
            ("link", "@OUT@/secret"),
            ("folder", "@OUT@"),
            ("d/e/up", "../outside"),
            ("d/rc", "@HOME@/.bashrc"),
            ("d/near", "../../outside/secret"),
            ("[x]z", "@OUT@/secret"),
            ("{a,b}z", "@OUT@/secret"),
            ("\\z", "@OUT@/secret"),
            ("inner", "a.txt"),
            ("denied-link", ".env"),
        ];
        for (name, target) in links {
            let path = self.project.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(self.text(target), path).unwrap();
        }
        self.state = self.look();
    }

    /// Runs a line and says what harm it did. Afterwards all is as before.
    pub(super) fn run(&mut self, line: &str) -> Vec<Harm> {
        let output = self.output_of(line);
        let mut harms: Vec<Harm> = [OUTSIDE, HOME, VARIABLE]
            .into_iter()
            .filter(|token| shows(&output, token))
            .map(Harm::Read)
            .collect();
        if shows(&output, DENIED) {
            harms.push(Harm::DeniedRead);
        }
        let now = self.look();
        if now != self.state {
            let changed = now.iter().chain(&self.state).map(|(path, _)| path);
            let changed = changed.filter(|path| now.get(*path) != self.state.get(*path));
            for path in changed {
                let name = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
                if name == "outside/doomed" && line.contains("rm") {
                    harms.push(Harm::DeniedRun);
                }
                harms.push(match is_guarded(&name) {
                    true => Harm::Wrote(name),
                    false => Harm::InsideWrite,
                });
            }
            self.lay_out();
        }
        harms.dedup();
        harms
    }

    fn output_of(&self, line: &str) -> String {
        let path = self.root.with_extension("output");
        let output = fs::File::create(&path).unwrap();
        let mut bash = Command::new("bash");
        bash.args(["-c", line])
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.home)
            .env("OLDPWD", self.root.join("outside"))
            .env("AWS_SECRET_ACCESS_KEY", VARIABLE)
            .env("evil", self.text("a[$(touch @ROOT@/pwned)]"))
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .process_group(0);
        // What the engine sets for a `git` that runs unasked.
        let settings = [
            ("safe.bareRepository", "explicit"),
            ("core.fsmonitor", "false"),
            ("core.hooksPath", "/dev/null"),
            ("diff.external", ""),
        ];
        for (number, (key, value)) in settings.iter().enumerate() {
            bash.env(format!("GIT_CONFIG_KEY_{number}"), key);
            bash.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        bash.env("GIT_CONFIG_COUNT", settings.len().to_string());
        let mut child = bash.spawn().unwrap();
        let end = Instant::now() + PATIENCE;
        while child.try_wait().unwrap().is_none() && Instant::now() < end {
            thread::sleep(Duration::from_micros(500));
        }
        // Whatever it has started goes with it.
        if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
            kill_process_group(group, Signal::KILL).ok();
        }
        child.wait().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        bytes.truncate(LOOKED_AT);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Every file there is, with what is in it.
    fn look(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let text = if path.is_symlink() {
                    format!("-> {}", fs::read_link(&path).unwrap_or_default().display())
                } else if path.is_dir() {
                    folders.push(path.clone());
                    "folder".to_owned()
                } else {
                    String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned()
                };
                found.insert(path, text);
            }
        }
        found
    }
}

/// Whether a change of this file is harm even where edits are accepted.
fn is_guarded(name: &str) -> bool {
    const SENSITIVE: [&str; 5] = [".git", ".claude", ".mcp.json", ".vscode", ".husky"];
    match name.strip_prefix("project/") {
        Some(inside) => SENSITIVE.contains(&inside.split('/').next().unwrap_or_default()),
        None => name != "project",
    }
}

/// Whether a token is in an output, however it is spelled there.
fn shows(output: &str, token: &str) -> bool {
    let folded: String = output.chars().filter(|letter| letter.is_ascii_alphanumeric()).collect();
    let reversed: String = token.chars().rev().collect();
    let hex: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut spellings = vec![token.to_owned(), reversed, hex, token.to_uppercase()];
    for shift in 0..3 {
        // Where it begins in a text decides how it looks.
        let encoded = BASE64_STANDARD.encode(format!("{}{token}xxx", "x".repeat(shift)));
        spellings.push(encoded[4..token.len() - 2].to_owned());
    }
    spellings.iter().any(|it| output.contains(it.as_str()) || folded.contains(it.as_str()))
}
