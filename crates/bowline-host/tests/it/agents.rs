//! Agents: room for sessions, waiting, prewarmed processes, programs that are too old.

use std::{fs, sync::Arc};

use bowline_host::{
    Agent, Embedded, HookCall, HookEvent, HookMatcher, HookOutput, McpServer, Options,
    SessionState, Tool,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::rig::{fake, gone, soon, write_script};

#[tokio::test]
async fn sessions_beyond_the_limit_wait_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Arc::new(Semaphore::new(0));
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (open, note) = (gate.clone(), order.clone());
    let wait = Tool::with_schema("wait", "", json!({"type": "object"}), move |arguments: Value| {
        let open = open.clone();
        note.lock().unwrap().push(arguments["n"].as_u64().unwrap());
        async move {
            open.acquire().await.unwrap().forget();
            "done".to_owned()
        }
    });
    let options = Options::default()
        .embedded(Embedded::script(folder.path()))
        .sdk_mcp_server(McpServer::new("s").tool(wait))
        .allow(["mcp__s__wait"]);
    let agent = Agent::builder(options).max_sessions(2).build().unwrap();
    let start = |n: u64| agent.start(format!("TOOL mcp__s__wait {{\"n\": {n}}}\nNEXT\nSAY {n}"));
    let sessions: Vec<_> = (0..6).map(start).collect();
    for _ in 0..6 {
        // Never more than two of them work.
        let mut watch = sessions[order.lock().unwrap().len().min(5)].watch();
        let working = sessions.iter().filter(|it| !matches!(it.state(), SessionState::Idle));
        let working = working.filter(|it| !it.state().is_over()).count();
        assert!(working <= 2, "{working}");
        gate.add_permits(1);
        watch.borrow_and_update();
        tokio::task::yield_now().await;
    }
    for (n, session) in sessions.iter().enumerate() {
        let result = soon("a session", session.wait()).await.unwrap();
        assert_eq!(result.result, Some(n.to_string()));
    }
    // First come, first served, two at a time.
    let order = order.lock().unwrap().clone();
    for (place, n) in order.iter().enumerate() {
        assert!((*n as usize).abs_diff(place) <= 1, "{order:?}");
    }
}

#[tokio::test]
async fn processes_are_started_before_they_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let program = folder.path().join("agent");
    let fake_path = crate::rig::fake_path();
    let script = format!(
        "[ \"$1\" = --version ] || echo $$ >> '{}'\nexec '{}' \"$@\"",
        starts.display(),
        fake_path.display()
    );
    write_script(&program, &script);
    let pids = || -> Vec<u64> {
        let text = fs::read_to_string(&starts).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    let agent = Agent::builder(fake("serve").cli_path(&program)).max_sessions(3).build().unwrap();
    soon("prewarming", agent.prewarm(2)).await.unwrap();
    soon("prewarming", agent.prewarm(2)).await.unwrap();
    assert_eq!(pids().len(), 2, "what is there counts");
    let sessions: Vec<_> = (0..3).map(|_| agent.start("go")).collect();
    let mut ids = std::collections::HashSet::new();
    for session in &sessions {
        soon("a session", session.wait()).await.unwrap();
        ids.insert(session.id());
    }
    assert_eq!(pids().len(), 3, "the third needed one of its own");
    soon("prewarming", agent.prewarm(9)).await.unwrap();
    assert_eq!(pids().len(), 6, "not more than there is room for");
    drop((agent, sessions));
    for pid in pids() {
        gone(pid).await;
    }
}

#[tokio::test]
async fn a_session_may_have_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let (usual, own) = (folder.join("usual"), folder.join("own"));
    fs::create_dir(&usual).unwrap();
    fs::create_dir(&own).unwrap();
    let agent = Agent::new(fake("surroundings").cwd(&usual)).unwrap();
    // What is ready works elsewhere.
    soon("prewarming", agent.prewarm(1)).await.unwrap();
    for (session, expected) in [(agent.start_in(&own, "go"), &own), (agent.start("go"), &usual)] {
        let result = soon("a session", session.wait()).await.unwrap().result.unwrap();
        assert!(result.starts_with(&format!("{} ", expected.display())), "{result}");
    }
    let nowhere = soon("a session", agent.start_in(folder.join("none"), "go").wait()).await;
    assert_eq!(nowhere.unwrap_err().code(), "options");
}

#[tokio::test]
async fn a_program_that_is_too_old_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("old");
    let script = "if [ \"$1\" = --version ]; then echo '1.0.120 (Claude Code)'; exit; fi\n\
                  echo 'error: unknown option' >&2\nexit 1";
    write_script(&program, script);
    let session = Agent::new(Options::default().cli_path(&program)).unwrap().start("go");
    let error = soon("the session", session.wait()).await.unwrap_err();
    let expected =
        format!("the agent {} is version 1.0.120; at least 2.0.0 is required", program.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.code(), "cli_connection");
}

#[tokio::test]
async fn resumed_agent_awaits_our_hooks_if_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("agent");
    let hook = || HookMatcher::always().run(async |_: HookCall| HookOutput::default());
    let hooked = |options: Options| options.hook(HookEvent::PreToolUse, hook());
    let served = |options: Options| options.sdk_mcp_server(McpServer::new("knots"));
    let resumed = |options: Options| options.resume("knots");
    let cases: [(&str, Options, bool); 9] = [
        ("2.1.325", hooked(resumed(Options::default())), true),
        ("2.1.261", hooked(resumed(Options::default())), true),
        ("2.1.260", hooked(resumed(Options::default())), false),
        ("2.2.0", served(resumed(Options::default())), true),
        ("2.1.325", resumed(Options::default()), false),
        ("2.1.325", hooked(Options::default()), false),
        ("2.1.7", hooked(resumed(Options::default())), false),
        ("2.1", hooked(resumed(Options::default())), false),
        ("of my own", hooked(resumed(Options::default())), false),
    ];
    for (version, options, waits) in cases {
        let script = format!(
            "if [ \"$1\" = --version ]; then echo '{version} (Claude Code)'; exit; fi\n\
             echo \"$@\" >&2\nexit 1"
        );
        write_script(&program, &script);
        let options = options.cli_path(&program);
        let session = Agent::new(options).unwrap().start("go");
        let error = soon("the session", session.wait()).await.unwrap_err().to_string();
        assert_eq!(error.contains("--await-initialize"), waits, "{version}: {error}");
    }
}

#[tokio::test]
async fn conflicting_options_fail_when_the_agent_is_built() {
    let tool = || Tool::with_schema("a", "", json!({"type": "object"}), async |_: Value| "");
    let options = Options::default().sdk_mcp_server(McpServer::new("s").tool(tool()).tool(tool()));
    let error = Agent::new(options).unwrap_err();
    assert_eq!(error.code(), "options");
    let none = Agent::builder(Options::default()).max_sessions(0).build().unwrap_err();
    assert_eq!(none.to_string(), "`max_sessions` must be at least 1");
}
