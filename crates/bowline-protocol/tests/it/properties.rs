//! Properties that hold for any input.

use std::fmt::Debug;

use bowline_protocol::{
    AgentLine, ContentBlock, Head, HostLine, LineDecoder, Outcome, ReadError, StreamEvent,
};
use proptest::{prelude::*, sample::Index};
use serde::Serialize;
use serde_json::{Value, json};

use crate::codec::decode;

/// Bytes that look like lines often enough to be interesting: text, ends of line, rubbish.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-z{}\":, \u{e9}\u{1f980}]{0,12}".prop_map(String::into_bytes),
        2 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    // A failing case becomes a test by hand; there is no file of them.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_do_not_depend_on_how_bytes_are_cut(
        bytes in stream(),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
        limit in 0usize..40,
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        prop_assert_eq!(decode(limit, pieces), decode(limit, [&bytes[..]]));
    }

    #[test]
    fn line_positions_are_exact(bytes in stream()) {
        for line in decode(usize::MAX, [&bytes[..]]).into_iter().flatten() {
            let start = line.offset as usize;
            prop_assert_eq!(&bytes[start..start + line.text.len()], line.text.as_bytes());
            let before = bytes[..start].iter().filter(|byte| **byte == b'\n').count();
            prop_assert_eq!(line.number, before as u64 + 1);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic_a_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut rest = &bytes[..];
        let mut decoder = LineDecoder::new(50);
        while decoder.next(&mut rest).is_some() {}
        let _ = decoder.finish();
        read_everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn mangled_lines_do_not_panic_a_reader(
        line in line(),
        cut in any::<Index>(),
        rubbish in "[\\PC\"{}\\[\\],:]{0,4}",
    ) {
        let text = line.to_string();
        let cuts: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        let (head, tail) = text.split_at(cuts[cut.index(cuts.len())]);
        read_everything(head);
        read_everything(&format!("{head}{rubbish}{tail}"));
    }

    #[test]
    fn head_agrees_with_the_parsed_line(line in line(), changes in changes()) {
        let line = changes.into_iter().fold(line, |line, (place, change)| change.apply(line, place));
        let text = line.to_string();
        let field = |name: &str| line.get(name).and_then(Value::as_str);
        if let Ok(head) = Head::read(&text) {
            prop_assert_eq!(Some(&*head.kind), field("type"));
            prop_assert_eq!(head.subtype.as_deref(), field("subtype"));
            prop_assert_eq!(head.request_id.as_deref(), field("request_id"));
            prop_assert_eq!(head.session_id.as_deref(), field("session_id"));
        } else {
            prop_assert!(serde_json::from_str::<Head>(&text).is_err(), "{}", text);
        }
    }

    #[test]
    fn parsed_lines_survive_a_round_trip(line in line(), changes in changes()) {
        let line = changes.into_iter().fold(line, |line, (place, change)| change.apply(line, place));
        let text = line.to_string();
        survives(&line, &text, AgentLine::parse)?;
        survives(&line, &text, HostLine::parse)?;
    }
}

/// A line that was really written, or made by hand after the documents.
fn line() -> impl Strategy<Value = Value> {
    let lines: Vec<&str> = [
        include_str!("../fixtures/agent.ndjson"),
        include_str!("../fixtures/agent-handmade.ndjson"),
        include_str!("../fixtures/host.ndjson"),
        include_str!("../fixtures/host-handmade.ndjson"),
    ]
    .into_iter()
    .flat_map(str::lines)
    .collect();
    prop::sample::select(lines)
        .prop_map(|line| serde_json::from_str(line).expect("fixtures are JSON"))
}

/// What a newer, older or careless peer might do to one value of a line.
#[derive(Debug, Clone)]
enum Change {
    Drop,
    Add(Value),
    Replace(Value),
}

fn changes() -> impl Strategy<Value = Vec<(Index, Change)>> {
    let change = prop_oneof![
        Just(Change::Drop),
        json().prop_map(Change::Add),
        json().prop_map(Change::Replace),
    ];
    prop::collection::vec((any::<Index>(), change), 0..4)
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| Value::from(number)),
        "\\PC{0,8}".prop_map(Value::from),
        Just(json!("novel")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

impl Change {
    fn apply(self, mut line: Value, place: Index) -> Value {
        let mut places = Vec::new();
        pointers(&line, String::new(), &mut places);
        if places.is_empty() {
            return line;
        }
        let place = &places[place.index(places.len())];
        let (parent, key) = place.rsplit_once('/').expect("a pointer begins with a slash");
        let key = key.replace("~1", "/").replace("~0", "~");
        let Some(parent) = line.pointer_mut(parent) else { return line };
        match (self, parent) {
            (Self::Drop, Value::Object(map)) => drop(map.remove(&key)),
            (Self::Add(value), Value::Object(map)) => drop(map.insert("novel".to_owned(), value)),
            (Self::Replace(value), Value::Object(map)) => drop(map.insert(key, value)),
            (Self::Drop, Value::Array(list)) => drop(list.pop()),
            (Self::Add(value) | Self::Replace(value), Value::Array(list)) => list.push(value),
            _ => {}
        }
        line
    }
}

/// Where every value inside `value` is.
fn pointers(value: &Value, at: String, places: &mut Vec<String>) {
    let mut visit = |key: &str, inner: &Value| {
        let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        places.push(place.clone());
        pointers(inner, place, places);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| visit(key, inner)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, inner)| visit(&index.to_string(), inner));
        }
        _ => {}
    }
}

/// What can be read is written with everything it came with, and read back the same.
fn survives<T: PartialEq + Debug + Serialize>(
    line: &Value,
    text: &str,
    parse: impl Fn(&str) -> Result<T, ReadError>,
) -> Result<(), TestCaseError> {
    let Ok(parsed) = parse(text) else { return Ok(()) };
    let written = serde_json::to_string(&parsed).expect("wire types always serialize");
    let again = parse(&written).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&again, &parsed);
    let value: Value = serde_json::from_str(&written).expect("what is written is JSON");
    prop_assert!(keeps(&value, line), "{text}\nbecame\n{written}");
    Ok(())
}

/// Whether `written` has everything of `line`. It may spell out a default that was left out,
/// and leave out what was `null`.
fn keeps(written: &Value, line: &Value) -> bool {
    match (written, line) {
        (Value::Number(written), Value::Number(line)) => {
            written == line || written.as_f64() == line.as_f64()
        }
        (Value::Array(written), Value::Array(line)) => {
            written.len() == line.len() && written.iter().zip(line).all(|(w, l)| keeps(w, l))
        }
        (Value::Object(written), Value::Object(line)) => line.iter().all(|(key, value)| {
            written.get(key).map_or(value.is_null(), |written| keeps(written, value))
        }),
        (written, line) => written == line,
    }
}

/// Reads `text` as everything it could be; only a panic is wrong.
fn read_everything(text: &str) {
    let _ = Head::read(text);
    let _ = AgentLine::parse(text);
    let _ = HostLine::parse(text);
    let _ = ContentBlock::parse(text);
    let _ = StreamEvent::parse(text);
    let _ = Outcome::parse(text);
}
