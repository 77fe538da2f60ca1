//! What holds for any input at all.

use bowline_protocol::{ContentBlock, Head, LineDecoder, Outcome, StreamEvent};
use proptest::prelude::*;

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
    #[test]
    fn any_cut_gives_the_same_lines(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        limit in 0usize..40,
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        prop_assert_eq!(decode(limit, pieces), decode(limit, [&bytes[..]]));
    }

    #[test]
    fn every_line_is_where_it_says(bytes in stream()) {
        for line in decode(usize::MAX, [&bytes[..]]).into_iter().flatten() {
            let start = line.offset as usize;
            prop_assert_eq!(&bytes[start..start + line.text.len()], line.text.as_bytes());
            let before = bytes[..start].iter().filter(|byte| **byte == b'\n').count();
            prop_assert_eq!(line.number, before as u64 + 1);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut rest = &bytes[..];
        let mut decoder = LineDecoder::new(50);
        while decoder.next(&mut rest).is_some() {}
        let _ = decoder.finish();
        read_everything(&String::from_utf8_lossy(&bytes));
    }
}

/// Reads `text` as everything it could be; only a panic is wrong.
fn read_everything(text: &str) {
    let _ = Head::read(text);
    let _ = ContentBlock::parse(text);
    let _ = StreamEvent::parse(text);
    let _ = Outcome::parse(text);
}
