//! Capacity units, and ConsumedCapacity in answers.                                     behaviour/items §capacity

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
