//! Definitions of attributes, keys and indexes, as CreateTable and UpdateTable are given them: their structures, how
//! they are read, and the rules that need no table.                       behaviour/tables §keys, §indexes

mod encryption;
mod read;
mod rules;
pub mod shapes;

pub use encryption::key_arn;
pub use read::{
    EncryptionRequest, Figures, IndexRequest, KeyElement, StreamRequest, read_definition, read_encryption,
    read_key_schema, read_on_demand, read_projection, read_stream, read_throughput, read_warm,
};
pub use rules::{
    Definitions, MAXIMUM_GLOBAL_INDEXES, MAXIMUM_NON_KEY_ATTRIBUTES, check_global_key, check_on_demand,
    check_on_demand_quota, check_projection, check_quota, check_simple_key, check_table_class,
    check_units_bound, check_warm, names,
};
