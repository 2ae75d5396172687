//! The rows of the case tables as inputs, and the tables they speak of.

use std::path::Path;

use extenddb_core::item::Item;
use serde::Deserialize;
use serde_json::Value;

use super::item;

#[derive(Deserialize)]
struct Table {
    #[serde(default)]
    case: Vec<Row>,
}

#[derive(Deserialize)]
pub struct Row {
    stored: Option<String>,
    operation: String,
    request: String,
}

pub const TABLES: &[(&str, &str)] = &[
    (
        "Hash1",
        r#"{"TableName":"Hash1","BillingMode":"PAY_PER_REQUEST",
            "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
            "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#,
    ),
    (
        "Range1",
        r#"{"TableName":"Range1","BillingMode":"PAY_PER_REQUEST",
            "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
                {"AttributeName":"lk","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"}],
            "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
            "LocalSecondaryIndexes":[{"IndexName":"lsi1","Projection":{"ProjectionType":"KEYS_ONLY"},
                "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"lk","KeyType":"RANGE"}]}],
            "GlobalSecondaryIndexes":[{"IndexName":"gsi1","Projection":{"ProjectionType":"ALL"},
                "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}]}]}"#,
    ),
    (
        "Num1",
        r#"{"TableName":"Num1","BillingMode":"PAY_PER_REQUEST",
            "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],
            "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}"#,
    ),
    (
        "Multi1",
        r#"{"TableName":"Multi1","BillingMode":"PAY_PER_REQUEST",
            "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"h1","AttributeType":"S"},
                {"AttributeName":"h2","AttributeType":"N"},{"AttributeName":"r1","AttributeType":"S"},
                {"AttributeName":"r2","AttributeType":"N"}],
            "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
            "GlobalSecondaryIndexes":[{"IndexName":"multi","Projection":{"ProjectionType":"ALL"},
                "KeySchema":[{"AttributeName":"h1","KeyType":"HASH"},{"AttributeName":"h2","KeyType":"HASH"},
                    {"AttributeName":"r1","KeyType":"RANGE"},{"AttributeName":"r2","KeyType":"RANGE"}]}]}"#,
    ),
];

/// Every row of a folder of case tables.
pub fn read(folder: &Path) -> Vec<Row> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|file| file.expect("a readable entry").path())
        .collect();
    files.sort();
    let tables = files.iter().map(|path| {
        let text = std::fs::read_to_string(path).expect("a readable file");
        toml::from_str::<Table>(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
    });
    tables.flat_map(|table| table.case).collect()
}

const EXPRESSIONS: &[&str] = &[
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
];

impl Row {
    fn request(&self) -> Value {
        serde_json::from_str(&self.request).unwrap_or_default()
    }

    fn stored(&self) -> Value {
        let stored = self.stored.as_deref().unwrap_or("null");
        serde_json::from_str(stored).unwrap_or_default()
    }

    /// As `requests` reads them.
    pub fn as_requests(&self) -> String {
        let mut lines = String::new();
        for (table, items) in self.stored().as_object().into_iter().flatten() {
            for item in items.as_array().into_iter().flatten() {
                lines.push_str(&format!(
                    "PutItem {{\"TableName\":\"{table}\",\"Item\":{item}}}\n"
                ));
            }
        }
        // A line end within JSON is white space.
        lines + &self.operation + " " + &self.request.replace('\n', " ")
    }

    /// As `expressions` reads them.
    pub fn as_expressions(&self) -> Vec<String> {
        let request = self.request();
        let stored = self.stored();
        let first = stored
            .as_object()
            .and_then(|tables| tables.values().next()?.get(0));
        let item = first.or(request.get("Item")).or(request.get("Key"));
        let texts = EXPRESSIONS.iter().filter_map(|name| request.get(name)?.as_str());
        let lines = texts.map(|text| {
            format!(
                "{}\n{}\n{}\n{}",
                text.replace('\n', " "),
                request["ExpressionAttributeNames"],
                request["ExpressionAttributeValues"],
                item.unwrap_or(&Value::Null)
            )
        });
        lines.collect()
    }

    /// Every part of the row that is an item.
    pub fn as_items(&self) -> Vec<Item> {
        fn within(value: &Value, found: &mut Vec<Item>) {
            match value {
                Value::Object(members) => {
                    found.extend(item(&value.to_string()));
                    members.values().for_each(|member| within(member, found));
                }
                Value::Array(elements) => elements.iter().for_each(|element| within(element, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        within(&self.request(), &mut found);
        within(&self.stored(), &mut found);
        found
    }

    /// Every number in the row.
    pub fn as_numbers(&self) -> Vec<String> {
        fn within(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(members) => {
                    found.extend(members.get("N").and_then(Value::as_str).map(str::to_owned));
                    members.values().for_each(|member| within(member, found));
                }
                Value::Array(elements) => elements.iter().for_each(|element| within(element, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        within(&self.request(), &mut found);
        within(&self.stored(), &mut found);
        found
    }
}
