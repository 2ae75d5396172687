//! Reading the content of attribute values, in the order of the request.                behaviour/wire §values

use std::{borrow::Cow, sync::Arc};

use super::{Layer, Position, SetType, ShapeFault, ValueFault, ValueProblem, fault::REFUSED_LEVELS};
use crate::{
    error::Error,
    item::{AttributeValue, Attributes, Number, NumberError},
    request::Operation,
};

/// A map of attribute values whose JSON types are right and whose content is not read yet.
#[derive(Clone, Debug)]
pub struct RawAttributes<'a> {
    /// In the order of the request, each name once.
    pub(super) entries: Arc<[(Cow<'a, str>, RawValue<'a>)]>,
}

/// One attribute value likewise.
#[derive(Clone, Debug)]
pub struct RawValue<'a> {
    pub(super) first: Option<Content<'a>>,
    /// Of a value of several types.
    pub(super) more: Vec<Content<'a>>,
    /// Levels of lists and maps around the innermost value.
    pub(super) levels: usize,
}

/// One member of an attribute value.
#[derive(Clone, Debug)]
pub(super) enum Content<'a> {
    S(Cow<'a, str>),
    N(Cow<'a, str>),
    B(Vec<u8>),
    Bool(Flag),
    Null(Flag),
    Ss(Vec<Option<Cow<'a, str>>>),
    Ns(Vec<Option<Cow<'a, str>>>),
    Bs(Vec<Option<Vec<u8>>>),
    L(Vec<RawValue<'a>>),
    M(Vec<(Cow<'a, str>, RawValue<'a>)>),
}

impl Content<'_> {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::S(_) => "S",
            Self::N(_) => "N",
            Self::B(_) => "B",
            Self::Bool(_) => "BOOL",
            Self::Null(_) => "NULL",
            Self::Ss(_) => "SS",
            Self::Ns(_) => "NS",
            Self::Bs(_) => "BS",
            Self::L(_) => "L",
            Self::M(_) => "M",
        }
    }
}

/// A boolean; `None` where a string stands for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub value: Option<bool>,
    pub from_string: bool,
}

/// What was read, and the fault that waits for the stage of its position (sets and nesting of a Key, say).
#[derive(Clone, Debug)]
pub struct ReadAttributes {
    pub attributes: Attributes,
    later: Option<Error>,
}

/// The same of one value.
#[derive(Clone, Debug)]
pub struct ReadValue {
    pub value: AttributeValue,
    later: Option<Error>,
}

/// Longest attribute name.
const NAME_BYTES: usize = 65_535;

impl<'a> RawAttributes<'a> {
    pub(super) fn new(entries: Vec<(Cow<'a, str>, RawValue<'a>)>) -> Self {
        RawAttributes {
            entries: entries.into(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names, in the order of the request.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_ref())
    }

    /// Reads the values in the order of the request; the first fault that answers at
    /// once does. `layer` is the one the
    /// request is read on ([`super::decode`]).
    pub fn read(
        &self,
        position: Position,
        operation: Operation,
        layer: Layer,
    ) -> Result<ReadAttributes, Error> {
        let mut reader = Reader {
            position,
            operation,
            layer,
            placeholder: None,
            later: None,
        };
        let mut attributes = Attributes::new();
        for (name, raw) in self.entries.iter() {
            if position == Position::ExpressionAttributeValues {
                reader.placeholder = Some(name);
            } else {
                check_name(name, position, operation, layer)?;
            }
            attributes.insert(name.as_ref().to_owned(), reader.top_level(raw)?);
        }
        Ok(ReadAttributes {
            attributes,
            later: reader.later.map(Error::from),
        })
    }
}

impl<'a> RawValue<'a> {
    pub(super) fn contents(&self) -> impl Iterator<Item = &Content<'a>> {
        self.first.iter().chain(&self.more)
    }

