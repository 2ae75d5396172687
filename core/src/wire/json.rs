//! A JSON reader that keeps what the rules ask for: the order of members, duplicates, how a number was written.
//!
//! It is exact (RFC 8259, nothing more), borrows every string that has no escape, and never recurses: how deep
//! a text may nest is [`MAX_LEVELS`], not the stack of whoever calls.

use std::borrow::Cow;

/// A JSON value. Numbers stay as they were written.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    /// In the order of the text; of equal names the last one counts.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// The text is not JSON, nests deeper than [`MAX_LEVELS`], or holds a lone surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// How many arrays and objects may stand around a value: the service gives up at about 2,000 levels of `M` and
/// `L`, each of which is two levels of JSON. A tree of this depth is dropped recursively, which must fit the 2 MB
/// stack of a thread in a debug build (the tests try it; 8,000 levels still do).     behaviour/items §nesting
const MAX_LEVELS: usize = 4_000;

pub fn parse(text: &str) -> Result<Json<'_>, Malformed> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<Open<'_>> = Vec::new();
    'value: loop {
        reader.skip_space();
        let mut value = match reader.peek().ok_or(Malformed)? {
            b'[' => {
                reader.at += 1;
                reader.skip_space();
                if reader.take(b']') {
                    check_levels(open.len() + 1)?;
                    Json::Array(Vec::new())
                } else {
                    open.push(Open::Array(Vec::new()));
                    check_levels(open.len())?;
                    continue 'value;
                }
            }
            b'{' => {
                reader.at += 1;
                reader.skip_space();
                if reader.take(b'}') {
                    check_levels(open.len() + 1)?;
                    Json::Object(Vec::new())
                } else {
                    let name = reader.name()?;
                    // Most objects are values with their type, one member each: room for four, which the first push would
                    // make, is most of what a tree takes.
                    open.push(Open::Object(Vec::with_capacity(1), name));
                    check_levels(open.len())?;
                    continue 'value;
                }
            }
            b'"' => Json::String(reader.string()?),
            b't' => reader.word("true", Json::Bool(true))?,
            b'f' => reader.word("false", Json::Bool(false))?,
            b'n' => reader.word("null", Json::Null)?,
            _ => Json::Number(reader.number()?),
        };
        // A value is whole: hand it to what is open around it, and close what it completes.
        loop {
            reader.skip_space();
            value = match open.last_mut() {
                None if reader.at == text.len() => return Ok(value),
                None => return Err(Malformed),
                Some(Open::Array(elements)) => {
                    elements.push(value);
                    if reader.take(b',') {
                        continue 'value;
                    }
                    reader.expect(b']')?;
                    Json::Array(std::mem::take(elements))
                }
                Some(Open::Object(members, name)) => {
                    members.push((std::mem::take(name), value));
                    if reader.take(b',') {
                        reader.skip_space();
                        *name = reader.name()?;
                        continue 'value;
                    }
                    reader.expect(b'}')?;
                    Json::Object(std::mem::take(members))
                }
            };
            open.pop();
        }
    }
}

/// Whether [`parse`] would accept the text. No tree is built: 16 MB of `[0,0,0…` would take 300 MB as one.
pub fn check(text: &str) -> Result<(), Malformed> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<End> = Vec::new();
    'value: loop {
        reader.skip_space();
        match reader.peek().ok_or(Malformed)? {
            start @ (b'[' | b'{') => {
                let end = if start == b'{' { End::Object } else { End::Array };
                open.push(end);
                check_levels(open.len())?;
                reader.at += 1;
                reader.skip_space();
                if !reader.take(end as u8) {
                    end.check_name(&mut reader)?;
                    continue 'value;
                }
                open.pop();
            }
            b'"' => drop(reader.string()?),
            b't' => drop(reader.word("true", Json::Null)?),
            b'f' => drop(reader.word("false", Json::Null)?),
            b'n' => drop(reader.word("null", Json::Null)?),
            _ => drop(reader.number()?),
        }
        loop {
            reader.skip_space();
            let Some(&end) = open.last() else {
                return if reader.at == text.len() {
                    Ok(())
                } else {
                    Err(Malformed)
                };
            };
            if reader.take(b',') {
                reader.skip_space();
                end.check_name(&mut reader)?;
                continue 'value;
            }
            reader.expect(end as u8)?;
            open.pop();
        }
    }
}

/// What closes an array or an object.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum End {
    Array = b']',
    Object = b'}',
}

impl End {
    fn check_name(self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        if self == End::Object {
            reader.name()?;
        }
        Ok(())
    }
}

/// An array or an object whose end was not seen yet; an object with the name of the member to come.
enum Open<'a> {
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>, Cow<'a, str>),
}

