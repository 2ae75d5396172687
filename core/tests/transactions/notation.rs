//! How the tables of cases are written.

use std::{collections::BTreeMap, path::Path};

use extenddb_core::store_suite::MemoryStore;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::served::{call, context, ok};

/// What both tables begin with.
#[derive(Deserialize)]
pub struct Fixture {
    tables: Vec<String>,
    /// Items by table.
    fixture: BTreeMap<String, Vec<String>>,
    texts: BTreeMap<String, String>,
}

/// A file of `core/cases`.
pub fn cases<T: DeserializeOwned>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    toml::from_str(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

/// `@x3@` is `xxx`.
pub fn expanded(text: &str) -> String {
    let mut parts = text.split('@');
    let mut out = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        let count = part.strip_prefix('x').and_then(|count| count.parse().ok());
        match (count, parts.next()) {
            (Some(count), Some(rest)) => out = out + &"x".repeat(count) + rest,
            (None, rest) => {
                out = out + "@" + part;
                out.extend(rest.map(|rest| format!("@{rest}")));
            }
            (Some(_), None) => panic!("@x without its end: {text}"),
        }
    }
    out
}

pub fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|fault| panic!("{fault} in {text}"))
}

impl Fixture {
    /// A store with the tables and their items.
    pub fn store(&self) -> MemoryStore {
        let store = MemoryStore::default();
        store.set_now(context().now);
        for table in &self.tables {
            ok(&store, "CreateTable", parsed(table));
        }
        for (table, items) in &self.fixture {
            for item in items {
                ok(
                    &store,
                    "PutItem",
                    json!({"TableName": table, "Item": parsed(item)}),
                );
            }
        }
        store
    }

    pub fn table_requests(&self) -> impl Iterator<Item = Value> {
        self.tables.iter().map(|table| parsed(table))
    }

    /// All items of all tables.
    pub fn items(&self, store: &MemoryStore) -> Vec<Value> {
        let names = self.table_requests();
        names
            .map(|table| ok(store, "Scan", json!({"TableName": table["TableName"]}))["Items"].clone())
            .collect()
    }

    /// What is wrong with an answer; `None` if nothing is.
    pub fn fault(&self, wanted: &str, (status, body): &(u16, Value)) -> Option<String> {
        let told = || Some(format!("{status} {body}, not {wanted}"));
        let exception = body["__type"].as_str().and_then(|name| name.rsplit('#').next());
        let is = |name| *status == 400 && exception == Some(name);
        let in_brackets = |form: &str| wanted.strip_prefix(form)?.strip_suffix(['(', '[', ')', ']']);
        let right = if let Some(answer) = wanted.strip_prefix("200") {
            *status == 200 && (answer.is_empty() || *body == parsed(answer))
        } else if let Some(texts) = in_brackets("VE(") {
            is("ValidationException")
                && self.is_text(texts, &body["message"])
                && body.get("Message").is_none()
        } else if let Some(reasons) = in_brackets("TC[") {
            is("TransactionCanceledException") && self.are_reasons(reasons, body)
        } else {
            match wanted {
                "OK" => *status == 200 && *body == json!({}),
                "CCF" => is("ConditionalCheckFailedException"),
                "RNF" => is("ResourceNotFoundException") && body["message"] == "Requested resource not found",
                "mismatch" => {
                    const TEXT: &str = "Specified idempotent token was used with different request parameters \
                                        within the idempotency window";
                    is("IdempotentParameterMismatchException")
                        && body["Message"] == TEXT
                        && body.get("message").is_none()
                }
                other => panic!("{other} is no answer"),
            }
        };
        if right { None } else { told() }
    }

    fn is_text(&self, names: &str, text: &Value) -> bool {
        let text = text.as_str().unwrap_or_default();
        names.split('|').any(|name| {
            let wanted = self
                .texts
                .get(name)
                .unwrap_or_else(|| panic!("no text is named {name}"));
            match wanted.strip_suffix('…') {
                Some(head) => text.starts_with(head),
                None => text == wanted,
            }
        })
    }

    fn are_reasons(&self, wanted: &str, body: &Value) -> bool {
        let wanted: Vec<&str> = wanted.split(", ").collect();
        let code = |wanted: &&str| match *wanted {
            "-" => "None",
            "C" => "ConditionalCheckFailed",
            "X" => "TransactionConflict",
            _ => "ValidationError",
        };
        let codes: Vec<&str> = wanted.iter().map(code).collect();
        let text = format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
            codes.join(", ")
        );
        let is_reason = |(reason, (wanted, code)): (&Value, (&&str, &&str))| {
            let message = &reason["Message"];
            reason["Code"] == **code
                && reason.get("Item").is_none()
                && match *wanted {
                    "-" => reason.get("Message").is_none(),
                    "C" => message == "The conditional request failed",
                    "X" => message == "Transaction is ongoing for the item",
                    other => {
                        let text = other.strip_prefix("V(").and_then(|text| text.strip_suffix(')'));
                        self.is_text(text.unwrap_or_else(|| panic!("{other} is no reason")), message)
                    }
                }
        };
        let reasons = body["CancellationReasons"].as_array();
        body["Message"] == *text
            && body.get("message").is_none()
            && reasons.is_some_and(|reasons| {
                reasons.len() == wanted.len() && reasons.iter().zip(wanted.iter().zip(&codes)).all(is_reason)
            })
    }
}

/// Every row is run, whatever those before it did.
pub fn run_all<'r>(rows: impl IntoIterator<Item = (&'r str, Box<dyn Fn() -> Option<String> + 'r>)>) {
    let (mut count, mut failed) = (0, Vec::new());
    let mut seen = std::collections::BTreeSet::new();
    for (row, run) in rows {
        assert!(seen.insert(row), "row {row} stands twice");
        count += 1;
        let run = std::panic::AssertUnwindSafe(run);
        let fault = std::panic::catch_unwind(run).unwrap_or_else(|_| Some("panicked".into()));
        failed.extend(fault.map(|fault| {
            let fault: String = fault.chars().take(2_000).collect();
            format!("{row}: {fault}")
        }));
    }
    assert!(
        failed.is_empty(),
        "{} of {count} rows:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The item of table Main under a key, `None` where there is none.
pub fn item(store: &MemoryStore, pk: &str) -> Option<Value> {
    let get = json!({"TableName": "Main", "Key": {"pk": {"S": pk}}, "ConsistentRead": true});
    let (status, body) = call(store, "GetItem", &get);
    assert_eq!(status, 200, "{body}");
    body.get("Item").cloned()
}
