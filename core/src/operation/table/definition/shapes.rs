//! The structures that requests about tables are made of, their enums and their lengths.
//!                                                                     behaviour/tables §member-constraints

use crate::wire::{Constraint, Member, Shape, Type};

pub const fn member(name: &'static str, kind: Type) -> Member {
    Member { name, kind }
}

/// A structure of which nothing is looked at.
pub static NO_MEMBERS: Shape = Shape {
    name: "Input",
    members: &[],
};

pub const KEY_SCHEMA: Type = Type::List(&Type::Structure(&KEY_SCHEMA_ELEMENT));
pub static ATTRIBUTE_DEFINITION: Shape = Shape {
    name: "AttributeDefinition",
    members: &[
        member("AttributeName", Type::String),
        member("AttributeType", Type::String),
    ],
};
pub static KEY_SCHEMA_ELEMENT: Shape = Shape {
    name: "KeySchemaElement",
    members: &[
        member("AttributeName", Type::String),
        member("KeyType", Type::String),
    ],
};
pub static PROJECTION: Shape = Shape {
    name: "Projection",
    members: &[
        member("ProjectionType", Type::String),
        member("NonKeyAttributes", Type::List(&Type::String)),
    ],
};
pub static LOCAL_SECONDARY_INDEX: Shape = Shape {
    name: "LocalSecondaryIndex",
    members: &[
        member("IndexName", Type::String),
        member("KeySchema", KEY_SCHEMA),
        member("Projection", Type::Structure(&PROJECTION)),
    ],
};
pub static GLOBAL_SECONDARY_INDEX: Shape = Shape {
    name: "GlobalSecondaryIndex",
    members: &[
        member("IndexName", Type::String),
        member("KeySchema", KEY_SCHEMA),
        member("Projection", Type::Structure(&PROJECTION)),
        member("ProvisionedThroughput", Type::Structure(&PROVISIONED_THROUGHPUT)),
        member("OnDemandThroughput", Type::Structure(&ON_DEMAND_THROUGHPUT)),
        member("WarmThroughput", Type::Structure(&WARM_THROUGHPUT)),
    ],
};
pub static PROVISIONED_THROUGHPUT: Shape = Shape {
    name: "ProvisionedThroughput",
    members: &[
        member("ReadCapacityUnits", Type::Long),
        member("WriteCapacityUnits", Type::Long),
    ],
};
pub static ON_DEMAND_THROUGHPUT: Shape = Shape {
    name: "OnDemandThroughput",
    members: &[
        member("MaxReadRequestUnits", Type::Long),
        member("MaxWriteRequestUnits", Type::Long),
    ],
};
pub static WARM_THROUGHPUT: Shape = Shape {
    name: "WarmThroughput",
    members: &[
        member("ReadUnitsPerSecond", Type::Long),
        member("WriteUnitsPerSecond", Type::Long),
    ],
};
pub static STREAM_SPECIFICATION: Shape = Shape {
    name: "StreamSpecification",
    members: &[
        member("StreamEnabled", Type::Boolean),
        member("StreamViewType", Type::String),
    ],
};
pub static SSE_SPECIFICATION: Shape = Shape {
    name: "SSESpecification",
    members: &[
        member("Enabled", Type::Boolean),
        member("SSEType", Type::String),
        member("KMSMasterKeyId", Type::String),
    ],
};
pub static VECTOR_INDEX: Shape = Shape {
    name: "VectorIndex",
    members: &[
        member("IndexName", Type::String),
        member("VectorAttribute", Type::Structure(&VECTOR_ATTRIBUTE)),
        member("Dimensions", Type::Integer),
        member("DistanceFunction", Type::String),
        member(
            "SearchSchema",
            Type::List(&Type::Structure(&SEARCH_SCHEMA_ELEMENT)),
        ),
        member("Projection", Type::Structure(&PROJECTION)),
    ],
};
pub static VECTOR_ATTRIBUTE: Shape = Shape {
    name: "VectorAttribute",
    members: &[member("AttributeName", Type::String)],
};
pub static SEARCH_SCHEMA_ELEMENT: Shape = Shape {
    name: "SearchSchemaElement",
    members: &[
        member("AttributeName", Type::String),
        member("SearchSchemaElementType", Type::String),
    ],
};

// The sets in the order in which the service prints them.
pub const BILLING_MODES: Constraint = Constraint::Enum(&["PROVISIONED", "PAY_PER_REQUEST"]);
pub const KEY_TYPES: Constraint = Constraint::Enum(&["HASH", "RANGE"]);
pub const ATTRIBUTE_TYPES: Constraint = Constraint::Enum(&["B", "N", "S"]);
pub const PROJECTION_TYPES: Constraint = Constraint::Enum(&["ALL", "INCLUDE", "KEYS_ONLY"]);
pub const STREAM_VIEW_TYPES: Constraint =
    Constraint::Enum(&["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]);
pub const SSE_TYPES: Constraint = Constraint::Enum(&["AES256", "KMS"]);
pub const DISTANCE_FUNCTIONS: Constraint = Constraint::Enum(&["DOT_PRODUCT", "COSINE", "EUCLIDEAN"]);
pub const SEARCH_SCHEMA_ELEMENT_TYPES: Constraint = Constraint::Enum(&["HASH", "INLINE_FILTER"]);

/// Elements of the key schema of a table or local index, and of a global index.
pub const SIMPLE_KEY: u64 = 2;
pub const GLOBAL_KEY: u64 = 8;