fn check_levels(levels: usize) -> Result<(), Malformed> {
    if levels > MAX_LEVELS {
        Err(Malformed)
    } else {
        Ok(())
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.take(byte) { Ok(()) } else { Err(Malformed) }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, Malformed> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(value)
    }

    /// A member's name and the colon after it.
    fn name(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let name = self.string()?;
        self.skip_space();
        self.expect(b':')?;
        Ok(name)
    }

    fn number(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        self.text.get(start..self.at).ok_or(Malformed)
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Malformed) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.expect(b'"')?;
        let run = self.run()?;
        if self.take(b'"') {
            return Ok(Cow::Borrowed(run));
        }
        let mut decoded = String::from(run);
        loop {
            if self.take(b'"') {
                return Ok(Cow::Owned(decoded));
            }
            // A run ends at a quote or at a backslash.
            self.at += 1;
            decoded.push(self.escape()?);
            decoded.push_str(self.run()?);
        }
    }

    /// The characters up to the next quote or backslash; a control character may not stand bare.
    fn run(&mut self) -> Result<&'a str, Malformed> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = bare_length(rest);
        if rest.get(length).is_none_or(|byte| *byte < 0x20) {
            return Err(Malformed);
        }
        let run = self.text.get(self.at..self.at + length).ok_or(Malformed)?;
        self.at += length;
        Ok(run)
    }

    /// What stands after a backslash.
    fn escape(&mut self) -> Result<char, Malformed> {
        let kind = self.peek().ok_or(Malformed)?;
        self.at += 1;
        Ok(match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.hex4()?;
                let code = if (0xd800..0xdc00).contains(&unit) {
                    self.expect(b'\\')?;
                    self.expect(b'u')?;
                    let low = self.hex4()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(Malformed);
                    }
                    0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
                } else {
                    unit
                };
                // Refuses a low surrogate that no high one precedes.
                char::from_u32(code).ok_or(Malformed)?
            }
            _ => return Err(Malformed),
        })
    }

    fn hex4(&mut self) -> Result<u32, Malformed> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self
                .peek()
                .and_then(|b| char::from(b).to_digit(16))
                .ok_or(Malformed)?;
            unit = unit << 4 | digit;
            self.at += 1;
        }
        Ok(unit)
    }
}

