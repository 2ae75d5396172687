//! Expected: what an item must hold for a write to happen.                          behaviour/legacy §expected

use crate::item::AttributeValue;

use super::{
    Comparison, LegacyFault, Operator,
    comparison::{check_arguments, check_bounds},
};

/// One attribute's entry, as it is written.
#[derive(Clone, Debug, Default)]
pub struct Expectation {
    pub attribute: String,
    pub value: Option<AttributeValue>,
    pub exists: Option<bool>,
    /// Of any spelling.
    pub operator: Option<String>,
    pub list: Option<Vec<AttributeValue>>,
}

/// What the entries compare; each check looks at all of them before the next starts.
pub fn expectations(written: Vec<Expectation>) -> Result<Vec<Comparison>, LegacyFault> {
    let operators: Vec<Option<Operator>> = written
        .iter()
        .map(|entry| entry.operator.as_deref().map(Operator::parse).transpose())
        .collect::<Result<_, _>>()?;
    for entry in &written {
        if entry.value.is_some() && entry.list.is_some() {
            return Err(LegacyFault::ValueAndList(entry.attribute.clone()));
        }
    }
    for entry in &written {
        if entry.exists.is_some() && entry.operator.is_some() {
            return Err(LegacyFault::ExistsAndOperator(entry.attribute.clone()));
        }
    }
    for (entry, operator) in written.iter().zip(&operators) {
        if let Some(operator) = operator.filter(|operator| !operator.takes_none())
            && entry.value.is_none()
            && entry.list.is_none()
        {
            return Err(LegacyFault::NoArgument {
                operator,
                attribute: entry.attribute.clone(),
            });
        }
    }
    let mut comparisons = Vec::with_capacity(written.len());
    let mut plain = Vec::new();
    for (entry, operator) in written.into_iter().zip(operators) {
        match operator {
            Some(operator) => comparisons.push(Comparison {
                attribute: entry.attribute,
                operator,
                values: entry.list.unwrap_or_else(|| entry.value.into_iter().collect()),
            }),
            None => plain.push(entry),
        }
    }
    check_arguments(&comparisons)?;
    check_plain(&plain)?;
    check_bounds(&comparisons)?;
    comparisons.extend(plain.into_iter().map(|entry| Comparison {
        attribute: entry.attribute,
        operator: if entry.value.is_some() {
            Operator::Equal
        } else {
            Operator::Null
        },
        values: entry.value.into_iter().collect(),
    }));
    Ok(comparisons)
}

/// Entries without a ComparisonOperator.
fn check_plain(plain: &[Expectation]) -> Result<(), LegacyFault> {
    if let Some(entry) = plain.iter().find(|entry| entry.list.is_some()) {
        return Err(LegacyFault::ListWithoutOperator(entry.attribute.clone()));
    }
    for entry in plain {
        if entry.value.is_none() && entry.exists != Some(false) {
            return Err(LegacyFault::NoValue {
                exists: entry.exists,
                attribute: entry.attribute.clone(),
            });
        }
    }
    match plain
        .iter()
        .find(|entry| entry.exists == Some(false) && entry.value.is_some())
    {
        Some(entry) => Err(LegacyFault::ValueOfAbsent(entry.attribute.clone())),
        None => Ok(()),
    }
}
