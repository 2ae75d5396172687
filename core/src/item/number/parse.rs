//! Reading numbers as requests write them.                                            behaviour/items §numbers

use super::{MAX_DIGITS, MAX_MAGNITUDE, MIN_MAGNITUDE, Number, NumberError};

/// How far an exponent may reach before the text counts as no number at all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limits {
    /// The new layer: 64 bits.
    Wide,
    /// The old layer, a Java BigDecimal: exponent and scale of 32 bits, and a magnitude that wraps.
    BigDecimal,
}

impl Number {
    pub fn parse(text: &str) -> Result<Number, NumberError> {
        parse(text, Limits::Wide)
    }

    /// As the old request layer reads it: the same but for exponents beyond 32 bits.
    pub fn parse_old_layer(text: &str) -> Result<Number, NumberError> {
        parse(text, Limits::BigDecimal)
    }
}

fn parse(text: &str, limits: Limits) -> Result<Number, NumberError> {
    let (negative, text) = split_sign(text);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], read_exponent(&text[at + 1..], limits)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !are_digits(whole) || !are_digits(fraction) {
        return Err(NumberError::Grammar);
    }

    // The exponent of the last written digit; a body is at most some megabytes long, so nothing wraps.
    let last_place = i128::from(exponent) - fraction.len() as i128;
    if limits == Limits::BigDecimal && i32::try_from(-last_place).is_err() {
        return Err(NumberError::Grammar);
    }
    let digits = Significant::of(whole, fraction)?;
    // A zero is checked as if its last digit were a one.
    let mut magnitude = last_place + digits.written.max(1) as i128 - 1;
    if limits == Limits::BigDecimal {
        magnitude = i128::from((magnitude + 1) as i32) - 1;
    }
    if magnitude > MAX_MAGNITUDE.into() {
        return Err(NumberError::Overflow);
    }
    if magnitude < MIN_MAGNITUDE.into() {
        return Err(NumberError::Underflow);
    }
    Number::from_parts(
        negative,
        digits.value,
        last_place as i64 + digits.trailing_zeros as i64,
    )
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

fn read_exponent(text: &str, limits: Limits) -> Result<i64, NumberError> {
    // `i64::from_str` takes one sign and digits, and refuses all else.
    let exponent: i64 = text.parse().map_err(|_| NumberError::Grammar)?;
    if limits == Limits::BigDecimal && i32::try_from(exponent).is_err() {
        return Err(NumberError::Grammar);
    }
    Ok(exponent)
}

/// The digits of a mantissa, read past the point as one string.
struct Significant {
    /// Without the zeros at either end.
    value: u128,
    /// From the first digit that is not zero to the last one written.
    written: usize,
    trailing_zeros: usize,
}

impl Significant {
    fn of(whole: &str, fraction: &str) -> Result<Self, NumberError> {
        let mut read = Significant {
            value: 0,
            written: 0,
            trailing_zeros: 0,
        };
        for digit in whole.bytes().chain(fraction.bytes()) {
            if digit == b'0' {
                // Counts only once a later digit makes it significant.
                if read.written > 0 {
                    read.written += 1;
                    read.trailing_zeros += 1;
                }
                continue;
            }
            read.written += 1;
            if read.written > MAX_DIGITS as usize {
                return Err(NumberError::TooManyDigits);
            }
            // At most 38 digits: fits.
            read.value = read.value * 10u128.pow(read.trailing_zeros as u32 + 1) + u128::from(digit - b'0');
            read.trailing_zeros = 0;
        }
        Ok(read)
    }
}
