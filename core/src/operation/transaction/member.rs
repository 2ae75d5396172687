//! A member of TransactWriteItems: read, checked by itself, judged against its table, and evaluated on its image.
//!                                                                              behaviour/transactions §members

use crate::{
    error::{Error, Fault},
    expression::{Body, Condition, ExpressionFault, Kind, Placeholders, Update},
    item::{Attributes, Item, ItemKey, attributes_size},
    operation::{
        KeyFault, ParameterFault,
        item::{Values, finish_placeholders, put_item::ITEM_MAX_BYTES},
        keys,
    },
    table::Table,
    wire::{Fields, placeholders},
    write::{Busy, Need, derive},
};

use super::{
    entries::Entry,
    fingerprint::Fingerprint,
    outcome::{Effect, Outcome},
};

#[derive(Debug)]
pub struct Member {
    /// Which of the request's tables.
    pub table: usize,
    /// `Item` or `Key`.
    pub subject: Attributes,
    action: Action,
    condition: Option<Condition>,
    item_on_failure: bool,
    /// What it adds to the size of the whole transaction.
    pub bytes: usize,
}

#[derive(Debug)]
enum Action {
    ConditionCheck,
    Put(Item),
    Delete,
    Update(Update),
}

impl Member {
    /// Checks what was read of an action, before any table is looked at; tells `fingerprint` what the member is.
    pub fn check(
        entry: &Entry<'_>,
        table: usize,
        values: Values,
        fingerprint: &mut Fingerprint,
    ) -> Result<Member, Error> {
        let fields = &entry.fields;
        let subject = values
            .subject
            .ok_or_else(|| Fault::Internal("no Item or Key".into()))?
            .settle()?;
        if let Some(values) = &values.expression_values {
            values.check()?;
        }
        let put = (entry.action.member == "Put").then(|| Item::encode(&subject));
        if put.as_ref().is_some_and(|item| item.size() > ITEM_MAX_BYTES) {
            return Err(ParameterFault::ItemSize.into());
        }
        let placeholders = placeholders(values.names, values.expression_values)?;
        let (update, condition) = expressions(fields, &placeholders)?;
        let on_failure = fields.string("ReturnValuesOnConditionCheckFailure");
        let item_on_failure = on_failure == Some("ALL_OLD");

        fingerprint.bytes(entry.action.member.as_bytes());
        fingerprint.text(fields.string("TableName"));
        fingerprint.attributes(&subject);
        fingerprint.text(fields.string("UpdateExpression"));
        fingerprint.text(fields.string("ConditionExpression"));
        fingerprint.placeholders(&placeholders);
        fingerprint.bytes(&[u8::from(item_on_failure)]);

        let bytes = match (&put, &update) {
            (Some(item), _) => item.size(),
            (None, Some(_)) => attributes_size(&subject) + values_size(&placeholders.values),
            (None, None) => attributes_size(&subject),
        };
        let action = match (put, update) {
            (Some(item), _) => Action::Put(item),
            (None, Some(update)) => Action::Update(update),
            (None, None) if entry.action.member == "Delete" => Action::Delete,
            (None, None) => Action::ConditionCheck,
        };
        Ok(Member {
            table,
            subject,
            action,
            condition,
            item_on_failure,
            bytes,
        })
    }

    /// Its key, where the request supplies a right one.
    pub fn key(&self, table: &Table) -> Result<ItemKey, KeyFault> {
        match &self.action {
            Action::Put(_) => keys::key_of_item(table, &self.subject, keys::KeyTexts::Item),
            _ => keys::key_of_key(table, &self.subject),
        }
    }

    /// What is wrong with the index keys that the request supplies: all of a whole item; of an update all but what is empty.
    pub fn supplied_index_keys(&self, table: &Table) -> Result<(), KeyFault> {
        match &self.action {
            Action::Put(_) => keys::check_index_keys(table, &self.subject),
            Action::Update(update) => update.check_supplied_keys(table),
            Action::Delete | Action::ConditionCheck => Ok(()),
        }
    }

