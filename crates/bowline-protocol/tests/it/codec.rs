//! Lines out of bytes: every ending, every cut, every kind of bad line.

use bowline_protocol::{Line, LineDecoder, LineFault, LineProblem};

pub(crate) type Decoded = Result<Line, LineFault>;

/// Everything a decoder makes of `pieces`, the end included.
pub(crate) fn decode<'a>(limit: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Decoded> {
    let mut decoder = LineDecoder::new(limit);
    let mut lines = Vec::new();
    for mut bytes in pieces {
        while let Some(line) = decoder.next(&mut bytes) {
            lines.push(line.map(Line::into_owned));
        }
        assert!(bytes.is_empty(), "all bytes are taken");
    }
    lines.extend(decoder.finish().map(|line| line.map(Line::into_owned)));
    lines
}

fn line(number: u64, offset: u64, text: &str) -> Decoded {
    Ok(Line { number, offset, text: text.to_owned() })
}

fn fault(number: u64, offset: u64, problem: LineProblem) -> Decoded {
    Err(LineFault { number, offset, problem })
}

/// The same lines whether the bytes come at once, one by one, or cut at any single position.
fn check(limit: usize, bytes: &[u8], expected: &[Decoded]) {
    assert_eq!(decode(limit, [bytes]), expected, "at once");
    assert_eq!(decode(limit, bytes.chunks(1)), expected, "byte by byte");
    for cut in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(cut);
        assert_eq!(decode(limit, [head, tail]), expected, "cut at {cut}");
    }
}

#[test]
fn lines_end_with_or_without_a_carriage_return() {
    check(99, b"one\ntwo\r\nthree\n", &[line(1, 0, "one"), line(2, 4, "two"), line(3, 9, "three")]);
}

#[test]
fn blank_lines_are_skipped_but_counted() {
    check(99, b"\n\r\n \t\none\n\n", &[line(4, 6, "one")]);
    check(99, b"", &[]);
    check(99, b" \n ", &[]);
}

#[test]
fn the_last_line_needs_no_newline() {
    check(99, b"one\ntwo", &[line(1, 0, "one"), line(2, 4, "two")]);
    check(99, b"one\r", &[line(1, 0, "one")]);
}

#[test]
fn byte_order_mark_is_skipped() {
    let text = "\u{feff}{}\n\u{feff}{}\n";
    check(99, text.as_bytes(), &[line(1, 0, "{}"), line(2, 6, "\u{feff}{}")]);
}

#[test]
fn characters_may_be_cut_anywhere() {
    let text = "\u{e9}\u{2028}\u{1f980}";
    check(99, format!("{text}\n{text}").as_bytes(), &[line(1, 0, text), line(2, 10, text)]);
}

#[test]
fn bad_text_is_reported_and_the_next_line_read() {
    let problem = LineProblem::NotUtf8 { valid: 2 };
    check(
        99,
        b"one\nab\xff\xfe\ntwo\n\xc3",
        &[
            line(1, 0, "one"),
            fault(2, 4, problem),
            line(3, 9, "two"),
            fault(4, 13, LineProblem::NotUtf8 { valid: 0 }),
        ],
    );
}

#[test]
fn a_line_over_the_limit_is_reported_once_and_the_next_one_read() {
    let too_long = LineProblem::TooLong { limit: 4 };
    check(
        4,
        b"1234\n123456789\n123\r\nabcde",
        &[
            line(1, 0, "1234"),
            fault(2, 5, too_long.clone()),
            line(3, 15, "123"),
            fault(4, 20, too_long),
        ],
    );
}

#[test]
fn an_endless_line_takes_no_memory() {
    let mut decoder = LineDecoder::new(1024);
    let chunk = vec![b'x'; 64 * 1024];
    let mut faults = 0;
    for _ in 0..1000 {
        let mut bytes = &chunk[..];
        while let Some(line) = decoder.next(&mut bytes) {
            assert!(matches!(line.unwrap_err().problem, LineProblem::TooLong { limit: 1024 }));
            faults += 1;
        }
    }
    let rest = format!("{decoder:?}");
    assert!(rest.contains("begun: []"), "{rest}");
    assert_eq!(faults, 1);
    let mut bytes = &b"\nnext\n"[..];
    let next = decoder.next(&mut bytes).unwrap().unwrap();
    assert_eq!(next, Line { number: 2, offset: 1000 * 64 * 1024 + 1, text: "next" });
}

#[test]
fn parse_errors_can_name_line_and_offset() {
    let mut decoder = LineDecoder::default();
    let mut bytes = &b"{}\n{\"a\":x}\n"[..];
    decoder.next(&mut bytes).unwrap().unwrap();
    let line = decoder.next(&mut bytes).unwrap().unwrap();
    let error = serde_json::from_str::<serde_json::Value>(line.text).unwrap_err();
    assert_eq!(
        line.not_json(&error).to_string(),
        "line 2 (at byte 3): not JSON: expected value at line 1 column 6"
    );
}
