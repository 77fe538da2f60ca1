//! Shared helpers: the fake agent's program, the real ones, and messages as text.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use bowline_host::{
    AgentInvitation, AgentSetup, Client, ContentBlock, Embedded, Error, Listener, ListenerOptions,
    Message, Messages, OnDemand, Options,
};
pub(crate) use bowline_testkit::{
    PATIENCE, process_gone as gone, process_stopped as stopped, soon, write_script,
};
use tokio::process::{ChildStdin, ChildStdout, Command};

/// Every kind of agent there is, working in `folder` with the script model and keeping its sessions
/// there: in this process, in a separate one, in one that dials in, and in one that is carried.
///
/// `BOWLINE_BIN` names our program, `CLAUDE_BIN` the official one, `CLAUDE_217_BIN` the last of the
/// official ones that dials any host, and `SCRIPT_SERVER` the address of a `bowline script-server`
/// for these to use. What is not named is skipped with a note.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) async fn agents(folder: &Path) -> Vec<(&'static str, Options)> {
    let mut agents = vec![("embedded", embedded(folder))];
    match variable("BOWLINE_BIN") {
        Some(path) => {
            let options = process(&path, folder).model("script");
            agents.push(("bowline, dialing in", dialing_in(&path, options.clone()).await));
            agents.push(("bowline, carried", carried(&path, options.clone())));
            agents.push(("bowline", options));
        }
        None => eprintln!("skipped the part with a process: BOWLINE_BIN is not set"),
    }
    match (variable("CLAUDE_BIN"), variable("SCRIPT_SERVER")) {
        (Some(path), Some(server)) => agents.push(("official", official(&path, server, folder))),
        _ => eprintln!("skipped the official agent: CLAUDE_BIN or SCRIPT_SERVER is not set"),
    }
    if let (Some(path), Some(server)) = (variable("CLAUDE_217_BIN"), variable("SCRIPT_SERVER")) {
        let options = official(&path, server, folder);
        agents.push(("official 2.1.7, dialing in", dialing_in(&path, options).await));
    }
    agents
}

/// An official agent that uses a script server.
fn official(path: &str, server: String, folder: &Path) -> Options {
    process(path, folder)
        .env("ANTHROPIC_BASE_URL", server)
        .env("ANTHROPIC_API_KEY", "none is needed")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
}

/// The same agent, which is not spoken to over its pipes but dials in.
async fn dialing_in(program: &str, mut options: Options) -> Options {
    let mut door = ListenerOptions::default();
    door.token = Some("sesame".to_owned());
    let listener = Listener::bind("127.0.0.1:0", door).await.expect("there is a free port");
    let program = PathBuf::from(program);
    options.process.cli_path = None;
    options.on_demand(OnDemand::new(Arc::new(listener), move |invitation: AgentInvitation| {
        invitation.run(program.clone())
    }))
}

/// The same agent, started by other code that hands over its pipes.
fn carried(program: &str, mut options: Options) -> Options {
    let program = PathBuf::from(program);
    options.process.cli_path = None;
    options.carried_by(move |setup: AgentSetup| {
        let program = program.clone();
        async move { started(program, &setup) }
    })
}

/// Starts the agent that `setup` describes, and gives its output and its input.
pub(crate) fn started(
    program: PathBuf,
    setup: &AgentSetup,
) -> io::Result<(ChildStdout, ChildStdin)> {
    let mut command = Command::new(program);
    command.args(&setup.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    for (name, value) in &setup.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(cwd) = setup.cwd.as_ref().filter(|cwd| cwd.is_dir()) {
        command.current_dir(cwd);
    }
    let mut child = command.spawn()?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    Ok((stdout, stdin))
}

/// The engine in this process.
pub(crate) fn embedded(folder: &Path) -> Options {
    let agent = Embedded::script(folder).saved_in(folder.join("embedded"));
    Options::default().embedded(agent)
}

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// An agent in a process, without the user's settings and keys.
fn process(path: &str, folder: &Path) -> Options {
    let mut options = Options::default().cli_path(path).cwd(folder);
    options.settings.setting_sources = Some(Vec::new());
    for (name, _) in std::env::vars() {
        if ["ANTHROPIC_", "CLAUDE_", "OPENAI_"].iter().any(|it| name.starts_with(it)) {
            options.process.env.insert(name, None);
        }
    }
    let config = folder.join("config").display().to_string();
    options.env("CLAUDE_CONFIG_DIR", config)
}

/// Options for the fake agent.
pub(crate) fn fake(part: &str) -> Options {
    let mut options = Options::default().cli_path(fake_path());
    options.process.extra_args.insert("play".to_owned(), Some(part.to_owned()));
    options
}

/// The program of the fake agent.
pub(crate) fn fake_path() -> PathBuf {
    example("fake_cli")
}

/// The program of an example or fixture of this crate. `cargo test` builds them; `cargo test --test it`
/// does not.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    let target = test.parent().and_then(|deps| deps.parent()).expect("cargo's folders");
    target.join("examples").join(name)
}

/// Each message or error in a word or two.
pub(crate) async fn told(mut messages: Messages) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(message) = soon("the stream", messages.next()).await {
        told.push(match message {
            Ok(message) => in_short(&message),
            Err(error) => format!("error {}", error.code()),
        });
    }
    told
}

pub(crate) fn in_short(message: &Message) -> String {
    match message {
        Message::Assistant(answer) => {
            let blocks = answer.message.content.iter().map(|block| match block {
                ContentBlock::Text(block) => format!("text {}", block.text.len()),
                ContentBlock::ToolUse(block) => format!("tool {}", block.name),
                ContentBlock::Unknown(_) => "unknown".to_owned(),
                _ => "other".to_owned(),
            });
            format!("assistant [{}]", blocks.collect::<Vec<_>>().join(", "))
        }
        Message::Result(result) => format!("result {}", result.result.as_deref().unwrap_or("-")),
        Message::User(_) => "user".to_owned(),
        Message::System(_) => "system".to_owned(),
        Message::Unknown(_) => "unknown".to_owned(),
        _ => "other".to_owned(),
    }
}

/// The text of the last result in the stream.
pub(crate) async fn result(messages: Messages) -> String {
    let told = told(messages).await;
    // The state of a named prompt, as over a WebSocket, is sent after its result.
    let mut results = told.iter().filter_map(|it| it.strip_prefix("result "));
    results.next_back().unwrap_or_else(|| panic!("no result in {told:?}")).to_owned()
}

/// The error that a stream ends with.
pub(crate) async fn last_error(mut messages: Messages) -> Error {
    let mut last = None;
    while let Some(message) = soon("the stream", messages.next()).await {
        last = message.err();
    }
    last.expect("the stream ends with an error")
}

/// The process of a fake agent.
pub(crate) fn pid(client: &Client) -> u64 {
    client.initialization().pid.expect("the fake says it")
}
