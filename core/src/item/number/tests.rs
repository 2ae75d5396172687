use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;
use NumberError::{Grammar, Overflow, TooManyDigits, Underflow};

fn number(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn encoded(number: Number) -> Vec<u8> {
    let mut bytes = Vec::new();
    number.encode(&mut bytes);
    bytes
}

#[test]
fn texts_become_canonical() {
    let nines = "9".repeat(38);
    let largest = nines.clone() + &"0".repeat(88);
    let ten_to_125 = "1".to_string() + &"0".repeat(125);
    let smallest = "0.".to_string() + &"0".repeat(129) + "1";
    for (text, canonical) in [
        ("+5", "5"),
        ("-7", "-7"),
        ("5.", "5"),
        (".5", "0.5"),
        ("+.5", "0.5"),
        ("00042", "42"),
        ("1e2", "100"),
        ("1E+3", "1000"),
        ("1e-2", "0.01"),
        ("-0", "0"),
        ("0.0", "0"),
        ("0e125", "0"),
        ("1.23E10", "12300000000"),
        ("+1e-2", "0.01"),
        ("1.200", "1.2"),
        ("100.50", "100.5"),
        ("1e0000000000000000000000000000005", "100000"),
        ("1E125", &ten_to_125),
        ("1E-130", &smallest),
        (&format!("9.{}E+125", "9".repeat(37)), &largest),
        (&format!("000{nines}.000"), &nines),
        (&format!("0.0000{nines}"), &format!("0.0000{nines}")),
        (&format!("1{}", "0".repeat(125)), &ten_to_125),
        (&format!("1.{}", "0".repeat(500)), "1"),
        (
            &format!("0.{}e126", "0".repeat(9) + "1"),
            &format!("1{}", "0".repeat(116)),
        ),
    ] {
        assert_eq!(number(text).to_string(), canonical, "{text}");
        let negative = format!("-{}", text.trim_start_matches(['+', '-']));
        if canonical != "0" {
            let canonical = canonical.trim_start_matches('-');
            assert_eq!(
                number(&negative).to_string(),
                format!("-{canonical}"),
                "{negative}"
            );
        }
        assert_eq!(Number::parse_old_layer(text), Number::parse(text), "{text}");
    }
}

#[test]
fn what_is_no_number_is_refused() {
    for text in [
        "",
        " 5",
        "5 ",
        ".",
        "+",
        "-",
        "1e",
        "1e+",
        "1e-",
        "e2",
        "1.2.3",
        "++5",
        "+-5",
        "0x5",
        "1_000",
        "NaN",
        "Infinity",
        "-inf",
        "1e1.5",
        "1e++1",
        "1,5",
        "٣",
        "1e٣",
        "5\0",
        ".e5",
        "-.",
        "1e9223372036854775808",
        "0e9223372036854775808",
        "1e-9223372036854775809",
    ] {
        assert_eq!(Number::parse(text), Err(Grammar), "{text}");
        assert_eq!(Number::parse_old_layer(text), Err(Grammar), "{text}");
    }
}

#[test]
fn ranges_are_checked_zeros_too() {
    let digits_39 = "1".repeat(39);
    for (text, error) in [
        ("1E126", Overflow),
        ("-1E126", Overflow),
        ("0e126", Overflow),
        ("10e125", Overflow),
        ("1e9223372036854775807", Overflow),
        ("1E-131", Underflow),
        ("0e-131", Underflow),
        ("0.0e-130", Underflow),
        ("1e-9223372036854775808", Underflow),
        (&digits_39, TooManyDigits),
        (&format!("-0.{digits_39}"), TooManyDigits),
        (&format!("1{}1", "0".repeat(37)), TooManyDigits),
        (&format!("{digits_39}e500"), TooManyDigits),
    ] {
        assert_eq!(Number::parse(text), Err(error), "{text}");
    }
    for text in ["0", "0.0", "0e125", "0e-130", "0.0e-129"] {
        assert_eq!(Number::parse(text), Ok(Number::ZERO), "{text}");
    }
}

#[test]
fn the_old_layer_reads_exponents_as_32_bits() {
    for (text, error) in [
        ("1e2147483648", Grammar),
        ("1e-2147483649", Grammar),
        ("0.1e-2147483648", Grammar),
        ("1e-2147483648", Grammar), // its scale would be 2147483648
        ("1e-2147483647", Underflow),
        ("1e2147483646", Overflow),
        ("1e2147483647", Underflow),
        ("1e126", Overflow),
        ("0e126", Overflow),
    ] {
        assert_eq!(Number::parse_old_layer(text), Err(error), "{text}");
    }
}

#[test]
fn sizes_are_the_measured_ones() {
    let digits_38 = "1".repeat(38);
    let both_odd = "1".repeat(19) + "." + &"1".repeat(19);
    for (texts, size) in [
        (&["0", "-0", "0.00"][..], 1),
        (
            &[
                "1",
                "12",
                "100",
                "0042",
                "0.15",
                "0.0000001",
                "1E125",
                "1E-100",
                "120",
                "0.015",
            ],
            2,
        ),
        (
            &[
                "123", "1234", "1010", "1.5", "1.2", "1.200", "-0.15", "-42", "-1E125",
            ],
            3,
        ),
        (&["12345", "123456", "1.234", "100.5"], 4),
        (&["-12345", "3.14159"], 5),
        (&["1234567890123456789"], 11),
        (&[&digits_38], 20),
        (&[&both_odd], 21),
    ] {
        for text in texts {
            assert_eq!(number(text).size(), size, "{text}");
        }
    }
}

#[test]
fn encodings_are_fixed_for_ever() {
    for (text, bytes) in [
        ("0", &[0x01][..]),
        ("1", &[0x02, 130, 11, 0]),
        ("-1", &[0x00, !130, !11, !0]),
        ("12", &[0x02, 131, 13, 0]),
        ("100", &[0x02, 132, 11, 0]),
        ("-123.4", &[0x00, !132, !13, !35, !0]),
        ("1e-130", &[0x02, 0, 11, 0]),
        ("1e125", &[0x02, 255, 11, 0]),
        ("10.01", &[0x02, 131, 11, 2, 0]),
    ] {
        assert_eq!(encoded(number(text)), bytes, "{text}");
    }
}

#[test]
fn bytes_that_are_no_encoding_are_refused() {
    for bytes in [
        &[][..],
        &[0x03],
        &[0x02],
        &[0x02, 130],
        &[0x02, 130, 11],
        &[0x02, 130, 0],        // no digits
        &[0x02, 130, 5, 0],     // begins with a zero
        &[0x02, 130, 11, 1, 0], // ends in two zeros
        &[0x02, 130, 101 + 1, 0],
        &[0x00, 130, 11, 0],
        &[[0x02, 130].as_slice(), &[12; 20], &[0]].concat(), // 40 digits
    ] {
        assert_eq!(Number::decode(bytes), None, "{bytes:?}");
    }
}

#[test]
fn integers_convert() {
    for value in [0, 1, -1, 10, -1200, i64::MAX, i64::MIN] {
        assert_eq!(Number::from(value), number(&value.to_string()));
        assert_eq!(Number::from(value).to_i64(), Some(value));
    }
    assert_eq!(Number::from(u64::MAX).to_string(), u64::MAX.to_string());
    for text in [
        "9223372036854775808",
        "-9223372036854775809",
        "0.5",
        "1e125",
        "1e38",
        "18446744073709551616",
    ] {
        assert_eq!(number(text).to_i64(), None, "{text}");
    }
}

#[test]
fn arithmetic_is_exact_or_refused() {
    let nines = "9".repeat(38);
    for (a, b, sum) in [
        ("0.1", "0.2", Ok("0.3")),
        ("1", "-1", Ok("0")),
        ("1e125", "9e125", Err(Overflow)),
        ("-1e125", "-9e125", Err(Overflow)),
        ("1.1e-130", "-1e-130", Err(Underflow)),
        ("1e125", "1", Err(TooManyDigits)),
        ("1e37", "1", Ok("10000000000000000000000000000000000001")),
        ("1e38", "1", Err(TooManyDigits)),
        ("1e38", &format!("-{nines}"), Ok("1")),
        ("-1e38", &nines, Ok("-1")),
        ("2e38", &format!("-{nines}"), Err(TooManyDigits)),
        ("1e39", &format!("-{nines}"), Err(TooManyDigits)),
        (&nines, "1", Ok("100000000000000000000000000000000000000")),
        (&nines, "2", Err(TooManyDigits)),
        ("1e125", "0", Ok(&format!("1{}", "0".repeat(125)))),
        ("1e125", "-1e-130", Err(TooManyDigits)),
    ] {
        let sum = sum.map(number);
        assert_eq!(number(a).checked_add(number(b)), sum, "{a} + {b}");
        assert_eq!(number(b).checked_add(number(a)), sum, "{b} + {a}");
        assert_eq!(number(a).checked_sub(-number(b)), sum, "{a} - -({b})");
    }
}

/// Numbers of every length and place, many of them close together.
fn any_text() -> impl Strategy<Value = String> {
    let digits = prop_oneof!["[0-9]{1,38}", "[1-9][0-9]{0,3}", "(0|9){1,38}"];
    let exponent = prop_oneof![-4..4i32, -45..45i32, -140..130i32];
    (any::<bool>(), digits, exponent, any::<prop::sample::Index>()).prop_map(
        |(negative, digits, exponent, point)| {
            let (whole, fraction) = digits.split_at(point.index(digits.len() + 1));
            let point = if fraction.is_empty() { "" } else { "." };
            format!(
                "{}{whole}{point}{fraction}e{exponent}",
                if negative { "-" } else { "" }
            )
        },
    )
}

fn any_number() -> impl Strategy<Value = Number> {
    any_text().prop_filter_map("out of range", |text| Number::parse(&text).ok())
}

/// A decimal number the slow way: one digit a place, from 10^-200 to 10^200.
#[derive(Clone, PartialEq)]
struct Places {
    negative: bool,
    digits: Vec<i8>,
}

const POINT: usize = 200;

impl Places {
    /// Reads the canonical text, or one with an exponent.
    fn read(text: &str) -> Places {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let negative = mantissa.starts_with('-');
        let (whole, fraction) = mantissa
            .trim_start_matches('-')
            .split_once('.')
            .unwrap_or((mantissa.trim_start_matches('-'), ""));
        let exponent: isize = exponent.parse().unwrap();
        let mut digits = vec![0i8; 2 * POINT];
        for (i, digit) in (whole.to_string() + fraction).bytes().rev().enumerate() {
            if digit != b'0' {
                digits[(POINT as isize + i as isize - fraction.len() as isize + exponent) as usize] =
                    (digit - b'0') as i8;
            }
        }
        Places { negative, digits }
    }

    fn cmp(&self, other: &Places) -> Ordering {
        let signed = |p: &Places| -> Vec<i8> {
            p.digits
                .iter()
                .rev()
                .map(|&d| if p.negative { -d } else { d })
                .collect()
        };
        signed(self).cmp(&signed(other))
    }

    fn add(&self, other: &Places) -> Places {
        let sign = |p: &Places| if p.negative { -1 } else { 1 };
        let mut digits: Vec<i8> = std::iter::zip(&self.digits, &other.digits)
            .map(|(a, b)| a * sign(self) + b * sign(other))
            .collect();
        let negative = digits.iter().rev().find(|&&d| d != 0).is_some_and(|&d| d < 0);
        if negative {
            digits.iter_mut().for_each(|d| *d = -*d);
        }
        for i in 0..digits.len() - 1 {
            let carry = digits[i].div_euclid(10);
            digits[i] -= carry * 10;
            digits[i + 1] += carry;
        }
        Places { negative, digits }
    }

    fn checked(&self) -> Result<String, NumberError> {
        let Some(first) = self.digits.iter().rposition(|&d| d != 0) else {
            return Ok("0".into());
        };
        let last = self.digits.iter().position(|&d| d != 0).unwrap();
        if first - last >= 38 {
            return Err(TooManyDigits);
        }
        if first as isize - POINT as isize > 125 {
            return Err(Overflow);
        }
        if (first as isize - POINT as isize) < -130 {
            return Err(Underflow);
        }
        let mut text = String::from(if self.negative { "-" } else { "" });
        for place in (last.min(POINT)..=first.max(POINT)).rev() {
            text.push(char::from(b'0' + self.digits[place] as u8));
            if place == POINT && last < POINT {
                text.push('.');
            }
        }
        Ok(text)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn reading_agrees_with_the_model(text in any_text()) {
        let model = Places::read(&text).checked();
        let read = Number::parse(&text).map(|n| n.to_string());
        // Where the whole is zero the model knows no range.
        if model != Ok("0".into()) {
            prop_assert_eq!(read, model);
        }
    }

    #[test]
    fn sums_agree_with_the_model(a in any_number(), b in any_number()) {
        let (left, right) = (Places::read(&a.to_string()), Places::read(&b.to_string()));
        prop_assert_eq!(a.checked_add(b).map(|n| n.to_string()), left.add(&right).checked());
        let minus = Places { negative: !right.negative, ..right };
        prop_assert_eq!(a.checked_sub(b).map(|n| n.to_string()), left.add(&minus).checked());
    }

    #[test]
    fn byte_order_is_numeric_order(a in any_number(), b in any_number()) {
        let by_value = Places::read(&a.to_string()).cmp(&Places::read(&b.to_string()));
        prop_assert_eq!(a.cmp(&b), by_value);
        prop_assert_eq!(encoded(a).cmp(&encoded(b)), by_value);
        prop_assert_eq!(a == b, by_value == Ordering::Equal);
    }

    #[test]
    fn encodings_read_back(number in any_number(), rest in any::<Vec<u8>>()) {
        let mut bytes = encoded(number);
        let length = bytes.len();
        bytes.extend(rest);
        prop_assert_eq!(Number::decode(&bytes), Some((number, length)));
        prop_assert_eq!(Number::parse(&number.to_string()), Ok(number));
    }

    #[test]
    fn what_decodes_is_canonical(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        for first in [0, 2] {
            let bytes = [&[first][..], &bytes].concat();
            if let Some((number, length)) = Number::decode(&bytes) {
                prop_assert_eq!(&encoded(number)[..], &bytes[..length]);
                prop_assert_eq!(Number::parse(&number.to_string()), Ok(number));
            }
        }
    }
}
