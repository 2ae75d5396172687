//! The operations on one item, and the steps that they share.                     behaviour/operations §check-order

pub mod delete_item;
pub mod get_item;
pub mod put_item;
pub mod together;
pub mod update_item;

use std::sync::Arc;

use crate::{
    error::{Error, Fault},
    expression::{Condition, Kind, Placeholders},
    item::{AttributeValue, Attributes, Item},
    table::{Table, TableName},
    wire::{
        self, Fields, Layer, MemberFault, Members, PlaceholderNames, Position, RawAttributes, ReadAttributes,
        check_name, check_unused, placeholders, table_name,
    },
    write::{Arms, ReturnConsumedCapacity, ReturnValues},
};

use super::{Context, Operation, ParameterFault, legacy::LegacyValues};

/// How a request is read: the layer it is read on (the old one where it was coerced) and the operation's own.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub operation: Operation,
    pub layer: Layer,
    pub own_layer: Layer,
}

impl Reading {
    pub fn new(operation: Operation, layer: Layer, context: &Context) -> Self {
        Reading {
            operation,
            layer,
            own_layer: Layer::of(operation, context.layer),
        }
    }

    pub fn read(&self, raw: &RawAttributes<'_>, position: Position) -> Result<ReadAttributes, Error> {
        raw.read(position, self.operation, self.layer)
    }
}

/// The values of a request, read in the order in which they stand, wherever that is.
#[derive(Debug, Default)]
pub struct Values {
    pub names: Option<PlaceholderNames>,
    /// `Item` or `Key`.
    pub subject: Option<ReadAttributes>,
    pub expression_values: Option<ReadAttributes>,
    pub start_key: Option<ReadAttributes>,
    pub legacy: LegacyValues,
}

impl Values {
    /// Reads them; `mixing` looks at parameters that exclude each other, after the values on the new layer and before
    /// them on the old one.
    pub fn read_unmixed(
        fields: &Fields<'_>,
        reading: &Reading,
        mixing: Result<(), ParameterFault>,
    ) -> Result<Values, Error> {
        if reading.layer == Layer::Old {
            mixing.clone()?;
        }
        let values = Values::read(fields, reading)?;
        mixing?;
        Ok(values)
    }

    pub fn read(fields: &Fields<'_>, reading: &Reading) -> Result<Values, Error> {
        let mut values = Values {
            names: PlaceholderNames::read(fields)?,
            ..Values::default()
        };
        for member in fields.present() {
            let (place, position) = match member {
                "Item" => (&mut values.subject, Position::Item),
                "Key" => (&mut values.subject, Position::Key),
                "ExpressionAttributeValues" => {
                    (&mut values.expression_values, Position::ExpressionAttributeValues)
                }
                "ExclusiveStartKey" => (&mut values.start_key, Position::ExclusiveStartKey),
                "AttributesToGet" => {
                    check_attributes_to_get(fields, reading)?;
                    continue;
                }
                _ => {
                    values.legacy.read(member, fields, reading)?;
                    continue;
                }
            };
            if let Some(raw) = fields.attributes(member) {
                *place = Some(reading.read(&raw, position)?);
            }
        }
        Ok(values)
    }
}

/// The names in AttributesToGet, one by one.
pub fn check_attributes_to_get(fields: &Fields<'_>, reading: &Reading) -> Result<(), Error> {
    let names = fields.strings("AttributesToGet").unwrap_or_default();
    names
        .into_iter()
        .try_for_each(|name| check_name(name, Position::AttributesToGet, reading.operation, reading.layer))
}

