//! Query: the items of one partition of a table or index, in the order of their RANGE values.
//!                                                                                  behaviour/operations §query

use crate::{
    engine,
    error::Error,
    expression::{Condition, KeyCondition, Kind, Projection, legacy},
    item::{Attributes, NumberSets, encode_hash, hash_bucket, stored_hash},
    operation::{
        Context, Operation, ParameterFault,
        item::{
            Reading, Uses, Values, check_mixing, finish_placeholders,
            get_item::{attributes_to_get, check_not_empty},
            read_placeholders,
        },
        legacy::{CONDITIONS, check_operators},
    },
    store::{Access, Part, Store},
    table::{Table, TableName},
    wire::{Fields, Layer, Member, MemberFault, Members, Shape, Type, decode, enums, table_name},
    write::ReturnConsumedCapacity,
};

use super::{
    page::PageRequest,
    select::{self, Select},
    source::Source,
    start_key::{ShapeTexts, StartKey},
};

pub static SHAPE: Shape = Shape {
    name: "QueryInput",
    members: &[
        Member::new("TableName", Type::String),
        Member::new("IndexName", Type::String),
        Member::new("Select", Type::String),
        Member::new("AttributesToGet", Type::List(&Type::String)),
        Member::new("Limit", Type::Integer),
        Member::new("ConsistentRead", Type::Boolean),
        Member::new("KeyConditions", CONDITIONS),
        Member::new("QueryFilter", CONDITIONS),
        Member::new("ConditionalOperator", Type::String),
        Member::new("ScanIndexForward", Type::Boolean),
        Member::new("ExclusiveStartKey", Type::Map(&Type::AttributeValue)),
        Member::new("ReturnConsumedCapacity", Type::String),
        Member::new("ProjectionExpression", Type::String),
        Member::new("FilterExpression", Type::String),
        Member::new("KeyConditionExpression", Type::String),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
        Member::new("ExpressionAttributeValues", Type::Map(&Type::AttributeValue)),
    ],
};

struct Query {
    table: TableName,
    sent_name: String,
    index: Option<String>,
    select: Option<Select>,
    key_condition: KeyCondition,
    filter: Option<Condition>,
    /// As the text about keys in it names its parameter.
    filter_name: &'static str,
    projection: Option<Projection>,
    start_key: Option<Attributes>,
    limit: Option<i64>,
    consistent: bool,
    forward: bool,
    capacity: ReturnConsumedCapacity,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let request = Query::parse(body, context)?;
    let table = engine::table(store, &request.table, Access::Read).await?;
    request.read(store, &table).await
}

