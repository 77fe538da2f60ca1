//! JSON numbers.

use super::{Reader, Result, Unsupported};

/// A number in the narrowest type that holds it.
pub(super) enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

struct Digits {
    value: u64,
    length: usize,
}

impl Reader<'_> {
    #[inline]
    pub(super) fn number(&mut self) -> Result<Number> {
        let start = self.at;
        let is_negative = self.byte() == Some(b'-');
        self.at += usize::from(is_negative);
        let whole = self.digits()?;
        if self.text.as_bytes()[self.at - whole.length] == b'0' && whole.length > 1 {
            return Err(Unsupported);
        }
        if let Some(b'.' | b'e' | b'E') = self.byte() {
            return self.fraction(start);
        }
        match is_negative {
            false => Ok(Number::Unsigned(whole.value)),
            // Integers have no negative zero.
            true if whole.value == 0 => Ok(Number::Float(-0.0)),
            true => 0_i64.checked_sub_unsigned(whole.value).map(Number::Signed).ok_or(Unsupported),
        }
    }

    /// Reads the rest of a number with a fraction or an exponent.
    fn fraction(&mut self, start: usize) -> Result<Number> {
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let number: f64 = self.text[start..self.at].parse().map_err(|_| Unsupported)?;
        number.is_finite().then_some(Number::Float(number)).ok_or(Unsupported)
    }

    /// Reads at least one digit, and no more than a `u64` holds.
    #[inline]
    fn digits(&mut self) -> Result<Digits> {
        let start = self.at;
        let mut value = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.byte() {
            let digit = u64::from(digit - b'0');
            value =
                value.checked_mul(10).and_then(|it| it.checked_add(digit)).ok_or(Unsupported)?;
            self.at += 1;
        }
        let length = self.at - start;
        (length > 0).then_some(Digits { value, length }).ok_or(Unsupported)
    }
}
