//! Scan: all items of a table or index, whole or one segment of them.               behaviour/operations §scan

use crate::{
    engine,
    error::Error,
    expression::{Condition, Kind, Projection},
    item::{Attributes, NumberSets},
    operation::{
        Context, KeyFault, Operation, ParameterFault,
        item::{
            Reading, Uses, Values, check_mixing, finish_placeholders,
            get_item::{attributes_to_get, check_not_empty},
            read_placeholders,
        },
        legacy::{CONDITIONS, check_operators, lacks_operator},
    },
    store::{Access, Part, Store},
    table::{Table, TableName},
    wire::{Fields, Layer, Member, MemberFault, Members, Shape, Type, decode, enums, table_name},
    write::ReturnConsumedCapacity,
};

use super::{
    page::PageRequest,
    query::projection,
    select::{self, Select},
    source::Source,
    start_key::{ShapeTexts, StartKey},
};

pub static SHAPE: Shape = Shape {
    name: "ScanInput",
    members: &[
        Member::new("TableName", Type::String),
        Member::new("IndexName", Type::String),
        Member::new("AttributesToGet", Type::List(&Type::String)),
        Member::new("Limit", Type::Integer),
        Member::new("Select", Type::String),
        Member::new("ScanFilter", CONDITIONS),
        Member::new("ConditionalOperator", Type::String),
        Member::new("ExclusiveStartKey", Type::Map(&Type::AttributeValue)),
        Member::new("ReturnConsumedCapacity", Type::String),
        Member::new("TotalSegments", Type::Integer),
        Member::new("Segment", Type::Integer),
        Member::new("ProjectionExpression", Type::String),
        Member::new("FilterExpression", Type::String),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
        Member::new("ExpressionAttributeValues", Type::Map(&Type::AttributeValue)),
        Member::new("ConsistentRead", Type::Boolean),
    ],
};

const TOTAL_SEGMENTS_MAX: i64 = 1_000_000;

struct Scan {
    table: TableName,
    sent_name: String,
    index: Option<String>,
    select: Option<Select>,
    filter: Option<Condition>,
    projection: Option<Projection>,
    start_key: Option<Attributes>,
    start_key_texts: ShapeTexts,
    segment: Option<Segment>,
    limit: Option<i64>,
    consistent: bool,
    capacity: ReturnConsumedCapacity,
}

/// One of `total` parts of the buckets. None is empty: there are 2³² buckets and at most a million segments.
#[derive(Clone, Copy, Debug)]
struct Segment {
    number: i64,
    total: i64,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let request = Scan::parse(body, context)?;
    let table = engine::table(store, &request.table, Access::Read).await?;
    request.read(store, &table).await
}

