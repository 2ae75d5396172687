//! TransactItems: the list, the actions in its entries, and what is wrong with their members.
//!                                                                            behaviour/transactions §request

use crate::{
    error::Error,
    operation::{Context, named::Named},
    request::TransactionFault,
    wire::{Constraint, Fields, Layer, Members, enums, table_name_of_member},
};

const ENTRIES_MAX: usize = 100;
const TOKEN_MAX: u64 = 36;

/// An action that an entry may hold.
#[derive(Debug)]
pub struct ActionShape {
    /// The member of the entry that holds it.
    pub member: &'static str,
    /// The same in the paths of faults.
    path: &'static str,
    /// The members that it must have, and the same in paths.
    required: &'static [(&'static str, &'static str)],
}

impl ActionShape {
    pub const fn new(
        member: &'static str,
        path: &'static str,
        required: &'static [(&'static str, &'static str)],
    ) -> ActionShape {
        ActionShape {
            member,
            path,
            required,
        }
    }

    fn path_of(&self, entry: usize, member: &str) -> String {
        format!("transactItems.{}.member.{}.{member}", entry + 1, self.path)
    }
}

/// An action as it stands in the request.
#[derive(Clone, Debug)]
pub struct Entry<'b> {
    pub action: &'static ActionShape,
    pub fields: Fields<'b>,
}

/// The list by itself: missing, empty, too long.
pub fn list<'b>(fields: &Fields<'b>, layer: Layer) -> Result<Vec<Fields<'b>>, Error> {
    let mut members = Members::new(layer);
    members.required("transactItems", fields.has("TransactItems"));
    members.finish()?;
    let entries = fields.structures("TransactItems").unwrap_or_default();
    let mut members = Members::new(layer);
    if entries.is_empty() {
        members.fault("transactItems", "[]", &Constraint::LengthAtLeast(1));
    } else if entries.len() > ENTRIES_MAX {
        let echo = fields.java_text("TransactItems").unwrap_or_default();
        members.fault(
            "transactItems",
            echo,
            &Constraint::LengthAtMost(ENTRIES_MAX as u64),
        );
    }
    members.finish()?;
    Ok(entries)
}

/// The actions of a write's entries: the faults of all members together, then entries that hold none or several.
pub fn actions<'b>(
    fields: &Fields<'b>,
    entries: &[Fields<'b>],
    shapes: &'static [ActionShape],
    layer: Layer,
) -> Result<Vec<Entry<'b>>, Error> {
    let mut held: Vec<(usize, Entry<'b>)> = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        for action in shapes {
            if let Some(fields) = entry.structure(action.member) {
                held.push((place, Entry { action, fields }));
            }
        }
    }
    let mut members = Members::new(layer);
    for (place, Entry { action, fields }) in &held {
        const MEMBER: &str = "ReturnValuesOnConditionCheckFailure";
        let path = action.path_of(*place, "returnValuesOnConditionCheckFailure");
        let values = enums::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE;
        members.one_of(&path, fields.string(MEMBER), values);
    }
    let token = fields.string("ClientRequestToken");
    members.length("clientRequestToken", token, 1, TOKEN_MAX);
    members.return_consumed_capacity(fields.string("ReturnConsumedCapacity"));
    members.return_item_collection_metrics(fields.string("ReturnItemCollectionMetrics"));
    for (place, entry) in &held {
        entry.required(*place, &mut members);
    }
    members.finish()?;
    for place in 0..entries.len() {
        match held.iter().filter(|(of, _)| *of == place).count() {
            0 => return Err(TransactionFault::NoAction.into()),
            1 => {}
            _ => return Err(TransactionFault::SeveralActions.into()),
        }
    }
    Ok(held.into_iter().map(|(_, entry)| entry).collect())
}

/// The tables that the entries name, and for each entry the place of its own. Bad names are told together.
pub fn tables(entries: &[Entry<'_>], layer: Layer, context: &Context) -> Result<(Named, Vec<usize>), Error> {
    let mut named = Named::default();
    let mut places = Vec::with_capacity(entries.len());
    let mut members = Members::new(layer);
    for (place, Entry { action, fields }) in entries.iter().enumerate() {
        let sent = fields.string("TableName").unwrap_or_default();
        let name = table_name_of_member(sent, &action.path_of(place, "tableName"), context);
        members.table_name(&name);
        if let Ok(name) = name {
            places.push(named.place_of(name, sent));
        }
    }
    members.finish()?;
    Ok((named, places))
}

impl Entry<'_> {
    /// Tells of the members that are missing.
    pub fn required(&self, place: usize, members: &mut Members) {
        for (member, path) in self.action.required {
            members.required(&self.action.path_of(place, path), self.fields.has(member));
        }
    }
}
