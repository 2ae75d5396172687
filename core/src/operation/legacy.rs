//! Reading the parameters from before there were expressions: their values where they stand in the request, what they say at
//! the stage where the operation asks for it.                                                  behaviour/legacy

use crate::{
    error::Error,
    expression::{
        Condition, Update,
        legacy::{self, Comparison, Expectation, Join, WrittenComparison, WrittenUpdate},
    },
    item::AttributeValue,
    wire::{Fields, Layer, Member, Members, Position, RawValue, Shape, Type, check_name, enums},
};

use super::item::Reading;

/// The shapes, whose JSON types are judged like all others.
pub const EXPECTED: Type = Type::Map(&Type::Structure(&EXPECTED_VALUE));
pub const ATTRIBUTE_UPDATES: Type = Type::Map(&Type::Structure(&ATTRIBUTE_VALUE_UPDATE));
/// `QueryFilter`, `ScanFilter`, `KeyConditions`.
pub const CONDITIONS: Type = Type::Map(&Type::Structure(&CONDITION));

static EXPECTED_VALUE: Shape = Shape {
    name: "ExpectedAttributeValue",
    members: &[
        Member::new("Value", Type::AttributeValue),
        Member::new("Exists", Type::Boolean),
        Member::new("ComparisonOperator", Type::String),
        Member::new("AttributeValueList", Type::List(&Type::AttributeValue)),
    ],
};

static ATTRIBUTE_VALUE_UPDATE: Shape = Shape {
    name: "AttributeValueUpdate",
    members: &[
        Member::new("Value", Type::AttributeValue),
        Member::new("Action", Type::String),
    ],
};

static CONDITION: Shape = Shape {
    name: "Condition",
    members: &[
        Member::new("AttributeValueList", Type::List(&Type::AttributeValue)),
        Member::new("ComparisonOperator", Type::String),
    ],
};

/// The legacy parameters of a request, as they are written.
#[derive(Debug, Default)]
pub struct LegacyValues {
    expected: Option<Entries<Expectation>>,
    attribute_updates: Option<Entries<WrittenUpdate>>,
    /// QueryFilter or ScanFilter.
    filter: Option<Entries<WrittenComparison>>,
    key_conditions: Option<Entries<WrittenComparison>>,
}

/// The entries of one parameter, in the order of the request.
#[derive(Debug)]
struct Entries<T> {
    written: Vec<T>,
    /// The first fault of sets and nesting, which waits for the stage of the parameter.
    later: Option<Error>,
}

impl LegacyValues {
    /// Reads a member, if it is one of them.
    pub fn read(&mut self, member: &str, fields: &Fields<'_>, reading: &Reading) -> Result<(), Error> {
        let map = || fields.structure_map(member).unwrap_or_default();
        match member {
            "Expected" => self.expected = Some(read_entries(map(), Position::Expected, reading)?),
            "AttributeUpdates" => {
                self.attribute_updates = Some(read_entries(map(), Position::AttributeUpdates, reading)?);
            }
            "QueryFilter" | "ScanFilter" => {
                self.filter = Some(read_entries(map(), Position::Filter, reading)?)
            }
            "KeyConditions" => self.key_conditions = Some(read_entries(map(), Position::Filter, reading)?),
            _ => {}
        }
        Ok(())
    }

    /// ConditionalOperator, then Expected.                                          behaviour/legacy §expected
    pub fn expected(&mut self, operator: Option<&str>) -> Result<Option<Condition>, Error> {
        let join = Join::parse(operator, self.expected.as_ref().map_or(0, Entries::len))?;
        let Some(entries) = self.expected.take() else {
            return Ok(None);
        };
        let comparisons = legacy::expectations(entries.settle()?)?;
        Ok(legacy::condition(comparisons, join))
    }

    /// AttributeUpdates; an empty map is none.                             behaviour/legacy §attribute-updates
    pub fn update(&mut self) -> Result<Option<Update>, Error> {
        match self.attribute_updates.take() {
            Some(entries) => Ok(legacy::update(entries.settle()?)?),
            None => Ok(None),
        }
    }

    /// How the filter's conditions are joined, before they are looked at.
    pub fn join(&self, operator: Option<&str>) -> Result<Join, Error> {
        Ok(Join::parse(
            operator,
            self.filter.as_ref().map_or(0, Entries::len),
        )?)
    }

    pub fn filter(&mut self, join: Join) -> Result<Option<Condition>, Error> {
        let Some(entries) = self.filter.take() else {
            return Ok(None);
        };
        let written = entries.settle()?;
        // The values of both come before the conditions of either.
        let keys = self.key_conditions.as_mut();
        if let Some(fault) = keys.and_then(|entries| entries.later.take()) {
            return Err(fault);
        }
        let comparisons = legacy::check_comparisons(written)?;
        Ok(legacy::condition(comparisons, join))
    }

