//! From JSON to the members of a shape: the coercions, containers before scalars, and the text of each JSON type in a place
//! of another.

use std::{borrow::Cow, collections::HashSet};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    super::{
        RawAttributes, RawValue, ShapeFault,
        json::Json,
        values::{Content, Flag},
    },
    Entries, Fields, Member, Node, RawEntries, Shape, Type,
};

/// Where a container stands; the texts for a scalar in its place differ.
#[derive(Clone, Copy)]
enum Place {
    Member,
    /// Of a list or a map.
    Element,
}

pub struct Decoder {
    /// The request was coerced: it is read on the old layer.
    pub coerced: bool,
    /// Lists and maps around the attribute value at hand.
    levels: usize,
}

impl Decoder {
    pub fn new() -> Decoder {
        Decoder {
            coerced: false,
            levels: 0,
        }
    }
}

/// Values below are judged, and their levels counted, but not kept: a value of so many levels is refused without
/// a look at its content (`values`). It bounds the recursion, here and wherever values are read.
const KEPT_LEVELS: usize = 64;

impl Decoder {
    pub fn structure<'a>(
        &mut self,
        shape: &'static Shape,
        entries: Entries<'a>,
    ) -> Result<Fields<'a>, ShapeFault> {
        let mut known: Vec<(&'static Member, Json<'a>)> =
            Vec::with_capacity(entries.len().min(shape.members.len()));
        for (name, json) in entries {
            let Some(member) = shape.members.iter().find(|member| member.name == name) else {
                continue;
            };
            known.retain(|(earlier, _)| earlier.name != member.name);
            known.push((member, json));
        }
        known.retain(|(_, json)| *json != Json::Null);

        let mut members: Vec<(usize, &'static str, Node<'a>)> = Vec::with_capacity(known.len());
        let (containers, scalars): (Vec<_>, Vec<_>) = known
            .into_iter()
            .enumerate()
            .partition(|(_, (member, _))| member.kind.is_container());
        for (place, (member, json)) in containers.into_iter().chain(scalars) {
            let node = self.node(&member.kind, member.name, json, Place::Member)?;
            members.push((place, member.name, node));
        }
        members.sort_unstable_by_key(|(place, ..)| *place);
        Ok(Fields {
            shape,
            members: members.into_iter().map(|(_, name, node)| (name, node)).collect(),
        })
    }

    fn node<'a>(
        &mut self,
        kind: &'static Type,
        name: &str,
        json: Json<'a>,
        place: Place,
    ) -> Result<Node<'a>, ShapeFault> {
        match (kind, json) {
            (Type::String, json) => Ok(Node::String(string(json)?)),
            (Type::Boolean, json) => self.boolean(name, json),
            (Type::Integer, Json::Number(text)) => Ok(Node::Integer(self.integer(
                text,
                i32::MIN.into(),
                i32::MAX.into(),
            ))),
            (Type::Integer, json) => Err(not_scalar(&json, "Integer")),
            (Type::Long, Json::Number(text)) => Ok(Node::Integer(self.integer(text, i64::MIN, i64::MAX))),
            (Type::Long, json) => Err(not_scalar(&json, "Long")),
            (Type::AttributeValue, Json::Object(entries)) => Ok(Node::Value(self.value(entries)?)),
            (Type::Structure(shape), Json::Object(entries)) => {
                Ok(Node::Structure(self.structure(shape, entries)?))
            }
            (Type::List(_), Json::Object(_)) => Err(ShapeFault::StructureStart),
            (Type::List(element), Json::Array(elements)) => self.list(element, name, elements),
            (Type::Map(Type::AttributeValue), Json::Object(entries)) => {
                Ok(Node::Attributes(RawAttributes::new(self.values(entries)?.0)))
            }
            (Type::Map(element), Json::Object(entries)) => {
                let mut map = Vec::with_capacity(entries.len());
                for (key, json) in last_of_each(entries) {
                    map.push((key, self.node(element, name, json, Place::Element)?));
                }
                Ok(Node::Map(map))
            }
            (kind, Json::Array(_)) => Err(ShapeFault::Collection(kind.java_type())),
            (kind, _) => Err(kind.scalar_instead(place)),
        }
    }

    fn list<'a>(
        &mut self,
        element: &'static Type,
        name: &str,
        elements: Vec<Json<'a>>,
    ) -> Result<Node<'a>, ShapeFault> {
        let mut list = Vec::with_capacity(elements.len());
        for json in elements {
            let json = match json {
                // An element cannot be absent; what can be empty is.
                Json::Null if element.is_container() => element.empty(),
                Json::Null => continue,
                json => json,
            };
            list.push(self.node(element, name, json, Place::Element)?);
        }
        Ok(Node::List(list))
    }

    fn boolean<'a>(&mut self, name: &str, json: Json<'a>) -> Result<Node<'a>, ShapeFault> {
        match json {
            Json::Bool(value) => Ok(Node::Boolean(value)),
            Json::String(text) => {
                self.coerced |= name == "Exists";
                boolean_of(&text)
                    .map(Node::Boolean)
                    .ok_or(ShapeFault::ParserToken)
            }
            json => Err(not_scalar(&json, "Boolean")),
        }
    }

    /// Saturates and truncates; a value changed so puts the request on the old layer.
    fn integer(&mut self, text: &str, min: i64, max: i64) -> i64 {
        let value = match text.parse::<i64>() {
            Ok(value) => Some(value),
            Err(_) if !is_decimal(text) => None,
            Err(_) => {
                // Numbers written with a fraction or an exponent; `as` saturates and truncates toward zero.
                let value = text.parse::<f64>().unwrap_or(0.0);
                self.coerced |= value.fract() != 0.0 || value.abs() >= 9_223_372_036_854_775_808.0;
                Some(value as i64)
            }
        };
        let value = value.unwrap_or_else(|| {
            self.coerced = true;
            if text.starts_with('-') { i64::MIN } else { i64::MAX }
        });
        self.coerced |= value < min || value > max;
        value.clamp(min, max)
    }

    /// A map of attribute values, and how many levels of lists and maps are in the deepest.
    fn values<'a>(&mut self, entries: Entries<'a>) -> Result<(RawEntries<'a>, usize), ShapeFault> {
        let mut values = Vec::with_capacity(entries.len());
        let mut levels = 0;
        for (name, json) in last_of_each(entries) {
            let value = self.element_value(json)?;
            levels = levels.max(1 + value.levels);
            values.push((name, value));
        }
        Ok((values, levels))
    }

    /// An attribute value within a list or a map.
    fn element_value<'a>(&mut self, json: Json<'a>) -> Result<RawValue<'a>, ShapeFault> {
        if self.levels > KEPT_LEVELS {
            return self.deep_value(json);
        }
        self.levels += 1;
        let value = match element_entries(json)? {
            Some(entries) => self.value(entries),
            None => Ok(RawValue::EMPTY),
        };
        self.levels -= 1;
        value
    }

    /// Judges a value of any depth without recursion; what is left of it is how many levels it has.
    fn deep_value<'a>(&mut self, json: Json<'_>) -> Result<RawValue<'a>, ShapeFault> {
        let mut deepest = 0;
        let mut open = vec![(json, 0)];
        while let Some((json, levels)) = open.pop() {
            deepest = deepest.max(levels);
            let mut contents = 0;
            for (name, json) in last_of_each(element_entries(json)?.unwrap_or_default()) {
                match (name.as_ref(), json) {
                    ("L", Json::Array(elements)) => {
                        contents += 1;
                        open.extend(elements.into_iter().rev().map(|json| (json, levels + 1)));
                    }
                    ("M", Json::Object(entries)) => {
                        contents += 1;
                        let entries = last_of_each(entries).into_iter().rev();
                        open.extend(entries.map(|(_, json)| (json, levels + 1)));
                    }
                    (name, json) => contents += usize::from(self.content(name, json, &mut 0)?.is_some()),
                }
            }
            self.coerced |= contents > 1;
        }
        Ok(RawValue {
            levels: deepest,
            ..RawValue::EMPTY
        })
    }

    fn value<'a>(&mut self, mut entries: Entries<'a>) -> Result<RawValue<'a>, ShapeFault> {
        let mut value = RawValue::EMPTY;
        if entries.len() == 1
            && let Some((name, json)) = entries.pop()
        {
            // Nearly every value: no order and no duplicates to mind.
            if let Some(content) = self.content(&name, json, &mut value.levels)? {
                value.first = Some(content);
            }
            return Ok(value);
        }
        let mut entries = last_of_each(entries);
        entries.retain(|(_, json)| *json != Json::Null);
        let mut contents = Vec::with_capacity(entries.len());
        let (containers, scalars): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .enumerate()
            .partition(|(_, (name, _))| matches!(name.as_ref(), "SS" | "NS" | "BS" | "L" | "M"));
        for (place, (name, json)) in containers.into_iter().chain(scalars) {
            let mut levels = 0;
            if let Some(content) = self.content(&name, json, &mut levels)? {
                contents.push((place, content));
            }
            value.levels = value.levels.max(levels);
        }
        contents.sort_unstable_by_key(|(place, _)| *place);
        let mut contents = contents.into_iter().map(|(_, content)| content);
        value.first = contents.next();
        value.more = contents.collect();
        self.coerced |= !value.more.is_empty();
        Ok(value)
    }

    /// One member of an attribute value; `None` for null and for what the service does not know.
    fn content<'a>(
        &mut self,
        name: &str,
        json: Json<'a>,
        levels: &mut usize,
    ) -> Result<Option<Content<'a>>, ShapeFault> {
        if json == Json::Null {
            return Ok(None);
        }
        let content = match (name, json) {
            ("S", json) => Content::S(string(json)?),
            ("N", json) => Content::N(string(json)?),
            ("B", json) => Content::B(blob(json)?),
            ("BOOL", json) => Content::Bool(self.flag(json)?),
            ("NULL", json) => Content::Null(self.flag(json)?),
            ("SS", json) => Content::Ss(set(json, string)?),
            ("NS", json) => Content::Ns(set(json, string)?),
            ("BS", json) => Content::Bs(set(json, blob)?),
            ("L", Json::Array(elements)) => {
                let mut values = Vec::with_capacity(elements.len());
                for json in elements {
                    let value = self.element_value(json)?;
                    *levels = (*levels).max(1 + value.levels);
                    values.push(value);
                }
                Content::L(values)
            }
            ("L", Json::Object(_)) => return Err(ShapeFault::StructureStart),
            ("M", Json::Object(entries)) => {
                let (values, deepest) = self.values(entries)?;
                *levels = deepest;
                Content::M(values)
            }
            ("M", Json::Array(_)) => {
                return Err(ShapeFault::Collection(
                    Type::Map(&Type::AttributeValue).java_type(),
                ));
            }
            ("L" | "M", _) => return Err(ShapeFault::FieldType),
            _ => return Ok(None),
        };
        Ok(Some(content))
    }

    fn flag(&mut self, json: Json<'_>) -> Result<Flag, ShapeFault> {
        match json {
            Json::Bool(value) => Ok(Flag {
                value: Some(value),
                from_string: false,
            }),
            Json::String(text) => {
                self.coerced = true;
                // One that means nothing is refused where the value is read.
                Ok(Flag {
                    value: boolean_of(&text),
                    from_string: true,
                })
            }
            // Here, unlike at a member of the request, without a text.
            Json::Array(_) => Err(ShapeFault::Bare),
            json => Err(not_scalar(&json, "Boolean")),
        }
    }
}

