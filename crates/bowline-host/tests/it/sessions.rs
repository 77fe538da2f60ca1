//! Sessions: followed, steered, and never lying about where they are.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bowline_host::{
    Agent, Embedded, McpServer, Message, Options, PermissionResult, Session, SessionEvent,
    SessionState, SessionStatus, Tool, ToolRequest,
};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use crate::rig::{agents, fake, gone, soon};

/// Waits until a session is where it should be.
async fn until(session: &Session, what: &str, is: impl FnMut(&SessionStatus) -> bool) {
    let mut watch = session.watch();
    soon(what, watch.wait_for(is)).await.expect("the session is here");
}

async fn reaches(session: &Session, state: SessionState) {
    until(session, state.as_str(), |status| status.state() == state).await;
}

/// A server with the tools `a` and `b`, which end when the gate is opened for them.
fn gated(gate: &Arc<Semaphore>) -> McpServer {
    let tool = |name: &str| {
        let gate = gate.clone();
        Tool::with_schema(name, "", json!({"type": "object"}), move |_: Value| {
            let gate = gate.clone();
            async move {
                gate.acquire().await.expect("nobody closes it").forget();
                "done".to_owned()
            }
        })
    };
    McpServer::new("calc").tool(tool("a")).tool(tool("b"))
}

#[tokio::test]
async fn a_session_from_start_to_end() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()).await {
        let gate = Arc::new(Semaphore::new(0));
        let asked = Arc::new(Semaphore::new(0));
        let decide = asked.clone();
        let options = options.sdk_mcp_server(gated(&gate)).can_use_tool(move |_: ToolRequest| {
            let decide = decide.clone();
            async move {
                decide.acquire().await.expect("nobody closes it").forget();
                PermissionResult::allow()
            }
        });
        let session = Agent::new(options).unwrap().start("TOOL mcp__calc__a {}\nNEXT\nSAY fine");
        let mut events = session.events();
        assert_eq!(session.state(), SessionState::Idle, "{name}");
        reaches(&session, SessionState::WaitingPermission).await;
        let pending = session.status().pending_permission().unwrap().clone();
        assert_eq!(pending.tool_name, "mcp__calc__a", "{name}");
        // An agent in this process has no ids for its requests.
        assert_eq!(pending.request_id.is_none(), name == "embedded", "{name}");
        asked.add_permits(1);
        reaches(&session, SessionState::WaitingToolCall).await;
        let status = session.status();
        let call = status.pending_tool_call().unwrap();
        assert_eq!((&*call.server_name, &*call.tool_name), ("calc", "a"), "{name}");
        assert_eq!(status.pending_permission(), None, "{name}");
        gate.add_permits(1);
        let result = soon(name, session.wait()).await.unwrap();
        assert_eq!(result.result.as_deref(), Some("fine"), "{name}");
        assert_eq!(session.id(), Some(result.session_id), "{name}");
        let stats = session.status().statistics();
        assert_eq!((stats.tool_calls, stats.permissions), (1, 1), "{name}");
        assert!(stats.completed_at >= stats.started_at && stats.messages > 3, "{name}: {stats:?}");

        let (mut states, mut tools) = (vec!["idle"], Vec::new());
        while let Some(event) = soon(name, events.next()).await {
            match event {
                SessionEvent::StateChange { from, to, status } => {
                    assert_eq!(Some(&from.as_str()), states.last(), "{name}");
                    assert_eq!(status.state(), to, "{name}");
                    states.push(to.as_str());
                }
                SessionEvent::ToolCall(call) => {
                    tools.push(format!("call {:?} {}", call.server_name(), call.name));
                }
                SessionEvent::ToolResult(answer) => {
                    let tool = answer.tool_name.as_deref().unwrap_or("-");
                    tools.push(format!("result {tool} {}", answer.is_error));
                }
                SessionEvent::Error(error) => panic!("{name}: {error}"),
                _ => {}
            }
        }
        let expected = [
            "idle",
            "starting",
            "running",
            "waiting_permission",
            "running",
            "waiting_tool_call",
            "running",
            "completed",
        ];
        assert_eq!(states, expected, "{name}");
        assert_eq!(
            tools,
            ["call Some(\"calc\") mcp__calc__a", "result mcp__calc__a false"],
            "{name}"
        );
    }
}

#[tokio::test]
async fn two_tool_calls_and_a_permission_request_at_once() {
    let gate = Arc::new(Semaphore::new(0));
    let decide = Arc::new(Notify::new());
    let decided = decide.clone();
    let options =
        fake("three_at_once").sdk_mcp_server(gated(&gate)).can_use_tool(move |_: ToolRequest| {
            let decided = decided.clone();
            async move {
                decided.notified().await;
                PermissionResult::allow()
            }
        });
    let session = Agent::new(options).unwrap().start("go");
    until(&session, "all three", |status| {
        status.pending_tool_calls().len() == 2 && status.pending_permissions().len() == 1
    })
    .await;
    assert_eq!(session.state(), SessionState::WaitingPermission);
    gate.add_permits(1);
    until(&session, "one less", |status| status.pending_tool_calls().len() == 1).await;
    assert_eq!(session.state(), SessionState::WaitingPermission);
    decide.notify_one();
    reaches(&session, SessionState::WaitingToolCall).await;
    gate.add_permits(1);
    soon("the end", session.wait()).await.unwrap();
    assert_eq!(session.state(), SessionState::Completed);
}

