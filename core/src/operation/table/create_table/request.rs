//! CreateTable's request: the members it knows, their constraints in the service's order, and what they say.
//!                                                                     behaviour/tables §member-constraints

use crate::{
    operation::table::{
        definition::{
            Definitions, EncryptionRequest, Figures, IndexRequest, KeyElement, StreamRequest,
            read_definition, read_encryption, read_key_schema, read_on_demand, read_projection, read_stream,
            read_throughput, read_warm,
            shapes::{
                ATTRIBUTE_DEFINITION, BILLING_MODES, DISTANCE_FUNCTIONS, GLOBAL_KEY, GLOBAL_SECONDARY_INDEX,
                KEY_SCHEMA, LOCAL_SECONDARY_INDEX, ON_DEMAND_THROUGHPUT, PROVISIONED_THROUGHPUT,
                SEARCH_SCHEMA_ELEMENT_TYPES, SIMPLE_KEY, SSE_SPECIFICATION, STREAM_SPECIFICATION,
                VECTOR_INDEX, WARM_THROUGHPUT, member,
            },
        },
        members::{ATTRIBUTE_NAME, NAME, Structure},
        tags::{RequestedTag, TAG, read_tag},
    },
    table::Throughput,
    wire::{Constraint, Fields, Members, Shape, Type},
};

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

/// The request, typed. Its rules are in `rules` and `settings`.
#[derive(Debug)]
pub(super) struct CreateTable {
    pub(super) definitions: Definitions,
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
    pub(super) tags: Vec<RequestedTag>,
    pub(super) resource_policy: bool,
    pub(super) global_table_source: bool,
    pub(super) global_table_settings: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BillingMode {
    Provisioned,
    PayPerRequest,
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
        let definitions = Definitions(request.required_structures("AttributeDefinitions", read_definition));
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
        let stream = request.structure("StreamSpecification", read_stream);
        let encryption = request.structure("SSESpecification", read_encryption);
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
            tags: request.structures("Tags", read_tag).unwrap_or_default(),
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
