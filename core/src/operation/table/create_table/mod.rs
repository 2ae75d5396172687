//! CreateTable: checks a definition whole, then takes the name.               behaviour/tables §create-table

mod request;
mod rules;
mod settings;

use serde::Serialize;

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::{Alteration, Proposal, Store, TableChange},
    table::{
        Billing, Description, IndexScope, Running, Settings, Table, TableFault, TableId, TableName,
        TableStatus, ThroughputHistory, Version,
    },
    wire::{Fields, Layer, Members, decode},
};

pub(super) use self::request::BillingMode;

use self::request::{CreateTable, SHAPE};

use super::{alteration_error, definition::key_arn, json, table_name, tags::key_and_value};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &SHAPE, Layer::Old)?;
    let (planned, running) = plan(&fields, layer, context)?;
    create(store, planned, &running, context).await
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response<'a> {
    table_description: Description<'a>,
}

/// The table as it will be, but for its id, and what it does not have yet when the answer goes out.
fn plan(fields: &Fields, layer: Layer, context: &Context) -> Result<(Table, Running), Error> {
    let name = table_name(fields, Operation::CreateTable, layer, context)?;
    let mut members = Members::new(layer);
    let request = CreateTable::read(fields, &mut members);
    members.finish()?;
    request.check(&context.region)?;
    let table = request.table(name, context)?;
    let asked = |name: &str| {
        request
            .globals()
            .iter()
            .any(|index| index.name == name && index.warm.named())
    };
    let running = Running {
        warm: request.warm.named(),
        warm_indexes: table
            .global_indexes()
            .filter(|index| asked(&index.name))
            .map(|index| index.number)
            .collect(),
        ..Running::default()
    };
    Ok((table, running))
}

async fn create<S: Store>(
    store: &S,
    planned: Table,
    running: &Running,
    context: &Context,
) -> Result<String, Error> {
    let name = TableName {
        account: planned.account.clone(),
        name: planned.name.clone(),
    };
    let decide = move |proposal: Proposal| match proposal.existing {
        Some(existing) => Alteration {
            change: None,
            answer: Err(taken(existing)),
        },
        None => {
            let table = Table {
                id: proposal.fresh,
                ..planned.clone()
            };
            Alteration {
                change: Some(TableChange::Create(table.clone())),
                answer: Ok(table),
            }
        }
    };
    let altered = store.alter(&name, Box::new(decide)).await;
    let table = altered.map_err(|error| alteration_error(error, &name))??;
    json(&Response {
        table_description: table.created(&context.region, running),
    })
}

fn taken(existing: &Table) -> TableFault {
    match existing.status {
        TableStatus::Creating => TableFault::BeingCreated(existing.name.clone()),
        _ => TableFault::AlreadyExists(existing.name.clone()),
    }
}

impl CreateTable {
    /// The description, of a request whose rules were checked.
    fn table(&self, name: TableName, context: &Context) -> Result<Table, TableFault> {
        let (mut hash, mut range) = self.definitions.key(&self.keys)?;
        let created_ms = context.now.0;
        let local = self.locals().iter().map(|index| (IndexScope::Local, index));
        let global = self.globals().iter().map(|index| (IndexScope::Global, index));
        let indexes = (1..).zip(local.chain(global));
        Ok(Table {
            id: TableId(0), // given when it is created
            version: Version(1),
            account: name.account,
            name: name.name,
            uuid: uuid(context.random),
            created_ms,
            status: TableStatus::Active,
            hash: hash.pop().ok_or(TableFault::FirstNotHash)?,
            range: range.pop(),
            indexes: indexes
                .map(|(number, (scope, index))| index.index(number, scope, &self.definitions))
                .collect::<Result<_, _>>()?,
            billing: match (self.billing_mode, self.throughput) {
                (BillingMode::PayPerRequest, _) => Billing::PayPerRequest { since_ms: created_ms },
                (BillingMode::Provisioned, Some(throughput)) => Billing::Provisioned(throughput),
                (BillingMode::Provisioned, None) => return Err(TableFault::ThroughputMissing),
            },
            deletion_protection: self.deletion_protection,
            infrequent_access: self.table_class.as_deref() == Some("STANDARD_INFREQUENT_ACCESS"),
            settings: Settings {
                tags: self.tags.iter().cloned().filter_map(key_and_value).collect(),
                history: ThroughputHistory {
                    warm: self.warm.units(),
                    ..ThroughputHistory::default()
                },
                on_demand: self.on_demand.limits().kept(),
                encryption_key: self
                    .encryption
                    .requested()
                    .then(|| key_arn(self.encryption.key.as_deref(), context)),
                ..Settings::default()
            },
        })
    }
}

/// A random UUID (version 4), lower case.
pub(super) fn uuid(random: [u8; 16]) -> String {
    let mut bits = u128::from_be_bytes(random);
    bits = bits & !(0xF << 76) | 0x4 << 76; // version
    bits = bits & !(0b11 << 62) | 0b10 << 62; // variant
    let digits = format!("{bits:032x}");
    [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn a_uuid_says_its_version_and_variant() {
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
