//! AttributeUpdates: what becomes of whole attributes.                     behaviour/legacy §attribute-updates

use crate::{
    expression::{Update, update::AttributeAction},
    item::{AttributeValue, ValueType},
};

use super::LegacyFault;

/// One attribute's entry, as it is written.
#[derive(Clone, Debug)]
pub struct WrittenUpdate {
    pub attribute: String,
    /// Of any spelling; PUT where there is none.
    pub action: Option<String>,
    pub value: Option<AttributeValue>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Put,
    Add,
    Delete,
}

impl Action {
    /// Names are case-sensitive.
    fn parse(name: Option<&str>) -> Result<Action, LegacyFault> {
        match name {
            None | Some("PUT") => Ok(Self::Put),
            Some("ADD") => Ok(Self::Add),
            Some("DELETE") => Ok(Self::Delete),
            Some(_) => Err(LegacyFault::UnknownAction),
        }
    }
}

/// The update that the entries make; each check looks at all of them before the next starts. Without entries there is
/// none.
pub fn update(written: Vec<WrittenUpdate>) -> Result<Option<Update>, LegacyFault> {
    let entries: Vec<(Action, WrittenUpdate)> = written
        .into_iter()
        .map(|entry| Ok((Action::parse(entry.action.as_deref())?, entry)))
        .collect::<Result<_, _>>()?;
    let is_set = |kind| matches!(kind, ValueType::Ss | ValueType::Ns | ValueType::Bs);
    let kind = |entry: &WrittenUpdate| entry.value.as_ref().map(AttributeValue::kind);
    for (action, entry) in &entries {
        if entry.value.is_none() && *action != Action::Delete {
            return Err(LegacyFault::OnlyDelete);
        }
    }
    for (action, entry) in &entries {
        if let (Action::Delete, Some(kind)) = (action, kind(entry))
            && !is_set(kind)
        {
            return Err(LegacyFault::DeleteType(kind));
        }
    }
    for (action, entry) in &entries {
        if let (Action::Add, Some(kind)) = (action, kind(entry))
            && !is_set(kind)
            && !matches!(kind, ValueType::N | ValueType::L)
        {
            return Err(LegacyFault::AddType(kind));
        }
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let lowered = entries.into_iter().map(|(action, entry)| {
        let action = match (action, entry.value) {
            (_, None) => AttributeAction::Remove,
            (Action::Put, Some(value)) => AttributeAction::Put(value),
            (Action::Add, Some(value)) => AttributeAction::Add(value),
            (Action::Delete, Some(value)) => AttributeAction::Delete(value),
        };
        (entry.attribute, action)
    });
    Ok(Some(Update::of_attributes(lowered)))
}
