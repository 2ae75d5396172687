//! Exact decimal numbers of up to 38 significant digits.                              behaviour/items §numbers

mod encoding;
mod hash;
mod parse;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

pub(super) use hash::hash_order;

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

/// The significant digits that a number may have.
const MAX_DIGITS: u32 = 38;
const DIGITS_END: u128 = 10u128.pow(MAX_DIGITS);
/// The decimal exponents that the first digit of a number may have.
const MAX_MAGNITUDE: i16 = 125;
const MIN_MAGNITUDE: i16 = -130;

impl Number {
    pub const ZERO: Number = Number {
        negative: false,
        digits: 0,
        exponent: 0,
    };
    pub const ONE: Number = Number {
        negative: false,
        digits: 1,
        exponent: 0,
    };

    pub fn checked_add(self, other: Number) -> Result<Number, NumberError> {
        if self.is_zero() {
            return Ok(other);
        }
        if other.is_zero() {
            return Ok(self);
        }
        let (high, low) = if self.exponent >= other.exponent {
            (self, other)
        } else {
            (other, self)
        };
        // Digits are counted in units of `low`. Where `high` or the sum needs more than 128 bits they are apart, so
        // the sum ends in `low`'s last digit, which is not 0, and begins at 10^38 or above: more than 38 digits.
        // (Not so for a difference just below 10^38, but then `high` is below 2 × 10^38 and fits.)
        let scaled = 10u128
            .checked_pow(high.exponent.abs_diff(low.exponent).into())
            .and_then(|unit| unit.checked_mul(high.digits))
            .ok_or(NumberError::TooManyDigits)?;
        let (negative, digits) = if high.negative == low.negative {
            (
                high.negative,
                scaled.checked_add(low.digits).ok_or(NumberError::TooManyDigits)?,
            )
        } else if scaled >= low.digits {
            (high.negative, scaled - low.digits)
        } else {
            (low.negative, low.digits - scaled)
        };
        Self::from_parts(negative, digits, low.exponent.into())
    }

    pub fn checked_sub(self, other: Number) -> Result<Number, NumberError> {
        self.checked_add(-other)
    }

    pub fn is_zero(&self) -> bool {
        self.digits == 0
    }

    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The digits without the zeros at either end, and the power of ten they count: the magnitude is
    /// `digits` × 10^`exponent`. (0, 0) for zero.
    pub fn digits_and_exponent(&self) -> (u128, i16) {
        (self.digits, self.exponent)
    }