    /// Whether an update carries an empty literal for an index key.
    pub fn empty_literal(&self, table: &Table) -> Result<(), KeyFault> {
        match &self.action {
            Action::Update(update) => update.check_literals_not_empty(table),
            _ => Ok(()),
        }
    }

    /// What it asks of its key. `sized`: its charge or its size is asked for.
    pub fn need(&self, table: &Table, sized: bool) -> Need {
        let blind = matches!(self.action, Action::Put(_))
            && self.condition.is_none()
            && table.indexes.is_empty()
            && !sized;
        if blind { Need::RightToWrite } else { Need::Image }
    }

    /// The action by its name in the request.
    pub fn action(&self) -> &'static str {
        match self.action {
            Action::ConditionCheck => "ConditionCheck",
            Action::Put(_) => "Put",
            Action::Delete => "Delete",
            Action::Update(_) => "Update",
        }
    }

    pub fn writes(&self) -> bool {
        !matches!(self.action, Action::ConditionCheck)
    }

    /// The member on its item as it stands. Nothing is written here.
    pub fn evaluate(
        &self,
        table: &Table,
        of: usize,
        key: &ItemKey,
        stored: Result<Option<&Item>, Busy>,
    ) -> Outcome {
        let Ok(old) = stored else {
            return Outcome::Conflict;
        };
        match self.effect(table, of, key, old) {
            Ok(effect) => Outcome::Done(effect),
            Err(fault) => Outcome::of_fault(fault),
        }
    }

    fn effect(&self, table: &Table, of: usize, key: &ItemKey, old: Option<&Item>) -> Result<Effect, Error> {
        if self
            .condition
            .as_ref()
            .is_some_and(|condition| !condition.holds(old))
        {
            return Err(Error {
                item: old.filter(|_| self.item_on_failure).cloned(),
                ..Fault::ConditionFailed.into()
            });
        }
        let new = match &self.action {
            Action::ConditionCheck => return Ok(Effect::none(old)),
            Action::Put(item) => Some(item.clone()),
            Action::Delete if old.is_none() => return Ok(Effect::none(None)),
            Action::Delete => None,
            Action::Update(update) => match update.apply(table, old, &self.subject)? {
                // An update that only removes creates nothing.
                None => return Ok(Effect::none(None)),
                new => new,
            },
        };
        let bytes = old.map_or(0, Item::size).max(new.as_ref().map_or(0, Item::size));
        // An update that leaves the item as it was writes nothing.
        let is_same = matches!(self.action, Action::Update(_)) && old == new.as_ref();
        let derived = derive(table, of, key, old, new);
        Ok(Effect {
            change: (!is_same).then_some(derived.change),
            arms: derived.arms.of_transaction(),
            bytes,
        })
    }
}

/// The expressions of a member: those that are empty first, the condition's before the update's; then each is parsed whole,
/// the update first. Names and values without any expression are not looked at.
fn expressions(
    fields: &Fields<'_>,
    placeholders: &Placeholders,
) -> Result<(Option<Update>, Option<Condition>), Error> {
    let (update, condition) = (
        fields.string("UpdateExpression"),
        fields.string("ConditionExpression"),
    );
    for (text, kind) in [(condition, Kind::Condition), (update, Kind::Update)] {
        if text == Some("") {
            let body = Body::Empty;
            return Err(ExpressionFault { kind, body }.into());
        }
    }
    let has_expression = update.is_some() || condition.is_some();
    let update = update.map(|text| Update::parse(text, placeholders)).transpose()?;
    let condition = condition
        .map(|text| Condition::parse(Kind::Condition, text, placeholders, true))
        .transpose()?;
    if has_expression {
        finish_placeholders(placeholders)?;
    }
    Ok((update, condition))
}

fn values_size(values: &Attributes) -> usize {
    values.values().map(crate::item::value_size).sum()
}
