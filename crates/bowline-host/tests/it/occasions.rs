//! Order of events over every transport: which hooks fire where, prompts with priority, calls
//! that are deferred until a session is resumed.

use std::{
    collections::BTreeSet,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bowline_host::{
    BuiltinTools, Client, HookCall, HookEvent, HookMatcher, HookOutput, McpServer, Message,
    Messages, Options, PermissionResult, Prompt, PromptPriority, ResultMessage, Tool, ToolRequest,
    protocol::TerminalReason, query,
};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, mpsc, watch};

use crate::rig::{agents, result, soon};

/// The results in a stream.
async fn results(mut messages: Messages) -> Vec<ResultMessage> {
    let mut results = Vec::new();
    while let Some(message) = soon("the stream", messages.next()).await {
        if let Message::Result(end) = message.expect("it can be read") {
            results.push(*end);
        }
    }
    results
}

/// A prompt that has the script model write the file `made`.
fn write(folder: &std::path::Path) -> String {
    let path = folder.join("made").display().to_string();
    let input = json!({"file_path": path, "content": "knots"});
    format!("TOOL Write {input}\nNEXT\nECHORESULT")
}

fn before_tools(output: fn() -> HookOutput) -> HookMatcher {
    HookMatcher::on("Write").run(move |_: HookCall| async move { output() })
}

#[tokio::test]
async fn a_call_that_was_put_off_is_made_when_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    for (agent, options) in agents(folder.path()).await {
        if agent == "official 2.1.7, dialing in" {
            // It does not know of this.
            continue;
        }
        let hook = |output| options.clone().hook(HookEvent::PreToolUse, before_tools(output));
        let ends = results(query(write(folder.path()), hook(HookOutput::defer))).await;
        let put_off = ends[0].deferred_tool_use.as_ref().expect(agent);
        assert_eq!(put_off.name, "Write", "{agent}");
        assert_eq!(ends[0].terminal_reason, Some(TerminalReason::ToolDeferred), "{agent}");
        assert!(!made.exists(), "{agent}");
        let id = ends[0].session_id.to_string();

        // There is no decision yet: it is deferred once more.
        let client = Client::connect(hook(HookOutput::defer).resume(&id));
        let client = soon(agent, client).await.unwrap();
        let ends = results(client.receive_response()).await;
        assert_eq!(ends[0].deferred_tool_use.as_ref().expect(agent).id, put_off.id, "{agent}");
        soon(agent, client.disconnect()).await;

        // The hook decides, and the model continues with the result before any prompt.
        let client = Client::connect(hook(HookOutput::allow).resume(&id));
        let client = soon(agent, client).await.unwrap();
        client.query("SAY and then").await.unwrap();
        let first = result(client.receive_response()).await;
        assert!(first.contains("created successfully"), "{agent}: {first}");
        assert_eq!(std::fs::read_to_string(&made).unwrap(), "knots", "{agent}");
        assert_eq!(result(client.receive_response()).await, "and then", "{agent}");
        soon(agent, client.disconnect()).await;

        // It is done once.
        std::fs::remove_file(&made).unwrap();
        assert_eq!(result(query("SAY again", options.resume(&id))).await, "again", "{agent}");
        assert!(!made.exists(), "{agent}");
    }
}

#[tokio::test]
async fn a_call_whose_tool_is_gone_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        if agent == "official 2.1.7, dialing in" {
            continue;
        }
        let hook = before_tools(HookOutput::defer);
        let put_off = options.clone().hook(HookEvent::PreToolUse, hook);
        let ends = results(query(write(folder.path()), put_off)).await;
        let mut options = options.resume(ends[0].session_id.to_string());
        options.tools.builtin = Some(BuiltinTools::Only(vec!["Read".to_owned()]));
        let client = soon(agent, Client::connect(options)).await.unwrap();
        let ends = results(client.receive_response()).await;
        let gone = Some(TerminalReason::ToolDeferredUnavailable);
        assert_eq!((ends[0].is_error, &ends[0].terminal_reason), (true, &gone), "{agent}");
        soon(agent, client.disconnect()).await;
    }
}