    /// The number where it is an integer of that range.
    pub fn to_i64(&self) -> Option<i64> {
        let exponent = u32::try_from(self.exponent).ok()?;
        let magnitude = 10u128.checked_pow(exponent)?.checked_mul(self.digits)?;
        let magnitude = i128::try_from(magnitude).ok()?;
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// Appends the canonical text: plain decimal, never an exponent.
    pub fn write(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        let (digits, first) = decimal(self.digits);
        let digits = str::from_utf8(&digits[first..]).unwrap_or_default();
        let whole = digits.len() as isize + isize::from(self.exponent);
        if self.exponent >= 0 {
            out.push_str(digits);
            out.extend(std::iter::repeat_n('0', self.exponent.unsigned_abs().into()));
        } else if whole > 0 {
            let (whole, fraction) = digits.split_at(whole.unsigned_abs());
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        } else {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', whole.unsigned_abs()));
            out.push_str(digits);
        }
    }

    /// DynamoDB's size of the number in bytes.                                    behaviour/items §sizes
    pub fn size(&self) -> usize {
        if self.is_zero() {
            return 1;
        }
        let digits = self.digits_count() as usize;
        let fraction = if self.exponent < 0 {
            digits.min(self.exponent.unsigned_abs().into())
        } else {
            0
        };
        1 + (digits - fraction).div_ceil(2) + fraction.div_ceil(2) + usize::from(self.negative)
    }

    /// The number of these digits, made canonical and checked in the service's order.
    fn from_parts(negative: bool, digits: u128, exponent: i64) -> Result<Number, NumberError> {
        if digits == 0 {
            return Ok(Self::ZERO);
        }
        let (digits, zeros) = without_trailing_zeros(digits);
        if digits >= DIGITS_END {
            return Err(NumberError::TooManyDigits);
        }
        let exponent = exponent.saturating_add(zeros.into());
        let magnitude = exponent.saturating_add(digits.ilog10().into());
        if magnitude > MAX_MAGNITUDE.into() {
            return Err(NumberError::Overflow);
        }
        if magnitude < MIN_MAGNITUDE.into() {
            return Err(NumberError::Underflow);
        }
        // -130 - 37 to 125: fits.
        Ok(Number {
            negative,
            digits,
            exponent: exponent as i16,
        })
    }

    fn digits_count(&self) -> u32 {
        count_digits(self.digits)
    }

    /// The decimal exponent of the first digit.
    fn magnitude(&self) -> i16 {
        self.exponent + self.digits_count() as i16 - 1
    }
}

fn count_digits(digits: u128) -> u32 {
    match u64::try_from(digits) {
        Ok(digits) => digits.checked_ilog10().map_or(0, |log| log + 1),
        Err(_) => digits.ilog10() + 1,
    }
}

/// Not for 0. Division by 64 bits where it is enough: most numbers are short.
fn without_trailing_zeros(mut digits: u128) -> (u128, u32) {
    let mut zeros = 0;
    while digits > u64::MAX.into() {
        if !digits.is_multiple_of(10) {
            return (digits, zeros);
        }
        digits /= 10;
        zeros += 1;
    }
    let mut short = digits as u64;
    while short.is_multiple_of(10) {
        short /= 10;
        zeros += 1;
    }
    (short.into(), zeros)
}

/// The decimal digits, at the end of the array, from the position answered. `0` for zero.
fn decimal(digits: u128) -> ([u8; 40], usize) {
    const CHUNK: u128 = 10u128.pow(19);
    let mut text = [b'0'; 40];
    let mut at = text.len();
    let mut write = |mut chunk: u64, at: &mut usize| {
        loop {
            *at -= 1;
            text[*at] = b'0' + (chunk % 10) as u8;
            chunk /= 10;
            if chunk == 0 {
                break;
            }
        }
    };
    if digits < CHUNK {
        write(digits as u64, &mut at);
    } else {
        write((digits % CHUNK) as u64, &mut at);
        at = 40 - 19;
        write((digits / CHUNK) as u64, &mut at);
    }
    (text, at)
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        if value == 0 {
            return Self::ZERO;
        }
        let (digits, zeros) = without_trailing_zeros(value.into());
        Number {
            negative: false,
            digits,
            exponent: zeros as i16,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number {
            negative: value < 0,
            ..value.unsigned_abs().into()
        }
    }
}

impl std::str::FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl std::ops::Neg for Number {
    type Output = Number;

    fn neg(self) -> Number {
        Number {
            negative: !self.negative && !self.is_zero(),
            ..self
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |n: &Number| {
            if n.is_zero() {
                0
            } else {
                1 - 2 * i8::from(n.negative)
            }
        };
        sign(self).cmp(&sign(other)).then_with(|| {
            let by_magnitude = cmp_magnitudes(self, other);
            if self.negative {
                by_magnitude.reverse()
            } else {
                by_magnitude
            }
        })
    }
}

fn cmp_magnitudes(a: &Number, b: &Number) -> Ordering {
    a.magnitude().cmp(&b.magnitude()).then_with(|| {
        // First digits at the same place: write both with as many digits as the longer has, at most 38.
        let longer = a.digits_count().max(b.digits_count());
        let padded = |n: &Number| n.digits * 10u128.pow(longer - n.digits_count());
        padded(a).cmp(&padded(b))
    })
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
