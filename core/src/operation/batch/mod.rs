//! BatchGetItem and BatchWriteItem.                                              behaviour/operations §batches

pub mod batch_get_item;
pub mod batch_write_item;

use crate::{
    operation::Context,
    table::TableName,
    wire::{Fields, table_of_key},
    write::{Arms, ReturnConsumedCapacity},
};

/// The tables of a request, each once, whatever strings name it: an ARN and a name may mean the same.
#[derive(Debug, Default)]
struct Named {
    names: Vec<TableName>,
    /// The first string that named each, which answers echo.
    sent: Vec<String>,
}

impl Named {
    /// The place of a table that a key of RequestItems names; `None` for a key that can name none.
    fn place(&mut self, sent: &str, context: &Context) -> Option<usize> {
        let name = table_of_key(sent, context)?;
        let known = self.names.iter().position(|known| *known == name);
        Some(known.unwrap_or_else(|| {
            self.names.push(name);
            self.sent.push(sent.to_owned());
            self.names.len() - 1
        }))
    }

    /// The tables in the order in which ConsumedCapacity lists them.
    fn sorted(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.names.len()).collect();
        places.sort_by(|a, b| self.names[*a].name.cmp(&self.names[*b].name));
        places
    }
}

/// ConsumedCapacity: one entry a table.
fn write_capacity(
    named: &Named,
    tables: &[std::sync::Arc<crate::table::Table>],
    arms: &[Arms],
    wanted: ReturnConsumedCapacity,
    body: &mut crate::wire::Object<'_>,
) {
    if wanted.wanted() {
        body.array("ConsumedCapacity", named.sorted(), |place, out| {
            arms[place].write(wanted, &named.sent[place], &tables[place], out);
        });
    }
}

fn return_consumed_capacity<'f>(fields: &'f Fields<'_>) -> Option<&'f str> {
    fields.string("ReturnConsumedCapacity")
}
