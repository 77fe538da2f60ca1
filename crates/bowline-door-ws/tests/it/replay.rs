//! Replay after a broken connection: no message is lost, no request is handled twice.

use bowline_door_ws::{ConnectionEnd, Dialer};
use serde_json::{Value, json};

use crate::{
    plain_host::PlainHost,
    rig::{Agent, Talk, quick, reader},
};

/// A prompt that notes in a file that its tool has run.
fn note(word: &str) -> String {
    let input = json!({"command": format!("echo {word} >> notes")});
    format!("TOOL Bash {input}\nNEXT\nSAY noted {word}")
}

#[tokio::test]
async fn one_connection_is_like_stdin_and_stdout() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    assert_eq!(connection.path, "/agents/1?x=y");
    assert_eq!(connection.header("x-last-request-id"), None);
    connection.prompt("u1", &note("one")).await;
    let question = connection.await_kind("can_use_tool").await;
    connection.answer(&question, json!({"behavior": "allow"})).await;
    assert_eq!(connection.await_kind("result").await["result"], "noted one");
    connection.hang_up().await;
    assert_eq!(agent.text("notes"), "one\n");
    let (served, ending) = agent.end().await;
    assert_eq!(served.unwrap().last_turn_failed, Some(false));
    assert!(matches!(ending, ConnectionEnd::Closed), "{ending:?}");
}

#[tokio::test]
async fn lines_that_the_host_has_not_received_are_sent_again() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    connection.prompt("u1", "SAY one").await;
    let init = connection.await_kind("init").await;
    let first = init["uuid"].as_str().unwrap().to_owned();
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &Value| line["state"] != "completed") {
        lines.push(connection.hear().await.unwrap());
    }
    let last = lines.last().unwrap()["uuid"].as_str().unwrap().to_owned();
    drop(connection);

    // The host says that it knows the first line only, and hears all the others, word for word.
    let mut connection = host.accept_knowing(Some(&first)).await;
    assert_eq!(connection.header("x-last-request-id"), Some(&*last));
    for line in &lines {
        assert_eq!(connection.hear().await.as_ref(), Some(line));
    }
    drop(connection);

    // It says that it knows nothing we do, and hears all there is.
    let mut connection = host.accept_knowing(Some("somebody else's")).await;
    assert_eq!(connection.hear().await.unwrap()["state"], "queued");
    assert_eq!(connection.await_kind("init").await, init);
    drop(connection);

    // It says that it has heard all, and hears nothing but what is new.
    let mut connection = host.accept_knowing(Some(&last)).await;
    connection.prompt("u2", "SAY two").await;
    let line = connection.hear().await.unwrap();
    assert!(!lines.contains(&line), "{line}");
    assert_eq!(connection.await_kind("result").await["result"], "two");
    connection.hang_up().await;
    agent.end().await.0.unwrap();
}

#[tokio::test]
async fn a_question_is_asked_again_and_answered_once() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    connection.prompt("u1", &note("one")).await;
    let question = connection.await_kind("can_use_tool").await;
    drop(connection);

    let mut connection = host.accept().await;
    assert_eq!(connection.await_kind("can_use_tool").await, question);
    // The answer that lets 2.1.7 run the tool a second time, and a change of mind.
    let id = question["request"]["tool_use_id"].clone();
    let yes = json!({"behavior": "allow", "toolUseID": id});
    connection.answer(&question, yes.clone()).await;
    connection.answer(&question, yes.clone()).await;
    connection
        .answer(&question, json!({"behavior": "deny", "message": "no", "toolUseID": id}))
        .await;
    let done = connection.await_kind("user").await;
    drop(connection);

    let mut connection = host.accept_knowing(done["uuid"].as_str()).await;
    connection.answer(&question, yes).await;
    assert_eq!(connection.await_kind("result").await["result"], "noted one");
    // It is not asked any more, and nothing runs behind our back.
    connection.prompt("u2", "SAY two").await;
    let mut kinds = Vec::new();
    loop {
        let line = connection.hear().await.unwrap();
        kinds.push(line["type"].as_str().unwrap().to_owned());
        if line["result"] == "two" {
            break;
        }
    }
    assert!(!kinds.contains(&"control_request".to_owned()), "{kinds:?}");
    connection.hang_up().await;
    assert_eq!(agent.text("notes"), "one\n");
    agent.end().await.0.unwrap();
}

