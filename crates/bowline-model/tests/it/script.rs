//! The script model in process: its directives and positions.

use std::time::Duration;

use bowline_model::{Delivery, ErrorKind, Model, ModelMessage, ModelRequest, script::ScriptModel};
use bowline_protocol::ContentBlock;
use expect_test::{Expect, expect};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};

use crate::client::{call, conversation, event_lines, events, fold, prompt, result};

async fn content(model: &ScriptModel, request: ModelRequest) -> Value {
    let message = fold(&events(model, request).await.unwrap());
    let mut content = serde_json::to_value(message.content).unwrap();
    for block in content.as_array_mut().unwrap() {
        if let Some(fields) = block.as_object_mut() {
            fields.remove("id");
        }
    }
    content
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn user(text: &str) -> ModelMessage {
    ModelMessage::user(vec![ContentBlock::text(text)])
}

fn assistant(text: &str) -> ModelMessage {
    ModelMessage::assistant(vec![ContentBlock::text(text)])
}

#[tokio::test]
async fn lines_become_blocks() {
    let tool = |input: Value| json!({ "type": "tool_use", "name": "Bash", "input": input });
    let table = [
        ("hello there", json!([text("hello there")])),
        ("two\nlines", json!([text("two\nlines")])),
        ("SAY one\nSAY two", json!([text("one"), text("two")])),
        ("before\n  SAY it\nafter", json!([text("before"), text("it"), text("after")])),
        ("TOOL Bash {\"command\": \"ls\"}", json!([tool(json!({ "command": "ls" }))])),
        ("TOOL Bash", json!([tool(json!({}))])),
        ("THINK hm", json!([{ "type": "thinking", "thinking": "hm", "signature": "script" }])),
        ("REDACTED", json!([{ "type": "redacted_thinking", "data": "cmVkYWN0ZWQ=" }])),
        ("TOKENS 3", json!([text("word word word")])),
        ("TOKENS 0", json!([text("")])),
        ("NEXT\nSAY later", json!([])),
        ("STOP the server", json!([text("STOP the server")])),
        ("ERROR in line 5", json!([text("ERROR in line 5")])),
        ("TOOL use is fun", json!([text("TOOL use is fun")])),
        (
            "TOOLRAW Bash {\"comm",
            json!([tool(json!({ "__unparsedToolInput": { "raw": "{\"comm", "len": 6 } }))]),
        ),
        ("ECHORESULT", json!([text("there is no tool result")])),
    ];
    for (script, expected) in table {
        assert_eq!(content(&ScriptModel::new(), prompt(script)).await, expected, "{script}");
    }
}

#[tokio::test]
async fn script_error_names_its_line() {
    let error = events(&ScriptModel::new(), prompt("SAY a\nTOOL Bash {oops")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Script);
    assert!(error.to_string().starts_with("line 2 of the script: TOOL Bash: "), "{error}");
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn events_come_word_by_word() {
    let model = ScriptModel::new();
    let event_lines =
        event_lines(&model, prompt("SAY Hello big world\nTOOL Bash {\"command\":\"ls\"}")).await;
    let ids: Vec<&str> =
        event_lines.split_whitespace().filter(|word| word.contains("_script_")).collect();
    let [message, tool] = ids[..] else { panic!("two ids: {ids:?}") };
    let event_lines = event_lines.replace(tool, "TOOL").replace(message, "MESSAGE");
    // Forty-six bytes of prompt are twelve tokens; three words, four bytes of a name
    // and sixteen of input are eight.
    expect![[r#"
        start MESSAGE m
        0 begins text
        0 "Hello "
        0 "big "
        0 "world"
        0 ends
        1 calls Bash as TOOL
        1 {"command":"ls"}
        1 ends
        stops for tool_use, 12 in, 8 out
        end
    "#]]
    .assert_eq(&event_lines);
}

#[tokio::test]
async fn script_position_follows_from_the_conversation() {
    let script = "TOOL Bash {}\nNEXT\nSAY second\nNEXT\nSAY third";
    let called = || ModelMessage::assistant(vec![call("t", "Bash", json!({}))]);
    let answered = || ModelMessage::user(vec![result("t", "output")]);
    let reminder = || ContentBlock::text("<system-reminder>today is Monday</system-reminder>");
    let table: Vec<(Vec<ModelMessage>, Value)> = vec![
        (vec![user(script), called(), answered()], json!([text("second")])),
        // One response stored in two messages is one response.
        (vec![user(script), assistant("a"), called(), answered()], json!([text("second")])),
        (vec![user(script), called(), answered(), called(), answered()], json!([text("third")])),
        (
            vec![user(script), called(), answered(), called(), answered(), called(), answered()],
            json!([text("done")]),
        ),
        // Text beside a result is no prompt, unless it has directives.
        (
            vec![
                user(script),
                called(),
                ModelMessage::user(vec![result("t", "output"), ContentBlock::text("by the way")]),
            ],
            json!([text("second")]),
        ),
        (
            vec![
                user(script),
                called(),
                ModelMessage::user(vec![result("t", "o"), ContentBlock::text("SAY new")]),
            ],
            json!([text("new")]),
        ),
        // A new prompt starts a new script.
        (
            vec![user(script), called(), answered(), assistant("x"), user("plain")],
            json!([text("plain")]),
        ),
        // What the engine adds is not the user's.
        (
            vec![ModelMessage::user(vec![reminder(), ContentBlock::text("hi"), reminder()])],
            json!([text("hi")]),
        ),
        (
            vec![user("ECHORESULT\nNEXT\nECHORESULT"), called(), answered()],
            json!([text("result was: output")]),
        ),
    ];
    for (messages, expected) in table {
        let shown = format!("{messages:?}");
        assert_eq!(content(&ScriptModel::new(), conversation(messages)).await, expected, "{shown}");
    }
}

#[tokio::test]
async fn a_script_for_the_whole_session() {
    let model = ScriptModel::with_script("SAY first\nNEXT\nSAY second");
    assert_eq!(content(&model, prompt("a")).await, json!([text("first")]));
    let later = conversation(vec![user("a"), assistant("first"), user("b")]);
    assert_eq!(content(&model, later).await, json!([text("second")]));
    assert_eq!(content(&model, prompt("SAY its own")).await, json!([text("its own")]));
}

#[tokio::test]
async fn a_long_text_is_a_request_for_a_summary() {
    let request = conversation(vec![
        user("SAY hello\nSUMMARY we said hello"),
        assistant("hello"),
        user(&"Please summarize. ".repeat(100)),
    ]);
    let expected = json!([text("<summary>we said hello</summary>")]);
    assert_eq!(content(&ScriptModel::new(), request).await, expected);
}

#[tokio::test]
async fn failures_pass_after_their_attempts() {
    let check = async |script: &str, expected: &[Option<u16>]| {
        let model = ScriptModel::new();
        for (attempt, expected) in expected.iter().enumerate() {
            let failed = events(&model, prompt(script)).await.err();
            assert_eq!(failed.and_then(|error| error.status), *expected, "{script}: {attempt}");
        }
    };
    check("ERROR 529\nSAY ok", &[Some(529), None, None]).await;
    check("ERRORS 500 2\nSAY ok", &[Some(500), Some(500), None]).await;
    check("ERRORS 400 -1", &[Some(400), Some(400), Some(400)]).await;

    let script = "ERROR 429\nERRMSG too many\nRETRYAFTER 1.5";
    let error = events(&ScriptModel::new(), prompt(script)).await.unwrap_err();
    assert_eq!(error.to_string(), "429 too many");
    assert_eq!(error.api_type.as_deref(), Some("rate_limit_error"));
    assert_eq!(error.retry_after, Some(Duration::from_millis(1500)));
}

async fn check_broken(script: &str, expected: Expect) {
    let event_lines = event_lines(&ScriptModel::new(), prompt(script)).await;
    let (_, after_start) = event_lines.split_once('\n').unwrap();
    expected.assert_eq(after_start);
}

#[tokio::test]
async fn cuts_and_errors_come_in_the_middle_of_the_block_before() {
    check_broken(
        "SAY whole\nSAY half of it\nCUT\nSAY never",
        expect![[r#"
            0 begins text
            0 "whole"
            0 ends
            1 begins text
            1 "half "
            failed: StreamCut
        "#]],
    )
    .await;
    check_broken("CUT", expect!["failed: StreamCut\n"]).await;
    check_broken(
        "SAY a b\nSTREAMERR overloaded_error too busy",
        expect![[r#"
            0 begins text
            0 "a "
            failed: Api
        "#]],
    )
    .await;
    let whole = ModelRequest { delivery: Delivery::Whole, ..prompt("SAY a b\nCUT") };
    assert_eq!(content(&ScriptModel::new(), whole).await, json!([text("a b")]));
}

#[tokio::test]
async fn stop_reasons_and_counts_can_be_given() {
    let script = "SAY hi\nSTOP max_tokens\nUSAGE {\"input_tokens\": 7, \"output_tokens\": 9, \
                  \"cache_read_input_tokens\": 5, \"service_tier\": \"priority\"}";
    let message = fold(&events(&ScriptModel::new(), prompt(script)).await.unwrap());
    assert_eq!(message.stop_reason.unwrap().as_str(), "max_tokens");
    assert_eq!(
        serde_json::to_value(&message.usage).unwrap(),
        json!({ "input_tokens": 7, "output_tokens": 9, "cache_read_input_tokens": 5,
                "cache_creation_input_tokens": 0, "service_tier": "priority" })
    );
}

#[tokio::test(start_paused = true)]
async fn delays_are_kept() {
    let took = async |script: &str| {
        let began = tokio::time::Instant::now();
        events(&ScriptModel::new(), prompt(script)).await.unwrap();
        began.elapsed().as_millis()
    };
    assert_eq!(took("DELAY 250\nSAY a\nDELAY 500\nSAY b").await, 750);
    assert_eq!(took("SLOW 10\nSAY a b c").await, 30);
    assert_eq!(took("SAY at once").await, 0);
}

#[tokio::test]
async fn hanging_lasts_until_it_is_dropped() {
    let model = ScriptModel::new();
    let mut stream = model.stream(prompt("SAY a b\nHANG").into()).await.unwrap();
    for _ in 0..3 {
        assert!(stream.next().now_or_never().is_some(), "start, block, first word");
    }
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn equal_conversations_give_equal_responses_and_others_other_ids() {
    let ids = async |request: ModelRequest| {
        let events = events(&ScriptModel::new(), request).await.unwrap();
        serde_json::to_string(&events).unwrap()
    };
    let again = || conversation(vec![user("TOOL A"), assistant("x"), user("TOOL A")]);
    assert_eq!(ids(prompt("TOOL A")).await, ids(prompt("TOOL A")).await);
    assert_ne!(ids(prompt("TOOL A")).await, ids(again()).await);
    let counted = ScriptModel::new().count_tokens(prompt("12345678").into()).await.unwrap();
    assert_eq!(counted, Some(2));
}
