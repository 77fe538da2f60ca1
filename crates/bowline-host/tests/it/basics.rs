//! Behavior common to all transports.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline_host::{
    BuiltinTools, Client, Embedded, HookCall, HookEvent, HookMatcher, HookOutput, McpServer,
    McpServers, Options, PermissionMode, PermissionResult, PreviewFormat, ProcessUser, Structured,
    Tool, ToolRequest, TraceContext, protocol::Interrupt, query, query_all,
};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::json;
use tokio::process::Command;

use crate::rig::{agents, result, soon, told};

/// This one does not report queued prompts, so whether it is done is unknown.
const OLD: &str = "official 2.1.7, dialing in";

/// A prompt that has the script model make the file `made`.
const MAKE: &str = "TOOL Bash {\"command\": \"touch made\", \"description\": \"Make a file\"}\n\
                    NEXT\nSAY made it";

#[tokio::test]
async fn an_answer() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        let text = soon(agent, query("SAY hello there", options).text()).await.unwrap();
        assert_eq!(text, "hello there", "{agent}");
    }
}

#[tokio::test]
async fn prompts_may_come_one_by_one_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let prompts = |words: &'static [&'static str]| {
        futures_util::stream::iter(words).map(|word| format!("SAY {word}"))
    };
    for (agent, options) in agents(folder.path()).await {
        if agent == OLD {
            continue;
        }
        let options = options.can_use_tool(async |_: ToolRequest| PermissionResult::allow());
        let last = result(query_all(prompts(&["first", "second"]), options)).await;
        assert!(last.contains("second"), "{agent}: {last}");
    }
    for (agent, options) in agents(folder.path()).await {
        let options = options.can_use_tool(async |_: ToolRequest| PermissionResult::allow());
        let told = told(query_all(prompts(&[]), options)).await;
        assert_eq!(told, Vec::<String>::new(), "{agent}");
    }
}

#[tokio::test]
async fn permission_callback_is_called() {
    for allowed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        for (agent, options) in agents(folder.path()).await {
            let asked = Arc::new(Mutex::new(Vec::new()));
            let note = asked.clone();
            let options = options.can_use_tool(move |request: ToolRequest| {
                #[derive(Deserialize)]
                struct Input {
                    command: String,
                }
                let input: Input = request.parse_input().unwrap();
                note.lock().unwrap().push((request.tool_name.clone(), input.command));
                async move {
                    match allowed {
                        true => PermissionResult::allow(),
                        false => PermissionResult::deny("not today"),
                    }
                }
            });
            assert_eq!(result(query(MAKE, options)).await, "made it", "{agent}");
            let asked = asked.lock().unwrap().clone();
            assert_eq!(asked, [("Bash".to_owned(), "touch made".to_owned())], "{agent}");
            let made = folder.path().join("made");
            assert_eq!(made.exists(), allowed, "{agent}");
            std::fs::remove_file(made).ok();
        }
    }
}

#[tokio::test]
async fn hooks_receive_events_and_may_block() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let note = seen.clone();
        let object =
            HookMatcher::on("Bash").within(Duration::from_secs(5)).run(move |call: HookCall| {
                note.lock().unwrap().push(call.tool_name().map(str::to_owned));
                async { HookOutput::deny("hands off") }
            });
        let other = HookMatcher::on("Write").run(async |_: HookCall| -> HookOutput {
            panic!("nobody writes");
        });
        let options = options
            .allow(["Bash"])
            .hook(HookEvent::PreToolUse, object)
            .hook(HookEvent::PreToolUse, other);
        assert_eq!(result(query(MAKE, options)).await, "made it", "{agent}");
        assert_eq!(*seen.lock().unwrap(), [Some("Bash".to_owned())], "{agent}");
        assert!(!folder.path().join("made").exists(), "{agent}");
    }
}

#[tokio::test]
async fn a_late_hook_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        let never = HookMatcher::always()
            .within(Duration::from_millis(50))
            .run(async |_: HookCall| std::future::pending::<HookOutput>().await);
        let options = options.allow(["Bash"]).hook(HookEvent::PostToolUse, never);
        assert_eq!(result(query(MAKE, options)).await, "made it", "{agent}");
    }
}

#[tokio::test]
async fn a_conversation_of_many_turns() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, mut options) in agents(folder.path()).await {
        options.tools.builtin = Some(BuiltinTools::Only(vec!["Read".to_owned()]));
        let client = soon(agent, Client::connect(options)).await.unwrap();
        for word in ["one", "two", "three"] {
            client.query(format!("SAY {word}")).await.unwrap();
            assert_eq!(result(client.receive_response()).await, word, "{agent}");
        }
        let mode = client.set_permission_mode(PermissionMode::AcceptEdits).await.unwrap();
        assert_eq!(mode, PermissionMode::AcceptEdits, "{agent}");
        client.set_model(Some("script")).await.unwrap();
        soon(agent, client.request(Interrupt::default())).await.unwrap();
        soon(agent, client.disconnect()).await;
        // Messages from before can still be read, and then there is an end without an error.
        let rest = told(client.receive_messages()).await;
        assert!(!rest.iter().any(|it| it.starts_with("error")), "{agent}: {rest:?}");
        assert_eq!(client.set_model(None).await.unwrap_err().code(), "closed", "{agent}");
    }
}

