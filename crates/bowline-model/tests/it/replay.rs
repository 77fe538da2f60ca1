//! Recording and replay.

use std::{path::PathBuf, sync::Arc};

use bowline_model::{
    AnthropicConfig, ErrorKind, Model, ModelMessage, ModelRef, ModelRequest, Providers,
    replay::{Pace, RecordFile, Recorder, ReplayModel},
    script::{ScriptModel, ScriptServer},
};
use bowline_protocol::{ContentBlock, Extra, TextBlock};
use futures_util::StreamExt;
use serde_json::Value;

use crate::client::{collect, conversation, events, fold, prompt};

/// A model that records into a file in a folder of its own.
fn recorder() -> (tempfile::TempDir, PathBuf, Recorder) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    let file = Arc::new(RecordFile::create(&path).unwrap());
    let recorder = Recorder::new(Arc::new(ScriptModel::new()), file);
    (folder, path, recorder)
}

fn replay(path: &std::path::Path) -> ReplayModel {
    ReplayModel::open(path, Pace::AtOnce).unwrap()
}

#[tokio::test]
async fn recorded_exchanges_are_replayed() {
    let (_folder, path, recorder) = recorder();
    let scripts = ["THINK hm\nSAY hello\nTOOL Bash {\"command\":\"ls\"}", "SAY another"];
    let mut recorded = Vec::new();
    for script in scripts {
        recorded.push(events(&recorder, prompt(script)).await.unwrap());
    }
    let model = replay(&path);
    // In another order, from another day, and by another name.
    for (script, expected) in scripts.into_iter().zip(recorded).rev() {
        let mut request = ModelRequest { max_tokens: Some(1), ..prompt(script) };
        request.model = "replay".to_owned();
        request.system = vec![TextBlock { text: "it is Tuesday".to_owned(), extra: Extra::new() }];
        let mut message = (*request.messages[0]).clone();
        message.content.push(ContentBlock::text("<system-reminder>Tuesday</system-reminder>"));
        request.messages[0] = Arc::new(message);
        assert_eq!(events(&model, request).await.unwrap(), expected, "{script}");
    }
}

#[tokio::test]
async fn failures_and_retries_are_replayed_in_their_order() {
    let (_folder, path, recorder) = recorder();
    let script = "ERROR 529\nRETRYAFTER 2\nSAY at last\nCUTS 2";
    for _ in 0..3 {
        let _ = events(&recorder, prompt(script)).await;
    }
    let model = replay(&path);
    let refused = events(&model, prompt(script)).await.unwrap_err();
    assert_eq!((refused.status, refused.kind), (Some(529), ErrorKind::Status));
    assert_eq!(refused.retry_after.unwrap().as_secs(), 2);
    assert!(refused.is_retryable());
    let cut = events(&model, prompt(script)).await.unwrap_err();
    assert_eq!(cut.kind, ErrorKind::StreamCut);
    // The last response is repeated.
    for _ in 0..2 {
        let message = fold(&events(&model, prompt(script)).await.unwrap());
        assert_eq!(message.content[0].as_text(), Some("at last"));
    }
}

#[tokio::test]
async fn unrecorded_request_error_names_the_difference() {
    let (_folder, path, recorder) = recorder();
    let user = |text: &str| ModelMessage::user(vec![ContentBlock::text(text)]);
    let response = || ModelMessage::assistant(vec![ContentBlock::text("a")]);
    events(&recorder, prompt("first")).await.unwrap();
    events(&recorder, conversation(vec![user("first"), response(), user("list the files")]))
        .await
        .unwrap();
    let model = replay(&path);
    let request = conversation(vec![user("first"), response(), user("list the folders")]);
    let error = events(&model, request).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Replay);
    assert!(!error.is_retryable());
    assert_eq!(
        error.to_string(),
        format!(
            "{} has no response to this request: request 2 is closest and differs at \
             messages[2].content[0].text: recorded \"list the files\", requested \"list the folders\"",
            path.display()
        )
    );
    let more = conversation(vec![user("first"), response(), user("list the files"), response()]);
    let error = events(&model, more).await.unwrap_err().to_string();
    assert!(error.contains("differs at messages[3]: recorded nothing, requested {"), "{error}");
}

#[tokio::test]
async fn long_values_are_truncated_around_the_difference() {
    let (_folder, path, recorder) = recorder();
    let long = "same ".repeat(200);
    events(&recorder, prompt(&format!("SAY x\n{long}one"))).await.unwrap();
    let error = events(&replay(&path), prompt(&format!("SAY x\n{long}two"))).await.unwrap_err();
    let text = error.to_string();
    assert!(text.len() < 500, "{text}");
    assert!(text.contains("same one\"") && text.contains("same two\""), "{text}");
}

