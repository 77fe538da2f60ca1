//! The two ways a body is read, and which of them is under way.
//!
//! A body is first read *straight*: in one pass, tagged objects inside it included. That
//! fails on anything unusual, such as an unknown tag. Then it is read *carefully*: the text of
//! every tagged object is cut out before it is parsed, which keeps unknown ones
//! byte for byte (except for lone surrogates) and gives errors that name their path. Nothing that is
//! read straight would read differently carefully; it only takes longer.
//!
//! Serde has no way to hand such a choice down to the types inside a body, so the thread remembers it.

use std::cell::Cell;

/// How many tagged objects may stand inside one another. A message needs five (an event with a block
/// with a result with an image with a source); each costs stack, and the sender of a line chooses.
const DEPTH_LIMIT: usize = 32;

/// How the body at hand is read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pass {
    /// None: a caller deserializes a wire type with its own reader.
    Foreign,
    Straight,
    Careful,
}

thread_local! {
    static PASS: Cell<Pass> = const { Cell::new(Pass::Foreign) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

impl Pass {
    /// The one under way on this thread.
    pub(super) fn current() -> Self {
        PASS.get()
    }

    /// Reads something in this way.
    pub(super) fn run<T>(self, read: impl FnOnce() -> T) -> T {
        let _before = Restore(&PASS, PASS.replace(self));
        read()
    }
}

/// Reads a tagged object inside another; `None` if it is too deep inside.
pub(super) fn inside<T>(read: impl FnOnce() -> T) -> Option<T> {
    let depth = DEPTH.get();
    let _before = Restore(&DEPTH, depth);
    DEPTH.set(depth + 1);
    (depth < DEPTH_LIMIT).then(read)
}

/// Puts a value back, also when a reader panics.
struct Restore<T: Copy + 'static>(&'static std::thread::LocalKey<Cell<T>>, T);

impl<T: Copy> Drop for Restore<T> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}
