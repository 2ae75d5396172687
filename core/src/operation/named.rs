//! The tables that a request names in several places.

use crate::{operation::Context, table::TableName, wire::table_of_key};

/// The tables of a request, each once, whatever strings name it: an ARN and a name may mean the same.
#[derive(Debug, Default)]
pub struct Named {
    pub names: Vec<TableName>,
    /// The first string that named each, which answers echo.
    pub sent: Vec<String>,
}

impl Named {
    /// The place of a table that a key of RequestItems names; `None` for a key that can name none.
    pub fn place(&mut self, sent: &str, context: &Context) -> Option<usize> {
        Some(self.place_of(table_of_key(sent, context)?, sent))
    }

    /// The place of a table that a string named.
    pub fn place_of(&mut self, name: TableName, sent: &str) -> usize {
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.sent.push(sent.to_owned());
            self.names.len() - 1
        })
    }

    /// The tables in the order in which ConsumedCapacity lists them.
    pub fn sorted(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.names.len()).collect();
        places.sort_by(|a, b| self.names[*a].name.cmp(&self.names[*b].name));
        places
    }
}
