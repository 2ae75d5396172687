//! DynamoDB JSON out, and plain JSON for people. Reading it is `wire`'s work, where every fault has its text.
//!
//! Strings stand raw but for what JSON must escape, sets ascend (some answers have number sets otherwise:
//! [`NumberSets`]), binaries are base64 with padding, and numbers are their canonical text: a string in DynamoDB JSON, a
//! number in plain JSON.

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::wire::json::write_string;

use super::{
    AttributeValue, Attributes, Item, Number, StoredValue,
    binary::{View, each, take_marked, take_member, take_number, take_value, text},
    number::hash_order,
};

/// How an answer has the members of number sets. No client can rely on it.                  behaviour/items §order
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberSets {
    Ascending,
    /// In the order of the service's hash sets: Scan, transactions.
    Hashed,
}

/// Appends `{"S":"…"}`.
pub fn write_value(value: &AttributeValue, out: &mut String) {
    write_typed::<false>(value, out);
}

fn write_typed<const HASHED: bool>(value: &AttributeValue, out: &mut String) {
    open(value.kind().code(), out);
    match value {
        AttributeValue::Null => out.push_str("true"),
        AttributeValue::Bool(value) => write_bool(*value, out),
        AttributeValue::N(number) => write_number(*number, out),
        AttributeValue::S(text) => write_string(text, out),
        AttributeValue::B(bytes) => write_base64(bytes, out),
        AttributeValue::Ss(members) => write_array(members, out, |member, out| write_string(member, out)),
        AttributeValue::Ns(members) => write_numbers::<HASHED>(members.iter().copied(), out),
        AttributeValue::Bs(members) => write_array(members, out, |member, out| write_base64(member, out)),
        AttributeValue::L(elements) => write_array(elements, out, write_typed::<HASHED>),
        AttributeValue::M(members) => write_members::<HASHED>(members, out),
    }
    out.push('}');
}

/// Appends `{"name":{"S":"…"},…}`.
pub fn write_attributes(attributes: &Attributes, out: &mut String) {
    write_members::<false>(attributes, out);
}

/// The same, with number sets in that order.
pub fn write_attributes_as(attributes: &Attributes, sets: NumberSets, out: &mut String) {
    match sets {
        NumberSets::Ascending => write_members::<false>(attributes, out),
        NumberSets::Hashed => write_members::<true>(attributes, out),
    }
}

fn write_members<const HASHED: bool>(attributes: &Attributes, out: &mut String) {
    write_object(
        attributes.iter().map(|(name, value)| (name.as_str(), value)),
        out,
        write_typed::<HASHED>,
    );
}

impl Item {
    /// Appends the item as DynamoDB JSON, straight from the bytes.
    pub fn write_json(&self, out: &mut String) {
        self.write_json_as(NumberSets::Ascending, out);
    }

    /// The same, with number sets in that order.
    pub fn write_json_as(&self, sets: NumberSets, out: &mut String) {
        // Names, types and punctuation make the text of a usual item half as long again.
        out.reserve(self.as_bytes().len() * 3 / 2);
        match sets {
            NumberSets::Ascending => write_object(self.views(), out, write_view::<false>),
            NumberSets::Hashed => write_object(self.views(), out, write_view::<true>),
        }
    }

    /// One attribute as DynamoDB JSON.
    pub fn attribute_json(&self, name: &str) -> Option<String> {
        Some(StoredValue(self.view(name)?).json())
    }

    /// Appends the item as plain JSON: values without their types, sets as arrays, binaries as base64.
    pub fn write_plain_json(&self, out: &mut String) {
        write_object(self.views(), out, write_plain);
    }

    /// One attribute as [`StoredValue::plain_text`] shows it; `None` where it is absent, too.
    pub fn attribute_text(&self, name: &str) -> Option<String> {
        StoredValue(self.view(name)?).plain_text()
    }
}

