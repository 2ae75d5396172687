//! Expressions of all kinds: a line of text, then a line each for names, values and an item.

use std::{collections::BTreeMap, sync::Arc};

use extenddb_core::{
    expression::{Condition, KeyCondition, Kind, Placeholders, Projection, Update},
    item::{Attributes, Item, attributes_size},
    operation::{Context, Operation, serve},
    store::{Access, Store},
    store_suite::{MemoryStore, run_now},
    table::{AccountId, Table, TableName},
    wire::Layer,
    write::Timestamp,
};

use super::{attributes, rows::TABLES};

/// Reads the text as every kind of expression: nothing panics, and what parses means the same when it is asked again.
pub fn check(input: &str) {
    let mut lines = input.lines();
    let text = lines.next().unwrap_or_default();
    let names: BTreeMap<String, String> = lines
        .next()
        .and_then(|line| serde_json::from_str(line).ok())
        .unwrap_or_default();
    let values = lines.next().and_then(attributes).unwrap_or_default();
    let item = lines.next().and_then(attributes).map(|item| Item::encode(&item));
    let placeholders = Placeholders::new(names, values);
    conditions(text, &placeholders, item.as_ref());
    key_conditions(text, &placeholders);
    updates(text, &placeholders, item.as_ref());
    projections(text, &placeholders, item.as_ref());
}

fn conditions(text: &str, placeholders: &Placeholders, item: Option<&Item>) {
    let parse = |text: &str| Condition::parse(Kind::Condition, text, placeholders, false);
    let condition = match parse(text) {
        Ok(condition) => condition,
        Err(fault) => {
            assert!(!fault.text().is_empty());
            return;
        }
    };
    assert_eq!(parse(text).as_ref(), Ok(&condition), "{text}");
    condition.paths();
    for item in [item, None] {
        let holds = condition.holds(item);
        // Redundant parentheses, or a limit that the longer text meets, are faults.
        for (around, wanted) in [
            (format!("NOT ({text})"), !holds),
            (format!("NOT {text} "), !holds),
            (format!("({text}) AND ({text})"), holds),
            (format!("({text}) OR ({text})"), holds),
        ] {
            // Without parentheses NOT binds only the first of several.
            let binds_all = around.contains(&format!("({text})")) || placed_alone(text);
            if let (true, Ok(around)) = (binds_all, parse(&around)) {
                assert_eq!(around.holds(item), wanted, "{text}");
            }
        }
    }
}

/// Whether the text has no AND, OR or NOT that stands beside others.
fn placed_alone(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    !["AND", "OR", "NOT"].iter().any(|word| upper.contains(word))
}

fn key_conditions(text: &str, placeholders: &Placeholders) {
    let Ok(condition) = Condition::parse(Kind::KeyCondition, text, placeholders, false) else {
        return;
    };
    let Ok(keys) = KeyCondition::from_condition(&condition) else {
        return;
    };
    for table in tables().iter() {
        let range: Vec<_> = table.range.iter().cloned().collect();
        let _ = keys.select(std::slice::from_ref(&table.hash), &range);
        for index in &table.indexes {
            if let Ok(selection) = keys.select(&index.hash, &index.range) {
                assert_eq!(selection.hash.len(), index.hash.len(), "{text}");
            }
        }
    }
}

fn updates(text: &str, placeholders: &Placeholders, item: Option<&Item>) {
    let Ok(update) = Update::parse(text, placeholders) else {
        return;
    };
    assert_eq!(Update::parse(text, placeholders).as_ref(), Ok(&update), "{text}");
    update.charge();
    for table in tables().iter() {
        let fits = update.check_keys(table).is_ok();
        for item in [item, None] {
            let Ok(updated) = update.apply(table, item, &Attributes::new()) else {
                continue;
            };
            let Some(updated) = updated.filter(|_| fits) else {
                continue;
            };
            let checked = Item::from_bytes(updated.as_bytes().into());
            assert_eq!(checked.as_ref(), Ok(&updated), "{text}");
            assert_eq!(Item::encode(&updated.to_attributes()), updated, "{text}");
            update.targets().apply(&updated);
        }
    }
}

fn projections(text: &str, placeholders: &Placeholders, item: Option<&Item>) {
    let Ok(projection) = Projection::parse(text, placeholders) else {
        return;
    };
    assert_eq!(Projection::parse(text, placeholders).as_ref(), Ok(&projection));
    if let Some(item) = item {
        assert!(
            attributes_size(&projection.apply(item)) <= item.size(),
            "{text} adds to {item:?}"
        );
    }
}

/// The tables of the rows.
fn tables() -> Arc<[Arc<Table>]> {
    thread_local! {
        static MADE: Arc<[Arc<Table>]> = {
            let store = MemoryStore::default();
            let context = Context {
                account: AccountId::default(),
                region: "us-east-1".into(),
                now: Timestamp(1_791_500_965_303),
                random: [7; 16],
                layer: Layer::New,
            };
            let made = TABLES.iter().map(|(name, table)| {
                run_now(serve(&store, Operation::CreateTable, table, &context));
                let name = TableName { account: AccountId::default(), name: name.to_string() };
                let described = run_now(store.tables(&[name], Access::Read)).expect("the store answers");
                described.into_iter().flatten().next().expect("the table is there")
            });
            made.collect()
        };
    }
    MADE.with(Arc::clone)
}
