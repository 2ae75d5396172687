//! ISO 8601 basic format, the only one that signatures know.

use time::{
    PrimitiveDateTime, UtcDateTime, format_description::StaticFormatDescription, macros::format_description,
};

const BASIC: StaticFormatDescription = format_description!("[year][month][day]T[hour][minute][second]Z");

pub(super) fn basic(date: UtcDateTime) -> String {
    // Writing digits into a string cannot fail.
    date.format(BASIC).unwrap_or_default()
}

pub(super) fn parse_basic(text: &str) -> Option<UtcDateTime> {
    if text.len() != "YYYYMMDDTHHMMSSZ".len() {
        return None;
    }
    PrimitiveDateTime::parse(text, BASIC)
        .ok()
        .map(PrimitiveDateTime::as_utc)
}

/// A `Date` header may also be written the way of HTTP.
pub(super) fn parse_header(text: &str) -> Option<UtcDateTime> {
    parse_basic(text).or_else(|| httpdate::parse_http_date(text).ok().map(UtcDateTime::from))
}