impl StoredValue<'_> {
    /// DynamoDB JSON.
    pub fn json(self) -> String {
        let mut out = String::new();
        write_view::<false>(self.0, &mut out);
        out
    }

    /// As SQL shows a value: strings as they are, the rest as plain JSON has it but without quotes around base64.
    /// `None` for NULL.
    pub fn plain_text(self) -> Option<String> {
        let mut out = String::new();
        match self.0 {
            View::Null => return None,
            View::S(bytes) => out.push_str(text(bytes)),
            View::B(bytes) => STANDARD.encode_string(bytes, &mut out),
            other => write_plain(other, &mut out),
        }
        Some(out)
    }
}

/// Appends `{"S":"…"}` from the binary form.
fn write_view<const HASHED: bool>(value: View<'_>, out: &mut String) {
    open(value.kind().code(), out);
    match value {
        View::Null => out.push_str("true"),
        View::Bool(value) => write_bool(value, out),
        View::N(number) => write_number(number, out),
        View::S(bytes) => write_string(text(bytes), out),
        View::B(bytes) => write_base64(bytes, out),
        View::Ss(body) => write_array(each(body, take_marked), out, |member, out| {
            write_string(text(member), out)
        }),
        View::Ns(body) => write_numbers::<HASHED>(each(body, take_number), out),
        View::Bs(body) => write_array(each(body, take_marked), out, write_base64),
        View::L(body) => write_array(each(body, take_value), out, write_view::<HASHED>),
        View::M(body) => write_object(members(body), out, write_view::<HASHED>),
    }
    out.push('}');
}

fn write_plain(value: View<'_>, out: &mut String) {
    match value {
        View::Null => out.push_str("null"),
        View::Bool(value) => write_bool(value, out),
        View::N(number) => number.write(out),
        View::S(bytes) => write_string(text(bytes), out),
        View::B(bytes) => write_base64(bytes, out),
        View::Ss(body) => write_array(each(body, take_marked), out, |member, out| {
            write_string(text(member), out)
        }),
        View::Ns(body) => write_array(each(body, take_number), out, |member, out| member.write(out)),
        View::Bs(body) => write_array(each(body, take_marked), out, write_base64),
        View::L(body) => write_array(each(body, take_value), out, write_plain),
        View::M(body) => write_object(members(body), out, write_plain),
    }
}

fn members(body: &[u8]) -> impl Iterator<Item = (&str, View<'_>)> {
    each(body, take_member).map(|(name, value)| (text(name), value))
}

fn open(code: &str, out: &mut String) {
    out.push_str("{\"");
    out.push_str(code);
    out.push_str("\":");
}

fn write_bool(value: bool, out: &mut String) {
    out.push_str(if value { "true" } else { "false" });
}

fn write_number(number: Number, out: &mut String) {
    out.push('"');
    number.write(out);
    out.push('"');
}

fn write_numbers<const HASHED: bool>(numbers: impl Iterator<Item = Number>, out: &mut String) {
    if HASHED {
        let mut numbers: Vec<Number> = numbers.collect();
        hash_order(&mut numbers);
        write_array(numbers, out, write_number);
    } else {
        write_array(numbers, out, write_number);
    }
}

fn write_base64(bytes: &[u8], out: &mut String) {
    out.push('"');
    STANDARD.encode_string(bytes, out);
    out.push('"');
}

fn write_array<T>(members: impl IntoIterator<Item = T>, out: &mut String, write: impl Fn(T, &mut String)) {
    out.push('[');
    for (i, member) in members.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(member, out);
    }
    out.push(']');
}

