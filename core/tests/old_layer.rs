//! The rows of `core/cases/prefixes.toml` on the old request layer: the same faults without `1 validation error detected: `, but
//! for what the old layer words its own way.                                          behaviour/wire §prefixes

mod served;

use std::path::Path;

use extenddb_core::{store_suite::MemoryStore, wire::Layer};
use serde::Deserialize;
use serde_json::json;
use served::{call_text_on, ok};

#[derive(Deserialize)]
struct Table {
    case: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    row: String,
    operation: String,
    request: String,
    text: Option<String>,
}

/// What the row answers on the old layer.
fn on_the_old_layer(row: &Row, new: &str) -> String {
    const WRAPPER: &str = "ExpressionAttributeValues contains invalid value: ";
    let bare = new.strip_prefix("1 validation error detected: ").unwrap_or(new);
    let family = row.row.as_str();
    let in_values = family.contains("-values-");
    let wrapped = |text: &str| match in_values {
        true => format!("{WRAPPER}{text} for key :v"),
        false => text.to_owned(),
    };
    if family.starts_with("number-") {
        return wrapped(bare);
    }
    if family.starts_with("duplicates-") {
        return wrapped(
            "One or more parameter values were invalid: Input collection [b, a, b, C] contains duplicates.",
        );
    }
    if family.starts_with("condition-size-") || family == "filter-size-query" {
        return format!("{bare} expression size: 4097");
    }
    if family == "join-unknown-scan" {
        // Scan's old layer has it among its members.
        return "1 validation error detected: Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: Member must \
                satisfy enum value set: [OR, AND]"
            .into();
    }
    if family.starts_with("values-alone-") {
        let missing = match row.operation.as_str() {
            "PutItem" | "DeleteItem" => "ConditionExpression is null",
            "UpdateItem" => "UpdateExpression and ConditionExpression are null",
            _ => return bare.to_owned(),
        };
        return format!("{bare}: {missing}");
    }
    bare.to_owned()
}

#[test]
fn nothing_but_constraints_has_a_prefix() {
    let store = MemoryStore::default();
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Hash1", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}),
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/prefixes.toml");
    let text = std::fs::read_to_string(path).expect("the table is there");
    let table: Table = toml::from_str(&text).expect("a table of cases");
    let mut failed = Vec::new();
    for row in &table.case {
        let Some(new) = &row.text else { continue };
        let (_, answer) = call_text_on(Layer::Old, &store, &row.operation, &row.request);
        let found = answer["message"]
            .as_str()
            .or(answer["Message"].as_str())
            .unwrap_or_default();
        let wanted = on_the_old_layer(row, new);
        if found != wanted {
            failed.push(format!(
                "{} {}\n    {found}\n  not\n    {wanted}",
                row.operation, row.row
            ));
        }
    }
    assert!(failed.is_empty(), "{} rows:\n{}", failed.len(), failed.join("\n"));
}