    /// KeyConditions, whose number and operators are looked at later ([`legacy::key_condition`]).
    pub fn key_conditions(&mut self) -> Result<Option<Vec<Comparison>>, Error> {
        match self.key_conditions.take() {
            Some(entries) => Ok(Some(legacy::check_comparisons(entries.settle()?)?)),
            None => Ok(None),
        }
    }
}

impl<T> Entries<T> {
    fn len(&self) -> usize {
        self.written.len()
    }

    fn settle(self) -> Result<Vec<T>, Error> {
        match self.later {
            Some(fault) => Err(fault),
            None => Ok(self.written),
        }
    }
}

/// An entry that is made of its structure.
trait Entry: Sized {
    fn read(attribute: &str, fields: &Fields<'_>, values: &mut ValueReader<'_>) -> Result<Self, Error>;
}

fn read_entries<T: Entry>(
    map: Vec<(&str, Fields<'_>)>,
    position: Position,
    reading: &Reading,
) -> Result<Entries<T>, Error> {
    let mut values = ValueReader {
        position,
        reading,
        later: None,
    };
    let mut written = Vec::with_capacity(map.len());
    for (attribute, fields) in map {
        // Of a filter an empty name is accepted: it names nothing.
        if position != Position::Filter || !attribute.is_empty() {
            check_name(attribute, position, reading.operation, reading.layer)?;
        }
        written.push(T::read(attribute, &fields, &mut values)?);
    }
    Ok(Entries {
        written,
        later: values.later,
    })
}

struct ValueReader<'r> {
    position: Position,
    reading: &'r Reading,
    later: Option<Error>,
}

impl ValueReader<'_> {
    fn value(&mut self, raw: &RawValue<'_>) -> Result<AttributeValue, Error> {
        let read = raw.read(self.position, self.reading.operation, self.reading.layer)?;
        Ok(read.settle().unwrap_or_else(|fault| {
            self.later.get_or_insert(fault);
            AttributeValue::Null // never seen: the parameter is refused
        }))
    }

    /// `Value` and `AttributeValueList`, in the order in which they stand.
    fn value_and_list(
        &mut self,
        fields: &Fields<'_>,
    ) -> Result<(Option<AttributeValue>, Option<Vec<AttributeValue>>), Error> {
        let (mut value, mut list) = (None, None);
        for member in fields.present() {
            if let Some(raw) = fields.value(member) {
                value = Some(self.value(&raw)?);
            } else if let Some(raw) = fields.values(member) {
                list = Some(raw.iter().map(|raw| self.value(raw)).collect::<Result<_, _>>()?);
            }
        }
        Ok((value, list))
    }
}

impl Entry for Expectation {
    fn read(attribute: &str, fields: &Fields<'_>, values: &mut ValueReader<'_>) -> Result<Self, Error> {
        let (value, list) = values.value_and_list(fields)?;
        Ok(Expectation {
            attribute: attribute.to_owned(),
            value,
            exists: fields.boolean("Exists"),
            operator: fields.string("ComparisonOperator").map(str::to_owned),
            list,
        })
    }
}

impl Entry for WrittenComparison {
    fn read(attribute: &str, fields: &Fields<'_>, values: &mut ValueReader<'_>) -> Result<Self, Error> {
        let (_, list) = values.value_and_list(fields)?;
        Ok(WrittenComparison {
            attribute: attribute.to_owned(),
            // One that is missing is a fault of members.
            operator: fields.string("ComparisonOperator").unwrap_or_default().to_owned(),
            values: list.unwrap_or_default(),
        })
    }
}

impl Entry for WrittenUpdate {
    fn read(attribute: &str, fields: &Fields<'_>, values: &mut ValueReader<'_>) -> Result<Self, Error> {
        let (value, _) = values.value_and_list(fields)?;
        Ok(WrittenUpdate {
            attribute: attribute.to_owned(),
            action: fields.string("Action").map(str::to_owned),
            value,
        })
    }
}

/// Whether a condition of this filter lacks its ComparisonOperator.
pub fn lacks_operator(fields: &Fields<'_>, filter: &str) -> bool {
    let conditions = fields.structure_map(filter).unwrap_or_default();
    conditions
        .iter()
        .any(|(_, condition)| !condition.has("ComparisonOperator"))
}

/// The ComparisonOperators of a filter among the members: those that are missing; on Scan's old layer the unknown ones too.
///                                                                                behaviour/legacy §conditions
pub fn check_operators(fields: &Fields<'_>, filter: &'static str, layer: Layer, members: &mut Members) {
    let lowered = match filter {
        "QueryFilter" => "queryFilter",
        "ScanFilter" => "scanFilter",
        _ => "keyConditions",
    };
    for (attribute, condition) in fields.structure_map(filter).unwrap_or_default() {
        let path = format!("{lowered}.{attribute}.member.comparisonOperator");
        match condition.string("ComparisonOperator") {
            None => members.required(&path, false),
            operator if filter == "ScanFilter" && layer == Layer::Old => {
                members.one_of(&path, operator, enums::COMPARISON_OPERATOR);
            }
            Some(_) => {}
        }
    }
}
