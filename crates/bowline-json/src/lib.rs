//! Fast path of a JSON deserializer, for lines that are mostly text.
//!
//! `serde_json` searches strings a word at a time, and collects a string with escapes in a buffer that the caller
//! then copies. The [`Reader`] finds the quotes and backslashes of 64 bytes at once (SSE2 on x86-64, portable code
//! elsewhere), validates the rest of the line in one pass, and hands an unescaped string over without a copy. A line
//! of a session takes about half the instructions that way.
//!
//! # Fallback
//!
//! The reader is a subset. Control characters (so also line breaks between fields), integers of more than 64 bits,
//! lone surrogates, escaped enum variants, more than 127 nested objects and every syntax or type error are
//! [`Unsupported`]: the result is `None`, without an explanation, and the caller has `serde_json` read the text or
//! report what is wrong with it:
//!
//! ```
//! fn parse(json: &str) -> serde_json::Result<serde_json::Value> {
//!     bowline_json::try_from_str(json).map_or_else(|| serde_json::from_str(json), Ok)
//! }
//!
//! assert_eq!(parse(r#"{"a": [1, "b\n"]}"#)?["a"][1], "b\n");
//! assert!(parse(r#"{"a": ["#).unwrap_err().is_eof());
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Invariant: what this reader accepts, `serde_json` reads as the same value. The unit tests, a property test and a
//! differential fuzz target (`fuzz/README.md`) compare the two.
//!
//! # Off switch
//!
//! With the feature `disabled` every text is unsupported, so that all reading goes through `serde_json`:
//! `cargo build -p bowline -p bowline-json --features bowline-json/disabled`.

mod reader;

pub use reader::{Reader, Unsupported, try_from_str, try_read};
