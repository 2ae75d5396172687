//! Update expressions: parsed, checked, applied.                                      behaviour/updates §updates
//!
//! `syntax` reads the text, `bind` puts names and values in and checks what comes of it (`ast`); then `charge` and `keys` judge
//! the statement, and `apply` makes the new item.

mod apply;
mod ast;
mod bind;
mod charge;
mod keys;
mod syntax;
#[cfg(test)]
mod tests;

use crate::{
    error::Error,
    item::{AttributeValue, Attributes, Item},
    operation::ITEM_MAX_BYTES,
    table::{KeyFault, Table},
};

use super::{
    Body, Element, ExpressionFault, Kind, Path, Placeholders, Projection, UpdateFault,
    cache::Cache,
    lexer::check_length,
    tree::{self, Trees},
};
use apply::Old;
use ast::{Action, Operand, Verb};

/// An update that has passed every static check; owns its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// In text order.
    actions: Vec<Action>,
    /// The targets, merged; at each end the place of its action.
    trees: Trees<usize>,
    origin: Origin,
}

/// What an update was read from; some rules and texts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Expression,
    /// AttributeUpdates.                                                behaviour/legacy §attribute-updates
    Attributes,
}

/// What AttributeUpdates do to a whole attribute.
pub(super) enum AttributeAction {
    Put(AttributeValue),
    /// A number, a set or a list.
    Add(AttributeValue),
    /// A set.
    Delete(AttributeValue),
    Remove,
}

thread_local! {
    static WRITTEN: Cache<syntax::Written> = Cache::new();
}

impl Update {
    pub fn parse(text: &str, placeholders: &Placeholders) -> Result<Update, ExpressionFault> {
        let parse = || -> Result<Update, Body> {
            check_length(text, false)?;
            let written = WRITTEN.with(|cache| cache.get_or_parse(text, syntax::parse))?;
            let actions = bind::bind(&written, placeholders)?;
            Ok(Update::new(actions, Origin::Expression))
        };
        parse().map_err(|body| body.of(Kind::Update))
    }

    /// AttributeUpdates: one action an attribute, by its literal name.
    pub(super) fn of_attributes(actions: impl IntoIterator<Item = (String, AttributeAction)>) -> Update {
        let actions = actions.into_iter().map(|(name, action)| Action {
            target: Path(vec![Element::Name(name)]),
            verb: match action {
                AttributeAction::Put(value) => Verb::Set(Operand::Value(value)),
                AttributeAction::Add(value) => Verb::Add(value),
                AttributeAction::Delete(value) => Verb::Delete(value),
                AttributeAction::Remove => Verb::Remove,
            },
        });
        Update::new(actions.collect(), Origin::Attributes)
    }

    /// Of actions whose targets are apart.
    fn new(actions: Vec<Action>, origin: Origin) -> Update {
        let targets = actions.iter().map(|action| &action.target);
        let trees = tree::merge(targets.enumerate().map(|(place, target)| (target, place)));
        Update {
            actions,
            trees,
            origin,
        }
    }

    /// What the request is charged with by its statement alone, in bytes; AttributeUpdates are not.
    pub fn charge(&self) -> usize {
        match self.origin {
            Origin::Expression => charge::of_statement(&self.actions),
            Origin::Attributes => 0,
        }
    }

    /// The statement against the table's keys and index keys: targets that are keys, supplied values of the wrong type,
    /// paths into keys, then supplied values that are empty or too long.
    pub fn check_keys(&self, table: &Table) -> Result<(), KeyFault> {
        keys::check_targets(self, table)?;
        self.check_literals_not_empty(table)?;
        keys::check_literal_sizes(self, table)
    }

    /// The same but for what is empty: in a transaction that has a place of its own.
    ///                                                                    behaviour/transactions §fault-classes
    pub fn check_supplied_keys(&self, table: &Table) -> Result<(), KeyFault> {
        keys::check_targets(self, table)?;
        keys::check_literal_sizes(self, table)
    }

    /// Whether the statement itself leaves an index key empty.
    pub fn check_literals_not_empty(&self, table: &Table) -> Result<(), KeyFault> {
        keys::check_literals_not_empty(self, table)
    }

    /// The item after the update. `old` is what is stored, `key` the request's key attributes, which stand in for an absent
    /// item. `None`: nothing was stored and nothing was added, so nothing is created. Nesting is checked here, then the
    /// finished item's size, then the index keys that the update computed.
    pub fn apply(&self, table: &Table, old: Option<&Item>, key: &Attributes) -> Result<Option<Item>, Error> {
        let mut before = Old::new(old, key, &self.actions);
        let changes = apply::changes(self, &mut before).map_err(|fault| match (fault, self.origin) {
            (UpdateFault::OperandType, Origin::Attributes) => UpdateFault::AttributeType,
            (fault, _) => fault,
        })?;
        let takes_away = |action: &Action| matches!(action.verb, Verb::Remove | Verb::Delete(_));
        let new = match old {
            Some(old) => old.with(&changes),
            None if self.actions.iter().all(takes_away) => return Ok(None),
            None => Item::encode(key).with(&changes),
        };
        if new.size() > ITEM_MAX_BYTES {
            return Err(UpdateFault::ItemSize.into());
        }
        keys::check_result(table, &before, &changes)?;
        Ok(Some(new))
    }

    /// The target paths, for UPDATED_OLD and UPDATED_NEW: what a projection of them shows of the item before and after.
    pub fn targets(&self) -> Projection {
        Projection::of_paths(self.actions.iter().map(|action| action.target.clone()).collect())
    }
}
