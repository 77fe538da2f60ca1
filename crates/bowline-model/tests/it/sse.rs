//! The event parser: every shape of line, however the bytes are cut.

use bowline_model::sse::{SseEvent, SseParser};
use proptest::prelude::*;

fn parse(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece).unwrap();
        events.extend(std::iter::from_fn(|| parser.next_event()));
    }
    events.extend(parser.finish());
    events.into_iter().map(|SseEvent { name, data }| (name, data)).collect()
}

#[test]
fn every_form_of_sse_event_is_parsed() {
    let named = |name: &str, data: &str| (Some(name.to_owned()), data.to_owned());
    let plain = |data: &str| (None, data.to_owned());
    let table: Vec<(&str, Vec<_>)> = vec![
        ("event: a\ndata: 1\n\n", vec![named("a", "1")]),
        ("data: 1\n\ndata: 2\n\n", vec![plain("1"), plain("2")]),
        ("data:1\r\n\r\n", vec![plain("1")]),
        ("data: 1\r\rdata: 2\r\r", vec![plain("1"), plain("2")]),
        ("data: one\ndata: two\n\n", vec![plain("one\ntwo")]),
        ("data:  kept space\n\n", vec![plain(" kept space")]),
        (": keep-alive\n\ndata: 1\n\n", vec![plain("1")]),
        ("id: 7\nretry: 10\ndata: 1\n\n", vec![plain("1")]),
        ("\u{feff}data: 1\n\n", vec![plain("1")]),
        ("data\n\n", vec![plain("")]),
        ("error: {\"code\":500}\n\n", vec![named("error", "{\"code\":500}")]),
        ("event: named but empty\n\ndata: 1\n\n", vec![plain("1")]),
        ("data: no blank line at the end\n", vec![plain("no blank line at the end")]),
        ("data: cut in the mid", vec![]),
        ("data: whole\n\ndata: {\"cut", vec![plain("whole")]),
        ("", vec![]),
    ];
    for (input, expected) in table {
        assert_eq!(parse(&[input.as_bytes()]), expected, "{input:?}");
    }
}

#[test]
fn empty_chunk_is_ignored() {
    let events = parse(&[b"event: a\r", b"", b"\ndata: 1\r\n\r\n"]);
    assert_eq!(events, [(Some("a".to_owned()), "1".to_owned())]);
}

#[test]
fn event_over_the_size_limit_is_an_error() {
    let mut parser = SseParser::default();
    let piece = vec![b'x'; 1 << 20];
    let pushed = (0..=SseParser::LONGEST_EVENT / piece.len()).try_for_each(|_| parser.push(&piece));
    assert!(pushed.is_err());
}

fn line() -> impl Strategy<Value = String> {
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let field = prop_oneof![Just("data: "), Just("data:"), Just("event: "), Just(": "), Just("x")];
    (field, "[a-zé{}\": ]{0,6}", end)
        .prop_map(|(field, value, end)| format!("{field}{value}{end}"))
        .boxed()
        .prop_union(prop_oneof![Just("\n".to_owned()), Just("\r\n".to_owned())].boxed())
}

proptest! {
    #[test]
    fn events_do_not_depend_on_how_bytes_are_cut(lines in prop::collection::vec(line(), 0..20), cuts in prop::collection::vec(0_usize..400, 0..8)) {
        let text: String = lines.concat();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        prop_assert_eq!(parse(&pieces), parse(&[bytes]));
    }
}