    pub(super) const EMPTY: RawValue<'static> = RawValue {
        first: None,
        more: Vec::new(),
        levels: 0,
    };

    /// Reads one value by itself (Expected, AttributeUpdates, filters), as [`RawAttributes::read`] does.
    pub fn read(&self, position: Position, operation: Operation, layer: Layer) -> Result<ReadValue, Error> {
        let mut reader = Reader {
            position,
            operation,
            layer,
            placeholder: None,
            later: None,
        };
        let value = reader.top_level(self)?;
        Ok(ReadValue {
            value,
            later: reader.later.map(Error::from),
        })
    }
}

impl ReadAttributes {
    /// What is left of their faults, at a stage that comes before that of [`Self::settle`].
    pub fn check(&self) -> Result<(), Error> {
        self.later.clone().map_or(Ok(()), Err)
    }

    /// The attributes, at the stage where what is left of their faults answers.
    pub fn settle(self) -> Result<Attributes, Error> {
        match self.later {
            Some(fault) => Err(fault),
            None => Ok(self.attributes),
        }
    }
}

impl ReadValue {
    /// The value, at the stage where what is left of its faults answers.
    pub fn settle(self) -> Result<AttributeValue, Error> {
        match self.later {
            Some(fault) => Err(fault),
            None => Ok(self.value),
        }
    }
}

/// An attribute name that stands by itself: a key of Expected or AttributeUpdates, an element of AttributesToGet.
/// (An empty key of QueryFilter is accepted.)
pub fn check_name(name: &str, position: Position, operation: Operation, layer: Layer) -> Result<(), Error> {
    match name_problem(name) {
        None => Ok(()),
        Some(problem) => Err(ValueFault {
            position,
            operation,
            layer,
            placeholder: None,
            problem,
        }
        .into()),
    }
}

fn name_problem(name: &str) -> Option<ValueProblem> {
    match name.len() {
        0 => Some(ValueProblem::EmptyName),
        1..=NAME_BYTES => None,
        _ => Some(ValueProblem::NameTooLarge),
    }
}

struct Reader<'r> {
    position: Position,
    operation: Operation,
    layer: Layer,
    /// The entry of ExpressionAttributeValues.
    placeholder: Option<&'r str>,
    later: Option<ValueFault>,
}

/// One step of judging a value of several types.
type Check<'r> = fn(&mut Reader<'r>, &Content<'_>) -> Result<(), Error>;

impl<'r> Reader<'r> {
    fn top_level(&mut self, raw: &RawValue<'_>) -> Result<AttributeValue, Error> {
        // Levels around the innermost value that are refused.
        let refused = match (self.operation, self.position) {
            (Operation::Scan, Position::Filter) => 33,
            // An update may make nothing of it: one that stores it is refused at its member.
            (Operation::TransactWriteItems, Position::ExpressionAttributeValues) => 33,
            _ => 32,
        };
        if raw.levels >= REFUSED_LEVELS {
            // Not looked into: nothing below is built, however deep it goes.
            self.wait(ValueProblem::Nesting { levels: raw.levels })?;
            return Ok(AttributeValue::Null);
        }
        let value = self.value(raw)?;
        if raw.levels >= refused {
            self.wait(ValueProblem::Nesting { levels: raw.levels })?;
        }
        Ok(value)
    }