#[tokio::test]
async fn flood_of_unread_messages_does_not_delay_the_session() {
    let options = fake("flood").can_use_tool(async |_: ToolRequest| PermissionResult::allow());
    let session = Agent::new(options).unwrap().start("go");
    let mut events = session.events();
    let result = tokio::time::timeout(Duration::from_secs(120), session.wait()).await;
    assert!(result.expect("it does not hang").is_ok());
    // A slow reader of events is notified, and the messages are all still there.
    let first = events.next().await;
    assert!(matches!(first, Some(SessionEvent::Missed(_))), "{first:?}");
    let mut messages = session.messages();
    let mut count = 0;
    while let Some(message) = messages.next().await {
        count += usize::from(matches!(message, Ok(Message::Assistant(_))));
    }
    assert_eq!(count, 50_000);
}

#[tokio::test]
async fn pause_withholds_responses() {
    let options =
        fake("two_questions").can_use_tool(async |_: ToolRequest| PermissionResult::allow());
    let session = Agent::new(options).unwrap().start("go");
    let too_early = session.pause().unwrap_err();
    assert_eq!(too_early.to_string(), "cannot pause a session that is idle");
    reaches(&session, SessionState::Running).await;
    session.pause().unwrap();
    assert_eq!(session.pause().unwrap_err().code(), "state");
    // Both requests are sent and decided, and neither has a response.
    until(&session, "the questions", |status| status.pending_permissions().len() == 2).await;
    assert_eq!(session.state(), SessionState::Paused);
    session.resume().unwrap();
    soon("the end", session.wait()).await.unwrap();
    assert_eq!(session.status().statistics().permissions, 2);
    assert_eq!(
        session.resume().unwrap_err().to_string(),
        "cannot resume a session that is completed"
    );
}

#[tokio::test]
async fn an_agent_that_dies_while_it_is_paused_is_not_waited_for() {
    let mut options = fake("exit");
    options.process.extra_args.insert("code".to_owned(), Some("3".to_owned()));
    let session = Agent::new(options).unwrap().start("go");
    let mut watch = session.watch();
    let running = |status: &SessionStatus| status.state() == SessionState::Running;
    soon("running", watch.wait_for(running)).await.unwrap();
    session.pause().ok();
    let error = soon("the end", session.wait()).await.unwrap_err();
    assert_eq!((error.code(), session.state()), ("process", SessionState::Failed));
}

#[tokio::test]
async fn a_session_can_be_cancelled_whatever_it_does() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()).await {
        let session = Agent::new(options).unwrap().start("SAY begun\nDELAY 60000\nNEXT\nSAY never");
        until(&session, name, |status| status.statistics().messages > 0).await;
        let since = Instant::now();
        soon(name, session.cancel()).await;
        assert!(since.elapsed() < Duration::from_secs(10), "{name}: {:?}", since.elapsed());
        assert_eq!(session.state(), SessionState::Cancelled, "{name}");
        assert_eq!(session.wait().await.unwrap_err().code(), "cancelled", "{name}");
        assert_eq!(session.interrupt().await.unwrap_err().code(), "state", "{name}");
    }
    // Also one that was never started.
    let options = Options::default().embedded(Embedded::script(folder.path()));
    let agent = Agent::builder(options).max_sessions(1).build().unwrap();
    let (first, second) = (agent.start("DELAY 60000\nSAY x"), agent.start("SAY y"));
    soon("the second", second.cancel()).await;
    assert_eq!(second.status().statistics().started_at, None);
    soon("the first", first.cancel()).await;
}

#[tokio::test]
async fn an_interrupt_ends_a_session_with_a_result() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()).await {
        let session = Agent::new(options).unwrap().start("SAY begun\nDELAY 60000\nNEXT\nSAY never");
        until(&session, name, |status| status.statistics().messages > 0).await;
        soon(name, session.interrupt()).await.unwrap();
        let result = soon(name, session.wait()).await.unwrap();
        assert_ne!(result.result.as_deref(), Some("never"), "{name}");
        assert!(session.state().is_over(), "{name}");
    }
}

#[tokio::test]
async fn a_session_that_is_dropped_takes_its_agent_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let mut options = fake("hang");
    options.process.extra_args.insert("note".to_owned(), Some(note.display().to_string()));
    let session = Agent::new(options).unwrap().start("go");
    let pid = soon("the agent's turn", async {
        loop {
            match std::fs::read_to_string(&note) {
                Ok(pid) if !pid.is_empty() => break pid,
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    })
    .await;
    drop(session);
    gone(&pid).await;
}

#[tokio::test]
async fn start_failure_is_reported_by_the_session() {
    let session = Agent::new(Options::default().cli_path("/no/such/agent")).unwrap().start("go");
    let mut events = session.events();
    let error = soon("the end", session.wait()).await.unwrap_err();
    assert_eq!((error.code(), session.state()), ("cli_not_found", SessionState::Failed));
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        told.push(match event {
            SessionEvent::StateChange { to, .. } => to.as_str().to_owned(),
            SessionEvent::Error(error) => error.code().to_owned(),
            other => format!("{other:?}"),
        });
    }
    assert_eq!(told, ["starting", "cli_not_found", "failed"]);
    let message = session.messages().next().await;
    assert_eq!(message.unwrap().unwrap_err().code(), "cli_not_found");
}
