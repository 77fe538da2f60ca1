//! Answers that are under way: their lines are there before they end, and say afterwards how.

use std::{fs, path::Path};

use bowline_protocol::{ApiMessage, ContentBlock, Maybe, RawJson, StopReason, ToolUseBlock, Usage};
use bowline_sessions::{AssistantLine, LineOrigin, Mirroring, TranscriptWriter, UserLine};
use serde_json::{Value, json};

use crate::transcript::{Home, ID};

const PAGE: usize = 4096;

fn create(home: &Home) -> TranscriptWriter {
    TranscriptWriter::create(home.files(ID), LineOrigin::default()).unwrap()
}

fn usage(output: u64) -> Usage {
    let (input_tokens, output_tokens) = (Maybe::Value(7), Maybe::Value(output));
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

/// A line of a response that has just started.
fn line(block: ContentBlock) -> AssistantLine {
    let message = ApiMessage {
        id: "msg".to_owned(),
        content: vec![block],
        usage: usage(1),
        ..ApiMessage::default()
    };
    AssistantLine { message, request_id: Some("req".to_owned()), ..AssistantLine::default() }
}

/// The end of the same response.
fn ended(output: u64) -> ApiMessage {
    let stop_reason = Some(StopReason::ToolUse);
    ApiMessage { id: "msg".to_owned(), stop_reason, usage: usage(output), ..ApiMessage::default() }
}

fn say(writer: &mut TranscriptWriter, block: ContentBlock) {
    writer.push(line(block));
    let _ = writer.flush();
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// End fields of the lines of the response.
fn endings(path: &Path) -> Vec<Value> {
    let answers = lines(path).into_iter().filter(|line| line["type"] == "assistant");
    answers.map(|line| json!([line["message"]["stop_reason"], line["message"]["usage"]])).collect()
}

#[test]
fn every_line_of_a_response_gets_its_end() {
    let home = Home::new();
    let mut writer = create(&home);
    writer.push(UserLine::new("hi"));
    say(&mut writer, ContentBlock::text("one"));
    say(&mut writer, ContentBlock::text("two"));
    writer.push(UserLine::new("a result that came early"));
    let _ = writer.flush();
    let begun = json!([null, {"input_tokens": 7, "output_tokens": 1}]);
    assert_eq!(endings(writer.path()), [begun.clone(), begun]);
    let before = lines(writer.path());
    let length = fs::metadata(writer.path()).unwrap().len();
    writer.end_response(&ended(1234)).unwrap();
    let end = json!(["tool_use", {"input_tokens": 7, "output_tokens": 1234}]);
    assert_eq!(endings(writer.path()), [end.clone(), end]);
    assert_eq!(fs::metadata(writer.path()).unwrap().len(), length);
    for (mut before, mut after) in before.into_iter().zip(lines(writer.path())) {
        for line in [&mut before, &mut after] {
            for field in ["stop_reason", "usage"] {
                line["message"].as_object_mut().unwrap().remove(field);
            }
        }
        assert_eq!(before, after);
    }
}

#[test]
fn response_text_is_not_mistaken_for_its_end() {
    let home = Home::new();
    let mut writer = create(&home);
    let look_alike =
        r#"{"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}"#;
    let call = ToolUseBlock {
        id: "t".into(),
        name: "Bash".to_owned(),
        input: RawJson::from_text(look_alike.to_owned()).unwrap(),
        ..ToolUseBlock::default()
    };
    say(&mut writer, ContentBlock::text(look_alike));
    say(&mut writer, ContentBlock::ToolUse(call));
    writer.end_response(&ended(2)).unwrap();
    let lines = lines(writer.path());
    assert_eq!(lines[0]["message"]["content"][0]["text"], look_alike);
    assert_eq!(lines[1]["message"]["content"][0]["input"]["stop_reason"], Value::Null);
    assert!(lines.iter().all(|line| line["message"]["usage"]["output_tokens"] == 2));
}

#[test]
fn counts_without_room_are_left_out_but_never_tokens() {
    let home = Home::new();
    let mut writer = create(&home);
    say(&mut writer, ContentBlock::text("one"));
    let mut end = ended(u64::MAX);
    end.usage.extra.insert("iterations".to_owned(), "x".repeat(500).into());
    writer.end_response(&end).unwrap();
    let counts = json!({"input_tokens": 7, "output_tokens": u64::MAX});
    assert_eq!(endings(writer.path()), [json!(["tool_use", counts])]);
}

#[test]
fn an_ending_is_within_a_page_of_the_file() {
    let home = Home::new();
    let mut writer = create(&home);
    for length in 0..60 {
        say(&mut writer, ContentBlock::text("x".repeat(length * 37)));
    }
    let text = fs::read_to_string(writer.path()).unwrap();
    for (start, _) in text.match_indices("\"stop_reason\":null") {
        let length = text[start..].find(",\"requestId\"").unwrap();
        assert_eq!(start / PAGE, (start + length - 1) / PAGE, "{start} {length}");
    }
    writer.end_response(&ended(5)).unwrap();
    let mut endings = endings(writer.path());
    assert_eq!(endings.len(), 60);
    endings.dedup();
    assert_eq!(endings.len(), 1);
}

#[test]
fn bytes_of_other_writers_are_left_alone() {
    let home = Home::new();
    let mut writer = create(&home);
    say(&mut writer, ContentBlock::text("one"));
    let text = fs::read_to_string(writer.path()).unwrap();
    let theirs = text.replace("\"output_tokens\":1", "\"output_tokens\":9");
    fs::write(writer.path(), &theirs).unwrap();
    writer.end_response(&ended(1234)).unwrap();
    assert_eq!(fs::read_to_string(writer.path()).unwrap(), theirs);
}

#[test]
fn mirror_gets_a_response_when_it_has_ended() {
    let home = Home::new();
    let mut writer = create(&home).with_mirroring(Mirroring::Ended);
    writer.push(UserLine::new("hi"));
    say(&mut writer, ContentBlock::text("one"));
    assert_eq!(writer.take_mirror(), None);
    writer.end_response(&ended(1234)).unwrap();
    let entries = writer.take_mirror().unwrap().entries;
    assert_eq!(entries.iter().map(RawJson::to_value).collect::<Vec<_>>(), lines(writer.path()));
    assert!(!entries[1].get().contains("  "), "nobody needs the blanks");

    say(&mut writer, ContentBlock::text("cut off"));
    assert_eq!(writer.take_mirror(), None);
    writer.end_turn();
    assert_eq!(writer.take_mirror().unwrap().entries.len(), 1);
}

#[test]
fn eager_mirror_does_not_wait_for_the_end_of_a_response() {
    let home = Home::new();
    let mut writer = create(&home).with_mirroring(Mirroring::AtOnce);
    say(&mut writer, ContentBlock::text("one"));
    let entries = writer.take_mirror().unwrap().entries;
    assert_eq!(entries[0].to_value()["message"]["stop_reason"], Value::Null);
    writer.end_response(&ended(1234)).unwrap();
    assert_eq!(writer.take_mirror(), None);
}