fn write_object<'a, T>(
    members: impl IntoIterator<Item = (&'a str, T)>,
    out: &mut String,
    write: impl Fn(T, &mut String),
) {
    out.push('{');
    for (i, (name, member)) in members.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        write(member, out);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use AttributeValue::{B, Bool, Bs, L, M, N, Ns, Null, S, Ss};

    fn n(text: &str) -> Number {
        text.parse().unwrap()
    }

    fn every_type() -> Attributes {
        Attributes::from([
            ("b".into(), B(vec![0xfb, 0xff, 0])),
            ("bool".into(), Bool(true)),
            ("bs".into(), Bs(vec![vec![], vec![1]])),
            ("l".into(), L(vec![Null, L(vec![]), S("x".into())])),
            (
                "m".into(),
                M(Attributes::from([
                    ("q\"".into(), N(n("0"))),
                    ("ä".into(), M(Attributes::new())),
                ])),
            ),
            ("n".into(), N(n("-1.50"))),
            ("no".into(), Bool(false)),
            ("ns".into(), Ns(vec![n("-2"), n("1e3")])),
            ("null".into(), Null),
            ("s".into(), S("a\"\\\0\n/€".into())),
            ("ss".into(), Ss(vec!["".into(), "a".into()])),
        ])
    }

    const DYNAMODB: &str = concat!(
        r#"{"b":{"B":"+/8A"},"bool":{"BOOL":true},"bs":{"BS":["","AQ=="]},"#,
        r#""l":{"L":[{"NULL":true},{"L":[]},{"S":"x"}]},"m":{"M":{"q\"":{"N":"0"},"ä":{"M":{}}}},"#,
        r#""n":{"N":"-1.5"},"no":{"BOOL":false},"ns":{"NS":["-2","1000"]},"null":{"NULL":true},"#,
        r#""s":{"S":"a\"\\\u0000\n/€"},"ss":{"SS":["","a"]}}"#
    );
    const PLAIN: &str = concat!(
        r#"{"b":"+/8A","bool":true,"bs":["","AQ=="],"l":[null,[],"x"],"m":{"q\"":0,"ä":{}},"#,
        r#""n":-1.5,"no":false,"ns":[-2,1000],"null":null,"s":"a\"\\\u0000\n/€","ss":["","a"]}"#
    );

    #[test]
    fn every_type_is_written_as_the_service_does() {
        let mut out = String::new();
        write_attributes(&every_type(), &mut out);
        assert_eq!(out, DYNAMODB);
        let item = Item::encode(&every_type());
        assert_eq!(format!("{item:?}"), DYNAMODB);
        let mut plain = String::new();
        item.write_plain_json(&mut plain);
        assert_eq!(plain, PLAIN);
    }

    #[test]
    fn number_sets_may_stand_in_the_order_of_their_hashes() {
        let set = || Ns(["1", "3", "20"].map(n).to_vec());
        let attributes = Attributes::from([("l".into(), L(vec![set()])), ("s".into(), set())]);
        let hashed = r#"{"l":{"L":[{"NS":["3","20","1"]}]},"s":{"NS":["3","20","1"]}}"#;
        let mut out = String::new();
        write_attributes_as(&attributes, NumberSets::Hashed, &mut out);
        assert_eq!(out, hashed);
        out.clear();
        Item::encode(&attributes).write_json_as(NumberSets::Hashed, &mut out);
        assert_eq!(out, hashed);
    }

    #[test]
    fn single_attributes() {
        let item = Item::encode(&every_type());
        for (name, json, text) in [
            ("b", Some(r#"{"B":"+/8A"}"#), Some("+/8A")),
            ("bool", Some(r#"{"BOOL":true}"#), Some("true")),
            ("n", Some(r#"{"N":"-1.5"}"#), Some("-1.5")),
            ("null", Some(r#"{"NULL":true}"#), None),
            ("s", Some(r#"{"S":"a\"\\\u0000\n/€"}"#), Some("a\"\\\0\n/€")),
            ("ss", Some(r#"{"SS":["","a"]}"#), Some(r#"["","a"]"#)),
            (
                "m",
                Some(r#"{"M":{"q\"":{"N":"0"},"ä":{"M":{}}}}"#),
                Some(r#"{"q\"":0,"ä":{}}"#),
            ),
            ("none", None, None),
        ] {
            assert_eq!(item.attribute_json(name).as_deref(), json, "{name}");
            assert_eq!(item.attribute_text(name).as_deref(), text, "{name}");
        }
    }
}