#[tokio::test]
async fn a_hook_in_the_background_holds_up_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    for (agent, options) in agents(folder.path()).await {
        let (may_end, ended) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let (until, count) = (may_end.clone(), ended.clone());
        let (work, mut begun) = mpsc::unbounded_channel();
        let hook = HookMatcher::on("Write").run(move |call: HookCall| {
            let (until, count) = (until.clone(), count.clone());
            let task = tokio::spawn(async move {
                until.notified().await;
                count.fetch_add(1, Ordering::Relaxed);
                call.tool_name().map(str::to_owned)
            });
            work.send(task).expect("the test waits for it");
            async { HookOutput::in_background() }
        });
        let options = options.allow(["Write"]).hook(HookEvent::PreToolUse, hook);
        let said = result(query(write(folder.path()), options)).await;
        assert!(said.contains("created successfully"), "{agent}: {said}");
        assert_eq!(std::fs::read_to_string(&made).unwrap(), "knots", "{agent}");
        assert_eq!(ended.load(Ordering::Relaxed), 0, "{agent}: its work goes on");

        may_end.notify_one();
        let task = begun.try_recv().expect(agent);
        assert_eq!(soon(agent, task).await.unwrap().as_deref(), Some("Write"), "{agent}");
        assert!(begun.try_recv().is_err(), "{agent}: there is one call");
        std::fs::remove_file(&made).unwrap();
    }
}

#[tokio::test]
async fn a_refusal_of_a_hook_may_end_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let ways = [
        (HookEvent::PreToolUse, TerminalReason::HookStopped),
        (HookEvent::PermissionRequest, TerminalReason::AbortedTools),
    ];
    for (agent, options) in agents(folder.path()).await {
        if agent == "official 2.1.7, dialing in" {
            // It goes on after a hook that wants it to stop before a tool.
            continue;
        }
        for (event, reason) in ways.clone() {
            // The permission callback leaves the decision to the hook.
            let options = options
                .clone()
                .can_use_tool(async |_: ToolRequest| pending::<PermissionResult>().await)
                .hook(event.clone(), before_tools(|| HookOutput::deny_and_stop("hands off")));
            let ends = results(query(write(folder.path()), options)).await;
            assert_eq!(ends[0].terminal_reason, Some(reason), "{agent}, {event}");
            assert!(!folder.path().join("made").exists(), "{agent}, {event}");
        }
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// A tool that signals when it is called and ends when it is opened.
fn gate(entered: &Arc<Notify>, open: &Arc<Notify>) -> McpServer {
    let (entered, open) = (entered.clone(), open.clone());
    let pass = Tool::new("pass", "Waits", move |_: Nothing| {
        let (entered, open) = (entered.clone(), open.clone());
        async move {
            entered.notify_one();
            open.notified().await;
            "passed"
        }
    });
    McpServer::new("gate").tool(pass)
}

#[tokio::test]
async fn prompts_that_push_in_come_first_and_those_for_later_last() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        if agent == "official 2.1.7, dialing in" {
            continue;
        }
        let (entered, open) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let options = options.sdk_mcp_server(gate(&entered, &open)).allow(["mcp__gate__pass"]);
        let client = soon(agent, Client::connect(options)).await.unwrap();
        client.query("TOOL mcp__gate__pass {}\nNEXT\nSAY first").await.unwrap();
        soon(agent, entered.notified()).await;
        let later = Prompt::from("SAY later").with_priority(PromptPriority::Later);
        client.query(later).await.unwrap();
        let now = Prompt::from("SAY now").with_priority(PromptPriority::Now);
        client.query(now).await.unwrap();
        let ends = results(client.receive_run()).await;
        let said = ends.iter().filter_map(|end| end.result.as_deref());
        // Of the turn that made way, some agents have a result without words.
        let said: Vec<_> = said.filter(|words| !words.is_empty()).collect();
        assert_eq!(said, ["now", "later"], "{agent}");
        soon(agent, client.disconnect()).await;
    }
}

