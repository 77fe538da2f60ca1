//! Transcript metadata: stop reasons and usage.

use std::path::{Path, PathBuf};

use bowline_sessions::{LineOrigin, ResumeAt, SessionFiles, TranscriptWriter, resume};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rig::Rig;

const ID: &str = "0b9c5f0e-6a56-4f7e-9d0c-3f8a1c2d4e5f";

/// A session that is written to a folder: a new one, or the one that is there.
fn saved(folder: &TempDir) -> (Rig, PathBuf) {
    let files = SessionFiles::in_folder(folder.path(), ID.into());
    let path = files.transcript();
    let rig = Rig::with(|config| {
        config.resumed = resume(&path, &ResumeAt::End).ok();
        let writer = match &config.resumed {
            Some(resumed) => {
                TranscriptWriter::resume(files, LineOrigin::default(), resumed.leaf.clone())
            }
            None => TranscriptWriter::create(files, LineOrigin::default()),
        };
        config.transcript = Some(writer.unwrap());
    });
    (rig, path)
}

fn lines(path: &Path, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == kind).collect()
}

#[tokio::test]
async fn tokens_added_up_from_the_transcript_are_those_of_the_result() {
    let folder = TempDir::new().unwrap();
    let (mut rig, path) = saved(&folder);
    let script = "THINK hm\nSAY one two\nTOOL Bash {\"command\": \"true\"}\nNEXT\nSAY three four";
    let frames = rig.run(script).await;
    let answers = lines(&path, "assistant");
    let reasons: Vec<_> =
        answers.iter().map(|line| line["message"]["stop_reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["tool_use", "tool_use", "tool_use", "end_turn"]);
    // One usage per response, as programs that add them up expect it.
    let (first, second) = (&answers[0]["message"]["usage"], &answers[3]["message"]["usage"]);
    assert_eq!(&answers[2]["message"]["usage"], first);
    for count in ["input_tokens", "output_tokens"] {
        let sum = first[count].as_u64().unwrap() + second[count].as_u64().unwrap();
        assert_eq!(frames.last().unwrap()["usage"][count], sum, "{count}");
    }
    // The host receives a message before its response has ended.
    let received = frames.iter().filter(|frame| frame["type"] == "assistant");
    assert!(received.into_iter().all(|frame| frame["message"]["stop_reason"].is_null()));
}

#[tokio::test]
async fn interrupted_response_has_no_stop_reason() {
    let folder = TempDir::new().unwrap();
    let (mut rig, path) = saved(&folder);
    rig.prompt("SAY one\nTOOL Bash {\"command\": \"true\"}\nSAY two\nHANG").await;
    rig.until(|frame| frame["type"] == "assistant").await;
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    rig.turn().await;
    let answers = lines(&path, "assistant");
    assert!(!answers.is_empty());
    assert!(answers.iter().all(|line| line["message"]["stop_reason"].is_null()), "{answers:?}");
}

#[tokio::test]
async fn durations_continue_in_a_resumed_session() {
    let folder = TempDir::new().unwrap();
    let (mut rig, path) = saved(&folder);
    rig.run("DELAY 20\nTOOL Bash {\"command\": \"sleep 0.05\"}\nNEXT\nSAY done").await;
    rig.finish().await;
    let cost = lines(&path, "cost-state").remove(0);
    let field = |cost: &Value, name: &str| cost[name].as_u64().unwrap();
    assert!(field(&cost, "totalToolDuration") >= 50, "{cost}");
    assert!(field(&cost, "totalAPIDuration") >= 20, "{cost}");
    assert_eq!(cost["totalAPIDuration"], cost["totalAPIDurationWithoutRetries"]);
    assert!(field(&cost, "totalDuration") >= 70, "{cost}");

    let (mut rig, path) = saved(&folder);
    rig.run("ERROR 500\nRETRYAFTER 0\nSAY more").await;
    rig.finish().await;
    let later = lines(&path, "cost-state").pop().unwrap();
    assert_eq!(later["startTime"], cost["startTime"]);
    assert_eq!(later["totalToolDuration"], cost["totalToolDuration"]);
    assert!(field(&later, "totalDuration") > field(&cost, "totalDuration"));
    let retried =
        field(&later, "totalAPIDuration") - field(&later, "totalAPIDurationWithoutRetries");
    assert!(retried > 0, "{later}");
}