/// Legacy parameters beside expressions. Those that stand alone come later, each at its own place.
pub fn check_mixing(
    fields: &Fields<'_>,
    legacy: &[&'static str],
    expression: &[&'static str],
) -> Result<(), ParameterFault> {
    check_mixing_of(&[fields], legacy, expression)
}

/// The same of a request whose parameters stand in several structures.
pub fn check_mixing_of(
    structures: &[&Fields<'_>],
    legacy: &[&'static str],
    expression: &[&'static str],
) -> Result<(), ParameterFault> {
    let present = |names: &[&'static str]| -> Vec<&'static str> {
        let has = |name: &&str| structures.iter().any(|fields| fields.has(name));
        names.iter().copied().filter(has).collect()
    };
    let (legacy, expression) = (present(legacy), present(expression));
    if legacy.is_empty() || expression.is_empty() {
        return Ok(());
    }
    Err(ParameterFault::Mixed { legacy, expression })
}

/// Whether a request has expressions that the two maps can be used in.
#[derive(Clone, Copy, Debug)]
pub struct Uses {
    pub names: bool,
    pub values: bool,
}

impl Uses {
    pub fn both(has_expression: bool) -> Self {
        Uses {
            names: has_expression,
            values: has_expression,
        }
    }
}

/// The two maps of a request: each needs an expression to be used in.
pub fn read_placeholders(
    names: Option<PlaceholderNames>,
    values: Option<ReadAttributes>,
    uses: Uses,
    suffix: &'static str,
) -> Result<Placeholders, Error> {
    if !uses.names && names.is_some() {
        return Err(ParameterFault::NamesWithoutExpression.into());
    }
    if !uses.values && values.is_some() {
        return Err(ParameterFault::ValuesWithoutExpression { suffix }.into());
    }
    placeholders(names, values)
}

/// What a conditional write of one item carries besides the item.
#[derive(Debug)]
struct Write {
    table: TableName,
    /// TableName as the caller sent it, which answers echo.
    sent_name: String,
    return_values: ReturnValues,
    capacity: ReturnConsumedCapacity,
    collection_metrics: bool,
    item_on_failure: bool,
    condition: Option<Condition>,
}

impl Write {
    fn new(fields: &Fields<'_>, table: TableName) -> Write {
        Write {
            table,
            sent_name: fields.string("TableName").unwrap_or_default().to_owned(),
            return_values: ReturnValues::parse(fields.string("ReturnValues")).unwrap_or_default(),
            capacity: ReturnConsumedCapacity::parse(fields.string("ReturnConsumedCapacity")),
            collection_metrics: fields.string("ReturnItemCollectionMetrics") == Some("SIZE"),
            item_on_failure: fields.string("ReturnValuesOnConditionCheckFailure") == Some("ALL_OLD"),
            condition: None,
        }
    }

    /// The members of PutItem and DeleteItem, whose faults are listed together. `subject` is the one that holds the
    /// key; `more` tells what else is listed.
    fn read_members(
        fields: &Fields<'_>,
        reading: &Reading,
        context: &Context,
        subject: &str,
        more: impl FnOnce(&mut Members),
    ) -> Result<Write, Error> {
        let name = table_name(
            fields.string("TableName"),
            reading.operation,
            reading.layer,
            context,
        );
        if let Some(fault) = name.as_ref().err().and_then(|fault| fault.alone()) {
            return Err(fault.into());
        }
        let mut members = Members::new(reading.layer);
        members.table_name(&name);
        members.required(&subject.to_ascii_lowercase(), fields.has(subject));
        members.return_consumed_capacity(fields.string("ReturnConsumedCapacity"));
        members.return_values(fields.string("ReturnValues"));
        members.return_item_collection_metrics(fields.string("ReturnItemCollectionMetrics"));
        members
            .return_values_on_condition_check_failure(fields.string("ReturnValuesOnConditionCheckFailure"));
        more(&mut members);
        members.finish()?;
        Ok(Write::new(fields, name.map_err(MemberFault::from)?))
    }

    /// The values of PutItem and DeleteItem, and their condition in either form, in the order in which they are checked.
    /// Answers the Item or Key, and the placeholders whose use is checked later.
    fn read_condition_and_values(
        &mut self,
        fields: &Fields<'_>,
        reading: &Reading,
    ) -> Result<(Attributes, Placeholders), Error> {
        let mixing = check_mixing(
            fields,
            &["Expected", "ConditionalOperator"],
            &["ConditionExpression"],
        );
        let mut values = Values::read_unmixed(fields, reading, mixing)?;
        let uses = Uses::both(fields.has("ConditionExpression"));
        let suffix = reading.own_layer.or_old("", ": ConditionExpression is null");
        let placeholders = read_placeholders(values.names, values.expression_values, uses, suffix)?;
        let subject = values
            .subject
            .ok_or_else(|| Fault::Internal("no Item or Key".into()))?;
        let attributes = subject.settle()?;
        self.read_expected(fields, &mut values.legacy)?;
        self.read_condition(fields, reading, &placeholders)?;
        Ok((attributes, placeholders))
    }

    /// ConditionalOperator and Expected.
    fn read_expected(&mut self, fields: &Fields<'_>, legacy: &mut LegacyValues) -> Result<(), Error> {
        self.condition = legacy.expected(fields.string("ConditionalOperator"))?;
        Ok(())
    }

    /// Parses ConditionExpression, where there is one.
    fn read_condition(
        &mut self,
        fields: &Fields<'_>,
        reading: &Reading,
        placeholders: &Placeholders,
    ) -> Result<(), Error> {
        if let Some(text) = fields.string("ConditionExpression") {
            let with_size = reading.own_layer == Layer::Old;
            self.condition = Some(Condition::parse(Kind::Condition, text, placeholders, with_size)?);
        }
        Ok(())
    }

    fn check_condition(&self, stored: Option<&Item>) -> Result<(), Error> {
        match &self.condition {
            Some(condition) if !condition.holds(stored) => Err(Error {
                item: stored.filter(|_| self.item_on_failure).cloned(),
                ..Fault::ConditionFailed.into()
            }),
            _ => Ok(()),
        }
    }

    /// The body of a success.
    fn answer(
        &self,
        table: &Table,
        attributes: Option<&Returned<'_>>,
        key: &Attributes,
        arms: &Arms,
    ) -> String {
        wire::Object::body(|body| {
            match attributes {
                Some(Returned::Item(item)) => body.item("Attributes", item),
                Some(Returned::Part(attributes)) if !attributes.is_empty() => {
                    body.attributes("Attributes", attributes)
                }
                _ => {}
            }
            if self.capacity.wanted() {
                body.member("ConsumedCapacity", |out| {
                    arms.write(self.capacity, &self.sent_name, table, out)
                });
            }
            if self.collection_metrics {
                write_collection_metrics(table, key, body);
            }
        })
    }
}

/// What `ReturnValues` asks for, where there is something.
enum Returned<'a> {
    Item(&'a Item),
    Part(Attributes),
}

/// ItemCollectionMetrics: only tables with an LSI have item collections.
fn write_collection_metrics(table: &Table, key: &Attributes, body: &mut wire::Object<'_>) {
    if let Some(hash) = item_collection(table, key) {
        body.object("ItemCollectionMetrics", |metrics| {
            write_collection(table, hash, metrics)
        });
    }
}

/// The HASH value of the item collection that an item belongs to, where there is one.
pub fn item_collection<'a>(table: &Table, key: &'a Attributes) -> Option<&'a AttributeValue> {
    table.local_indexes().next()?;
    key.get(&table.hash.name)
}

/// One item collection. Its size is not counted (the write path keeps no counters): it is answered as under one GB.
pub fn write_collection(table: &Table, hash: &AttributeValue, metrics: &mut wire::Object<'_>) {
    metrics.object("ItemCollectionKey", |key| key.value(&table.hash.name, hash));
    metrics.array("SizeEstimateRangeGB", [0.0, 1.0], wire::write_double);
}

/// An answer of a decision: the body, or the fault.
pub type Answered = Result<String, Error>;

/// Runs a planned write.
async fn write<S, P>(store: &S, name: &TableName, plan: P) -> Answered
where
    S: crate::store::Store,
    P: Fn(&Arc<Table>) -> Result<crate::write::Unit<Answered>, Error> + Send + Sync,
{
    crate::engine::write(store, std::slice::from_ref(name), |tables| plan(&tables[0])).await?
}

/// The stage of unused placeholders.
pub fn finish_placeholders(placeholders: &Placeholders) -> Result<(), Error> {
    Ok(check_unused(placeholders)?)
}
