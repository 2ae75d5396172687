//! The tables of behaviour/wire and behaviour/wire §values, row by row.

mod answers;
mod constraints;
mod types;
mod values;

use super::*;

static CONDITION: Shape = Shape {
    name: "Condition",
    members: &[
        Member::new("AttributeValueList", Type::List(&Type::AttributeValue)),
        Member::new("ComparisonOperator", Type::String),
    ],
};

static EXPECTED: Shape = Shape {
    name: "ExpectedAttributeValue",
    members: &[
        Member::new("Value", Type::AttributeValue),
        Member::new("Exists", Type::Boolean),
        Member::new("ComparisonOperator", Type::String),
        Member::new("AttributeValueList", Type::List(&Type::AttributeValue)),
    ],
};

static PUT_REQUEST: Shape = Shape {
    name: "PutRequest",
    members: &[Member::new("Item", Type::Map(&Type::AttributeValue))],
};

static WRITE_REQUEST: Shape = Shape {
    name: "WriteRequest",
    members: &[Member::new("PutRequest", Type::Structure(&PUT_REQUEST))],
};

static KEYS_AND_ATTRIBUTES: Shape = Shape {
    name: "KeysAndAttributes",
    members: &[
        Member::new("Keys", Type::List(&Type::Map(&Type::AttributeValue))),
        Member::new("ConsistentRead", Type::Boolean),
    ],
};

static THROUGHPUT: Shape = Shape {
    name: "ProvisionedThroughput",
    members: &[
        Member::new("ReadCapacityUnits", Type::Long),
        Member::new("WriteCapacityUnits", Type::Long),
    ],
};

/// One member of every kind that requests have.
static REQUEST: Shape = Shape {
    name: "Request",
    members: &[
        Member::new("TableName", Type::String),
        Member::new("ConsistentRead", Type::Boolean),
        Member::new("Limit", Type::Integer),
        Member::new("Item", Type::Map(&Type::AttributeValue)),
        Member::new("Key", Type::Map(&Type::AttributeValue)),
        Member::new("AttributesToGet", Type::List(&Type::String)),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
        Member::new("ExpressionAttributeValues", Type::Map(&Type::AttributeValue)),
        Member::new("Expected", Type::Map(&Type::Structure(&EXPECTED))),
        Member::new("QueryFilter", Type::Map(&Type::Structure(&CONDITION))),
        Member::new("ProvisionedThroughput", Type::Structure(&THROUGHPUT)),
        Member::new("Writes", Type::Map(&Type::List(&Type::Structure(&WRITE_REQUEST)))),
        Member::new("Reads", Type::Map(&Type::Structure(&KEYS_AND_ATTRIBUTES))),
        Member::new("WriteList", Type::List(&Type::Structure(&WRITE_REQUEST))),
    ],
};

fn fields(body: &str) -> (Fields<'_>, Layer) {
    match decode(body, &REQUEST, Layer::New) {
        Ok(read) => read,
        Err(fault) => panic!("{body}: {fault:?}"),
    }
}