#[tokio::test]
async fn a_turn_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        let client = soon(agent, Client::connect(options)).await.unwrap();
        client.query("SAY begun\nDELAY 60000\nNEXT\nSAY never").await.unwrap();
        let mut messages = client.receive_response();
        soon(agent, messages.next()).await.unwrap().unwrap();
        soon(agent, client.interrupt()).await.unwrap();
        assert_eq!(result(messages).await, "-", "{agent}");
        client.query("SAY again").await.unwrap();
        assert_eq!(result(client.receive_response()).await, "again", "{agent}");
        soon(agent, client.disconnect()).await;
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

fn calculator() -> McpServer {
    let add = Tool::new("add", "Adds", async |pair: Pair| (pair.a + pair.b).to_string());
    let divide = Tool::new("divide", "Divides", async |pair: Pair| {
        pair.a.checked_div(pair.b).map(|c| Structured(json!({"c": c}))).ok_or("there is no answer")
    });
    McpServer::new("calc").tool(add).tool(divide)
}

#[tokio::test]
async fn the_model_calls_tools_of_this_program() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        let options =
            options.sdk_mcp_server(calculator()).allow(["mcp__calc__add", "mcp__calc__divide"]);
        let prompt = "TOOL mcp__calc__add {\"a\": 15, \"b\": 27}\nNEXT\nECHORESULT\nNEXT\n\
                      TOOL mcp__calc__divide {\"a\": 1, \"b\": 0}\nNEXT\nECHORESULT";
        let client = soon(agent, Client::connect(options)).await.unwrap();
        client.query(prompt).await.unwrap();
        let text = soon(agent, client.receive_response().text()).await.unwrap();
        assert!(text.contains("42"), "{agent}: {text}");
        client
            .query("TOOL mcp__calc__divide {\"a\": 1, \"b\": 0}\nNEXT\nECHORESULT")
            .await
            .unwrap();
        let text = soon(agent, client.receive_response().text()).await.unwrap();
        assert!(text.contains("there is no answer"), "{agent}: {text}");
        soon(agent, client.disconnect()).await;
    }
}

#[tokio::test]
async fn servers_of_this_program_come_and_go_while_a_session_runs() {
    let folder = tempfile::tempdir().unwrap();
    let greeter = |word: &'static str| {
        let greet = Tool::new("greet", "Greets", move |_: Nothing| async move { word });
        McpServer::new("greeter").tool(greet)
    };
    for (agent, options) in agents(folder.path()).await {
        let options = options.sdk_mcp_server(calculator()).allow([
            "mcp__calc__add",
            "mcp__greeter__greet",
            "mcp__other__greet",
        ]);
        let client = soon(agent, Client::connect(options)).await.unwrap();
        let call = async |tool: &str, arguments: &str| {
            client.query(format!("TOOL {tool} {arguments}\nNEXT\nECHORESULT")).await.unwrap();
            soon(agent, client.receive_response().text()).await.unwrap()
        };
        let set = client.set_mcp_servers(McpServers::default().here(greeter("hello"))).await;
        let set = set.unwrap();
        assert_eq!(
            (&set.added[..], &set.removed[..]),
            (&["greeter".into()][..], &["calc".into()][..]),
            "{agent}"
        );
        let said = call("mcp__greeter__greet", "{}").await;
        assert!(said.contains("hello"), "{agent}: {said}");
        let said = call("mcp__calc__add", "{\"a\": 15, \"b\": 27}").await;
        assert!(!said.contains("42"), "{agent}: {said}");
        // The same name, and another server.
        client.set_mcp_servers(McpServers::default().here(greeter("ahoy"))).await.unwrap();
        let said = call("mcp__greeter__greet", "{}").await;
        assert!(said.contains("ahoy"), "{agent}: {said}");
        let twice = McpServers::default().here(greeter("a")).here(greeter("b"));
        let error = client.set_mcp_servers(twice).await.unwrap_err();
        assert_eq!(error.code(), "options", "{agent}");
        soon(agent, client.disconnect()).await;
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// A result as the text of an object, in a field of its own.
const WRAPPED_TEXT: &str = r#"{"output": "{\"name\": \"bowline\", \"loops\": 1}"}"#;

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
struct Knot {
    name: String,
    loops: u32,
}

#[tokio::test]
async fn an_output_of_the_shape_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let schema = json!({
        "type": "object", "required": ["name", "loops"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "loops": {"type": "integer"}},
    });
    let prompt = "TOOL StructuredOutput {\"name\": \"bowline\", \"loops\": 1}\nNEXT\nSAY done";
    for (agent, options) in agents(folder.path()).await {
        let knot: Knot =
            soon(agent, query(prompt, options.output::<Knot>()).output()).await.unwrap();
        assert_eq!(knot, Knot { name: "bowline".to_owned(), loops: 1 }, "{agent}");
    }
    for input in ["{\"result\": {\"name\": \"bowline\", \"loops\": 1}}", WRAPPED_TEXT] {
        for (agent, mut options) in agents(folder.path()).await {
            if agent.starts_with("official") {
                // It sends another request to the model.
                continue;
            }
            options.generation.output_schema = Some(schema.clone());
            let prompt = format!("TOOL StructuredOutput {input}");
            let knot: Knot = soon(agent, query(prompt, options).output()).await.unwrap();
            assert_eq!(knot, Knot { name: "bowline".to_owned(), loops: 1 }, "{agent}");
        }
    }
    for (agent, options) in agents(folder.path()).await {
        let none = soon(agent, query("SAY words", options).output::<Knot>()).await.unwrap_err();
        assert_eq!(none.code(), "output", "{agent}");
        assert_eq!(none.to_string(), "the result has no structured output: words", "{agent}");
    }
}

