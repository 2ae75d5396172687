//! Exact decimal numbers of up to 38 significant digits.                              behaviour/items §numbers

use std::cmp::Ordering;

/// A number as DynamoDB keeps it: sign, up to 38 digits without trailing zeros, decimal exponent. Zero has one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    /// 0 for zero, else not divisible by ten and below 10^38.
    digits: u128,
    /// The value is `digits` × 10^`exponent`.
    exponent: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// Not a number by the grammar, or an exponent beyond 64 bits.
    Grammar,
    TooManyDigits,
    Overflow,
    Underflow,
}

impl Number {
    pub const ZERO: Number = Number {
        negative: false,
        digits: 0,
        exponent: 0,
    };

    pub fn parse(_text: &str) -> Result<Number, NumberError> {
        todo!()
    }

    pub fn checked_add(self, _other: Number) -> Result<Number, NumberError> {
        todo!()
    }

    pub fn checked_sub(self, _other: Number) -> Result<Number, NumberError> {
        todo!()
    }

    /// Appends the canonical text: plain decimal, never an exponent.
    pub fn write(&self, _out: &mut String) {
        todo!()
    }

    /// DynamoDB's size of the number in bytes.
    pub fn size(&self) -> usize {
        todo!()
    }

    /// Appends the order-preserving encoding: byte order = numeric order, and no encoding is a prefix of another.
    pub fn encode(&self, _out: &mut Vec<u8>) {
        todo!()
    }

    /// Reads what [`encode`](Self::encode) wrote at the start of `bytes`; answers the number and the bytes used.
    pub fn decode(_bytes: &[u8]) -> Option<(Number, usize)> {
        todo!()
    }
}

impl From<u64> for Number {
    fn from(_value: u64) -> Self {
        todo!()
    }
}

impl Ord for Number {
    fn cmp(&self, _other: &Self) -> Ordering {
        todo!()
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}