    /// Within one value: malformed booleans, empty sets, numbers, NULL, duplicates, children, several types.
    fn value(&mut self, raw: &RawValue<'_>) -> Result<AttributeValue, Error> {
        let Some(first) = &raw.first else {
            return Err(self.fault(ValueProblem::Empty));
        };
        if !raw.more.is_empty() {
            return Err(self.several(first, &raw.more));
        }
        self.malformed(first)?;
        self.empty_set(first)?;
        match first {
            Content::S(text) => Ok(AttributeValue::S(text.as_ref().to_owned())),
            Content::N(text) => Ok(AttributeValue::N(self.number(text)?)),
            Content::B(bytes) => Ok(AttributeValue::B(bytes.clone())),
            Content::Bool(flag) => Ok(AttributeValue::Bool(flag.value == Some(true))),
            Content::Null(flag) => self.null(flag, true).map(|()| AttributeValue::Null),
            Content::Ss(members) => Ok(AttributeValue::Ss(self.string_set(members)?)),
            Content::Ns(members) => Ok(AttributeValue::Ns(self.number_set(members)?)),
            Content::Bs(members) => Ok(AttributeValue::Bs(self.binary_set(members)?)),
            Content::L(values) => {
                let values = values.iter().map(|raw| self.value(raw));
                Ok(AttributeValue::L(values.collect::<Result<_, _>>()?))
            }
            Content::M(entries) => {
                let mut attributes = Attributes::new();
                for (name, raw) in entries {
                    self.name(name)?;
                    attributes.insert(name.as_ref().to_owned(), self.value(raw)?);
                }
                Ok(AttributeValue::M(attributes))
            }
        }
    }

