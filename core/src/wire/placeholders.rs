//! ExpressionAttributeNames and ExpressionAttributeValues out of a request: first what is wrong with their
//! values, at the place of attribute values, later the maps themselves.      behaviour/wire §values

use std::collections::BTreeMap;

use super::{Fields, ReadAttributes};
use crate::{
    error::{Error, Family},
    expression::Placeholders,
    item::Attributes,
};

/// Which of the two maps; its name stands in the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    Names,
    Values,
}

/// The contents of the two maps.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceholderFault {
    /// `{}`
    Empty(Map),
    /// A key of more than 255 bytes, with its sign.
    KeyTooLong { map: Map, key: String },
    /// A key that is not `#` or `:` and letters, digits, underscores.
    KeySyntax { map: Map, key: String },
    /// A name mapped to an empty string.
    EmptyName { key: String },
    /// A name mapped to more than 65,535 bytes.
    NameTooLarge,
    /// Entries that no expression mentions, sorted.
    Unused { map: Map, keys: Vec<String> },
}

impl Map {
    fn name(self) -> &'static str {
        match self {
            Self::Names => "ExpressionAttributeNames",
            Self::Values => "ExpressionAttributeValues",
        }
    }

    fn sign(self) -> char {
        match self {
            Self::Names => '#',
            Self::Values => ':',
        }
    }
}

impl PlaceholderFault {
    pub fn family(&self) -> Family {
        match self {
            Self::KeyTooLong { key, .. } | Self::KeySyntax { key, .. } if key.is_ascii() => Family::Bare,
            _ => Family::Request,
        }
    }

    pub fn text(&self) -> String {
        const TOO_LONG: &str = "The expression attribute map contains a key that is too long;";
        match self {
            Self::Empty(map) => format!("{} must not be empty", map.name()),
            Self::KeyTooLong { map: Map::Names, key } => {
                format!(
                    "ExpressionAttributeNames contains invalid key: {TOO_LONG} size of key: {}",
                    key.len()
                )
            }
            Self::KeyTooLong { map: Map::Values, .. } => {
                format!("ExpressionAttributeValues contains invalid key: {TOO_LONG}")
            }
            Self::KeySyntax { map, key } => format!(
                "{} contains invalid key: Syntax error; key: \"{key}\"",
                map.name()
            ),
            Self::EmptyName { key } => {
                format!("ExpressionAttributeNames contains invalid value: Empty attribute name for key {key}")
            }
            Self::NameTooLarge => "Attribute name is too large, must be less than 65536 bytes".into(),
            Self::Unused { map, keys } => {
                format!(
                    "Value provided in {} unused in expressions: keys: {{{}}}",
                    map.name(),
                    keys.join(", ")
                )
            }
        }
    }
}

/// ExpressionAttributeNames whose names are right and whose keys are not looked at yet.
#[derive(Clone, Debug)]
pub struct PlaceholderNames(BTreeMap<String, String>);

impl PlaceholderNames {
    /// Reads the member, if it is there, before all attribute values and before the maps are looked at.
    pub fn read(fields: &Fields<'_>) -> Result<Option<PlaceholderNames>, PlaceholderFault> {
        let Some(entries) = fields.string_map("ExpressionAttributeNames") else {
            return Ok(None);
        };
        let names: BTreeMap<String, String> = entries
            .into_iter()
            .map(|(key, name)| (key.to_owned(), name.to_owned()))
            .collect();
        for (key, name) in &names {
            match name.len() {
                0 => return Err(PlaceholderFault::EmptyName { key: key.clone() }),
                1..=65_535 => {}
                _ => return Err(PlaceholderFault::NameTooLarge),
            }
        }
        Ok(Some(PlaceholderNames(names)))
    }
}

/// The stage of the maps' contents: names empty, their keys; values empty, their keys, what waits of the values
/// themselves.
pub fn placeholders(
    names: Option<PlaceholderNames>,
    values: Option<ReadAttributes>,
) -> Result<Placeholders, Error> {
    let names = match names {
        Some(PlaceholderNames(names)) => {
            check_keys(Map::Names, names.keys())?;
            names
        }
        None => BTreeMap::new(),
    };
    let values = match values {
        Some(values) => {
            check_keys(Map::Values, values.attributes.keys())?;
            values.settle()?
        }
        None => Attributes::new(),
    };
    Ok(Placeholders::new(names, values))
}

/// Keys in sorted order; the first that is wrong answers.
fn check_keys<'k>(map: Map, keys: impl ExactSizeIterator<Item = &'k String>) -> Result<(), PlaceholderFault> {
    if keys.len() == 0 {
        return Err(PlaceholderFault::Empty(map));
    }
    for key in keys {
        if key.len() > 255 {
            return Err(PlaceholderFault::KeyTooLong {
                map,
                key: key.clone(),
            });
        }
        let name = key.strip_prefix(map.sign()).unwrap_or_default();
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return Err(PlaceholderFault::KeySyntax {
                map,
                key: key.clone(),
            });
        }
    }
    Ok(())
}

/// The stage of unused entries, once all expressions of the request are parsed: names, then values.
pub fn check_unused(placeholders: &Placeholders) -> Result<(), PlaceholderFault> {
    for (map, keys) in [
        (Map::Names, placeholders.unused_names()),
        (Map::Values, placeholders.unused_values()),
    ] {
        if !keys.is_empty() {
            return Err(PlaceholderFault::Unused { map, keys });
        }
    }
    Ok(())
}