impl Scan {
    fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::Scan, layer, context);
        let table = Self::members(&fields, &reading, context)?;
        let mixing = check_mixing(
            &fields,
            &["AttributesToGet", "ScanFilter", "ConditionalOperator"],
            &["ProjectionExpression", "FilterExpression"],
        );
        let mut values = Values::read_unmixed(&fields, &reading, mixing)?;
        let filter = fields.string("FilterExpression");
        let uses = Uses {
            names: filter.is_some() || fields.has("ProjectionExpression"),
            values: filter.is_some(),
        };
        let suffix = ": FilterExpression is null";
        let placeholders = read_placeholders(values.names, values.expression_values, uses, suffix)?;
        let join = values.legacy.join(fields.string("ConditionalOperator"))?;
        let mut members = Members::new(layer);
        members.one_of("select", fields.string("Select"), enums::SELECT);
        members.finish()?;
        let scan_filter = values.legacy.filter(join)?;
        let names = attributes_to_get(&fields)?;
        let start_key = values.start_key.map(|key| key.settle()).transpose()?;
        let filter = filter
            .map(|text| Condition::parse(Kind::Filter, text, &placeholders, true))
            .transpose()?;
        let (projection, parameter) = projection(&fields, &placeholders, names)?;
        finish_placeholders(&placeholders)?;
        let select = Select::parse(fields.string("Select"));
        select::check_request(select, parameter, fields.has("IndexName"))?;
        let segment = Segment::parse(fields.integer("Segment"), fields.integer("TotalSegments"), layer)?;
        Ok(Scan {
            table,
            sent_name: fields.string("TableName").unwrap_or_default().to_owned(),
            index: fields.string("IndexName").map(str::to_owned),
            select,
            filter: filter.or(scan_filter),
            projection,
            start_key,
            start_key_texts: context.layer.or_old(ShapeTexts::Scan, ShapeTexts::OldScan),
            segment,
            limit: fields.integer("Limit"),
            consistent: fields.boolean("ConsistentRead").unwrap_or_default(),
            capacity: ReturnConsumedCapacity::parse(fields.string("ReturnConsumedCapacity")),
        })
    }

    fn members(fields: &Fields<'_>, reading: &Reading, context: &Context) -> Result<TableName, Error> {
        let [limit, segment, total] =
            ["Limit", "Segment", "TotalSegments"].map(|member| fields.integer(member));
        let capacity = fields.string("ReturnConsumedCapacity");
        let layer = if fields.has("TableName") && !lacks_operator(fields, "ScanFilter") {
            reading.layer
        } else {
            Layer::Old
        };
        let name = table_name(fields.string("TableName"), reading.operation, layer, context);
        let mut members = Members::new(layer);
        if layer == Layer::Old {
            members.one_of("select", fields.string("Select"), enums::SELECT);
            members.range("TotalSegments", total, 1, TOTAL_SEGMENTS_MAX);
            members.return_consumed_capacity(capacity);
            members.table_name(&name);
            members.one_of(
                "conditionalOperator",
                fields.string("ConditionalOperator"),
                enums::CONDITIONAL_OPERATOR,
            );
            check_operators(fields, "ScanFilter", layer, &mut members);
            members.range("Segment", segment, 0, TOTAL_SEGMENTS_MAX - 1);
            check_not_empty(fields, &mut members);
            members.range("Limit", limit, 1, i64::MAX);
            members.finish()?;
            return Ok(name.map_err(MemberFault::from)?);
        }
        members.range("Limit", limit, 1, i64::MAX);
        members.range("Segment", segment, 0, TOTAL_SEGMENTS_MAX - 1);
        members.range("TotalSegments", total, 1, TOTAL_SEGMENTS_MAX);
        if name.as_ref().err().is_some_and(|fault| fault.alone().is_some()) {
            members.table_name(&name);
        }
        members.finish()?;
        let mut members = Members::new(layer);
        members.table_name(&name);
        members.return_consumed_capacity(capacity);
        check_not_empty(fields, &mut members);
        members.finish()?;
        Ok(name.map_err(MemberFault::from)?)
    }

    async fn read<S: Store>(&self, store: &S, table: &Table) -> Result<String, Error> {
        let source = Source::find(table, self.index.as_deref())?;
        source.check_consistency(self.consistent)?;
        select::check_all_attributes(self.select, &source)?;
        let start = self
            .start_key
            .as_ref()
            .map(|key| StartKey::new(key, &source, self.start_key_texts))
            .transpose()?;
        let (first, last) = self
            .segment
            .map_or((i32::MIN, i32::MAX), |segment| segment.buckets());
        if let (Some(start), Some(Segment { number, total })) = (&start, self.segment)
            && !(first..=last).contains(&start.position.bucket)
        {
            return Err(KeyFault::StartKeySegment {
                segment: number,
                total,
            }
            .into());
        }
        select::check_key_paths(self.filter.as_ref(), self.projection.as_ref(), &source)?;
        select::check_projected(self.projection.as_ref(), &source)?;
        let page = PageRequest {
            sent_name: &self.sent_name,
            select: self.select,
            filter: self.filter.as_ref(),
            projection: self.projection.as_ref(),
            limit: self.limit,
            consistent: self.consistent,
            reverse: false,
            number_sets: NumberSets::Hashed,
            capacity: self.capacity,
        };
        page.answer(
            store,
            &source,
            Part::Buckets { first, last },
            start.map(|start| start.position),
        )
        .await
    }
}

impl Segment {
    fn parse(
        segment: Option<i64>,
        total: Option<i64>,
        layer: Layer,
    ) -> Result<Option<Segment>, ParameterFault> {
        match (segment, total) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(ParameterFault::SegmentWithoutTotal),
            (None, Some(_)) => Err(ParameterFault::TotalWithoutSegment),
            (Some(number), Some(total)) if number >= total => Err(ParameterFault::SegmentBeyondTotal {
                old_layer: layer.or_old(None, Some((number, total))),
            }),
            (Some(number), Some(total)) => Ok(Some(Segment { number, total })),
        }
    }

    /// Its buckets, both ends inclusive.
    fn buckets(self) -> (i32, i32) {
        const BUCKETS: i64 = 1 << 32;
        let start = |segment: i64| (segment * BUCKETS + self.total - 1).div_euclid(self.total);
        let bucket = |unsigned: i64| (unsigned + i64::from(i32::MIN)) as i32;
        (bucket(start(self.number)), bucket(start(self.number + 1) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_all_buckets_once() {
        for total in [1, 2, 3, 7, 1000, 999_983, TOTAL_SEGMENTS_MAX] {
            let mut next = i64::from(i32::MIN);
            for number in 0..total {
                let (first, last) = Segment { number, total }.buckets();
                assert_eq!(i64::from(first), next, "segment {number} of {total}");
                assert!(first <= last);
                next = i64::from(last) + 1;
            }
            assert_eq!(next, i64::from(i32::MAX) + 1);
        }
    }
}
