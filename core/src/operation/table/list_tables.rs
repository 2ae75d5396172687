//! ListTables: an account's names in byte order, a page at a time.            behaviour/tables §list-tables

use serde::Serialize;

use crate::{
    engine,
    error::Error,
    operation::Context,
    store::Store,
    wire::{Constraint, Fields, Layer, Member, Members, Shape, Type, decode},
};

use super::{
    json,
    members::{NAME, Structure},
};

static SHAPE: Shape = Shape {
    name: "ListTablesInput",
    members: &[
        Member {
            name: "ExclusiveStartTableName",
            kind: Type::String,
        },
        Member {
            name: "Limit",
            kind: Type::Integer,
        },
    ],
};

const LIMIT: &[Constraint] = &[Constraint::ValueAtLeast(1), Constraint::ValueAtMost(100)];
const DEFAULT_LIMIT: usize = 100;

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &SHAPE, Layer::Old)?;
    ListTables::read(&fields, layer)?.list(store, context).await
}

struct ListTables {
    /// Need not exist.
    after: Option<String>,
    limit: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response {
    table_names: Vec<String>,
    /// Only when more names follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_evaluated_table_name: Option<String>,
}

impl ListTables {
    fn read(fields: &Fields, layer: Layer) -> Result<Self, Error> {
        let mut members = Members::new(layer);
        let mut request = Structure::root(fields, &mut members);
        let after = request.string("ExclusiveStartTableName", NAME);
        let limit = request.checked_integer("Limit", LIMIT);
        members.finish()?;
        let limit = limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(DEFAULT_LIMIT);
        Ok(ListTables { after, limit })
    }

    async fn list<S: Store>(&self, store: &S, context: &Context) -> Result<String, Error> {
        // One more than the page holds says whether another follows.
        let names = store
            .table_names(&context.account, self.after.as_deref(), self.limit + 1)
            .await;
        let mut table_names = names.map_err(engine::store_error)?;
        let more = table_names.len() > self.limit;
        table_names.truncate(self.limit);
        let last_evaluated_table_name = table_names.last().filter(|_| more).cloned();
        json(&Response {
            table_names,
            last_evaluated_table_name,
        })
    }
}