#[tokio::test]
async fn cancelled_response_is_recorded_as_far_as_received() {
    let (_folder, path, recorder) = recorder();
    let mut stream = recorder.stream(prompt("SAY a b c").into()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "begin", "event", "end"]);
    assert_eq!(lines[3]["dropped"], true);
    let error = events(&replay(&path), prompt("SAY a b c")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::StreamCut);
}

#[tokio::test]
async fn keys_are_never_recorded() {
    let server = ScriptServer::local().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut providers = Providers::new();
    providers.anthropic = AnthropicConfig {
        base_url: Some(server.url()),
        api_key: Some("sk-very-secret".into()),
        auth_token: Some("token-very-secret".into()),
        headers: vec![("x-gateway-key".to_owned(), "header-very-secret".to_owned())],
        ..AnthropicConfig::default()
    };
    providers.record = Some(path.clone());
    let model = providers.connect(&"opus".parse::<ModelRef>().unwrap()).unwrap();
    let again = providers.connect(&"haiku".parse::<ModelRef>().unwrap()).unwrap();
    for model in [model, again] {
        collect(model.stream(prompt("SAY hi").into()).await.unwrap()).await.unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("SAY hi"));
    assert!(!text.contains("very-secret"));
    assert!(text.contains(r#""exchange":2"#), "one file for every model");
    assert!(!format!("{providers:?}").contains("sk-very-secret"));
    assert!(server.requests().iter().all(|seen| seen.header("x-api-key").is_none()));

    let replayed = format!("replay:{}", path.display()).parse::<ModelRef>().unwrap();
    let model = Providers::new().connect(&replayed).unwrap();
    let event_lines = collect(model.stream(prompt("SAY hi").into()).await.unwrap()).await.unwrap();
    assert_eq!(fold(&event_lines).content[0].as_text(), Some("hi"));
}

#[test]
fn unusable_recordings_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let problem = |text: &str| {
        std::fs::write(&path, text).unwrap();
        ReplayModel::open(&path, Pace::AtOnce).unwrap_err().to_string()
    };
    assert!(problem("").ends_with("it holds no exchange"));
    assert!(
        problem("{\"type\":\"request\",\"exchange\":1,\"at_ms\":0}\noops").contains("line 2: ")
    );
    let missing = ReplayModel::open(&folder.path().join("no"), Pace::AtOnce).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::Replay);
}

#[tokio::test(start_paused = true)]
async fn pauses_are_replayed_on_request() {
    let (_folder, path, _) = recorder();
    let lines = [
        r#"{"type":"request","exchange":1,"at_ms":100,"request":{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}}"#,
        r#"{"type":"event","exchange":1,"at_ms":400,"event":{"type":"message_start","message":{"id":"m","role":"assistant","model":"m","content":[]}}}"#,
        r#"{"type":"event","exchange":1,"at_ms":900,"event":{"type":"message_stop"}}"#,
        r#"{"type":"end","exchange":1,"at_ms":900}"#,
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    for (pace, expected) in [(Pace::AsRecorded, 800), (Pace::AtOnce, 0)] {
        let model = ReplayModel::open(&path, pace).unwrap();
        let began = tokio::time::Instant::now();
        assert_eq!(events(&model, prompt("hi")).await.unwrap().len(), 2);
        assert_eq!(began.elapsed().as_millis(), expected);
    }
}

#[tokio::test]
async fn key_in_a_prompt_is_redacted_and_the_recording_still_matches() {
    let server = ScriptServer::local().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut providers = Providers::new();
    providers.anthropic.base_url = Some(server.url());
    providers.anthropic.api_key = Some("sk-very-secret".into());
    providers.record = Some(path.clone());
    let request = || prompt("SAY the key is sk-very-secret and no other");
    let model = providers.connect(&"opus".parse::<ModelRef>().unwrap()).unwrap();
    let folded = fold(&collect(model.stream(request().into()).await.unwrap()).await.unwrap());
    assert_eq!(folded.content[0].as_text(), Some("the key is sk-very-secret and no other"));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("very-secret"));

    let replayed = format!("replay:{}", path.display()).parse::<ModelRef>().unwrap();
    let model = providers.connect(&replayed).unwrap();
    let folded = fold(&collect(model.stream(request().into()).await.unwrap()).await.unwrap());
    assert_eq!(folded.content[0].as_text(), Some("the key is *** and no other"));
}
