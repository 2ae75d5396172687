//! `ddb.store_suite`: the tests that any store must pass, run on this one. Built on request only (feature `store-suite`).

use extenddb_core::{
    engine::run_now,
    store_suite::{self, CASES},
    table::{AccountId, TableName},
};

use crate::{
    call::{Call, Returned, sql_functions, varlena},
    security::{Right, as_owner},
    store::SpiStore,
};

sql_functions! {
    "ddb_store_suite" => run;
    "ddb_store_suite_cases" => cases;
}

/// Answers what went wrong, or NULL.
fn run(call: &Call) -> Returned {
    let case = call.required_text(0, "case")?;
    let name = call.required_text(1, "table_name")?;
    Right::Admin.require("the store suite")?;
    let name = TableName {
        account: AccountId::default(),
        name: name.to_owned(),
    };
    let outcome = as_owner(|| run_now(store_suite::run(&SpiStore::new(), case, name)))?;
    Ok(outcome.err().map(|fault| varlena(fault.as_bytes())))
}

fn cases(call: &Call) -> Returned {
    call.rows(|| Ok(CASES.iter().map(|case| Ok(varlena(case.as_bytes())))))
}
