//! An agent that writes what no agent should, or leaves its pipes as no agent should.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bowline_host::{Client, Error, Message, Options, PermissionResult, ToolRequest, query};
use tokio_util::sync::CancellationToken;

use crate::rig::{fake, last_error, soon, stopped, told, write_script};

#[tokio::test]
async fn truncated_line_and_the_end_after_it_are_errors() {
    assert_eq!(told(query("go", fake("half_a_line"))).await, ["error json", "error process"]);
}

#[tokio::test]
async fn a_last_line_needs_no_end_and_lines_may_end_as_on_windows() {
    assert_eq!(told(query("go", fake("no_last_newline"))).await, ["result whole"]);
    let expected = ["assistant []", "result with returns"];
    assert_eq!(told(query("go", fake("windows"))).await, expected);
}

#[tokio::test]
async fn marks_nothing_broken_text_and_bottomless_values_cost_themselves_only() {
    let expected = [
        // Not UTF-8.
        "error json",
        "unknown",
        // A value that is too deep for a message is still reported.
        "error message",
        // An object without a type.
        "unknown",
        "result clean",
    ];
    let mut told = told(query("go", fake("garbage"))).await;
    // A line that is no text is reported when it is seen, the others when it is their turn.
    let broken = told.iter().position(|it| it == "error json").expect("it is reported");
    let broken = told.remove(broken);
    told.insert(0, broken);
    assert_eq!(told, expected);
}

#[tokio::test]
async fn malformed_frames_are_refused_by_id_or_reported() {
    let options = fake("frames").can_use_tool(async |_: ToolRequest| PermissionResult::allow());
    let told = told(query("go", options)).await;
    let (last, faults) = told.split_last().expect("there is a result");
    assert!(faults.iter().all(|it| it == "error json"), "{told:?}");
    // Two requests without an id, two that are invalid, and two that cannot get a response.
    assert_eq!(faults.len(), 5, "{told:?}");
    let answers: Vec<_> = last.strip_prefix("result ").expect("it ends").lines().collect();
    assert!(answers[0].starts_with("1: malformed request: missing field `request`"), "{answers:?}");
    assert!(answers[1].starts_with("2: "), "{answers:?}");
    assert_eq!(answers[2], r#"3: {"behavior":"allow","updatedInput":{}}"#);
}

#[tokio::test]
async fn duplicate_request_gets_one_response() {
    let (asked, twice) = (Arc::new(AtomicUsize::new(0)), CancellationToken::new());
    let (count, both) = (asked.clone(), twice.clone());
    let options = fake("same_name").can_use_tool(move |request: ToolRequest| {
        count.fetch_add(1, Ordering::SeqCst);
        let both = both.clone();
        async move {
            // As long as it is open, its name is taken.
            both.cancelled().await;
            PermissionResult::deny(request.tool_name.clone())
        }
    });
    let (mut messages, mut answers) = (query("go", options), None);
    while let Some(message) = soon("the stream", messages.next()).await {
        match message.unwrap() {
            Message::Assistant(_) => twice.cancel(),
            Message::Result(result) => answers = result.result,
            _ => {}
        }
    }
    let expected = "1: {\"behavior\":\"deny\",\"message\":\"Bash\"}\n\
                    1: {\"behavior\":\"deny\",\"message\":\"Read\"}";
    assert_eq!(answers.as_deref(), Some(expected));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn duplicate_response_applies_once() {
    let client = soon("connecting", Client::connect(fake("repeat"))).await.unwrap();
    for model in ["a", "b"] {
        soon("a request", client.set_model(Some(model))).await.unwrap();
    }
    client.query("go").await.unwrap();
    assert_eq!(told(client.receive_response()).await, ["result heard"]);
    soon("the end", client.disconnect()).await;
}

#[tokio::test]
async fn an_agent_that_refuses_to_begin_is_quoted() {
    let refused = soon("connecting", Client::connect(fake("refuse"))).await.unwrap_err();
    assert_eq!(
        (refused.code(), &*refused.to_string()),
        ("control_protocol", "initialize: not with you")
    );
}

#[tokio::test]
async fn megabyte_on_stderr_without_newline_is_reported_in_pieces() {
    let (pieces, bytes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, summed) = (pieces.clone(), bytes.clone());
    let options = fake("mutter").stderr(move |piece| {
        counted.fetch_add(1, Ordering::SeqCst);
        summed.fetch_add(piece.len(), Ordering::SeqCst);
    });
    assert_eq!(told(query("go", options)).await, ["result heard"]);
    assert_eq!(bytes.load(Ordering::SeqCst), 1_000_000);
    assert!(pieces.load(Ordering::SeqCst) > 10);
}

/// An agent that is a script: greets as it should, takes a prompt, and then does `this`.
fn script(folder: &Path, this: &str) -> Options {
    let path = folder.join("agent");
    let greet = r#"read -r hello
id=$(printf %s "$hello" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
echo '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":{"commands":[],"agents":[],"models":[],"account":{},"claude_code_version":"2.1.325"}}}'
read -r prompt
"#;
    write_script(&path, &format!("{greet}{this}"));
    Options::default().cli_path(path)
}

#[tokio::test]
async fn an_agent_that_falls_silent_but_lives_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let this = format!("echo $$ > '{}'\nexec >&-\nexec sleep 600", note.display());
    let error = last_error(query("go", script(folder.path(), &this))).await;
    let Error::Process(error) = error else { panic!("{error:?}") };
    assert_eq!((error.code, error.signal), (None, Some(15)));
    stopped(fs::read_to_string(note).unwrap().trim()).await;
}

#[tokio::test]
async fn child_holding_the_agents_pipes_does_not_delay_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let this = format!("sleep 600 &\necho $! > '{}'\nexit 3", note.display());
    let start = Instant::now();
    let error = last_error(query("go", script(folder.path(), &this))).await;
    let Error::Process(error) = error else { panic!("{error:?}") };
    assert_eq!(error.code, Some(3));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    stopped(fs::read_to_string(note).unwrap().trim()).await;
}

#[tokio::test]
async fn a_signal_that_ends_the_agent_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = last_error(query("go", script(folder.path(), "kill -9 $$"))).await;
    let Error::Process(error) = error else { panic!("{error:?}") };
    assert_eq!((error.code, error.signal), (None, Some(9)));
}