impl Query {
    fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::Query, layer, context);
        let table = Self::members(&fields, &reading, context)?;
        let mut values = Values::read_unmixed(&fields, &reading, Self::check_mixing(&fields))?;
        let expressions = ["KeyConditionExpression", "FilterExpression"].map(|name| fields.string(name));
        let uses = Uses {
            names: expressions.iter().any(Option::is_some) || fields.has("ProjectionExpression"),
            values: expressions.iter().any(Option::is_some),
        };
        let suffix = reading
            .own_layer
            .or_old("", ": FilterExpression and KeyConditionExpression are null");
        let placeholders = read_placeholders(values.names, values.expression_values, uses, suffix)?;
        let mut members = Members::new(layer);
        members.one_of("select", fields.string("Select"), enums::SELECT);
        members.finish()?;
        let join = values.legacy.join(fields.string("ConditionalOperator"))?;
        let query_filter = values.legacy.filter(join)?;
        let key_conditions = values.legacy.key_conditions()?;
        let names = attributes_to_get(&fields)?;
        let start_key = values.start_key.map(|key| key.settle()).transpose()?;
        let [key_condition, filter] = expressions;
        if key_condition.is_none() && key_conditions.is_none() {
            return Err(ParameterFault::NoKeyCondition.into());
        }
        let key_condition = key_condition
            .map(|text| Condition::parse(Kind::KeyCondition, text, &placeholders, false))
            .transpose()?;
        let with_size = reading.own_layer == Layer::Old;
        let filter = filter
            .map(|text| Condition::parse(Kind::Filter, text, &placeholders, with_size))
            .transpose()?;
        let (projection, parameter) = projection(&fields, &placeholders, names)?;
        finish_placeholders(&placeholders)?;
        let select = Select::parse(fields.string("Select"));
        select::check_request(select, parameter, fields.has("IndexName"))?;
        let key_condition = match &key_condition {
            Some(condition) => KeyCondition::from_condition(condition)?,
            None => legacy::key_condition(key_conditions.unwrap_or_default())?,
        };
        let filter_name = if query_filter.is_some() {
            "QueryFilter"
        } else {
            "Filter Expression"
        };
        Ok(Query {
            table,
            sent_name: fields.string("TableName").unwrap_or_default().to_owned(),
            index: fields.string("IndexName").map(str::to_owned),
            select,
            key_condition,
            filter: filter.or(query_filter),
            filter_name,
            projection,
            start_key,
            limit: fields.integer("Limit"),
            consistent: fields.boolean("ConsistentRead").unwrap_or_default(),
            forward: fields.boolean("ScanIndexForward").unwrap_or(true),
            capacity: ReturnConsumedCapacity::parse(fields.string("ReturnConsumedCapacity")),
        })
    }

    fn members(fields: &Fields<'_>, reading: &Reading, context: &Context) -> Result<TableName, Error> {
        let (limit, capacity) = (fields.integer("Limit"), fields.string("ReturnConsumedCapacity"));
        let layer = if fields.has("TableName") {
            reading.layer
        } else {
            Layer::Old
        };
        let name = table_name(fields.string("TableName"), reading.operation, layer, context);
        let mut members = Members::new(layer);
        if layer == Layer::Old {
            members.one_of("select", fields.string("Select"), enums::SELECT);
            members.return_consumed_capacity(capacity);
            members.table_name(&name);
            check_operators(fields, "QueryFilter", layer, &mut members);
            check_operators(fields, "KeyConditions", layer, &mut members);
            check_not_empty(fields, &mut members);
            members.range("Limit", limit, 1, i64::MAX);
            members.finish()?;
            return Ok(name.map_err(MemberFault::from)?);
        }
        members.range("Limit", limit, 1, i64::MAX);
        if name.as_ref().err().is_some_and(|fault| fault.alone().is_some()) {
            members.table_name(&name);
        }
        members.finish()?;
        let mut members = Members::new(layer);
        members.table_name(&name);
        members.return_consumed_capacity(capacity);
        check_operators(fields, "QueryFilter", layer, &mut members);
        check_operators(fields, "KeyConditions", layer, &mut members);
        check_not_empty(fields, &mut members);
        members.finish()?;
        Ok(name.map_err(MemberFault::from)?)
    }

    /// KeyConditions count only beside a KeyConditionExpression: with the other expressions they are legal.
    fn check_mixing(fields: &Fields<'_>) -> Result<(), ParameterFault> {
        let legacy = [
            "AttributesToGet",
            "QueryFilter",
            "ConditionalOperator",
            "KeyConditions",
        ];
        let counted = if fields.has("KeyConditionExpression") {
            &legacy[..]
        } else {
            &legacy[..3]
        };
        check_mixing(
            fields,
            counted,
            &[
                "ProjectionExpression",
                "FilterExpression",
                "KeyConditionExpression",
            ],
        )
    }

    async fn read<S: Store>(&self, store: &S, table: &Table) -> Result<String, Error> {
        let source = Source::find(table, self.index.as_deref())?;
        source.check_consistency(self.consistent)?;
        let start = self
            .start_key
            .as_ref()
            .map(|key| StartKey::new(key, &source, ShapeTexts::Query))
            .transpose()?;
        let selection = self.key_condition.select(source.hash(), source.range())?;
        if let Some(start) = &start {
            start.check_selection(&selection, &source)?;
        }
        self.check_filter(&source)?;
        select::check_key_paths(self.filter.as_ref(), self.projection.as_ref(), &source)?;
        select::check_all_attributes(self.select, &source)?;
        select::check_projected(self.projection.as_ref(), &source)?;
        let hash = encode_hash(&selection.hash);
        let part = Part::Partition {
            bucket: hash_bucket(&hash),
            hash: stored_hash(hash),
            sort: selection.sort,
        };
        let page = PageRequest {
            sent_name: &self.sent_name,
            select: self.select,
            filter: self.filter.as_ref(),
            projection: self.projection.as_ref(),
            limit: self.limit,
            consistent: self.consistent,
            reverse: !self.forward,
            number_sets: NumberSets::Ascending,
            capacity: self.capacity,
        };
        page.answer(store, &source, part, start.map(|start| start.position))
            .await
    }

    /// A filter may not name the keys of what is queried: the key condition is for them.
    fn check_filter(&self, source: &Source<'_>) -> Result<(), ParameterFault> {
        let paths = self.filter.as_ref().map(Condition::paths).unwrap_or_default();
        match paths.into_iter().find(|path| source.is_key(path.root())) {
            Some(path) => Err(ParameterFault::FilterOnKey {
                filter: self.filter_name,
                attribute: path.root().to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// The attributes asked for, and the parameter that names them.
pub fn projection(
    fields: &Fields<'_>,
    placeholders: &crate::expression::Placeholders,
    names: Option<Vec<String>>,
) -> Result<(Option<Projection>, Option<&'static str>), Error> {
    match (fields.string("ProjectionExpression"), names) {
        (Some(text), _) => Ok((
            Some(Projection::parse(text, placeholders)?),
            Some("ProjectionExpression"),
        )),
        (None, Some(names)) => Ok((Some(Projection::of_names(names)), Some("AttributesToGet"))),
        (None, None) => Ok((None, None)),
    }
}