#[tokio::test]
async fn hooks_survive_as_well() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]});
    let opening = json!({"type": "control_request", "request_id": "i", "request": {
        "subtype": "initialize", "hooks": hooks,
    }});
    connection.say(&opening).await;
    connection.await_kind("control_response").await;
    connection.prompt("u1", &note("one")).await;
    let call = connection.await_kind("hook_callback").await;
    drop(connection);
    let mut connection = host.accept().await;
    assert_eq!(connection.await_kind("hook_callback").await, call);
    // The same words again, as some hosts open every connection with: they are answered again.
    connection.say(&opening).await;
    assert_eq!(connection.await_kind("control_response").await["response"]["request_id"], "i");
    let no = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny",
    }});
    connection.answer(&call, no).await;
    connection.await_kind("result").await;
    connection.hang_up().await;
    assert_eq!(agent.text("notes"), "");
    agent.end().await.0.unwrap();
}

/// What a server in the host answers to a message for it.
fn served(message: &Value) -> Value {
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "desk", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "ring", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "rung"}]}),
        _ => json!({}),
    };
    json!({"mcp_response": {"jsonrpc": "2.0", "id": message["id"], "result": result}})
}

#[tokio::test]
async fn calls_of_tools_in_the_host_survive_as_well() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    connection
        .say(&json!({"type": "control_request", "request_id": "i", "request": {
            "subtype": "initialize", "sdkMcpServers": ["desk"],
        }}))
        .await;
    connection.prompt("u1", "TOOL mcp__desk__ring {}\nNEXT\nECHORESULT").await;
    // May it run? Then the call, and neither is lost with its connection.
    let mut calls = Vec::new();
    while calls.len() < 2 {
        let question = connection.await_kind("control_request").await;
        let message = &question["request"]["message"];
        let is_call = message["method"] == "tools/call";
        let is_permission = question["request"]["subtype"] == "can_use_tool";
        let answer = match is_permission {
            true => json!({"behavior": "allow"}),
            false => served(message),
        };
        if is_call || is_permission {
            drop(connection);
            connection = host.accept().await;
            assert_eq!(connection.await_kind("control_request").await, question);
            calls.push(question["request"]["subtype"].clone());
        }
        connection.answer(&question, answer.clone()).await;
        connection.answer(&question, answer).await;
    }
    assert_eq!(calls, ["can_use_tool", "mcp_message"]);
    assert_eq!(connection.await_kind("result").await["result"], "result was: rung");
    connection.hang_up().await;
    agent.end().await.0.unwrap();
}

#[tokio::test]
async fn pending_permission_requests_are_listed_in_the_response_to_a_second_initialize() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let opening = |id: &str| {
        json!({"type": "control_request", "request_id": id, "request": {
            "subtype": "initialize",
        }})
    };
    let mut connection = host.accept().await;
    connection.say(&opening("i1")).await;
    connection.await_kind("control_response").await;
    connection.prompt("u1", &note("one")).await;
    let question = connection.await_kind("can_use_tool").await;
    drop(connection);
    let mut connection = host.accept().await;
    connection.say(&opening("i2")).await;
    let answer = connection.await_kind("control_response").await;
    let pending = &answer["response"]["pending_permission_requests"];
    assert_eq!(pending, &json!([question]), "{answer}");
    connection.answer(&question, json!({"behavior": "allow"})).await;
    connection.await_kind("result").await;
    connection.hang_up().await;
    assert_eq!(agent.text("notes"), "one\n");
    agent.end().await.0.unwrap();
}

/// A request that changes something.
fn mode(id: &str, mode: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {
        "subtype": "set_permission_mode", "mode": mode,
    }})
}

