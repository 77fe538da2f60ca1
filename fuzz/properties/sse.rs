//! Property of the server-sent events (SSE) parser: the same events however the bytes are cut.

use bowline_model::sse::{SseEvent, SseParser};

/// Parses a stream whole and in chunks of `size` bytes.
pub(crate) fn check(bytes: &[u8], size: u8) {
    let whole = parse([bytes]);
    assert_eq!(parse(bytes.chunks(usize::from(size).max(1))), whole);
    let data: usize = whole.iter().map(|event| event.data.len()).sum();
    // Invalid UTF-8 becomes a replacement character of three bytes.
    assert!(data <= 3 * bytes.len(), "events are longer than the stream");
}

fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for chunk in chunks {
        parser.push(chunk).expect("the input is shorter than the limit");
        events.extend(std::iter::from_fn(|| parser.next_event()));
    }
    events.extend(parser.finish());
    events
}
