use super::*;

fn message(uuid: &str) -> String {
    format!(r#"{{"type":"assistant","uuid":"{uuid}","session_id":"s"}}"#)
}

fn request(id: &str) -> String {
    format!(r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"x"}}}}"#)
}

fn response(id: &str) -> String {
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}"}}}}"#
    )
}

/// All that would be written now, each line by its uuid or request id.
fn written(buffer: &mut ReplayBuffer) -> Vec<String> {
    std::iter::from_fn(|| buffer.take_next())
        .map(|text| {
            let line: serde_json::Value = serde_json::from_str(&text).unwrap();
            let name = |value: &serde_json::Value| value.as_str().map(str::to_owned);
            match line["subtype"] == "messages_lost" {
                true => format!("lost {}", line["lost"]),
                false => name(&line["uuid"])
                    .or_else(|| name(&line["request_id"]))
                    .or_else(|| name(&line["response"]["request_id"]))
                    .unwrap(),
            }
        })
        .collect()
}

fn filled(lines: impl IntoIterator<Item = String>) -> ReplayBuffer {
    let mut buffer = ReplayBuffer::default();
    buffer.resume(None);
    lines.into_iter().for_each(|line| buffer.push(line));
    buffer
}

#[test]
fn lines_are_written_in_order_and_once() {
    let mut buffer = filled([message("a"), response("b"), message("c")]);
    assert_eq!(written(&mut buffer), ["a", "b", "c"]);
    assert_eq!(written(&mut buffer), [""; 0]);
    buffer.push(message("d"));
    assert_eq!(written(&mut buffer), ["d"]);
    assert_eq!((buffer.written(), buffer.newest()), (4, Some("d")));
}

#[test]
fn lines_after_the_named_one_are_replayed() {
    let mut buffer = filled([message("a"), response("b"), message("c"), response("d")]);
    written(&mut buffer);
    buffer.resume(Some("a"));
    assert_eq!(written(&mut buffer), ["b", "c", "d"]);
    buffer.resume(Some("c"));
    assert_eq!(written(&mut buffer), ["d"]);
    assert!(!buffer.is_delivered());
    // The host was restarted, and has less than before.
    buffer.resume(Some("a"));
    assert_eq!(written(&mut buffer), ["b", "c", "d"]);
}

#[test]
fn unknown_last_received_replays_everything() {
    let mut buffer = filled([message("a"), message("b")]);
    written(&mut buffer);
    buffer.acknowledge(2);
    buffer.resume(Some("who is this"));
    assert_eq!(written(&mut buffer), ["a", "b"]);
}

#[test]
fn restarted_host_gets_every_buffered_line() {
    let mut buffer = filled((0..LINES as u64).map(|number| message(&number.to_string())));
    written(&mut buffer);
    buffer.acknowledge(LINES as u64);
    // The host was restarted, and was lost before it received anything.
    buffer.resume(Some("4"));
    buffer.resume(None);
    assert_eq!(written(&mut buffer)[0], "5");
    buffer.acknowledge(LINES as u64);
    // The line it names was dropped meanwhile: how much it has missed is unknown.
    (0..9).for_each(|number| buffer.push(message(&format!("x{number}"))));
    buffer.resume(Some("4"));
    assert_eq!(written(&mut buffer)[..2], ["lost null".to_owned(), "9".to_owned()]);
}

#[test]
fn without_last_received_unacknowledged_lines_are_replayed() {
    let mut buffer = filled([message("a"), message("b"), message("c")]);
    written(&mut buffer);
    buffer.acknowledge(1);
    buffer.resume(None);
    assert_eq!(written(&mut buffer), ["b", "c"]);
    buffer.acknowledge(3);
    buffer.resume(None);
    assert_eq!(written(&mut buffer), [""; 0]);
    assert!(buffer.is_delivered());
}