#[tokio::test]
async fn a_restarted_host_may_number_its_requests_from_the_beginning() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    connection.say(&mode("1", "plan")).await;
    connection.await_kind("control_response").await;
    connection.say(&mode("2", "default")).await;
    connection.await_kind("control_response").await;
    connection.await_last_ping().await;
    connection.close_with(1012).await;

    let mut connection = host.accept().await;
    // The same words mean something else now: its predecessor had the answer to them.
    connection.say(&mode("1", "plan")).await;
    let answer = connection.await_kind("control_response").await;
    assert_eq!(answer["response"]["request_id"], "1");
    connection.prompt("u1", "SAY one").await;
    assert_eq!(connection.await_kind("init").await["permissionMode"], "plan");
    connection.await_kind("result").await;
    connection.hang_up().await;
    agent.end().await.0.unwrap();
}

#[tokio::test]
async fn a_prompt_or_question_that_comes_twice_counts_once() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    connection.prompt("u0", "SAY zero").await;
    let init = connection.await_kind("init").await;
    connection.await_kind("result").await;
    connection.say(&mode("m", "plan")).await;
    let answer = connection.await_kind("control_response").await;
    connection.say(&mode("n", "default")).await;
    connection.await_kind("control_response").await;
    connection.prompt("u1", &note("one")).await;
    connection.prompt("u1", &note("one")).await;
    let question = connection.await_kind("can_use_tool").await;
    connection.answer(&question, json!({"behavior": "allow"})).await;
    connection.await_kind("result").await;
    drop(connection);

    // It has not heard the answers to its questions, and asks again.
    let mut connection = host.accept_knowing(init["uuid"].as_str()).await;
    connection.prompt("u1", &note("one")).await;
    connection.say(&mode("m", "plan")).await;
    assert_eq!(connection.await_kind("control_response").await, answer);
    connection.prompt("u2", "SAY two").await;
    // What came first is not done again behind what came later.
    loop {
        let init = connection.await_kind("init").await;
        assert_eq!(init["permissionMode"], "default");
        if connection.await_kind("result").await["result"] == "two" {
            break;
        }
    }
    connection.hang_up().await;
    assert_eq!(agent.text("notes"), "one\n");
    agent.end().await.0.unwrap();
}

#[tokio::test]
async fn lines_sent_while_disconnected_are_kept_and_dropped_ones_are_counted() {
    let host = PlainHost::new().await;
    let mut policy = quick();
    // It dials in vain while it talks too much.
    policy.attempts = 1000;
    let dialer = Dialer::new(host.url().parse().unwrap());
    let mut agent = Agent::with(dialer, policy, Talk::InPieces);
    let gate = agent.gate();
    let mut connection = host.accept().await;
    let wait = json!({"command": format!("cat {}", gate.display())});
    let script = format!("TOKENS 3000\nTOOL Bash {wait}\nNEXT\nSAY over");
    connection.prompt("u1", &script).await;
    let heard = connection.await_kind("init").await["uuid"].as_str().unwrap().to_owned();
    drop(connection);
    // The tool runs when everything before it was sent.
    drop(reader(gate).await);
    // The identifier is long dropped from the buffer: all that is left is sent, and first the number
    // of lines that are lost.
    let mut connection = host.accept_patiently(Some(&heard)).await;
    let notice = connection.hear().await.unwrap();
    assert_eq!(notice["subtype"], "messages_lost", "{notice}");
    let lost = notice["lost"].as_u64().unwrap();
    let mut heard = 0;
    while connection.hear().await.unwrap()["result"] != "over" {
        heard += 1;
    }
    assert!(lost > 1000 && heard >= 990, "{lost} lost, {heard} heard");
    connection.hang_up().await;
    agent.end().await.0.unwrap();
}

#[tokio::test]
async fn messages_without_newlines_and_lines_in_pieces() {
    let host = PlainHost::new().await;
    let mut agent = Agent::dialing(&host.url(), quick());
    let mut connection = host.accept().await;
    let line = crate::plain_host::prompt("u1", "SAY one").to_string();
    let (head, tail) = line.split_at(20);
    connection.say_text(head.to_owned()).await;
    connection.say_text(tail.to_owned()).await;
    assert_eq!(connection.await_kind("result").await["result"], "one");
    connection.hang_up().await;
    agent.end().await.0.unwrap();
}
