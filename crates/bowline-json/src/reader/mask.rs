//! Bitmask of the quotes and backslashes in a block of text, computed with SIMD.

/// Bytes per mask.
const BLOCK: usize = u64::BITS as usize;

/// Blocks that are searched one by one. In a longer string `memchr`, with its higher setup cost, is faster.
const NEAR_BLOCKS: usize = 8;

/// Mask of the current block: a bit for each byte, set for a quote or a backslash.
///
/// A text is read from start to end, so each mask is computed once, without branches. That is faster than a
/// search for one mark after the other.
#[derive(Debug)]
pub(super) struct QuoteMask {
    block: usize,
    bits: u64,
}

impl QuoteMask {
    #[inline]
    pub(super) fn new(text: &[u8]) -> Self {
        let mut mask = Self { block: 0, bits: 0 };
        mask.enter(0, text);
        mask
    }

    /// Position of the first quote or backslash at or after `from`.
    #[inline]
    pub(super) fn next(&mut self, text: &[u8], from: usize) -> Option<usize> {
        match self.near(from) {
            None => self.next_far(text, from),
            near => near,
        }
    }

    /// Position of the first mark at or after `from`, if both are in the current block.
    #[inline]
    fn near(&self, from: usize) -> Option<usize> {
        let bits = self.bits >> (from % BLOCK);
        (self.block == from / BLOCK && bits != 0).then(|| from + bits.trailing_zeros() as usize)
    }

    /// Position of the first mark outside the current block: most often it is in the next one.
    #[inline(never)]
    fn next_far(&mut self, text: &[u8], from: usize) -> Option<usize> {
        let is_in_block = self.block == from / BLOCK;
        let from = if is_in_block { (self.block + 1) * BLOCK } else { from };
        let whole = text.get(from / BLOCK * BLOCK..).and_then(<[u8]>::first_chunk);
        if let Some(bytes) = whole {
            *self = Self { block: from / BLOCK, bits: marks(bytes) };
            if let near @ Some(_) = self.near(from) {
                return near;
            }
        }
        self.next_farther(text, from)
    }

    /// Position of the first mark at any distance.
    #[inline(never)]
    fn next_farther(&mut self, text: &[u8], from: usize) -> Option<usize> {
        self.enter(from / BLOCK, text);
        if let near @ Some(_) = self.near(from) {
            return near;
        }
        for _ in 0..NEAR_BLOCKS {
            self.enter(self.block + 1, text);
            if self.bits != 0 {
                return self.near(self.block * BLOCK);
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
        let bits = match rest.first_chunk() {
            Some(bytes) => marks(bytes),
            None => {
                let mut bytes = [0; BLOCK];
                bytes[..rest.len()].copy_from_slice(rest);
                marks(&bytes)
            }
        };
        *self = Self { block, bits };
    }
}

/// Computes the mask of a block.
#[cfg(target_arch = "x86_64")]
#[inline]
fn marks(bytes: &[u8; BLOCK]) -> u64 {
    use safe_arch::{
        bitor_m128i, cmp_eq_mask_i8_m128i, load_unaligned_m128i, move_mask_i8_m128i,
        set_splat_i8_m128i,
    };

    let (quote, backslash) = (set_splat_i8_m128i(b'"' as i8), set_splat_i8_m128i(b'\\' as i8));
    let (sixteens, _) = bytes.as_chunks();
    let found = sixteens.iter().map(|sixteen| {
        let sixteen = load_unaligned_m128i(sixteen);
        let is_quote = cmp_eq_mask_i8_m128i(sixteen, quote);
        let is_backslash = cmp_eq_mask_i8_m128i(sixteen, backslash);
        move_mask_i8_m128i(bitor_m128i(is_quote, is_backslash)) as u64
    });
    found.rev().fold(0, |bits, sixteen| bits << 16 | sixteen)
}

#[cfg(not(target_arch = "x86_64"))]
use portable::marks;

/// Version for other processors.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::BLOCK;

    /// Computes the mask of a block.
    ///
    /// Written as independent operations on bytes, so that the compiler vectorizes it.
    #[inline]
    pub(super) fn marks(bytes: &[u8; BLOCK]) -> u64 {
        let is_mark = |byte| (byte == b'"') | (byte == b'\\');
        let found = bytes.map(|byte| if is_mark(byte) { u8::MAX } else { 0 });
        let (words, _) = found.as_chunks();
        let eights = words.iter().map(|word| bit_for_each(*word));
        eights.rev().fold(0, |bits, eight| bits << 8 | eight)
    }

    /// Packs eight bytes, each of them 0 or 255, into eight bits.
    #[inline]
    fn bit_for_each(bytes: [u8; 8]) -> u64 {
        // A different bit of each byte …
        let bits = u64::from_le_bytes(bytes) & 0x8040_2010_0804_0201;
        // … and their sum in the highest byte.
        bits.wrapping_mul(0x0101_0101_0101_0101) >> 56
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn simd_and_portable_masks_equal_a_bytewise_search(
            bytes in prop::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), any::<u8>()], BLOCK),
        ) {
            let bytes: &[u8; BLOCK] = bytes.as_slice().try_into().unwrap();
            let expected = (0..BLOCK).filter(|at| matches!(bytes[*at], b'"' | b'\\'));
            let expected = expected.fold(0, |bits, at| bits | 1 << at);
            prop_assert_eq!(marks(bytes), expected);
            prop_assert_eq!(portable::marks(bytes), expected);
        }
    }
}
