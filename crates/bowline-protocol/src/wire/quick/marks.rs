//! Where the quotes and backslashes of a text are.

/// Bytes that are looked at together.
const BLOCK: usize = u64::BITS as usize;

/// Blocks that are looked at one after another. Behind them it is a long way, for which something
/// better is worth its preparations.
const NEAR_BLOCKS: usize = 8;

/// The quotes and backslashes of the block that the reading is in: a bit for each byte.
///
/// A text is read from its beginning to its end, so each block is looked at once. To find all that is
/// in it, nothing has to be decided in between: that is faster than to look for one after the other.
pub(super) struct Marks {
    block: usize,
    bits: u64,
}

impl Marks {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut marks = Self { block: 0, bits: 0 };
        marks.enter(0, text);
        marks
    }

    /// Where the first of them is from a place on, if both are in the block.
    #[inline]
    pub(super) fn near(&self, from: usize) -> Option<usize> {
        let bits = self.bits >> (from % BLOCK);
        (self.block == from / BLOCK && bits != 0).then(|| from + bits.trailing_zeros() as usize)
    }

    /// Where the first of them is from a place on.
    #[inline]
    pub(super) fn next(&mut self, text: &[u8], from: usize) -> Option<usize> {
        if self.block != from / BLOCK {
            self.enter(from / BLOCK, text);
        }
        self.near(from).or_else(|| self.next_behind(text))
    }

    /// Where the first of them is behind the block.
    #[inline(never)]
    fn next_behind(&mut self, text: &[u8]) -> Option<usize> {
        for _ in 0..NEAR_BLOCKS {
            self.enter(self.block + 1, text);
            if self.bits != 0 {
                return Some(self.block * BLOCK + self.bits.trailing_zeros() as usize);
            }
        }
        let near = (self.block + 1) * BLOCK;
        let found = near + memchr::memchr2(b'"', b'\\', text.get(near..)?)?;
        self.enter(found / BLOCK, text);
        Some(found)
    }

    #[inline(never)]
    fn enter(&mut self, block: usize, text: &[u8]) {
        let rest = text.get(block * BLOCK..).unwrap_or_default();
        self.block = block;
        self.bits = match rest.first_chunk() {
            Some(bytes) => marks(bytes),
            None => {
                let mut bytes = [0; BLOCK];
                bytes[..rest.len()].copy_from_slice(rest);
                marks(&bytes)
            }
        };
    }
}

/// Written so that the compiler sees bytes that have nothing to do with each other, and takes many
/// at once.
#[inline]
fn marks(bytes: &[u8; BLOCK]) -> u64 {
    let is_mark = |byte| (byte == b'"') | (byte == b'\\');
    let found = bytes.map(|byte| if is_mark(byte) { u8::MAX } else { 0 });
    let (words, _) = found.as_chunks();
    let eights = words.iter().map(|word| bit_for_each(*word));
    eights.rev().fold(0, |bits, eight| bits << 8 | eight)
}

/// A bit for each byte, of bytes whose bits are all the same.
#[inline]
fn bit_for_each(bytes: [u8; 8]) -> u64 {
    // Another bit of each byte …
    let bits = u64::from_le_bytes(bytes) & 0x8040_2010_0804_0201;
    // … and their sum in the highest.
    bits.wrapping_mul(0x0101_0101_0101_0101) >> 56
}
