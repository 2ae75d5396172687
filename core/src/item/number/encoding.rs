//! Numbers in keys and in stored items: bytes whose order is the order of the numbers.      behaviour/items §keys
//!
//! Zero is `01`. A positive number is `02` and a tail: the exponent of its first digit + 130, its digits in pairs
//! (each + 1, the last filled up with a zero), `00`. A negative one is `00` and the complement of that tail.

use super::{MAX_DIGITS, MIN_MAGNITUDE, Number, decimal};

const NEGATIVE: u8 = 0;
const ZERO: u8 = 1;
const POSITIVE: u8 = 2;
const END: u8 = 0;
const MAX_PAIRS: usize = MAX_DIGITS as usize / 2;

impl Number {
    /// Appends the order-preserving encoding: byte order = numeric order, and no encoding is a prefix of another.
    pub fn encode(&self, out: &mut Vec<u8>) {
        if self.is_zero() {
            out.push(ZERO);
            return;
        }
        let flip = if self.negative { 0xff } else { 0 };
        let (mut text, first) = decimal(self.digits);
        // 40 places hold 38 digits at most: there is always one before them to move into.
        let odd = (text.len() - first) % 2;
        let start = first - odd;
        if odd == 1 {
            text.copy_within(first.., start);
            text[39] = b'0';
        }
        let mut encoded = [0; MAX_PAIRS + 3];
        encoded[0] = if self.negative { NEGATIVE } else { POSITIVE };
        encoded[1] = (self.magnitude() - MIN_MAGNITUDE) as u8 ^ flip;
        let mut length = 2;
        for pair in text[start..].chunks_exact(2) {
            encoded[length] = ((pair[0] - b'0') * 10 + (pair[1] - b'0') + 1) ^ flip;
            length += 1;
        }
        encoded[length] = END ^ flip;
        out.extend_from_slice(&encoded[..=length]);
    }

    /// The bytes that [`encode`](Self::encode) appends.
    pub(in crate::item) fn encoded_length(&self) -> usize {
        if self.is_zero() {
            1
        } else {
            3 + self.digits_count().div_ceil(2) as usize
        }
    }

    /// Reads what [`encode`](Self::encode) wrote at the start of `bytes`; answers the number and the bytes used.
    /// Bytes that it would not write are `None`.
    pub fn decode(bytes: &[u8]) -> Option<(Number, usize)> {
        let (negative, flip) = match *bytes.first()? {
            ZERO => return Some((Self::ZERO, 1)),
            POSITIVE => (false, 0),
            NEGATIVE => (true, 0xff),
            _ => return None,
        };
        let magnitude = i16::from(*bytes.get(1)? ^ flip) + MIN_MAGNITUDE;
        // The last pair is kept apart: only when the end is seen is its second digit known to be a filler.
        let (mut before, mut last) = (0u128, 0u8);
        for (count, byte) in bytes.get(2..)?.iter().enumerate() {
            match byte ^ flip {
                END if last == 0 => return None,
                END => {
                    let filled = last % 10 == 0;
                    let digits = if filled {
                        before * 10 + u128::from(last / 10)
                    } else {
                        before * 100 + u128::from(last)
                    };
                    let exponent = magnitude + 1 - (2 * count as i16 - i16::from(filled));
                    return Some((
                        Number {
                            negative,
                            digits,
                            exponent,
                        },
                        count + 3,
                    ));
                }
                pair @ 1..=100 if count < MAX_PAIRS && (count > 0 || pair > 10) => {
                    before = before * 100 + u128::from(last);
                    last = pair - 1;
                }
                _ => return None,
            }
        }
        None
    }
}
