//! UpdateTable's request: its members, their constraints in the service's order, and what they say.
//!                                                                     behaviour/tables §member-constraints

use crate::{
    operation::table::{
        create_table::BillingMode,
        definition::{
            Definitions, EncryptionRequest, Figures, IndexRequest, StreamRequest, read_definition,
            read_encryption, read_key_schema, read_on_demand, read_projection, read_stream, read_throughput,
            read_warm,
            shapes::{
                ATTRIBUTE_DEFINITION, BILLING_MODES, GLOBAL_KEY, KEY_SCHEMA, ON_DEMAND_THROUGHPUT,
                PROJECTION, PROVISIONED_THROUGHPUT, SSE_SPECIFICATION, STREAM_SPECIFICATION, VECTOR_INDEX,
                WARM_THROUGHPUT, member,
            },
        },
        members::{NAME, Structure},
    },
    table::Throughput,
    wire::{Constraint, Fields, Members, Shape, Type},
};

pub(super) static SHAPE: Shape = Shape {
    name: "UpdateTableInput",
    members: &[
        member(
            "AttributeDefinitions",
            Type::List(&Type::Structure(&ATTRIBUTE_DEFINITION)),
        ),
        member("TableName", Type::String),
        member("BillingMode", Type::String),
        member("ProvisionedThroughput", Type::Structure(&PROVISIONED_THROUGHPUT)),
        member(
            "GlobalSecondaryIndexUpdates",
            Type::List(&Type::Structure(&GLOBAL_SECONDARY_INDEX_UPDATE)),
        ),
        member("StreamSpecification", Type::Structure(&STREAM_SPECIFICATION)),
        member("SSESpecification", Type::Structure(&SSE_SPECIFICATION)),
        member("ReplicaUpdates", Type::List(&Type::Structure(&REPLICA_UPDATE))),
        member("TableClass", Type::String),
        member("DeletionProtectionEnabled", Type::Boolean),
        member("MultiRegionConsistency", Type::String),
        member(
            "GlobalTableWitnessUpdates",
            Type::List(&Type::Structure(&WITNESS_UPDATE)),
        ),
        member("OnDemandThroughput", Type::Structure(&ON_DEMAND_THROUGHPUT)),
        member("WarmThroughput", Type::Structure(&WARM_THROUGHPUT)),
        member("GlobalTableSettingsReplicationMode", Type::String),
        member("DisassociationProtectionEnabled", Type::Boolean),
        member(
            "VectorIndexUpdates",
            Type::List(&Type::Structure(&VECTOR_INDEX_UPDATE)),
        ),
    ],
};

static GLOBAL_SECONDARY_INDEX_UPDATE: Shape = Shape {
    name: "GlobalSecondaryIndexUpdate",
    members: &[
        member("Update", Type::Structure(&UPDATE_ACTION)),
        member("Create", Type::Structure(&CREATE_ACTION)),
        member("Delete", Type::Structure(&DELETE_ACTION)),
    ],
};
static UPDATE_ACTION: Shape = Shape {
    name: "UpdateGlobalSecondaryIndexAction",
    members: &[
        member("IndexName", Type::String),
        member("ProvisionedThroughput", Type::Structure(&PROVISIONED_THROUGHPUT)),
        member("OnDemandThroughput", Type::Structure(&ON_DEMAND_THROUGHPUT)),
        member("WarmThroughput", Type::Structure(&WARM_THROUGHPUT)),
    ],
};
static CREATE_ACTION: Shape = Shape {
    name: "CreateGlobalSecondaryIndexAction",
    members: &[
        member("IndexName", Type::String),
        member("KeySchema", KEY_SCHEMA),
        member("Projection", Type::Structure(&PROJECTION)),
        member("ProvisionedThroughput", Type::Structure(&PROVISIONED_THROUGHPUT)),
        member("OnDemandThroughput", Type::Structure(&ON_DEMAND_THROUGHPUT)),
        member("WarmThroughput", Type::Structure(&WARM_THROUGHPUT)),
    ],
};
static DELETE_ACTION: Shape = Shape {
    name: "DeleteGlobalSecondaryIndexAction",
    members: &[member("IndexName", Type::String)],
};
static REPLICA_UPDATE: Shape = Shape {
    name: "ReplicationGroupUpdate",
    members: &[
        member("Create", Type::Structure(&REGION)),
        member("Update", Type::Structure(&REGION)),
        member("Delete", Type::Structure(&REGION)),
    ],
};
static WITNESS_UPDATE: Shape = Shape {
    name: "GlobalTableWitnessGroupUpdate",
    members: &[
        member("Create", Type::Structure(&REGION)),
        member("Delete", Type::Structure(&REGION)),
    ],
};
/// As much of the actions on replicas as is looked at.
static REGION: Shape = Shape {
    name: "CreateReplicationGroupMemberAction",
    members: &[member("RegionName", Type::String)],
};
static VECTOR_INDEX_UPDATE: Shape = Shape {
    name: "VectorIndexUpdate",
    members: &[
        member("Create", Type::Structure(&VECTOR_INDEX)),
        member("Delete", Type::Structure(&DELETE_ACTION)),
    ],
};

