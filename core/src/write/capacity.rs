//! Capacity units, and ConsumedCapacity in answers.                                     behaviour/items §capacity

use std::fmt::Write;

use crate::{
    table::{IndexScope, Table},
    wire::json,
};

pub const WRITE_UNIT_BYTES: usize = 1024;
pub const READ_UNIT_BYTES: usize = 4096;

/// `ReturnConsumedCapacity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnConsumedCapacity {
    #[default]
    None,
    Total,
    Indexes,
}

/// Units a request consumed on one table: on the table's arm and on those of its indexes that were charged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arms {
    pub table: f64,
    /// (index number, units)
    pub indexes: Vec<(i32, f64)>,
}

/// Which members tell of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Units,
    /// And the same again as ReadCapacityUnits.
    Read,
    /// And as WriteCapacityUnits.
    Write,
}

impl Told {
    fn write(self, units: f64, out: &mut String) {
        let _ = match self {
            Self::Units => write!(out, "\"CapacityUnits\":{units:?}"),
            Self::Read => write!(out, "\"CapacityUnits\":{units:?},\"ReadCapacityUnits\":{units:?}"),
            Self::Write => write!(
                out,
                "\"CapacityUnits\":{units:?},\"WriteCapacityUnits\":{units:?}"
            ),
        };
    }
}

/// Whole units, rounded up, at least one.
pub fn units(bytes: usize, unit_bytes: usize) -> f64 {
    bytes.div_ceil(unit_bytes).max(1) as f64
}

/// Read units: halved for an eventually consistent read.
pub fn read_units(bytes: usize, consistent: bool) -> f64 {
    let whole = units(bytes, READ_UNIT_BYTES);
    if consistent { whole } else { whole / 2.0 }
}

impl ReturnConsumedCapacity {
    pub fn parse(text: Option<&str>) -> Self {
        match text {
            Some("TOTAL") => Self::Total,
            Some("INDEXES") => Self::Indexes,
            _ => Self::None,
        }
    }

    pub fn wanted(self) -> bool {
        self != Self::None
    }
}

impl Arms {
    /// Adds what another part of the same request consumed on the same table.
    pub fn add(&mut self, other: &Arms) {
        self.table += other.table;
        for (number, units) in &other.indexes {
            match self.indexes.iter_mut().find(|(own, _)| own == number) {
                Some((_, sum)) => *sum += units,
                None => self.indexes.push((*number, *units)),
            }
        }
    }

    fn total(&self) -> f64 {
        self.table + self.indexes.iter().map(|(_, units)| units).sum::<f64>()
    }

    /// The same in a transaction, which is charged twice on the table's arm and never on an index's.
    pub fn of_transaction(mut self) -> Arms {
        self.table *= 2.0;
        self
    }

    /// Appends the ConsumedCapacity object; `table_name` is the caller's own string.
    pub fn write(&self, wanted: ReturnConsumedCapacity, table_name: &str, table: &Table, out: &mut String) {
        self.write_told(Told::Units, wanted, table_name, table, out);
    }

    /// The same of a transaction, which says of each figure what kind of units it is.
    pub fn write_told(
        &self,
        told: Told,
        wanted: ReturnConsumedCapacity,
        table_name: &str,
        table: &Table,
        out: &mut String,
    ) {
        out.push_str("{\"TableName\":");
        json::write_string(table_name, out);
        out.push(',');
        told.write(self.total(), out);
        if wanted == ReturnConsumedCapacity::Indexes {
            out.push_str(",\"Table\":{");
            told.write(self.table, out);
            out.push('}');
            self.write_indexes(told, IndexScope::Local, "LocalSecondaryIndexes", table, out);
            self.write_indexes(told, IndexScope::Global, "GlobalSecondaryIndexes", table, out);
        }
        out.push('}');
    }

    fn write_indexes(&self, told: Told, scope: IndexScope, member: &str, table: &Table, out: &mut String) {
        let charged = table
            .indexes
            .iter()
            .filter(|index| index.scope == scope)
            .filter_map(|index| {
                let (_, units) = self.indexes.iter().find(|(number, _)| *number == index.number)?;
                Some((index.name.as_str(), *units))
            });
        let mut separator = "";
        for (name, units) in charged {
            if separator.is_empty() {
                let _ = write!(out, ",\"{member}\":{{");
            }
            out.push_str(separator);
            json::write_string(name, out);
            out.push_str(":{");
            told.write(units, out);
            out.push('}');
            separator = ",";
        }
        if !separator.is_empty() {
            out.push('}');
        }
    }
}
