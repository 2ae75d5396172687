//! Numbers and the encoding of keys. Two texts, one a line; the whole is read as an encoding, too.

use std::cmp::Ordering;

use extenddb_core::item::{AttributeValue, Number, encode_hash, encode_scalar, hash_bucket, stored_hash};

/// Texts of numbers read back as written, encodings decode to what they were made of, and bytes are ordered as the values are.
pub fn check(bytes: &[u8]) {
    if let Some((number, length)) = Number::decode(bytes) {
        assert_eq!(encoded(number), bytes[..length], "{number}");
        read_back(number);
    }
    let (left, right) = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => bytes.split_at(bytes.len() / 2),
    };
    let read = |bytes| {
        let text = str::from_utf8(bytes).ok()?;
        let _ = Number::parse_old_layer(text);
        Some((Number::parse(text).ok()?, text))
    };
    if let (Some((a, a_text)), Some((b, b_text))) = (read(left), read(right)) {
        read_back(a);
        read_back(b);
        let by_text = compare_texts(a_text, b_text);
        assert_eq!(a.cmp(&b), by_text, "{a_text} {b_text}");
        assert_eq!(encoded(a).cmp(&encoded(b)), by_text, "{a_text} {b_text}");
        assert_eq!(a == b, by_text == Ordering::Equal);
        if let Ok(sum) = a.checked_add(b) {
            assert_eq!(b.checked_add(a), Ok(sum), "{a_text} {b_text}");
            read_back(sum);
        }
        if let Ok(difference) = a.checked_sub(b) {
            let sign = Number::ZERO.cmp(&difference);
            assert_eq!(sign.reverse(), by_text, "{a_text} {b_text}");
            read_back(difference);
        }
    }
    scalars(left, right);
}

fn encoded(number: Number) -> Vec<u8> {
    let mut bytes = Vec::new();
    number.encode(&mut bytes);
    bytes
}

fn read_back(number: Number) {
    let bytes = encoded(number);
    assert_eq!(Number::decode(&bytes), Some((number, bytes.len())));
    assert_eq!(Number::parse(&number.to_string()), Ok(number));
    assert!((1..=22).contains(&number.size()), "{number}");
}

fn scalars(left: &[u8], right: &[u8]) {
    let encoded = |bytes: &[u8]| {
        let mut out = Vec::new();
        encode_scalar(&AttributeValue::B(bytes.into()), &mut out);
        out
    };
    assert_eq!(encoded(left).cmp(&encoded(right)), left.cmp(right));
    // Lists that are not the same are not the same bytes, wherever one value ends and the next begins.
    let list = |values: [&[u8]; 2]| encode_hash(&values.map(|bytes| AttributeValue::B(bytes.into())));
    assert_eq!(list([left, right]) == list([right, left]), left == right);
    let joined = [left, right].concat();
    for at in 0..=joined.len().min(64) {
        let (head, tail) = joined.split_at(at);
        assert_eq!(list([left, right]) == list([head, tail]), at == left.len());
    }
    let stored = [left, right].map(|bytes| stored_hash(bytes.to_vec()));
    assert_eq!(stored[0] == stored[1], left == right);
    assert!(stored.iter().all(|bytes| bytes.len() <= 65));
    hash_bucket(left);
}

/// The order of two texts that are numbers, by schoolbook.
fn compare_texts(a: &str, b: &str) -> Ordering {
    let (a, b) = (Written::of(a), Written::of(b));
    match (a.sign, b.sign) {
        (a, b) if a != b => a.cmp(&b),
        (0, _) => Ordering::Equal,
        (sign, _) => {
            let magnitude = a.first.cmp(&b.first).then_with(|| a.digits.cmp(&b.digits));
            if sign < 0 { magnitude.reverse() } else { magnitude }
        }
    }
}

struct Written {
    sign: i8,
    /// The power of ten of the first digit.
    first: i128,
    /// Without zeros at either end.
    digits: String,
}

impl Written {
    fn of(text: &str) -> Written {
        let text = text.to_ascii_lowercase();
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i128 = exponent.trim_start_matches('+').parse().expect("it was read");
        let negative = mantissa.starts_with('-');
        let (whole, fraction) = mantissa.trim_start_matches(['+', '-']).split_once('.').map_or(
            (mantissa.trim_start_matches(['+', '-']).to_owned(), String::new()),
            |(w, f)| (w.to_owned(), f.to_owned()),
        );
        let all = format!("{whole}{fraction}");
        let zeros = all.len() - all.trim_start_matches('0').len();
        let digits = all.trim_matches('0').to_owned();
        let sign = match (digits.is_empty(), negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        Written {
            sign,
            first: whole.len() as i128 - zeros as i128 + exponent,
            digits,
        }
    }
}