/// The request, typed. Its rules are in `rules`, what it does to a table in `change`.
#[derive(Clone, Debug)]
pub(super) struct UpdateTable {
    /// Only looked at for an index that is created.
    pub(super) definitions: Option<Definitions>,
    pub(super) billing_mode: Option<BillingMode>,
    pub(super) throughput: Option<Throughput>,
    pub(super) indexes: Option<Vec<IndexUpdate>>,
    pub(super) stream: Option<StreamRequest>,
    pub(super) encryption: Option<EncryptionRequest>,
    pub(super) replicas: Option<Vec<ReplicaUpdate>>,
    pub(super) has_witnesses: bool,
    pub(super) table_class: Option<String>,
    pub(super) deletion_protection: Option<bool>,
    pub(super) has_consistency: bool,
    pub(super) on_demand: Figures,
    pub(super) warm: Figures,
    pub(super) settings_replication: Option<String>,
    pub(super) has_disassociation_protection: bool,
    pub(super) has_vectors: bool,
}

/// One entry of GlobalSecondaryIndexUpdates; a right one has one action.
#[derive(Clone, Debug)]
pub(super) struct IndexUpdate {
    pub(super) update: Option<ThroughputUpdate>,
    pub(super) create: Option<IndexRequest>,
    /// The index's name.
    pub(super) delete: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct ThroughputUpdate {
    pub(super) name: String,
    pub(super) throughput: Option<Throughput>,
    pub(super) on_demand: Figures,
    pub(super) warm: Figures,
}

/// The regions that it names.
#[derive(Clone, Debug)]
pub(super) struct ReplicaUpdate {
    pub(super) create: Option<String>,
    pub(super) change: Option<String>,
}

impl UpdateTable {
    /// Reads the members beside TableName.
    pub(super) fn read(fields: &Fields, members: &mut Members) -> UpdateTable {
        let mut request = Structure::root(fields, members);
        let throughput = request.structure("ProvisionedThroughput", read_throughput);
        let billing_mode = request
            .string("BillingMode", &[BILLING_MODES])
            .map(|mode| match mode.as_str() {
                "PAY_PER_REQUEST" => BillingMode::PayPerRequest,
                _ => BillingMode::Provisioned,
            });
        let indexes = request.structures("GlobalSecondaryIndexUpdates", |mut entry| IndexUpdate {
            update: entry.structure("Update", |mut update| ThroughputUpdate {
                name: update.required_string("IndexName", NAME),
                throughput: update.structure("ProvisionedThroughput", read_throughput),
                on_demand: update
                    .structure("OnDemandThroughput", read_on_demand)
                    .unwrap_or_default(),
                warm: update.structure("WarmThroughput", read_warm).unwrap_or_default(),
            }),
            create: entry.structure("Create", |mut create| {
                let projection = create
                    .required_structure("Projection", read_projection)
                    .unwrap_or_default();
                let name = create.required_string("IndexName", NAME);
                let throughput = create.structure("ProvisionedThroughput", read_throughput);
                IndexRequest {
                    name,
                    keys: read_key_schema(&mut create, GLOBAL_KEY),
                    projection,
                    throughput,
                    on_demand: create
                        .structure("OnDemandThroughput", read_on_demand)
                        .unwrap_or_default(),
                    warm: create.structure("WarmThroughput", read_warm).unwrap_or_default(),
                }
            }),
            delete: entry.structure("Delete", |mut delete| delete.required_string("IndexName", NAME)),
        });
        let stream = request.structure("StreamSpecification", read_stream);
        let encryption = request.structure("SSESpecification", read_encryption);
        request.check_not_empty("ReplicaUpdates");
        let replicas = request.structures("ReplicaUpdates", |mut entry| {
            let mut region =
                |action| entry.structure(action, |mut region| region.required_string("RegionName", &[]));
            let create = region("Create");
            let update = region("Update");
            ReplicaUpdate {
                create,
                change: update.or(region("Delete")),
            }
        });
        request.check_structures_length(
            "GlobalTableWitnessUpdates",
            &[Constraint::LengthAtLeast(1), Constraint::LengthAtMost(1)],
        );
        let definitions = request
            .structures("AttributeDefinitions", read_definition)
            .map(Definitions);
        UpdateTable {
            definitions,
            billing_mode,
            throughput,
            indexes,
            stream,
            encryption,
            replicas,
            has_witnesses: fields.has("GlobalTableWitnessUpdates"),
            table_class: request.string("TableClass", &[]),
            deletion_protection: request.boolean("DeletionProtectionEnabled"),
            has_consistency: fields.has("MultiRegionConsistency"),
            on_demand: request
                .structure("OnDemandThroughput", read_on_demand)
                .unwrap_or_default(),
            warm: request.structure("WarmThroughput", read_warm).unwrap_or_default(),
            settings_replication: request.string("GlobalTableSettingsReplicationMode", &[]),
            has_disassociation_protection: fields.has("DisassociationProtectionEnabled"),
            has_vectors: fields.has("VectorIndexUpdates"),
        }
    }

    pub(super) fn indexes(&self) -> &[IndexUpdate] {
        self.indexes.as_deref().unwrap_or_default()
    }

    /// The indexes that are created.
    pub(super) fn creates(&self) -> impl Iterator<Item = &IndexRequest> {
        self.indexes().iter().filter_map(|entry| entry.create.as_ref())
    }

    /// The names of those that are deleted.
    pub(super) fn deletes(&self) -> impl Iterator<Item = &String> {
        self.indexes().iter().filter_map(|entry| entry.delete.as_ref())
    }

    pub(super) fn updates(&self) -> impl Iterator<Item = &ThroughputUpdate> {
        self.indexes().iter().filter_map(|entry| entry.update.as_ref())
    }
}