#[test]
fn request_is_resent_until_its_response_arrives() {
    let mut buffer = filled([request("q"), request("r"), request("w"), message("a")]);
    written(&mut buffer);
    buffer.push(r#"{"type":"control_cancel_request","request_id":"w"}"#.to_owned());
    buffer.resume(Some("a"));
    assert_eq!(
        written(&mut buffer),
        ["q", "r", "w"],
        "w's cancellation is after the last received line"
    );
    buffer.response_received(&RequestId("q".to_owned()));
    buffer.push(message("b"));
    buffer.resume(Some("b"));
    assert_eq!(written(&mut buffer), ["r"]);
}

#[test]
fn dropped_lines_are_counted_and_reported_until_acknowledged() {
    let mut buffer = filled((0..LINES as u64 + 5).map(|number| message(&number.to_string())));
    buffer.acknowledge(2);
    buffer.resume(Some("0"));
    let replayed = written(&mut buffer);
    assert_eq!(replayed[..2], ["lost 3".to_owned(), "5".to_owned()]);
    assert_eq!(replayed.len(), LINES + 1);
    // The connection broke again, and one more line was dropped meanwhile.
    buffer.push(message("x"));
    buffer.resume(Some("0"));
    assert_eq!(written(&mut buffer)[0], "lost 4");
    buffer.acknowledge(7);
    buffer.resume(None);
    assert_eq!(written(&mut buffer)[0], "7");
}

#[test]
fn open_request_outlives_the_line_limit() {
    let lines = (0..2 * LINES).map(|number| message(&number.to_string()));
    let mut buffer = filled([request("q")].into_iter().chain(lines));
    buffer.acknowledge(2 * LINES as u64);
    buffer.resume(None);
    assert_eq!(written(&mut buffer), ["q", "1999"]);
}

#[test]
fn capacity_lasts_until_an_unacknowledged_line_would_be_dropped() {
    let mut buffer = filled((0..LINES - 1).map(|number| message(&number.to_string())));
    assert!(buffer.has_capacity());
    buffer.push(message("x"));
    assert!(!buffer.has_capacity());
    buffer.acknowledge(1);
    assert!(buffer.has_capacity());
    buffer.push(message("y"));
    assert!(!buffer.has_capacity());
}

#[test]
fn response_can_be_repeated() {
    let mut buffer = filled([response("q"), message("a")]);
    written(&mut buffer);
    buffer.repeat_response(&RequestId("q".to_owned()));
    buffer.repeat_response(&RequestId("never received".to_owned()));
    assert_eq!(written(&mut buffer), ["q"]);
}

#[test]
fn response_acknowledges_its_request_and_the_lines_before_it() {
    let mut buffer = filled([message("a"), request("q"), message("b")]);
    written(&mut buffer);
    buffer.response_received(&RequestId("q".to_owned()));
    buffer.resume(None);
    assert_eq!(written(&mut buffer), ["b"]);
}

#[test]
fn response_state_follows_acknowledgements() {
    let received = RequestId("q".to_owned());
    let mut buffer = filled([message("a")]);
    buffer.request_received(received.clone());
    assert_eq!(buffer.response_state(&received), ResponseState::Pending);
    buffer.push(response("q"));
    buffer.acknowledge(1);
    assert_eq!(buffer.response_state(&received), ResponseState::Sent);
    buffer.acknowledge(2);
    assert_eq!(buffer.response_state(&received), ResponseState::Acknowledged);
    // The host names an earlier line than its pongs acknowledged.
    buffer.resume(Some("a"));
    assert_eq!(buffer.response_state(&received), ResponseState::Sent);
    // This one was cancelled.
    let other = RequestId("r".to_owned());
    buffer.request_received(other.clone());
    buffer.cancel_received(&other);
    assert_eq!(buffer.response_state(&other), ResponseState::Acknowledged);
}

#[test]
fn progress_counts_each_line_once_and_no_responses() {
    let mut buffer = filled([response("q"), message("a"), request("r"), response("s")]);
    let mut progress = |number| {
        buffer.acknowledge(number);
        buffer.progress()
    };
    assert_eq!([1, 2, 3, 4, 4].map(&mut progress), [0, 1, 2, 2, 2]);
    buffer.resume(Some("a"));
    buffer.acknowledge(4);
    assert_eq!(buffer.progress(), 2);
}

#[test]
fn buffer_is_bounded_by_bytes() {
    let large = |number: usize| {
        format!(r#"{{"type":"assistant","uuid":"{number}","x":"{}"}}"#, "x".repeat(BYTES / 4))
    };
    let mut buffer = filled((0..6).map(large));
    buffer.resume(None);
    assert_eq!(written(&mut buffer), ["lost 3", "3", "4", "5"]);
}

#[test]
fn ids_of_unanswered_requests_are_bounded() {
    let mut buffer = ReplayBuffer::default();
    let id = |number: usize| RequestId(format!("{number:0100}"));
    for number in 0..100_000 {
        buffer.request_received(id(number));
    }
    assert!(buffer.unanswered_bytes <= UNANSWERED_BYTES && buffer.unanswered.len() < 50_000);
    assert_eq!(buffer.response_state(&id(0)), ResponseState::Pending);
    for number in 0..100_000 {
        buffer.cancel_received(&id(number));
    }
    assert_eq!((buffer.unanswered_bytes, buffer.unanswered.len()), (0, 0));
}