/// Events that the hooks of an agent received.
type Heard = watch::Sender<BTreeSet<String>>;

/// Options with a hook on every event, and the events that these receive.
fn listening(options: Options) -> (Options, Heard) {
    let heard = Heard::default();
    // Hooks and the callback are called at once, and the first response decides.
    let hooks_asked = Arc::new(Notify::new());
    let asked = hooks_asked.clone();
    let mut options = options.can_use_tool(move |_: ToolRequest| {
        let asked = asked.clone();
        async move {
            asked.notified().await;
            PermissionResult::allow()
        }
    });
    for event in HookEvent::KNOWN {
        let (note, asked) = (heard.clone(), hooks_asked.clone());
        let hook = HookMatcher::always().run(move |call: HookCall| {
            if call.input.event.name() == HookEvent::PermissionRequest {
                asked.notify_one();
            }
            note.send_modify(|heard| {
                heard.insert(call.input.event.name().as_str().to_owned());
            });
            async { HookOutput::default() }
        });
        options = options.hook(event.clone(), hook);
    }
    (options, heard)
}

/// The events that callbacks of a host receive according to `docs/hooks.md`, in this column of its table.
fn promised(agent: &str, column: usize) -> BTreeSet<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hooks.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let rows = page.lines().skip_while(|line| !line.starts_with("| event | `query`")).skip(2);
    let rows = rows.take_while(|line| line.starts_with("| "));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let fires = cells.filter(|cells| match cells[column + 2] {
        "yes" => true,
        "in this process" => agent == "embedded",
        _ => false,
    });
    fires
        .map(|cells| cells[1].split('`').nth(1).expect("events are in backticks").to_owned())
        .collect()
}

#[tokio::test]
async fn hooks_fire_where_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let agent_call =
        r#"{"description": "Tie", "prompt": "SAY tied", "subagent_type": "general-purpose"}"#;
    let prompts = [
        "TOOL Bash {\"command\": \"touch made\", \"description\": \"Make\"}\nNEXT\nSAY ok"
            .to_owned(),
        "TOOL Bash {\"command\": \"exit 3\", \"description\": \"Fail\"}\nNEXT\nSAY ok".to_owned(),
        format!("TOOL Agent {agent_call}\nNEXT\nSAY ok"),
        "ERRORS 400 -1\nSAY never".to_owned(),
        "/compact".to_owned(),
    ];
    for (agent, options) in agents(folder.path()).await {
        if agent.starts_with("official") {
            continue;
        }
        let (one, heard) = listening(options.clone());
        let mut ends = Vec::new();
        for prompt in &prompts {
            ends.extend(results(query(prompt.as_str(), one.clone())).await);
        }
        assert_eq!(*heard.borrow(), promised(agent, 0), "{agent}, one prompt");

        let (many, heard) = listening(options.clone());
        let client = soon(agent, Client::connect(many)).await.unwrap();
        for prompt in &prompts {
            client.query(prompt.as_str()).await.unwrap();
            // Its other messages must not be taken for the next prompt's.
            results(client.receive_run()).await;
        }
        soon(agent, client.set_model(Some("claude-haiku-4-5"))).await.unwrap();
        client.query("SAY with another").await.unwrap();
        results(client.receive_response()).await;
        // It is emitted beside the turn, and a session that ends does not wait for it.
        let told = |heard: &BTreeSet<String>| heard.contains("PostModelSwitch");
        soon(agent, heard.subscribe().wait_for(told)).await.unwrap();
        soon(agent, client.disconnect()).await;
        assert_eq!(*heard.borrow(), promised(agent, 1), "{agent}, a client");

        let (again, heard) = listening(options.resume(ends[0].session_id.to_string()));
        results(query("SAY once more", again)).await;
        assert_eq!(*heard.borrow(), promised(agent, 2), "{agent}, a resumed session");
    }
}