#[tokio::test]
async fn a_run_is_over_when_every_prompt_has_its_result() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        if agent == OLD {
            continue;
        }
        let client = soon(agent, Client::connect(options)).await.unwrap();
        let prompts = futures_util::stream::iter(["SAY one", "SAY two"]);
        soon(agent, client.stream_input(prompts)).await.unwrap();
        let last = result(client.receive_run()).await;
        // Some take prompts up together.
        assert!(last.contains("two"), "{agent}: {last}");
        client.query("SAY three").await.unwrap();
        assert_eq!(result(client.receive_response()).await, "three", "{agent}");
        soon(agent, client.disconnect()).await;
    }
}

#[tokio::test]
async fn conflicting_options_fail_before_the_agent_starts() {
    let twice = Tool::new("add", "Adds again", async |pair: Pair| pair.a.to_string());
    let clash = Options::default().sdk_mcp_server(calculator().tool(twice));
    let error = Client::connect(clash).await.unwrap_err();
    assert!(error.to_string().ends_with("are known as `mcp__calc__add`"), "{error}");

    let no_object = Tool::new("count", "Counts", async |n: i64| n.to_string());
    let options = Options::default().sdk_mcp_server(McpServer::new("c").tool(no_object));
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.to_string(), "MCP server `c`: `count`: input schema must have type `object`");

    let mut both =
        Options::default().can_use_tool(async |_: ToolRequest| PermissionResult::allow());
    both.permissions.permission_prompt_tool = Some("mcp__s__t".to_owned());
    assert_eq!(Client::connect(both).await.unwrap_err().code(), "options");
}

#[tokio::test]
async fn an_embedded_agent_refuses_what_it_has_no_use_for() {
    let folder = tempfile::tempdir().unwrap();
    let process = "is for an agent in a process of its own";
    let absent = "is nothing that an embedded agent has";
    type Case = (&'static str, &'static str, fn(&mut Options));
    let set: [Case; 16] = [
        ("cli_path", process, |it| it.process.cli_path = Some("claude".into())),
        ("cli_runner", process, |it| it.process.cli_runner = vec!["node".into()]),
        ("spawner", process, |it| {
            it.process.spawner = Some(Arc::new(|mut it: Command| it.spawn()))
        }),
        ("user", process, |it| it.process.user = Some(ProcessUser::Id(1))),
        ("extra_args", process, |it| drop(it.process.extra_args.insert("bare".to_owned(), None))),
        ("clear_env", process, |it| it.process.clear_env = true),
        ("stderr", process, |it| it.process.stderr = Some(Arc::new(|_| {}))),
        ("client_app", process, |it| it.process.client_app = Some("app/1".to_owned())),
        ("trace_context", process, |it| it.process.trace_context = Some(TraceContext::default())),
        ("question_preview", absent, |it| it.tools.question_preview = Some(PreviewFormat::Html)),
        ("debug", process, |it| it.process.debug = true),
        ("debug_file", process, |it| it.process.debug_file = Some("log".into())),
        ("sandbox", absent, |it| it.settings.sandbox = Some(json!({"enabled": true}))),
        ("prompt_suggestions", absent, |it| it.messages.prompt_suggestions = true),
        ("agent_progress_summaries", absent, |it| it.messages.agent_progress_summaries = true),
        ("system_prompt_snapshot", absent, |it| it.generation.system_prompt_snapshot = Some(true)),
    ];
    for (name, why, set) in set {
        let mut options = Options::default().embedded(Embedded::script(folder.path()));
        set(&mut options);
        let error = Client::connect(options).await.unwrap_err();
        assert_eq!(error.code(), "options", "{name}");
        let expected = format!("`{name}` {why}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}