/// Appends a JSON string literal. Only what JSON forbids in one is escaped; all else stands as UTF-8.
pub fn write_string(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut rest = text;
    loop {
        let (bare, special) = rest.split_at(bare_length(rest.as_bytes()));
        out.push_str(bare);
        let Some(&byte) = special.as_bytes().first() else {
            break;
        };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            _ => {
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
        // One ASCII byte, so on a character's boundary.
        rest = &special[1..];
    }
    out.push('"');
}

/// How many bytes stand before the first quote, backslash or control character: eight at a time, since half of the
/// work of reading and writing JSON was to look at each of them.
fn bare_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // The high bit of each byte below a limit, or a byte above one that is: the lowest bit is right.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let special = (below(word, 0x20) | quote | backslash) & (ONES << 7);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(is_special).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn check_accepts_what_parse_accepts() {
        let whole = r#" { "a" : [ 1 , -0.5e+3 , "x\u00e9\ud83d\ude00" , { } , [ ] , true , false , null ] , "" : {"b":[[]]} } "#;
        let alone = [
            "[]",
            "{}",
            "0",
            "\"\"",
            "[0]",
            "{\"a\":1}",
            "[[],[],{}]",
            " true\n",
            "\"\u{e9}\"",
        ];
        let broken = [
            "[1,]",
            "[,1]",
            "[1 2]",
            "[}",
            "{]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "{1:1}",
            "{,}",
            "01",
            "1.",
            "+1",
            ".5",
            "1e",
            "nul",
            "truex",
            "\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "[] []",
            "[]]",
            "\"\n\"",
            "\u{feff}[]",
        ];
        // Every beginning of a whole text too.
        let beginnings = (0..=whole.len()).filter_map(|end| whole.get(..end));
        for text in alone.into_iter().chain(broken).chain(beginnings) {
            assert_eq!(check(text), parse(text).map(drop), "{text}");
        }
        assert!(check(whole).is_ok());
        assert!(broken.into_iter().all(|text| check(text).is_err()));
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(check(&nested(MAX_LEVELS)).is_ok());
        assert!(check(&nested(MAX_LEVELS + 1)).is_err());
    }

    proptest! {
        #[test]
        fn runs_end_at_what_json_escapes(bytes in prop::collection::vec(prop_oneof![
            any::<u8>(), Just(b'"'), Just(b'\\'), 0x1e..0x24_u8, 0x7e..0x82_u8, 0xa0..0xa4_u8, 0xdb..0xdd_u8
        ], 0..40)) {
            let expected = bytes.iter().position(|b| *b < 0x20 || *b == b'"' || *b == b'\\');
            prop_assert_eq!(bare_length(&bytes), expected.unwrap_or(bytes.len()));
        }
    }

    fn string(text: &str) -> Json<'_> {
        Json::String(Cow::Borrowed(text))
    }

    #[test]
    fn members_keep_their_order_and_their_duplicates() {
        let parsed = parse(r#" { "b" : 1 , "a" : [ true , null , "x" ] , "b" : {} } "#);
        assert_eq!(
            parsed,
            Ok(Json::Object(vec![
                ("b".into(), Json::Number("1")),
                (
                    "a".into(),
                    Json::Array(vec![Json::Bool(true), Json::Null, string("x")])
                ),
                ("b".into(), Json::Object(vec![])),
            ]))
        );
    }

    #[test]
    fn numbers_stay_as_written() {
        for text in [
            "0",
            "-0",
            "1.0",
            "1e0",
            "1E+05",
            "-12.50e-3",
            "123456789012345678901234567890",
            "1e999999",
        ] {
            assert_eq!(parse(text), Ok(Json::Number(text)));
        }
    }

    #[test]
    fn strings_are_decoded_and_borrowed_where_they_can_be() {
        for (text, value) in [
            (r#""""#, ""),
            (r#""ä€😀""#, "ä€😀"),
            (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r#""\u0000a\u00e4\uD83D\ude00z""#, "\0aä😀z"),
            ("\"\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
        ] {
            assert_eq!(parse(text), Ok(string(value)), "{text}");
        }
        assert!(matches!(
            parse(r#""plain""#),
            Ok(Json::String(Cow::Borrowed("plain")))
        ));
    }

    #[test]
    fn what_the_grammar_forbids_is_malformed() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "]",
            "}",
            "[1,]",
            "[,1]",
            "{,}",
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{a:1}"#,
            r#"{"a":1 "b":2}"#,
            "[1 2]",
            "[1}",
            r#"{"a":1]"#,
            "1 2",
            "{} x",
            "01",
            "-",
            "+1",
            ".5",
            "5.",
            "1e",
            "1e+",
            "0x5",
            "--1",
            "NaN",
            "Infinity",
            "tru",
            "True",
            "nul",
            "'a'",
            "\"a",
            "\"a\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "\"\0\"",
            "\u{feff}{}",
            "\u{a0}1",
            "// c\n1",
            "[1]/**/",
            "\u{c}1",
            // Lone surrogates, wherever they stand.
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800x""#,
            r#""\ud800\n""#,
            r#""\ud800\ud800""#,
            r#""\ud83d\u0041""#,
            r#"{"\ude00":1}"#,
        ] {
            assert_eq!(parse(text), Err(Malformed), "{text}");
        }
    }

    #[test]
    fn deep_texts_fit_a_two_megabyte_stack() {
        let nested =
            |levels: usize, open: &str, close: &str| open.repeat(levels) + "1" + &close.repeat(levels);
        let work = move || {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                assert!(parse(&nested(MAX_LEVELS, open, close)).is_ok());
                assert_eq!(parse(&nested(MAX_LEVELS + 1, open, close)), Err(Malformed));
                assert_eq!(parse(&open.repeat(1_000_000)), Err(Malformed));
            }
            let deepest_empty = "[".repeat(MAX_LEVELS) + &"]".repeat(MAX_LEVELS);
            assert!(parse(&deepest_empty).is_ok());
            assert_eq!(parse(&format!("[{deepest_empty}]")), Err(Malformed));
        };
        std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(work)
            .unwrap()
            .join()
            .unwrap();
    }

    #[test]
    fn only_what_must_be_escaped_is() {
        let mut out = String::new();
        write_string("a\"\\/\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}ä\u{2028}😀", &mut out);
        assert_eq!(
            out,
            "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}ä\u{2028}😀\""
        );
    }

    fn as_serde(json: &Json) -> serde_json::Value {
        match json {
            Json::Null => serde_json::Value::Null,
            Json::Bool(value) => (*value).into(),
            Json::Number(text) => serde_json::from_str(text).unwrap_or(serde_json::Value::Null),
            Json::String(text) => text.as_ref().into(),
            Json::Array(elements) => elements.iter().map(as_serde).collect(),
            Json::Object(members) => members
                .iter()
                .map(|(n, v)| (n.to_string(), as_serde(v)))
                .collect(),
        }
    }

    proptest! {
        #[test]
        fn a_written_string_reads_back(text in any::<String>()) {
            let mut out = String::new();
            write_string(&text, &mut out);
            prop_assert_eq!(parse(&out), Ok(string(&text)));
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }

        #[test]
        fn it_accepts_what_serde_json_accepts(text in r#"[\[\]{}:, "\\truefalsn0-9.eE+\-du\t]{0,16}"#) {
            match (parse(&text), serde_json::from_str::<serde_json::Value>(&text)) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(as_serde(&ours), theirs),
                (Err(Malformed), Err(_)) => {}
                // serde_json keeps numbers as f64 and refuses those beyond its range.
                (Ok(_), Err(error)) if error.to_string().starts_with("number out of range") => {}
                (ours, theirs) => prop_assert!(false, "{text}: {ours:?} against {theirs:?}"),
            }
        }
    }
}