impl Type {
    fn is_container(&self) -> bool {
        matches!(
            self,
            Self::AttributeValue | Self::Structure(_) | Self::List(_) | Self::Map(_)
        )
    }

    fn empty(&self) -> Json<'static> {
        match self {
            Self::List(_) => Json::Array(Vec::new()),
            _ => Json::Object(Vec::new()),
        }
    }

    /// As the service prints it after `Unrecognized collection type `.
    fn java_type(&self) -> String {
        match self {
            Self::List(_) | Self::Map(_) => self.java_name(),
            _ => format!("class {}", self.java_name()),
        }
    }

    fn java_name(&self) -> String {
        match self {
            Self::String => "java.lang.String".into(),
            Self::Boolean => "java.lang.Boolean".into(),
            Self::Integer => "java.lang.Integer".into(),
            Self::Long => "java.lang.Long".into(),
            Self::AttributeValue => "com.amazonaws.dynamodb.v20120810.AttributeValue".into(),
            Self::Structure(shape) => format!("com.amazonaws.dynamodb.v20120810.{}", shape.name),
            Self::List(element) => format!("java.util.List<{}>", element.java_name()),
            Self::Map(element) => format!("java.util.Map<java.lang.String, {}>", element.java_name()),
        }
    }

    /// A scalar stands where this container belongs.
    fn scalar_instead(&self, place: Place) -> ShapeFault {
        match (place, self) {
            (Place::Member, _) => ShapeFault::FieldType,
            (Place::Element, Self::List(_) | Self::Map(_)) => ShapeFault::ParameterizedType,
            (Place::Element, _) => ShapeFault::PayloadValue,
        }
    }
}

