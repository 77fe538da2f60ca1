//! The fuzz target `sse` as a bounded property test.

#[path = "../../../../fuzz/properties/sse.rs"]
mod property;

use proptest::prelude::*;

/// Fragments of an event stream, at whose borders parsers differ.
const FRAGMENTS: &[&[u8]] = &[
    b"data:",
    b"data: ",
    b"event:",
    b"error:",
    b": ",
    b"id: 1",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"a",
    b" ",
    b":",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xff",
    b"{\"a\":1}",
    b"[DONE]",
];

proptest! {
    #[test]
    fn events_do_not_depend_on_chunks(
        parts in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..32), size in 0_u8..16,
    ) {
        property::check(&parts.concat(), size);
    }

    #[test]
    fn any_bytes_are_parsed(bytes in prop::collection::vec(any::<u8>(), 0..256), size in any::<u8>()) {
        property::check(&bytes, size);
    }
}
