//! CreateTable's request: the members it knows, their constraints in the service's order, and what they say.
//!                                                                     behaviour/tables §member-constraints

use crate::{
    item::ScalarType,
    operation::table::members::{ATTRIBUTE_NAME, NAME, Structure},
    table::{KeyRole, Throughput},
    wire::{Constraint, Fields, Member, Members, Shape, Type},
};

use super::settings::{EncryptionRequest, EncryptionType, Figures, StreamRequest, Tag};

pub(super) static SHAPE: Shape = Shape {
    name: "CreateTableInput",
    members: &[
        member(
            "AttributeDefinitions",
            Type::List(&Type::Structure(&ATTRIBUTE_DEFINITION)),
        ),
        member("TableName", Type::String),
        member("KeySchema", KEY_SCHEMA),
        member(
            "LocalSecondaryIndexes",
            Type::List(&Type::Structure(&LOCAL_SECONDARY_INDEX)),
        ),
        member(
            "GlobalSecondaryIndexes",
            Type::List(&Type::Structure(&GLOBAL_SECONDARY_INDEX)),
        ),
        member("BillingMode", Type::String),
        member("ProvisionedThroughput", Type::Structure(&PROVISIONED_THROUGHPUT)),
        member("StreamSpecification", Type::Structure(&STREAM_SPECIFICATION)),
        member("SSESpecification", Type::Structure(&SSE_SPECIFICATION)),
        member("Tags", Type::List(&Type::Structure(&TAG))),
        member("TableClass", Type::String),
        member("DeletionProtectionEnabled", Type::Boolean),
        member("WarmThroughput", Type::Structure(&WARM_THROUGHPUT)),
        member("ResourcePolicy", Type::String),
        member("OnDemandThroughput", Type::Structure(&ON_DEMAND_THROUGHPUT)),
        member("GlobalTableSourceArn", Type::String),
        member("GlobalTableSettingsReplicationMode", Type::String),
        member("VectorIndexes", Type::List(&Type::Structure(&VECTOR_INDEX))),
    ],
};

const fn member(name: &'static str, kind: Type) -> Member {
    Member { name, kind }
}