/// The members of an attribute value within a list or a map; `None` for null.
fn element_entries<'a>(json: Json<'a>) -> Result<Option<Entries<'a>>, ShapeFault> {
    match json {
        Json::Object(entries) => Ok(Some(entries)),
        Json::Null => Ok(None),
        Json::Array(_) => Err(ShapeFault::Collection(Type::AttributeValue.java_type())),
        _ => Err(ShapeFault::PayloadValue),
    }
}

fn string(json: Json<'_>) -> Result<Cow<'_, str>, ShapeFault> {
    match json {
        Json::String(text) => Ok(text),
        json => Err(not_scalar(&json, "String")),
    }
}

fn blob(json: Json<'_>) -> Result<Vec<u8>, ShapeFault> {
    match json {
        Json::String(text) if text.len() % 4 != 0 => Err(ShapeFault::Base64Length(text.len())),
        Json::String(text) => STANDARD
            .decode(text.as_bytes())
            .map_err(|_| ShapeFault::Base64Character),
        Json::Array(_) => Err(ShapeFault::Collection("class java.nio.ByteBuffer".into())),
        Json::Object(_) => Err(ShapeFault::StructureStart),
        _ => Err(ShapeFault::NotBase64),
    }
}

/// A null member of a set is kept: it has its own fault.
fn set<'a, T>(
    json: Json<'a>,
    member: impl Fn(Json<'a>) -> Result<T, ShapeFault>,
) -> Result<Vec<Option<T>>, ShapeFault> {
    match json {
        Json::Array(elements) => elements
            .into_iter()
            .map(|json| match json {
                Json::Null => Ok(None),
                json => member(json).map(Some),
            })
            .collect(),
        Json::Object(_) => Err(ShapeFault::StructureStart),
        _ => Err(ShapeFault::FieldType),
    }
}

/// Another JSON value stands where a scalar of Java's `class` belongs.
fn not_scalar(json: &Json<'_>, class: &'static str) -> ShapeFault {
    let token = match json {
        Json::Array(_) => return ShapeFault::Collection(format!("class java.lang.{class}")),
        Json::Object(_) => return ShapeFault::StructureStart,
        Json::Null => return ShapeFault::Bare,
        Json::String(_) => "STRING_VALUE",
        Json::Number(text) if is_decimal(text) => "DECIMAL_VALUE",
        Json::Number(_) => "NUMBER_VALUE",
        Json::Bool(true) => "TRUE_VALUE",
        Json::Bool(false) => "FALSE_VALUE",
    };
    ShapeFault::Token { token, class }
}

fn is_decimal(number: &str) -> bool {
    number.contains(['.', 'e', 'E'])
}

fn boolean_of(text: &str) -> Option<bool> {
    const TRUE: [&str; 5] = ["true", "t", "yes", "y", "1"];
    const FALSE: [&str; 5] = ["false", "f", "no", "n", "0"];
    if TRUE.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        Some(true)
    } else if FALSE.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        Some(false)
    } else {
        None
    }
}

/// Of members with one name the last, at its place. A map's null entries are absent.
fn last_of_each<'a>(mut entries: Entries<'a>) -> Entries<'a> {
    if has_duplicates(&entries) {
        let mut keep = vec![false; entries.len()];
        let mut seen = HashSet::with_capacity(entries.len());
        for (place, (name, _)) in entries.iter().enumerate().rev() {
            keep[place] = seen.insert(name.as_ref());
        }
        let mut keep = keep.into_iter();
        entries.retain(|_| keep.next().unwrap_or(true));
    }
    entries.retain(|(_, json)| *json != Json::Null);
    entries
}

fn has_duplicates(entries: &[(Cow<'_, str>, Json<'_>)]) -> bool {
    if entries.len() <= 16 {
        return entries
            .iter()
            .enumerate()
            .any(|(place, (name, _))| entries[..place].iter().any(|(n, _)| n == name));
    }
    let mut seen = HashSet::with_capacity(entries.len());
    entries.iter().any(|(name, _)| !seen.insert(name.as_ref()))
}
