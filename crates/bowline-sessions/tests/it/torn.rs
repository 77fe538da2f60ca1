//! Damaged transcripts can be resumed: cut anywhere, with lines missing or spoiled.

use std::fs;

use bowline_sessions::{LineOrigin, ResumeAt, TranscriptWriter, UserLine, resume};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::transcript::{
    Home, ID, answer, assert_valid, block, boundary, call, result, text, user, with,
};

/// A conversation of turns, each with some calls, some of them side by side, some compacted.
fn conversation(turns: &[(u8, bool)]) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut parent: Option<String> = None;
    for (turn, &(calls, compacts)) in turns.iter().enumerate() {
        let name = |part: &str| format!("{part}{turn}");
        if compacts && let Some(last) = &parent {
            let kept = json!({ "anchorUuid": name("s"), "uuids": [last], "allUuids": [last] });
            lines.push(boundary(
                &name("c"),
                json!({ "trigger": "auto", "preservedMessages": kept }),
            ));
            lines.push(with(user(&name("s"), Some(&name("c")), "sum"), "isCompactSummary", true));
            parent = Some(name("s"));
        }
        lines.push(user(&name("u"), parent.as_deref(), "do it"));
        let message = name("m");
        let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
        lines.push(block(&name("h"), &name("u"), &message, thinking));
        let mut last = name("h");
        let mut results = Vec::new();
        for number in 0..calls {
            let uuid = format!("a{turn}.{number}");
            let id = format!("t{turn}.{number}");
            lines.push(call(&uuid, &last, &message, &id));
            results.push(result(&format!("r{turn}.{number}"), &uuid, &id));
            last = uuid;
        }
        if let Some(answered) = results.last() {
            last = answered["uuid"].as_str().unwrap().to_owned();
        }
        lines.extend(results);
        lines.push(answer(&name("d"), &last, "done"));
        lines.push(json!({ "type": "last-prompt", "leafUuid": name("d"), "lastPrompt": "do it" }));
        parent = Some(name("d"));
    }
    lines
}

fn turns() -> impl Strategy<Value = Vec<(u8, bool)>> {
    prop::collection::vec((0..4_u8, prop::bool::weighted(0.2)), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn truncated_transcript_is_a_valid_conversation(turns in turns(), cut in 0.0..1.0_f64) {
        let whole = text(&conversation(&turns));
        let home = Home::new();
        let path = home.write(ID, &[]).transcript();
        let end = (whole.len() as f64 * cut) as usize;
        fs::write(&path, &whole.as_bytes()[..end]).unwrap();
        assert_valid(&resume(&path, &ResumeAt::End).unwrap());
    }

    #[test]
    fn truncated_transcript_loses_no_whole_line(turns in turns(), cut in 0.0..1.0_f64) {
        let whole = text(&conversation(&turns));
        let home = Home::new();
        let path = home.write(ID, &[]).transcript();
        let end = (whole.len() as f64 * cut) as usize;
        fs::write(&path, &whole.as_bytes()[..end]).unwrap();
        let left: Vec<Value> =
            whole[..end].lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let is_summary = |line: &Value| line["isCompactSummary"] == true;
        let live = &left[left.iter().rposition(is_summary).unwrap_or(0)..];
        let context = resume(&path, &ResumeAt::End).unwrap();
        let names: Vec<_> = context.messages.iter().flat_map(|message| &message.uuids).collect();
        for line in live {
            // Reasoning at the very end is what the API does not take.
            let is_expected = line["message"].is_object() && !line["message"].to_string().contains("thinking");
            let name = line["uuid"].as_str().unwrap_or_default();
            prop_assert!(!is_expected || names.iter().any(|it| it.as_str() == name), "{} is missing", name);
        }
    }

    #[test]
    fn transcript_with_missing_lines_is_a_valid_conversation(
        turns in turns(),
        missing in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut lines = conversation(&turns);
        for index in missing {
            if !lines.is_empty() {
                lines.remove(index.index(lines.len()));
            }
        }
        let home = Home::new();
        let path = home.write(ID, &lines).transcript();
        assert_valid(&resume(&path, &ResumeAt::End).unwrap());
    }

    #[test]
    fn truncated_transcript_can_be_continued(turns in turns(), cut in 0.0..1.0_f64) {
        let whole = text(&conversation(&turns));
        let home = Home::new();
        let files = home.write(ID, &[]);
        let end = (whole.len() as f64 * cut) as usize;
        fs::write(files.transcript(), &whole.as_bytes()[..end]).unwrap();
        let before = resume(&files.transcript(), &ResumeAt::End).unwrap();
        let mut writer =
            TranscriptWriter::resume(files.clone(), LineOrigin::default(), before.leaf.clone()).unwrap();
        let next = writer.push(UserLine::new("and then?"));
        let _ = writer.flush();
        let after = resume(&files.transcript(), &ResumeAt::End).unwrap();
        assert_valid(&after);
        prop_assert_eq!(after.leaf.as_ref(), Some(&next));
        prop_assert!(after.messages.len() + 1 >= before.messages.len());
        let text = fs::read_to_string(files.transcript()).unwrap();
        prop_assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
}

#[test]
fn complete_conversation_has_no_synthetic_messages() {
    let home = Home::new();
    let path = home.write(ID, &conversation(&[(3, false), (0, false), (2, true)])).transcript();
    let context = resume(&path, &ResumeAt::End).unwrap();
    assert_valid(&context);
    let kinds: Vec<_> = context.messages.iter().map(|message| message.kind).collect();
    assert!(!kinds.contains(&bowline_sessions::MessageKind::MadeUp), "{kinds:?}");
}

#[test]
fn a_compaction_without_its_summary_did_not_happen() {
    let home = Home::new();
    let mut lines = conversation(&[(1, false)]);
    let whole = resume(&home.write(ID, &lines).transcript(), &ResumeAt::End).unwrap();
    lines.push(boundary("c", json!({ "trigger": "manual" })));
    let cut = resume(&home.write(ID, &lines).transcript(), &ResumeAt::End).unwrap();
    assert_eq!((cut.messages, cut.leaf), (whole.messages, whole.leaf));
}
