//! A working directory and a home for each test, and the program in them.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
    sync::Arc,
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder to work in and a home, and nothing of the machine's environment but the path.
pub(crate) struct TestHome {
    folder: Arc<TempDir>,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        let rig = Self { folder: Arc::new(tempfile::tempdir().unwrap()) };
        fs::create_dir(rig.cwd()).unwrap();
        fs::create_dir(rig.home()).unwrap();
        rig
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The user's settings.
    pub(crate) fn configure(&self, settings: Value) {
        fs::create_dir_all(self.home().join(".bowline")).unwrap();
        fs::write(self.home().join(".bowline/settings.json"), settings.to_string()).unwrap();
    }

    /// The program with these arguments.
    pub(crate) fn bowline(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bowline"));
        command
            .args(args)
            .current_dir(self.cwd())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// One prompt to the script model, with more arguments before it.
    pub(crate) fn ask(&self, args: &[&str], prompt: &str) -> Ran {
        let words = [&["-p", "--model", "script"], args, &["--", prompt]].concat();
        Ran::from(self.bowline(words).output().unwrap())
    }

    /// A session over stdin and stdout.
    pub(crate) fn open(&self, args: &[&str]) -> Host {
        let fixed = ["--output-format", "stream-json", "--verbose", "--model", "script"];
        self.speak([&fixed, args, &["--input-format", "stream-json"]].concat())
    }

    /// The program with these arguments, line by line.
    pub(crate) fn speak(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Host {
        Host::of(self.bowline(args), self)
    }

    /// The transcripts that were kept.
    pub(crate) fn transcripts(&self) -> Vec<PathBuf> {
        let projects = self.home().join(".bowline/projects");
        let Ok(projects) = fs::read_dir(projects) else { return Vec::new() };
        let files = projects.flat_map(|project| fs::read_dir(project.unwrap().path()).unwrap());
        let paths = files.map(|file| file.unwrap().path());
        paths.filter(|path| path.extension() == Some(OsStr::new("jsonl"))).collect()
    }
}

/// How a run went.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The printed text, if stderr is empty and the run succeeded.
    pub(crate) fn printed(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self.stdout
    }

    /// What was printed, as lines of JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap();
        self.stdout.lines().map(parse).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The host of a session.
pub(crate) struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    /// The program works in it.
    _folder: Arc<TempDir>,
}

impl Host {
    /// The host of a program that is about to be started.
    pub(crate) fn of(mut command: Command, rig: &TestHome) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout: Some(stdout), _folder: rig.folder.clone() }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub(crate) fn send(&mut self, line: impl ToString) {
        self.say_raw(format!("{}\n", line.to_string()).as_bytes());
    }

    /// Sends a line; returns whether the program still reads.
    pub(crate) fn try_say(&mut self, line: impl ToString) -> bool {
        self.stdin.as_mut().unwrap().write_all(format!("{}\n", line.to_string()).as_bytes()).is_ok()
    }

    pub(crate) fn say_raw(&mut self, bytes: &[u8]) {
        // A program that has ended does not read.
        self.stdin.as_mut().unwrap().write_all(bytes).ok();
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.send(json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    pub(crate) fn ask(&mut self, id: &str, request: Value) {
        self.send(json!({"type": "control_request", "request_id": id, "request": request}));
    }

    pub(crate) fn answer(&mut self, request: &Value, response: Value) {
        self.send(json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": request["request_id"], "response": response,
        }}));
    }

    /// The next line, if there is one.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The next line that is not torn, if there is one.
    pub(crate) fn receive_raw(&mut self) -> Option<Value> {
        let mut line = Vec::new();
        self.stdout.as_mut().unwrap().read_until(b'\n', &mut line).unwrap();
        line.ends_with(b"\n").then(|| serde_json::from_slice(&line).unwrap())
    }

    /// Kills the program.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// The next line of this type, or with this subtype; those before it are skipped.
    pub(crate) fn await_kind(&mut self, kind: &str) -> Value {
        loop {
            let line =
                self.receive().unwrap_or_else(|| panic!("no {kind}: {:?}", self.last_words()));
            if line["type"] == kind || line["subtype"] == kind || line["request"]["subtype"] == kind
            {
                return line;
            }
        }
    }

    /// The next line on stderr.
    pub(crate) fn read_stderr(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }

    /// What the program said on stderr, once it has ended.
    fn last_words(&mut self) -> (Option<i32>, String) {
        let mut stderr = String::new();
        self.child.stderr.as_mut().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stderr)
    }

    pub(crate) fn close_input(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn close_output(&mut self) {
        self.stdout = None;
    }

    /// Waits for the end without closing the input.
    pub(crate) fn end_with_open_input(mut self) -> Ran {
        let stdin = self.stdin.take();
        let ran = Ran::from(self.child.wait_with_output().unwrap());
        drop(stdin);
        ran
    }

    /// Waits for the end and returns everything that was received until then.
    pub(crate) fn end(mut self) -> Ran {
        let mut stdout = String::new();
        if let Some(mut out) = self.stdout.take() {
            out.read_to_string(&mut stdout).unwrap();
        }
        self.stdin = None;
        let Ran { code, stderr, .. } = Ran::from(self.child.wait_with_output().unwrap());
        Ran { code, stdout, stderr }
    }
}

/// What lies in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
