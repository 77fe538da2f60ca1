//! Agents that dial in: whom the listener lets in, and real agents over a connection that breaks.
//!
//! `BOWLINE_BIN` names our program, `CLAUDE_217_BIN` version 2.1.7 of the official one (the last
//! that dials any host), and `SCRIPT_SERVER` the address of a `bowline script-server` for the latter
//! to use. What is not named is skipped with a note.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

use std::{
    fmt,
    net::SocketAddr,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline_host::{
    Agent, AgentInvitation, Client, Error, HookCall, HookEvent, HookMatcher, HookOutput, Listener,
    ListenerOptions, McpServer, OnDemand, Options, PermissionResult, RemoteAgent, StartAgent, Tool,
    ToolRequest, query,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt},
};

use crate::rig::{gone, result, soon, told, write_script};

/// A program that can dial in.
struct Program {
    name: &'static str,
    path: String,
    variables: Vec<(&'static str, String)>,
}

/// The programs there are.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn programs() -> Vec<Program> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let mut programs = Vec::new();
    match variable("BOWLINE_BIN") {
        Some(path) => programs.push(Program { name: "bowline", path, variables: Vec::new() }),
        None => eprintln!("skipped bowline: BOWLINE_BIN is not set"),
    }
    match (variable("CLAUDE_217_BIN"), variable("SCRIPT_SERVER")) {
        (Some(path), Some(server)) => {
            let variables = vec![
                ("ANTHROPIC_BASE_URL", server),
                ("ANTHROPIC_API_KEY", "none is needed".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ];
            programs.push(Program { name: "official 2.1.7", path, variables });
        }
        _ => eprintln!("skipped the official agent: CLAUDE_217_BIN or SCRIPT_SERVER is not set"),
    }
    programs
}

impl Program {
    /// Starts it in a folder, with the flags that these options need.
    fn dial(&self, url: &str, folder: &Path, options: &Options) -> Child {
        let mut command = Command::new(&self.path);
        command.args(options.remote_arguments(url).unwrap());
        for (name, _) in std::env::vars() {
            if ["ANTHROPIC_", "CLAUDE", "OPENAI_"].iter().any(|it| name.starts_with(it)) {
                command.env_remove(name);
            }
        }
        command
            .args(["--model", if self.name == "bowline" { "script" } else { "sonnet" }])
            .env("CLAUDE_CONFIG_DIR", folder.join("config"))
            .env("CLAUDE_CODE_SESSION_ACCESS_TOKEN", "sesame")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }
}

async fn listener() -> Listener {
    let mut options = ListenerOptions::default();
    options.token = Some("sesame".to_owned());
    options.patience = Duration::from_secs(20);
    Listener::bind("127.0.0.1:0", options).await.unwrap()
}

/// Starts every program with these options sequentially, and gives its session to `test`.
async fn each(options: impl Fn() -> Options, test: impl AsyncFn(&'static str, &Path, Options)) {
    let listener = listener().await;
    for (number, program) in programs().iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let path = format!("/agents/{number}");
        let agent = listener.expect(&path).unwrap();
        let options = options();
        let mut child = program.dial(&listener.url(&path), folder.path(), &options);
        test(program.name, folder.path(), options.websocket(agent)).await;
        // The official one dials a few times more before it believes that it is over.
        soon(program.name, child.wait()).await.unwrap();
    }
}

const MAKE: &str = "TOOL Bash {\"command\": \"touch made\", \"description\": \"Make a file\"}\n\
                    NEXT\nSAY made it";

/// Keeps the words of every warning.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        struct Words(String);
        impl tracing::field::Visit for Words {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        if *event.metadata().level() == tracing::Level::WARN {
            let mut words = Words(String::new());
            event.record(&mut words);
            self.0.lock().unwrap().push(words.0);
        }
    }
}

