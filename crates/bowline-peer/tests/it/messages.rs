//! The inbox: order, overflow and routing.

use bowline_peer::{Options, Overflow, RequestRouting};
use bowline_protocol::{Line, LineFault, LineProblem};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::rig::{Note, bytes, options, rig};

#[tokio::test]
async fn messages_arrive_in_order_with_their_position() {
    let (mut near, mut far) = bytes(Options::default());
    far.write_all(b"{\"type\":\"user\"}\r\n\n{\"type\":\"keep_alive\"}\nnot JSON\n{}")
        .await
        .unwrap();
    far.shutdown().await.unwrap();
    let line = |number, offset, text| Some(Line { number, offset, text });
    assert_eq!(near.inbox.next().await, line(1, 0, r#"{"type":"user"}"#));
    assert_eq!(near.inbox.next().await, line(4, 40, "not JSON"));
    assert_eq!(near.inbox.next().await, line(5, 49, "{}"));
    assert_eq!(near.inbox.next().await, None);
    assert_eq!(near.inbox.next().await, None);
}

#[tokio::test]
async fn bad_lines_are_reported_and_the_session_goes_on() {
    let (mut near, mut far) = bytes(options(|options| options.line_limit = 20));
    far.write_all(b"\xff\n0123456789012345678901234567890\n{}\n").await.unwrap();
    assert_eq!(near.inbox.next().await.unwrap().text, "{}");
    let mut notes = [near.notes.recv().await, near.notes.recv().await].map(|note| match note {
        Some(Note::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    });
    notes.sort();
    assert_eq!(
        notes,
        ["line 1 (at byte 0): not UTF-8 after 0 bytes", "line 2 (at byte 2): longer than 20 bytes",]
    );
}

#[tokio::test]
async fn a_door_may_report_bad_lines_itself() {
    let (mut near, mut far) = rig(Options::default());
    let problem = LineProblem::TooLong { limit: 9 };
    far.arrive(Err(LineFault { number: 1, offset: 0, problem })).await;
    let expected = Note::Fault("line 1 (at byte 0): longer than 9 bytes".to_owned());
    assert_eq!(near.notes.recv().await, Some(expected));
}

#[tokio::test]
async fn a_question_behind_a_hundred_thousand_unread_messages_is_answered() {
    const COUNT: usize = 100_000;
    let (mut near, mut far) = rig(options(|options| options.inbox_limit = 64 * 1024));
    for n in 0..COUNT {
        far.send(format_args!(r#"{{"type":"assistant","n":{n},"text":"{:0100}"}}"#, 0)).await;
    }
    far.send_request("a", "echo").await;
    assert!(far.responses(1).await.contains_key("a"));
    // And an answer comes through the same way.
    let answer = async {
        let id = far.request().await;
        far.respond(&id, json!(1)).await;
    };
    assert!(tokio::join!(near.peer.request_raw(&1), answer).0.is_ok());

    // Nothing was lost or mixed up meanwhile, and what comes later comes last.
    far.send(json!({"type": "assistant", "n": COUNT})).await;
    for n in 0..=COUNT {
        let line = near.inbox.next().await.unwrap();
        let value: serde_json::Value = serde_json::from_str(line.text).unwrap();
        assert_eq!(value["n"], n);
        assert!(line.number > n as u64);
    }
    assert_eq!(near.inbox.try_next(), None);
}

#[tokio::test]
async fn reading_and_writing_the_spill_may_alternate() {
    let (mut near, mut far) = rig(options(|options| options.inbox_limit = 1000));
    let text = "x".repeat(900);
    let (mut said, mut read) = (0, 0);
    for round in 0..60 {
        for _ in 0..30 * (round % 7) {
            far.send(json!({"n": said, "text": text})).await;
            said += 1;
        }
        for _ in 0..25 * (round % 5) {
            if read < said {
                let line = near.inbox.next().await.unwrap();
                assert!(line.text.starts_with(&format!("{{\"n\":{read},")), "{}", line.text);
                read += 1;
            }
        }
    }
    let lines = far.end_of_input();
    while let Some(line) = near.inbox.next().await {
        assert!(line.text.starts_with(&format!("{{\"n\":{read},")), "{}", line.text);
        read += 1;
    }
    assert!(said > 2000);
    assert_eq!(read, said);
    drop(lines);
}

#[tokio::test]
async fn a_held_sender_waits_until_somebody_reads() {
    let options = options(|options| {
        options.inbox_limit = 10_000;
        options.overflow = Overflow::HoldSender;
    });
    let (mut near, mut far) = bytes(options);
    let mut message = json!({"type": "user", "text": "x".repeat(1000)}).to_string();
    message.push('\n');
    let mut sent = 0;
    // The pipe fills, because nobody reads it.
    while tokio::time::timeout(std::time::Duration::ZERO, far.write_all(message.as_bytes()))
        .await
        .is_ok()
    {
        sent += 1;
        assert!(sent < 1000, "nothing holds us back");
    }
    // What was in front of the limit is there, and reading lets the rest through.
    let writer = tokio::spawn(async move {
        far.write_all(b"\n{\"type\":\"last\"}\n").await.unwrap();
        far
    });
    let mut read = 0;
    while near.inbox.next().await.unwrap().text != r#"{"type":"last"}"# {
        read += 1;
    }
    assert!(read >= sent, "{read} of {sent}");
    writer.await.unwrap();
}

#[tokio::test]
async fn control_that_has_arrived_flows_while_the_sender_is_held() {
    let options = options(|options| {
        options.inbox_limit = 100;
        options.overflow = Overflow::HoldSender;
    });
    let (near, far) = bytes(options);
    let (far_reader, mut far_writer) = tokio::io::split(far);
    let mut chunk = json!({"type": "user", "text": "x".repeat(1000)}).to_string();
    chunk += "\n{\"type\":\"control_request\",\"request_id\":\"a\",\"request\":{}}\n";
    far_writer.write_all(chunk.as_bytes()).await.unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(far_reader));
    assert!(lines.next_line().await.unwrap().unwrap().contains("control_response"));
    drop(near);
}

#[tokio::test]
async fn abandoned_inbox_holds_no_sender() {
    let options = options(|options| {
        options.inbox_limit = 100;
        options.overflow = Overflow::HoldSender;
    });
    let (near, mut far) = rig(options);
    drop(near.inbox);
    for n in 0..1000 {
        far.send(json!({"type": "user", "n": n})).await;
    }
    far.send_request("a", "echo").await;
    assert!(far.responses(1).await.contains_key("a"));
}

#[tokio::test]
async fn inbox_routing_keeps_requests_in_order_with_messages() {
    let in_order = options(|options| options.request_routing = RequestRouting::Inbox);
    let (mut near, mut far) = bytes(in_order);
    let lines = [
        r#"{"type":"user","n":1}"#,
        r#"{"type":"control_request","request_id":"q","request":{"subtype":"refuse"}}"#,
        r#"{"type":"control_request"}"#,
        r#"{"type":"user","n":2}"#,
        r#"{"type":"control_cancel_request","request_id":"q"}"#,
    ];
    far.write_all(lines.join("\n").as_bytes()).await.unwrap();
    far.shutdown().await.unwrap();
    for line in lines {
        assert_eq!(near.inbox.next().await.unwrap().text, line);
    }
    assert_eq!(near.inbox.next().await, None);
    // The peer sent and reported nothing on behalf of the reader.
    assert_eq!(near.notes.recv().await, Some(Note::EndOfInput));
    near.may_stop.add_permits(1);
    near.session.await.unwrap().unwrap();
    let mut written = String::new();
    far.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "");
}