const KEY_SCHEMA: Type = Type::List(&Type::Structure(&KEY_SCHEMA_ELEMENT));
static ATTRIBUTE_DEFINITION: Shape = Shape {
    name: "AttributeDefinition",
    members: &[
        member("AttributeName", Type::String),
        member("AttributeType", Type::String),
    ],
};
static KEY_SCHEMA_ELEMENT: Shape = Shape {
    name: "KeySchemaElement",
    members: &[
        member("AttributeName", Type::String),
        member("KeyType", Type::String),
    ],
};
static PROJECTION: Shape = Shape {
    name: "Projection",
    members: &[
        member("ProjectionType", Type::String),
        member("NonKeyAttributes", Type::List(&Type::String)),
    ],
};
static LOCAL_SECONDARY_INDEX: Shape = Shape {
    name: "LocalSecondaryIndex",
    members: &[
        member("IndexName", Type::String),
        member("KeySchema", KEY_SCHEMA),
        member("Projection", Type::Structure(&PROJECTION)),
    ],
};
static GLOBAL_SECONDARY_INDEX: Shape = Shape {
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
static PROVISIONED_THROUGHPUT: Shape = Shape {
    name: "ProvisionedThroughput",
    members: &[
        member("ReadCapacityUnits", Type::Long),
        member("WriteCapacityUnits", Type::Long),
    ],
};
static ON_DEMAND_THROUGHPUT: Shape = Shape {
    name: "OnDemandThroughput",
    members: &[
        member("MaxReadRequestUnits", Type::Long),
        member("MaxWriteRequestUnits", Type::Long),
    ],
};
static WARM_THROUGHPUT: Shape = Shape {
    name: "WarmThroughput",
    members: &[
        member("ReadUnitsPerSecond", Type::Long),
        member("WriteUnitsPerSecond", Type::Long),
    ],
};
static STREAM_SPECIFICATION: Shape = Shape {
    name: "StreamSpecification",
    members: &[
        member("StreamEnabled", Type::Boolean),
        member("StreamViewType", Type::String),
    ],
};
static SSE_SPECIFICATION: Shape = Shape {
    name: "SSESpecification",
    members: &[
        member("Enabled", Type::Boolean),
        member("SSEType", Type::String),
        member("KMSMasterKeyId", Type::String),
    ],
};
static TAG: Shape = Shape {
    name: "Tag",
    members: &[member("Key", Type::String), member("Value", Type::String)],
};
static VECTOR_INDEX: Shape = Shape {
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
static VECTOR_ATTRIBUTE: Shape = Shape {
    name: "VectorAttribute",
    members: &[member("AttributeName", Type::String)],
};
static SEARCH_SCHEMA_ELEMENT: Shape = Shape {
    name: "SearchSchemaElement",
    members: &[
        member("AttributeName", Type::String),
        member("SearchSchemaElementType", Type::String),
    ],
};

// The sets in the order in which the service prints them.
const BILLING_MODES: Constraint = Constraint::Enum(&["PROVISIONED", "PAY_PER_REQUEST"]);
const KEY_TYPES: Constraint = Constraint::Enum(&["HASH", "RANGE"]);
const ATTRIBUTE_TYPES: Constraint = Constraint::Enum(&["B", "N", "S"]);
const PROJECTION_TYPES: Constraint = Constraint::Enum(&["ALL", "INCLUDE", "KEYS_ONLY"]);
const STREAM_VIEW_TYPES: Constraint =
    Constraint::Enum(&["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]);
const SSE_TYPES: Constraint = Constraint::Enum(&["AES256", "KMS"]);
const DISTANCE_FUNCTIONS: Constraint = Constraint::Enum(&["DOT_PRODUCT", "COSINE", "EUCLIDEAN"]);
const SEARCH_SCHEMA_ELEMENT_TYPES: Constraint = Constraint::Enum(&["HASH", "INLINE_FILTER"]);

/// Elements of the key schema of a table or local index, and of a global index.
const SIMPLE_KEY: u64 = 2;
const GLOBAL_KEY: u64 = 8;

/// The request, typed. Its rules are in `rules` and `settings`.
#[derive(Debug)]
pub(super) struct CreateTable {
    pub(super) definitions: Vec<(String, ScalarType)>,
    pub(super) billing_mode: BillingMode,
    pub(super) throughput: Option<Throughput>,
    pub(super) keys: Vec<KeyElement>,
    pub(super) globals: Option<Vec<IndexRequest>>,
    pub(super) locals: Option<Vec<IndexRequest>>,
    pub(super) vectors: Option<Vec<VectorIndexRequest>>,
    pub(super) stream: StreamRequest,
    pub(super) encryption: EncryptionRequest,
    pub(super) table_class: Option<String>,
    pub(super) deletion_protection: bool,
    pub(super) on_demand: Figures,
    pub(super) warm: Figures,
    pub(super) tags: Vec<Tag>,
    pub(super) resource_policy: bool,
    pub(super) global_table_source: bool,
    pub(super) global_table_settings: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BillingMode {
    Provisioned,
    PayPerRequest,
}

#[derive(Debug)]
pub(super) struct KeyElement {
    pub(super) name: String,
    pub(super) role: KeyRole,
}

#[derive(Debug)]
pub(super) struct IndexRequest {
    pub(super) name: String,
    pub(super) keys: Vec<KeyElement>,
    pub(super) projection: RequestedProjection,
    pub(super) throughput: Option<Throughput>,
    pub(super) on_demand: Figures,
    pub(super) warm: Figures,
}

#[derive(Debug, Default)]
pub(super) struct RequestedProjection {
    pub(super) kind: Option<ProjectionType>,
    pub(super) non_key_attributes: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ProjectionType {
    All,
    KeysOnly,
    Include,
}

/// As much of it as the rules for the other members ask for.
#[derive(Debug)]
pub(super) struct VectorIndexRequest {
    pub(super) name: String,
    pub(super) search_attributes: Vec<String>,
}

impl CreateTable {
    /// Reads the members beside TableName. A member at fault is in `members`, and what stands for it here is not
    /// looked at.
    pub(super) fn read(fields: &Fields, members: &mut Members) -> CreateTable {
        let mut request = Structure::root(fields, members);
        let definitions = request.required_structures("AttributeDefinitions", |mut definition| {
            let name = definition.required_string("AttributeName", ATTRIBUTE_NAME);
            let kind = definition.required_string("AttributeType", &[ATTRIBUTE_TYPES]);
            (name, scalar_type(&kind))
        });
        let billing_mode = match request.string("BillingMode", &[BILLING_MODES]).as_deref() {
            Some("PAY_PER_REQUEST") => BillingMode::PayPerRequest,
            _ => BillingMode::Provisioned,
        };
        let throughput = request.structure("ProvisionedThroughput", read_throughput);
        let keys = read_key_schema(&mut request, SIMPLE_KEY);
        let globals = request.structures("GlobalSecondaryIndexes", |mut index| IndexRequest {
            keys: read_key_schema(&mut index, GLOBAL_KEY),
            projection: index
                .required_structure("Projection", read_projection)
                .unwrap_or_default(),
            name: index.required_string("IndexName", NAME),
            throughput: index.structure("ProvisionedThroughput", read_throughput),
            on_demand: index
                .structure("OnDemandThroughput", read_on_demand)
                .unwrap_or_default(),
            warm: index.structure("WarmThroughput", read_warm).unwrap_or_default(),
        });
        let locals = request.structures("LocalSecondaryIndexes", |mut index| IndexRequest {
            name: index.required_string("IndexName", NAME),
            keys: read_key_schema(&mut index, SIMPLE_KEY),
            projection: index
                .required_structure("Projection", read_projection)
                .unwrap_or_default(),
            throughput: None,
            on_demand: Figures::default(),
            warm: Figures::default(),
        });
        let stream = request.structure("StreamSpecification", |mut stream| StreamRequest {
            enabled: stream.required_boolean("StreamEnabled"),
            has_view_type: stream.string("StreamViewType", &[STREAM_VIEW_TYPES]).is_some(),
        });
        let encryption = request.structure("SSESpecification", |mut encryption| EncryptionRequest {
            enabled: encryption.boolean("Enabled"),
            kind: encryption
                .string("SSEType", &[SSE_TYPES])
                .map(|kind| match kind.as_str() {
                    "KMS" => EncryptionType::Kms,
                    _ => EncryptionType::Aes256,
                }),
            has_key: encryption.string("KMSMasterKeyId", &[]).is_some(),
        });
        let vectors = request.structures("VectorIndexes", read_vector_index);
        CreateTable {
            definitions,
            billing_mode,
            throughput,
            keys,
            globals,
            locals,
            vectors,
            stream: stream.unwrap_or_default(),
            encryption: encryption.unwrap_or_default(),
            table_class: request.string("TableClass", &[]),
            deletion_protection: request.boolean("DeletionProtectionEnabled").unwrap_or(false),
            on_demand: request
                .structure("OnDemandThroughput", read_on_demand)
                .unwrap_or_default(),
            warm: request.structure("WarmThroughput", read_warm).unwrap_or_default(),
            tags: request
                .structures("Tags", |mut tag| Tag {
                    key: tag.string("Key", &[]),
                    value: tag.string("Value", &[]),
                })
                .unwrap_or_default(),
            resource_policy: request.string("ResourcePolicy", &[]).is_some(),
            global_table_source: request.string("GlobalTableSourceArn", &[]).is_some(),
            global_table_settings: request
                .string("GlobalTableSettingsReplicationMode", &[])
                .is_some(),
        }
    }

    pub(super) fn locals(&self) -> &[IndexRequest] {
        self.locals.as_deref().unwrap_or_default()
    }

    pub(super) fn globals(&self) -> &[IndexRequest] {
        self.globals.as_deref().unwrap_or_default()
    }

    /// The defined type of an attribute.
    pub(super) fn kind(&self, attribute: &str) -> Option<ScalarType> {
        self.definitions
            .iter()
            .find(|(name, _)| name == attribute)
            .map(|(_, kind)| *kind)
    }
}

/// Its over-length fault stands at `keySchema`, whatever list it is in.
fn read_key_schema(of: &mut Structure, at_most: u64) -> Vec<KeyElement> {
    of.check_key_schema_length(at_most);
    of.required_structures("KeySchema", |mut element| {
        let name = element.required_string("AttributeName", ATTRIBUTE_NAME);
        let role = match element.required_string("KeyType", &[KEY_TYPES]).as_str() {
            "HASH" => KeyRole::Hash,
            _ => KeyRole::Range,
        };
        KeyElement { name, role }
    })
}

fn read_projection(mut projection: Structure) -> RequestedProjection {
    const LENGTH: &[Constraint] = &[Constraint::LengthAtLeast(1), Constraint::LengthAtMost(20)];
    RequestedProjection {
        kind: projection
            .string("ProjectionType", &[PROJECTION_TYPES])
            .map(|kind| match kind.as_str() {
                "ALL" => ProjectionType::All,
                "KEYS_ONLY" => ProjectionType::KeysOnly,
                _ => ProjectionType::Include,
            }),
        non_key_attributes: projection.strings("NonKeyAttributes", LENGTH, ATTRIBUTE_NAME),
    }
}

/// Write is reported before read.
fn read_throughput(mut throughput: Structure) -> Throughput {
    const UNITS: &[Constraint] = &[Constraint::ValueAtLeast(1)];
    let write_units = throughput.required_integer("WriteCapacityUnits", UNITS);
    let read_units = throughput.required_integer("ReadCapacityUnits", UNITS);
    Throughput {
        read_units: read_units.max(0).unsigned_abs(),
        write_units: write_units.max(0).unsigned_abs(),
    }
}

/// No range of its own: what is out of range is refused by the rules.
fn read_on_demand(limits: Structure) -> Figures {
    Figures {
        read: limits.integer("MaxReadRequestUnits"),
        write: limits.integer("MaxWriteRequestUnits"),
    }
}

/// Likewise.
fn read_warm(units: Structure) -> Figures {
    Figures {
        read: units.integer("ReadUnitsPerSecond"),
        write: units.integer("WriteUnitsPerSecond"),
    }
}

/// The order of these faults among themselves was not recorded.
fn read_vector_index(mut index: Structure) -> VectorIndexRequest {
    let name = index.required_string("IndexName", NAME);
    index.required_structure("VectorAttribute", |mut attribute| {
        attribute.required_string("AttributeName", ATTRIBUTE_NAME)
    });
    index.required_integer("Dimensions", &[Constraint::ValueAtLeast(1)]);
    index.required_string("DistanceFunction", &[DISTANCE_FUNCTIONS]);
    index.check_not_empty("SearchSchema");
    let search_attributes = index.structures("SearchSchema", |mut element| {
        let name = element.required_string("AttributeName", ATTRIBUTE_NAME);
        element.required_string("SearchSchemaElementType", &[SEARCH_SCHEMA_ELEMENT_TYPES]);
        name
    });
    index.required_structure("Projection", read_projection);
    VectorIndexRequest {
        name,
        search_attributes: search_attributes.unwrap_or_default(),
    }
}

fn scalar_type(letter: &str) -> ScalarType {
    match letter {
        "N" => ScalarType::N,
        "B" => ScalarType::B,
        _ => ScalarType::S,
    }
}