#[tokio::test]
async fn options_without_effect_for_a_started_agent_are_named() {
    let warnings = Warnings::default();
    let _collects = tracing::subscriber::set_default(Registry::default().with(warnings.clone()));
    let listener = listener().await;
    let connect = async |path: &str, mut options: Options| {
        options.limits.initialize = Duration::from_millis(10);
        let options = options.websocket(listener.expect(path).unwrap());
        Client::connect(options).await.unwrap_err()
    };
    let mut options = Options::default().model("opus").max_turns(3).env("A", "b").resume("one");
    // This one reaches it.
    options.session.title = Some("Knots".to_owned());
    assert_eq!(connect("/said", options).await.code(), "timeout");
    assert_eq!(connect("/nothing", Options::default()).await.code(), "timeout");
    let expected = "an agent that connects by itself has these options only if it was started with them \
                    (`remote_arguments`, `remote_variables`): process.env, model, max_turns, resume";
    assert_eq!(*warnings.0.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn the_id_of_a_session_is_what_the_agent_says() {
    let listener = listener().await;
    let mut options = Options::default().websocket(listener.expect("/one").unwrap());
    options.limits.initialize = Duration::from_millis(10);
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let error = Agent::builder(options.clone()).journal(&journal).build().unwrap_err();
    assert_eq!(error.code(), "options");
    assert!(error.to_string().contains("`journal`"), "{error}");
    assert!(!journal.exists());
    let agent = Agent::new(options).unwrap();
    let elsewhere = soon("the end", agent.start_in(folder.path(), "go").wait()).await;
    assert_eq!(elsewhere.unwrap_err().code(), "options", "it has its folder already");
    let session = agent.start("go");
    assert_eq!(session.id(), None, "the agent has not sent it");
    assert_eq!(soon("the end", session.wait()).await.unwrap_err().code(), "timeout");
}

#[tokio::test]
async fn one_answer() {
    each(Options::default, async |agent, _, options| {
        let text = soon(agent, query("SAY hello there", options).text()).await.unwrap();
        assert_eq!(text, "hello there", "{agent}");
    })
    .await;
}

#[tokio::test]
async fn permissions_hooks_and_tools() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let set_up = || {
        let (asked, told) = (seen.clone(), seen.clone());
        let add =
            Tool::new("double", "Doubles", async |number: Number| (number.of * 2).to_string());
        Options::default()
            .allow(["mcp__calc__double"])
            .sdk_mcp_server(McpServer::new("calc").tool(add))
            .can_use_tool(move |request: ToolRequest| {
                asked.lock().unwrap().push(format!("may {}", request.tool_name));
                async { PermissionResult::allow() }
            })
            .hook(
                HookEvent::PreToolUse,
                HookMatcher::on("Bash").run(move |call: HookCall| {
                    told.lock().unwrap().push(format!("hook {}", call.tool_name().unwrap()));
                    async { HookOutput::default() }
                }),
            )
    };
    each(set_up, async |agent, folder, options| {
        seen.lock().unwrap().clear();
        let client = soon(agent, Client::connect(options)).await.unwrap();
        client.query(MAKE).await.unwrap();
        assert_eq!(result(client.receive_response()).await, "made it", "{agent}");
        assert!(folder.join("made").exists(), "{agent}");
        assert_eq!(*seen.lock().unwrap(), ["hook Bash", "may Bash"], "{agent}");
        client.query("TOOL mcp__calc__double {\"of\": 21}\nNEXT\nECHORESULT").await.unwrap();
        let text = result(client.receive_response()).await;
        assert!(text.contains("42"), "{agent}: {text}");
        soon(agent, client.disconnect()).await;
        let rest = told(client.receive_messages()).await;
        assert!(!rest.iter().any(|it| it.starts_with("error")), "{agent}: {rest:?}");
    })
    .await;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number {
    of: i64,
}

#[tokio::test]
async fn permission_request_survives_a_broken_connection() {
    let listener = listener().await;
    for (number, program) in programs().iter().enumerate() {
        let agent = program.name;
        let folder = tempfile::tempdir().unwrap();
        let path = format!("/broken/{number}");
        let remote = listener.expect(&path).unwrap();
        let cable = Cable::to(listener.address()).await;
        let (asked, mut question) = tokio::sync::mpsc::channel(8);
        let answer = Arc::new(tokio::sync::Notify::new());
        let may = answer.clone();
        let options = Options::default().can_use_tool(move |_: ToolRequest| {
            let (asked, may) = (asked.clone(), may.clone());
            async move {
                asked.send(()).await.unwrap();
                may.notified().await;
                PermissionResult::allow()
            }
        });
        let url = format!("ws://{}{path}", cable.address);
        let mut child = program.dial(&url, folder.path(), &options);
        let client = soon(agent, Client::connect(options.websocket(remote))).await.unwrap();
        client.query(MAKE).await.unwrap();
        soon(agent, question.recv()).await.unwrap();
        cable.cut();
        // The response is sent while the agent is disconnected.
        answer.notify_one();
        assert_eq!(result(client.receive_response()).await, "made it", "{agent}");
        assert!(question.try_recv().is_err(), "{agent} was asked twice");
        client.query("SAY still here").await.unwrap();
        assert_eq!(result(client.receive_response()).await, "still here", "{agent}");
        soon(agent, client.disconnect()).await;
        soon(agent, child.wait()).await.unwrap();
    }
}

/// A cable that can be cut; a new connection works.
struct Cable {
    address: SocketAddr,
    cuts: Arc<Mutex<CancellationToken>>,
    _running: AbortOnDropHandle<()>,
}

impl Cable {
    async fn to(host: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = Arc::new(Mutex::new(CancellationToken::new()));
        let cut = cuts.clone();
        let running = tokio::spawn(async move {
            loop {
                let (mut agent, _) = listener.accept().await.unwrap();
                let mut host = TcpStream::connect(host).await.unwrap();
                let token = cut.lock().unwrap().clone();
                tokio::select! {
                    _ = copy_bidirectional(&mut agent, &mut host) => {}
                    () = token.cancelled() => {}
                }
            }
        });
        Self { address, cuts, _running: AbortOnDropHandle::new(running) }
    }

    fn cut(&self) {
        std::mem::take(&mut *self.cuts.lock().unwrap()).cancel();
    }
}

/// The listener's response to this request.
async fn answered(listener: &Listener, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(listener.address()).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    soon("an answer", stream.read_exact(&mut answer)).await.unwrap();
    String::from_utf8(answer.to_vec()).unwrap()
}

#[tokio::test]
async fn listener_admits_only_authorized_agents() {
    let mut options = ListenerOptions::default();
    options.token = Some("sesame".to_owned());
    options.only_expected = true;
    let listener = Listener::bind("127.0.0.1:0", options).await.unwrap();
    let agent: RemoteAgent = listener.expect("/a").unwrap();
    assert_eq!(agent.path(), "/a");
    assert_eq!(listener.expect("/a").unwrap_err().code(), "options");
    let good = "Authorization: Bearer sesame\r\n";
    let cases = [
        ("/a", "", "HTTP/1.1 401"),
        ("/a", "Authorization: Bearer sesame!\r\n", "HTTP/1.1 401"),
        ("/a", "Authorization: Bearer\r\n", "HTTP/1.1 401"),
        ("/a", "Authorization: Bearer sesame\r\nOrigin: http://evil\r\n", "HTTP/1.1 403"),
        ("/b", good, "HTTP/1.1 404"),
        ("/a", good, "HTTP/1.1 101"),
    ];
    for (path, headers, expected) in cases {
        assert_eq!(answered(&listener, path, headers).await, expected, "{path} {headers}");
    }
    drop(agent);
    assert_eq!(answered(&listener, "/a", good).await, "HTTP/1.1 410");
    assert!(listener.expect("/a").is_ok(), "a path can be used again");
}

#[tokio::test]
async fn strangers_are_accepted_in_turn() {
    let mut options = ListenerOptions::default();
    options.no_token = true;
    let listener = Listener::bind("127.0.0.1:0", options).await.unwrap();
    assert_eq!(listener.token(), None);
    let mut streams = Vec::new();
    for path in ["/one", "/two"] {
        assert_eq!(answered(&listener, path, "").await, "HTTP/1.1 101");
        let agent = soon("an agent", listener.accept()).await.unwrap();
        assert_eq!(agent.path(), path);
        streams.push(agent);
    }
}

#[tokio::test]
async fn an_agent_that_does_not_come_is_not_waited_for_for_ever() {
    let mut options = ListenerOptions::default();
    options.patience = Duration::from_millis(30);
    let listener = Listener::bind("127.0.0.1:0", options).await.unwrap();
    let agent = listener.expect("/never").unwrap();
    let connecting = Client::connect(Options::default().websocket(agent));
    let error = soon("the wait", connecting).await.unwrap_err();
    assert_eq!(error.to_string(), "no agent dialed /never within 30ms");
}

#[tokio::test]
async fn listener_beyond_loopback_requires_a_token() {
    let mut options = ListenerOptions::default();
    options.no_token = true;
    let error = Listener::bind("0.0.0.0:0", options.clone()).await.unwrap_err();
    assert_eq!(error.code(), "options");
    assert!(error.to_string().contains("`ListenerOptions::no_token`"), "{error}");
    options.token = Some("sesame".to_owned());
    let error = Listener::bind("127.0.0.1:0", options).await.unwrap_err();
    assert!(error.to_string().contains("both a `token` and `no_token`"), "{error}");
}

#[tokio::test]
async fn a_token_is_made_if_there_is_none() {
    let listener = Listener::bind("127.0.0.1:0", ListenerOptions::default()).await.unwrap();
    let other = Listener::bind("127.0.0.1:0", ListenerOptions::default()).await.unwrap();
    let (token, other) = (listener.token().unwrap(), other.token().unwrap());
    assert_eq!((token.len(), token != other), (64, true));
    assert_eq!(answered(&listener, "/a", "").await, "HTTP/1.1 401");
    let header = |token: &str| format!("Authorization: Bearer {token}\r\n");
    assert_eq!(answered(&listener, "/a", &header(other)).await, "HTTP/1.1 401");
    assert_eq!(answered(&listener, "/a", &header(token)).await, "HTTP/1.1 101");
}

/// Agents that this starts, which should dial in.
async fn on_demand(starter: impl StartAgent) -> Options {
    let listener = Listener::bind("127.0.0.1:0", ListenerOptions::default()).await.unwrap();
    Options::default().on_demand(OnDemand::new(Arc::new(listener), starter))
}

#[tokio::test]
async fn an_agent_that_ends_before_it_dials_is_known_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("agent");
    write_script(&program, "echo something broke >&2\nexit 3");
    let options =
        on_demand(move |invitation: AgentInvitation| invitation.run(program.clone())).await;
    let error = soon("connecting", Client::connect(options)).await.unwrap_err();
    let Error::Process(end) = error else { panic!("{error:?}") };
    assert_eq!((end.code, &*end.stderr), (Some(3), "something broke\n"));

    let options =
        on_demand(async |_: AgentInvitation| Err("there is no room for another".into())).await;
    let error = soon("connecting", Client::connect(options)).await.unwrap_err();
    assert_eq!(error.code(), "cli_connection");
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("there is no room for another"));

    let options =
        on_demand(async |invitation: AgentInvitation| invitation.run("/no/such/agent").await).await;
    let error = soon("connecting", Client::connect(options)).await.unwrap_err();
    assert_eq!(error.code(), "cli_not_found");
}

