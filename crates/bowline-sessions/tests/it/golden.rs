//! Transcripts of the official CLI (without its own prose): what we make of them.

use std::path::{Path, PathBuf};

use bowline_sessions::{
    MessageAuthor, Page, ResumeAt, TranscriptLine, messages_in, resume, resume_subagent,
};
use serde_json::Value;

use crate::transcript::{assert_valid, brief};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

const ALL: [&str; 6] = [
    "checkpoints.jsonl",
    "compact.jsonl",
    "parallel.jsonl",
    "resumed.jsonl",
    "subagent.jsonl",
    "subagent-side.jsonl",
];

#[test]
fn every_line_is_read_and_written_back_the_same() {
    for name in ALL {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        for line in text.lines() {
            let parsed = TranscriptLine::parse(line).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(!matches!(parsed, TranscriptLine::Unknown(_)), "{name}: {line}");
            let before: Value = serde_json::from_str(line).unwrap();
            let after: Value = serde_json::from_str(&parsed.to_json()).unwrap();
            assert_eq!(before, after, "{name}");
        }
    }
}

#[test]
fn a_session_resumed_once_goes_on_as_one_conversation() {
    let context = resume(&fixture("resumed.jsonl"), &ResumeAt::End).unwrap();
    assert_eq!(brief(&context), "user: SAY one | assistant: one | user: SAY two | assistant: two");
    assert_eq!(context.unfinished, None);
    assert_eq!(context.model.as_deref(), Some("claude-sonnet-5-5"));
    assert_eq!(context.cost.map(|cost| cost.total_cost_usd), Some(0.00044));
    assert_eq!(context.leaf.unwrap().as_str(), "a48f8316-a203-43e2-996d-70647606703b");
}

#[test]
fn parallel_calls_all_have_their_results() {
    let context = resume(&fixture("parallel.jsonl"), &ResumeAt::End).unwrap();
    assert_valid(&context);
    assert_eq!(context.messages.len(), 4);
    assert_eq!(context.messages[1].content.len(), 4, "one text, three calls");
    assert_eq!(context.messages[2].content.len(), 3);
    let messages = messages_in(&fixture("parallel.jsonl"), Page::default()).unwrap();
    let kinds: String =
        messages.iter().map(|m| if m.kind == MessageAuthor::User { 'u' } else { 'a' }).collect();
    assert_eq!(kinds, "uaaaauuua");
}

#[test]
fn after_a_compaction_comes_the_summary_then_what_was_kept() {
    let context = resume(&fixture("compact.jsonl"), &ResumeAt::End).unwrap();
    assert_valid(&context);
    let words = brief(&context);
    assert!(
        words.starts_with("user: Summary: talked about one and two. | assistant: two | user: "),
        "{words}"
    );
    assert!(words.ends_with("SAY after | assistant: after"), "{words}");
    assert_eq!(context.compaction.unwrap().pre_tokens, 30);
}

#[test]
fn a_subagent_has_a_conversation_of_its_own() {
    let main = resume(&fixture("subagent.jsonl"), &ResumeAt::End).unwrap();
    assert_valid(&main);
    assert!(brief(&main).ends_with("user: result toolu_00_00_0001 | assistant: main end"));
    let side = resume_subagent(&fixture("subagent-side.jsonl")).unwrap();
    assert_valid(&side);
    assert!(brief(&side).ends_with("user: result toolu_00_01_0002 | assistant: sub end"));
}