    /// The fault of a value of several types: the first in the order of checks.
    fn several(&mut self, first: &Content<'_>, more: &[Content<'_>]) -> Error {
        let checks: [Check<'r>; 6] = [
            |_, content| malformed(content),
            Self::empty_set,
            |reader, content| match content {
                Content::N(text) => reader.number(text).map(drop),
                Content::Ns(members) => reader.numbers(members).map(drop),
                _ => Ok(()),
            },
            |reader, content| match content {
                Content::Null(flag) => reader.null(flag, false),
                _ => Ok(()),
            },
            |reader, content| match content {
                Content::Ss(members) => reader.string_set(members).map(drop),
                Content::Ns(members) => reader.number_set(members).map(drop),
                Content::Bs(members) => reader.binary_set(members).map(drop),
                _ => Ok(()),
            },
            |reader, content| match content {
                Content::L(values) => values.iter().try_for_each(|raw| reader.value(raw).map(drop)),
                Content::M(entries) => entries.iter().try_for_each(|(name, raw)| {
                    reader.name(name)?;
                    reader.value(raw).map(drop)
                }),
                _ => Ok(()),
            },
        ];
        for check in checks {
            for content in std::iter::once(first).chain(more) {
                if let Err(fault) = check(self, content) {
                    return fault;
                }
            }
        }
        self.fault(ValueProblem::SeveralTypes)
    }

    fn malformed(&self, content: &Content<'_>) -> Result<(), Error> {
        malformed(content)
    }

    /// The name of a map's entry.
    fn name(&self, name: &str) -> Result<(), Error> {
        name_problem(name).map_or(Ok(()), |problem| Err(self.fault(problem)))
    }

    fn empty_set(&mut self, content: &Content<'_>) -> Result<(), Error> {
        let (kind, is_empty, has_null) = match content {
            Content::Ss(members) => (SetType::Ss, members.is_empty(), members.contains(&None)),
            Content::Ns(members) => (SetType::Ns, members.is_empty(), members.contains(&None)),
            Content::Bs(members) => (SetType::Bs, members.is_empty(), members.contains(&None)),
            _ => return Ok(()),
        };
        if is_empty {
            self.wait(ValueProblem::EmptySet(kind))
        } else if has_null {
            self.wait(ValueProblem::NullInSet(kind))
        } else {
            Ok(())
        }
    }

    fn null(&self, flag: &Flag, is_alone: bool) -> Result<(), Error> {
        match flag.value {
            Some(true) => Ok(()),
            _ => Err(self.fault(ValueProblem::NullNotTrue {
                lone: is_alone && !flag.from_string,
            })),
        }
    }

    fn number(&self, text: &str) -> Result<Number, Error> {
        let number = match self.layer {
            Layer::New => Number::parse(text),
            Layer::Old => parse_big_decimal(text),
        };
        number.map_err(|error| {
            self.fault(ValueProblem::Number {
                raw: text.to_owned(),
                error,
            })
        })
    }

    fn numbers(&self, members: &[Option<Cow<'_, str>>]) -> Result<Vec<Number>, Error> {
        members.iter().flatten().map(|text| self.number(text)).collect()
    }

    fn string_set(&mut self, members: &[Option<Cow<'_, str>>]) -> Result<Vec<String>, Error> {
        let sent = || {
            members
                .iter()
                .flatten()
                .map(|member| member.as_ref().to_owned())
                .collect::<Vec<_>>()
        };
        let (set, has_duplicates) = sorted(sent());
        if has_duplicates {
            self.wait(ValueProblem::DuplicateStrings(sent()))?;
        }
        Ok(set)
    }

    fn number_set(&mut self, members: &[Option<Cow<'_, str>>]) -> Result<Vec<Number>, Error> {
        let (set, has_duplicates) = sorted(self.numbers(members)?);
        if has_duplicates {
            self.wait(ValueProblem::DuplicateNumbers)?;
        }
        Ok(set)
    }

    fn binary_set(&mut self, members: &[Option<Vec<u8>>]) -> Result<Vec<Vec<u8>>, Error> {
        let sent = || members.iter().flatten().cloned().collect::<Vec<_>>();
        let (set, has_duplicates) = sorted(sent());
        if has_duplicates {
            self.wait(ValueProblem::DuplicateBinaries(sent()))?;
        }
        Ok(set)
    }

    /// Faults of sets and of nesting answer at once in PutItem's Item; elsewhere they wait for the stage of their
    /// position, where the first one answers (in ExpressionAttributeValues that of the first key).
    fn wait(&mut self, problem: ValueProblem) -> Result<(), Error> {
        let fault = self.value_fault(problem);
        if self.operation == Operation::PutItem && self.position == Position::Item {
            return Err(fault.into());
        }
        if self
            .later
            .as_ref()
            .is_none_or(|earlier| fault.placeholder < earlier.placeholder)
        {
            self.later = Some(fault);
        }
        Ok(())
    }

    fn fault(&self, problem: ValueProblem) -> Error {
        self.value_fault(problem).into()
    }

    fn value_fault(&self, problem: ValueProblem) -> ValueFault {
        ValueFault {
            position: self.position,
            operation: self.operation,
            layer: self.layer,
            placeholder: self.placeholder.map(str::to_owned),
            problem,
        }
    }
}

/// A boolean from a string that stands for none is a fault of type, found only here.
fn malformed(content: &Content<'_>) -> Result<(), Error> {
    match content {
        Content::Bool(Flag { value: None, .. }) | Content::Null(Flag { value: None, .. }) => {
            Err(ShapeFault::ParserToken.into())
        }
        _ => Ok(()),
    }
}

/// In canonical order, each member once; and whether one was there twice.
fn sorted<T: Ord>(mut members: Vec<T>) -> (Vec<T>, bool) {
    members.sort_unstable();
    let sent = members.len();
    members.dedup();
    let has_duplicates = members.len() < sent;
    (members, has_duplicates)
}

/// A number as the old layer's Java BigDecimal reads it: an exponent or a scale beyond 32 bits is no number, and
/// a magnitude that wraps around 32 bits is tiny instead of huge.                behaviour/wire §values
fn parse_big_decimal(text: &str) -> Result<Number, NumberError> {
    let parsed = Number::parse(text);
    if !matches!(parsed, Err(NumberError::Overflow | NumberError::Underflow)) {
        return parsed;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().map_err(|_| NumberError::Grammar)?;
    let scale =
        i32::try_from(fraction.len() as i64 - i64::from(exponent)).map_err(|_| NumberError::Grammar)?;
    let whole = whole.trim_start_matches(['+', '-']);
    let digits = format!("{whole}{fraction}");
    let precision = digits.trim_start_matches('0').len().max(1) as i32;
    if scale < 0 && precision.checked_sub(scale).is_none() {
        Err(NumberError::Underflow)
    } else {
        parsed
    }
}