#[tokio::test]
async fn agent_started_on_demand_gets_all_options_and_ends_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let program = folder.path().join("agent");
    let words =
        format!("echo $$ $* >'{0}.new' && mv '{0}.new' '{0}'\nexec sleep 60", note.display());
    write_script(&program, &words);
    let options =
        on_demand(move |invitation: AgentInvitation| invitation.run(program.clone())).await;
    let connecting = Box::pin(Client::connect(options.model("opus")));
    let told = tokio::select! {
        _ = connecting => panic!("nobody dials"),
        told = soon("a note", noted(&note)) => told,
    };
    let (pid, arguments) = told.split_once(' ').unwrap();
    assert!(arguments.starts_with("--sdk-url ws://127.0.0.1:"), "{arguments}");
    assert!(arguments.contains("--model opus"), "{arguments}");
    // It was killed: the session no longer waits for it.
    gone(&pid).await;
}

#[tokio::test]
async fn process_options_are_rejected_for_an_agent_elsewhere() {
    let here = |options: Options| async {
        soon("the answer", Client::connect(options)).await.unwrap_err().to_string()
    };
    let agents = || on_demand(async |_: AgentInvitation| Err("it is never started".into()));
    type Set = fn(&mut Options);
    let cases: [(&str, Set); 4] = [
        ("cli_path", |it| it.process.cli_path = Some("/bin/agent".into())),
        ("clear_env", |it| it.process.clear_env = true),
        ("stderr", |it| it.process.stderr = Some(Arc::new(|_| {}))),
        ("spawner", |it| {
            it.process.spawner = Some(Arc::new(|mut command: Command| command.spawn()))
        }),
    ];
    for (option, set) in cases {
        let mut options = agents().await;
        set(&mut options);
        let expected = format!("`{option}` is for an agent that this program starts itself");
        assert_eq!(here(options).await, expected);
    }
    // Its folder is where it runs, and everything else reaches the code that starts it.
    let (told, mut invitation) = tokio::sync::mpsc::channel(1);
    let options = on_demand(move |invitation: AgentInvitation| {
        let told = told.clone();
        async move {
            told.send(invitation).await.unwrap();
            Err("that will do".into())
        }
    });
    let mut options = options.await.cwd("/on/another/machine").env("A", "b").model("opus");
    options.session.file_checkpointing = true;
    let variables = options.remote_variables();
    here(options).await;
    let mut told = soon("a invitation", invitation.recv()).await.unwrap();
    assert_eq!(told.cwd.as_deref(), Some(Path::new("/on/another/machine")));
    let token = told.variables.remove("CLAUDE_CODE_SESSION_ACCESS_TOKEN").unwrap();
    assert!(token.is_some(), "it could not dial in");
    assert_eq!(told.variables, variables);
    assert_eq!(told.variables["A"].as_deref(), Some("b"));
    let checkpoints = &told.variables["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"];
    assert_eq!(checkpoints.as_deref(), Some("true"));
    assert!(told.arguments.windows(2).any(|it| it[0] == "--model" && it[1] == "opus"));
}

/// What is in a file, once it is there.
async fn noted(path: &Path) -> String {
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) => break text,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}
