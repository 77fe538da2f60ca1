//! Any bytes, cut anywhere: no panic, and the same lines as without the cut.
#![no_main]

use bowline_protocol::{Line, LineDecoder, LineFault};
use libfuzzer_sys::fuzz_target;

fn decode<'a>(
    limit: usize,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<Line, LineFault>> {
    let mut decoder = LineDecoder::new(limit);
    let mut lines = Vec::new();
    for mut bytes in pieces {
        while let Some(line) = decoder.next(&mut bytes) {
            lines.push(line.map(Line::into_owned));
        }
    }
    lines.extend(decoder.finish().map(|line| line.map(Line::into_owned)));
    lines
}

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (limit, size, bytes) = input;
    let limit = usize::from(limit);
    let pieces = bytes.chunks(usize::from(size).max(1));
    assert_eq!(decode(limit, pieces), decode(limit, [bytes]));
});
