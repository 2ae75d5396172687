//! Tags as requests give them, and their rules.                                            behaviour/tables §tags

use std::collections::BTreeSet;

use crate::{
    operation::table::{definition::shapes::member, members::Structure},
    table::TableFault,
    wire::{Shape, Type},
};

pub const MAXIMUM_TAGS: usize = 50;

pub static TAG: Shape = Shape {
    name: "Tag",
    members: &[member("Key", Type::String), member("Value", Type::String)],
};

#[derive(Clone, Debug)]
pub struct RequestedTag {
    pub key: Option<String>,
    pub value: Option<String>,
}

pub fn read_tag(mut tag: Structure) -> RequestedTag {
    RequestedTag {
        key: tag.string("Key", &[]),
        value: tag.string("Value", &[]),
    }
}

/// Of a tag whose rules were checked.
pub fn key_and_value(tag: RequestedTag) -> Option<(String, String)> {
    tag.key.zip(tag.value)
}

pub fn check_tags(tags: &[RequestedTag]) -> Result<(), TableFault> {
    let printed = |text: &Option<String>| text.clone().unwrap_or_else(|| "null".into());
    let mut keys = BTreeSet::new();
    for tag in tags {
        let key = match &tag.key {
            Some(key) if (1..=128).contains(&key.chars().count()) && key.chars().all(is_tag_character) => key,
            other => return Err(TableFault::TagKey(printed(other))),
        };
        match &tag.value {
            Some(value) if value.chars().count() <= 256 && value.chars().all(is_tag_character) => {}
            other => return Err(TableFault::TagValue(printed(other))),
        }
        if key.starts_with("aws:") {
            return Err(TableFault::TagKeyReserved(key.clone()));
        }
        if !keys.insert(key) {
            return Err(TableFault::TagKeyTwice(key.clone()));
        }
    }
    match tags.len() > MAXIMUM_TAGS {
        true => Err(TableFault::TooManyTags),
        false => Ok(()),
    }
}

fn is_tag_character(c: char) -> bool {
    c.is_alphanumeric() || c.is_whitespace() || "+-=._:/".contains(c)
}
