//! A JSON reader that keeps what the rules ask for: the order of members, duplicates, how a number was written.

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

/// The text is not JSON, nests deeper than 2,000 levels, or holds a lone surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

pub fn parse(_text: &str) -> Result<Json<'_>, Malformed> {
    todo!()
}

/// Appends a JSON string literal.
pub fn write_string(_text: &str, _out: &mut String) {
    todo!()
}
