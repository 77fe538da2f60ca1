//! The examples of this crate, run as a reader would run them, offline: with an agent inside, with
//! ours and with the official one.

use std::{fs, path::Path, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use crate::rig::{example, soon, variable, write_script};

/// Output of an example.
async fn said(name: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(example(name));
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let run = soon(name, command.output()).await.unwrap_or_else(|error| {
        panic!("{name}: {error}; a plain `cargo test -p bowline-host` builds the examples")
    });
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{name} {said}{}", String::from_utf8_lossy(&run.stderr));
    said
}

/// An example, and its output with every agent.
struct Example {
    name: &'static str,
    source: &'static str,
    shows: fn(&str),
}

const CALCULATOR: Example = Example {
    name: "calculator",
    source: include_str!("../../examples/calculator.rs"),
    shows: |said| {
        assert!(said.contains("  result 42"), "{said}");
        assert!(said.contains("  failed: division by zero"), "{said}");
        assert!(said.contains("agent: 15 + 27 is 42"), "{said}");
    },
};

const PERMISSIONS: Example = Example {
    name: "permissions",
    source: include_str!("../../examples/permissions.rs"),
    shows: |said| {
        assert_eq!(said.matches("asked about").count(), 1, "the hook decides the other: {said}");
        assert!(
            said.contains("asked about Bash") && said.contains("2 calls were refused"),
            "{said}"
        );
    },
};

const MULTI_TURN: Example = Example {
    name: "multi_turn",
    source: include_str!("../../examples/multi_turn.rs"),
    shows: |said| {
        assert!(said.contains("My favorite knot is the bowline."), "{said}");
        assert!(said.contains("[the mode is now plan]"), "{said}");
        assert!(said.contains("Because it holds"), "{said}");
    },
};

const HOOKS: Example = Example {
    name: "hooks",
    source: include_str!("../../examples/hooks.rs"),
    shows: |said| {
        assert!(said.contains("[PreToolUse]") && said.contains("hunter2"), "in the log: {said}");
        let done: Vec<_> = said.lines().filter(|line| line.starts_with("[PostToolUse]")).collect();
        assert_eq!(done.len(), 1, "what was forbidden did not run: {said}");
        assert!(done[0].contains("*******") && !done[0].contains("hunter2"), "{said}");
        assert!(said.contains("agent: Now I am really done."), "{said}");
    },
};

const FILE_PROCESSING: Example = Example {
    name: "file_processing",
    source: include_str!("../../examples/file_processing.rs"),
    shows: |said| {
        for expected in [
            "idle -> starting",
            "running -> waiting_tool_call list",
            "mcp__files__list took ",
            "running -> completed",
            "North sold 30 knots and south sold 12.",
            "3 calls",
        ] {
            assert!(said.contains(expected), "{expected} is not in {said}");
        }
        assert_eq!(said.matches("mcp__files__summarize took ").count(), 2, "{said}");
    },
};

const ALL: [Example; 5] = [CALCULATOR, PERMISSIONS, MULTI_TURN, HOOKS, FILE_PROCESSING];

#[tokio::test]
async fn each_with_an_agent_inside() {
    for example in ALL {
        (example.shows)(&said(example.name, &[]).await);
    }
}

#[tokio::test]
async fn many_sessions() {
    let few = said("many_sessions", &["--sessions", "20", "--at-once", "3"]).await;
    assert!(few.starts_with("20 sessions, 20 greetings, 0 failures"), "{few}");
    // The thousand is a step of its own in `.ci/run`: without optimization it takes ten seconds.
    let many = said("many_sessions", &["--sessions", "200"]).await;
    assert!(many.starts_with("200 sessions, 200 greetings, 0 failures"), "{many}");
}

#[tokio::test]
async fn each_says_what_it_takes_and_what_is_wrong() {
    let names = ALL.iter().map(|example| example.name).chain(["many_sessions"]);
    for name in names {
        let help = said(name, &["--help"]).await;
        assert!(help.contains("--cli PATH"), "{name}: {help}");
        let run = async |arguments: &[&str]| {
            let mut command = Command::new(example(name));
            command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
            let run = soon(name, command.output()).await.expect("it runs");
            assert!(!run.status.success(), "{name} {arguments:?}");
            String::from_utf8_lossy(&run.stderr).into_owned()
        };
        let wrong = run(&["--clj", "x"]).await;
        assert!(wrong.starts_with("`--clj` is nothing"), "{name}: {wrong}");
        let wrong = run(&["--cli"]).await;
        assert!(wrong.starts_with("`--cli` needs a value"), "{name}: {wrong}");
    }
    let nowhere = Command::new(example("calculator")).args(["--cli", "/no/such/agent"]).output();
    let nowhere = soon("calculator", nowhere).await.expect("it runs");
    let told = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(told.contains("was not found; looked for /no/such/agent"), "{told}");
}

/// Script of an example's model, from its source.
fn script_of(source: &str) -> String {
    let (_, rest) = source.split_once("const SCRIPT: &str =").expect("it has a script");
    let (script, _) = rest.trim_start().split_once("\";\n").expect("a script ends");
    script.trim_start_matches('"').replace("\\\"", "\"")
}

/// Runs every example with the agent that `agent` makes of its script, in this folder.
async fn each_with(folder: &Path, mut agent: impl AsyncFnMut(&Path) -> String) {
    let many = include_str!("../../examples/many_sessions.rs");
    let many = Example {
        name: "many_sessions",
        source: many,
        shows: |said| assert!(said.starts_with("3 sessions, 3 greetings, 0 failures"), "{said}"),
    };
    for example in ALL.into_iter().chain([many]) {
        let script = folder.join(example.name);
        fs::write(&script, script_of(example.source)).expect("the folder is ours");
        let program = folder.join("agent");
        write_script(&program, &agent(&script).await);
        let program = program.to_str().expect("it has a plain name");
        let few: &[_] = if example.name == "many_sessions" { &["--sessions", "3"] } else { &[] };
        (example.shows)(&said(example.name, &[&["--cli", program], few].concat()).await);
    }
}

#[tokio::test]
async fn each_with_our_program() {
    let Some(bowline) = variable("BOWLINE_BIN") else {
        return eprintln!("skipped: BOWLINE_BIN is not set");
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config").display().to_string();
    each_with(folder.path(), async |script| {
        let model = format!("--model 'script:{}'", script.display());
        format!("CLAUDE_CONFIG_DIR='{config}' exec '{bowline}' {model} \"$@\"")
    })
    .await;
}

#[tokio::test]
async fn each_with_the_official_program() {
    let (Some(bowline), Some(claude)) = (variable("BOWLINE_BIN"), variable("CLAUDE_BIN")) else {
        return eprintln!("skipped: BOWLINE_BIN or CLAUDE_BIN is not set");
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config").display().to_string();
    let mut servers = Vec::new();
    each_with(folder.path(), async |script| {
        let server = ScriptServer::start(&bowline, script).await;
        let address = server.address.clone();
        servers.push(server);
        format!(
            "export CLAUDE_CONFIG_DIR='{config}' ANTHROPIC_BASE_URL='{address}'\n\
             export ANTHROPIC_API_KEY=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\n\
             exec '{claude}' \"$@\""
        )
    })
    .await;
}

/// A server that plays the model.
struct ScriptServer {
    address: String,
    _process: Child,
    /// It writes more, and would not survive a closed pipe.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl ScriptServer {
    async fn start(bowline: &str, script: &Path) -> Self {
        let mut process = Command::new(bowline)
            .args(["script-server", "--listen", "127.0.0.1:0", "--script"])
            .arg(script)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        let line = soon("the server", stdout.next_line()).await.expect("it is text");
        let line = line.expect("it says where it listens");
        let (_, address) = line.split_once('=').expect("as a variable");
        Self { address: address.to_owned(), _process: process, _stdout: stdout }
    }
}
