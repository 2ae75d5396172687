//! The rows of `core/cases` without the operations around them, and what no row can say.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{
    error::Error,
    expression::UpdateFault,
    item::{AttributeValue, Number, ScalarType},
    operation::keys::check_key_path,
    table::{
        AccountId, Billing, Index, IndexScope, KeyAttribute, OnDemandLimits, Projected, Settings, TableId,
        TableStatus, ThroughputHistory, Version,
    },
};

fn value(json: &Value) -> AttributeValue {
    let (kind, content) = json.as_object().unwrap().iter().next().unwrap();
    let text = |json: &Value| json.as_str().unwrap().to_owned();
    let number = |json: &Value| Number::parse(json.as_str().unwrap()).unwrap();
    let bytes = |json: &Value| BASE64_STANDARD.decode(json.as_str().unwrap()).unwrap();
    fn sorted<T: Ord>(content: &Value, read: impl Fn(&Value) -> T) -> Vec<T> {
        let mut members: Vec<T> = content.as_array().unwrap().iter().map(read).collect();
        members.sort();
        members
    }
    match kind.as_str() {
        "S" => AttributeValue::S(text(content)),
        "N" => AttributeValue::N(number(content)),
        "B" => AttributeValue::B(bytes(content)),
        "BOOL" => AttributeValue::Bool(content.as_bool().unwrap()),
        "NULL" => AttributeValue::Null,
        "SS" => AttributeValue::Ss(sorted(content, text)),
        "NS" => AttributeValue::Ns(sorted(content, number)),
        "BS" => AttributeValue::Bs(sorted(content, bytes)),
        "L" => AttributeValue::L(content.as_array().unwrap().iter().map(value).collect()),
        "M" => AttributeValue::M(attributes(content)),
        other => panic!("{other}"),
    }
}

fn attributes(json: &Value) -> Attributes {
    json.as_object()
        .into_iter()
        .flatten()
        .map(|(name, json)| (name.clone(), value(json)))
        .collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn placeholders(request: &Value) -> Placeholders {
    let names = request["ExpressionAttributeNames"]
        .as_object()
        .into_iter()
        .flatten();
    let names = names.map(|(name, behind)| (name.clone(), behind.as_str().unwrap().to_owned()));
    Placeholders::new(names.collect(), attributes(&request["ExpressionAttributeValues"]))
}

/// The tables of the rows: `lsi1`, `gsi1`, `gsi2` on Range1, `multi` on Multi1.
fn table(name: &str) -> Table {
    let key = |name: &str, kind| KeyAttribute {
        name: name.into(),
        kind,
    };
    let index = |name: &str, hash, range| Index {
        number: 0,
        name: name.into(),
        scope: IndexScope::Global,
        hash,
        range,
        projection: Projected::All,
        status: TableStatus::Active,
        throughput: None,
        history: ThroughputHistory::default(),
        on_demand: OnDemandLimits::default(),
    };
    use ScalarType::{N, S};
    Table {
        id: TableId(7),
        version: Version(1),
        account: AccountId::default(),
        name: name.into(),
        uuid: String::new(),
        created_ms: 0,
        status: TableStatus::Active,
        hash: key("pk", S),
        range: (name == "Range1").then(|| key("sk", S)),
        indexes: match name {
            "Range1" => vec![
                index("lsi1", vec![key("pk", S)], vec![key("lk", N)]),
                index("gsi1", vec![key("g", S)], vec![]),
                index("gsi2", vec![key("g2", S)], vec![key("r2", N)]),
            ],
            "Multi1" => vec![index(
                "multi",
                vec![key("h1", S), key("h2", N)],
                vec![key("r1", S), key("r2", N)],
            )],
            _ => vec![],
        },
        billing: Billing::PayPerRequest { since_ms: 0 },
        deletion_protection: false,
        infrequent_access: false,
        settings: Settings::default(),
    }
}

/// The rows of a case table as (name, members).
fn rows(text: &str) -> Vec<(String, BTreeMap<String, toml::Value>)> {
    let document: BTreeMap<String, Vec<BTreeMap<String, toml::Value>>> = toml::from_str(text).unwrap();
    document["case"]
        .iter()
        .map(|case| (case["row"].as_str().unwrap().to_owned(), case.clone()))
        .collect()
}

fn stored(case: &BTreeMap<String, toml::Value>) -> Option<Item> {
    let stored = parsed(case.get("stored")?.as_str().unwrap());
    let items = stored.as_object().unwrap().values().next().unwrap();
    Some(Item::encode(&attributes(&items[0])))
}

type Updated = (Option<Item>, Projection);

fn updated(table: &Table, request: &Value, old: Option<&Item>) -> Result<Updated, Error> {
    let text = request["UpdateExpression"].as_str().unwrap();
    let update = Update::parse(text, &placeholders(request))?;
    update.check_keys(table)?;
    let new = update.apply(table, old, &attributes(&request["Key"]))?;
    Ok((new, update.targets()))
}

fn text_of(error: &Error) -> String {
    match &error.fault {
        crate::error::Fault::Expression(fault) => format!("1 validation error detected: {}", fault.text()),
        crate::error::Fault::Update(fault) => fault.text(),
        crate::error::Fault::Key(fault) => fault.text(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_of_updates() {
    let mut failed = Vec::new();
    for (row, case) in rows(include_str!("../../../cases/updates.toml")) {
        let request = parsed(case["request"].as_str().unwrap());
        if row.starts_with("parameters") || request.get("UpdateExpression").is_none() {
            continue;
        }
        let old = stored(&case);
        let outcome = updated(
            &table(request["TableName"].as_str().unwrap()),
            &request,
            old.as_ref(),
        );
        let (new, targets) = match (outcome, case.get("text")) {
            (Err(error), Some(text)) => {
                if text_of(&error) != text.as_str().unwrap() {
                    failed.push(format!("{row}: {}", text_of(&error)));
                }
                continue;
            }
            (Ok(updated), None) => updated,
            (Err(error), None) => {
                failed.push(format!("{row}: {}", text_of(&error)));
                continue;
            }
            (Ok((new, _)), Some(_)) => {
                failed.push(format!("{row}: no fault, but {new:?}"));
                continue;
            }
        };
        let new = new.map(|new| new.to_attributes());
        if let Some(after) = case.get("after").and_then(toml::Value::as_str) {
            let wanted = (after != "none").then(|| attributes(&parsed(after)));
            if new != wanted {
                failed.push(format!("{row}: {new:?}"));
            }
        }
        let shown = |item: Option<&Item>| item.map(|item| targets.apply(item)).unwrap_or_default();
        let answer = match request["ReturnValues"].as_str() {
            Some("UPDATED_OLD") => shown(old.as_ref()),
            Some("UPDATED_NEW") => shown(new.map(|new| Item::encode(&new)).as_ref()),
            _ => continue,
        };
        let wanted = attributes(&parsed(case["answer"].as_str().unwrap())["Attributes"]);
        if answer != wanted {
            failed.push(format!("{row}: answers {answer:?}"));
        }
    }
    assert!(failed.is_empty(), "{} rows:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn rows_of_projections() {
    let mut failed = Vec::new();
    for (row, case) in rows(include_str!("../../../cases/projections.toml")) {
        let request = parsed(case["request"].as_str().unwrap());
        let text = request["ProjectionExpression"].as_str().unwrap();
        match (
            Projection::parse(text, &placeholders(&request)),
            case.get("text").and_then(|text| text.as_str()),
        ) {
            // Once the table is known.
            (Ok(projection), Some(text)) => {
                let refused = projection
                    .paths
                    .iter()
                    .try_for_each(|path| check_key_path(&table("Hash1"), path));
                let refused = refused.map_err(|fault| fault.text());
                if refused != Err(text.to_owned()) {
                    failed.push(format!("{row}: {refused:?}"));
                }
            }
            (Ok(projection), None) => {
                let answer = projection.apply(&stored(&case).unwrap());
                let wanted = attributes(&parsed(case["answer"].as_str().unwrap())["Item"]);
                if answer != wanted {
                    failed.push(format!("{row}: {answer:?}"));
                }
            }
            (Err(fault), Some(text)) if fault.text() == text => {}
            (outcome, _) => failed.push(format!("{row}: {outcome:?}")),
        }
    }
    assert!(failed.is_empty(), "{} rows:\n{}", failed.len(), failed.join("\n"));
}

fn charge(text: &str, values: &[(&str, AttributeValue)]) -> usize {
    let names = BTreeMap::from([("#long".to_owned(), "x".repeat(100))]);
    let values = values
        .iter()
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect();
    Update::parse(text, &Placeholders::new(names, values))
        .unwrap()
        .charge()
}

#[test]
fn a_statement_is_charged_by_its_parts() {
    let bytes = |count| AttributeValue::B(vec![0; count]);
    let value = |count| vec![(":v", bytes(count))];
    assert_eq!(charge("SET a = :v", &value(409_600 - 3 - 19 - 1)), 409_600);
    assert_eq!(
        charge("SET ab.#long[10] = :v", &value(5)),
        3 + 19 + (2 + 4 + 100 + 4 + 2) + 5
    );
    assert_eq!(
        charge("SET l[0] = :v, b = :v", &value(5)),
        3 + (19 + 1 + 4 + 1 + 5) + (19 + 1 + 5)
    );
    assert_eq!(charge("REMOVE ab, c.d", &[]), 3 + (1 + 2) + (1 + 1 + 4 + 1));
    let set = [(":s", AttributeValue::Ss(vec!["abc".into()]))];
    assert_eq!(charge("ADD ab :s", &set), 3 + 19 + 2 + 3);
    assert_eq!(charge("DELETE ab :s", &set), 3 + 1 + 2);
    let read = |names: usize, elements: usize| 1 + 14 * elements + names;
    assert_eq!(charge("SET a = b.cd[7]", &[]), 3 + 19 + 1 + read(4, 3));
    assert_eq!(charge("SET a = b + c", &[]), 3 + 19 + 1 + 34 + 2 * read(1, 1));
    assert_eq!(
        charge("SET a = ((b) - (c))", &[]),
        3 + 19 + 1 + 37 + 2 * read(1, 1)
    );
    assert_eq!(
        charge("SET a = if_not_exists(bc, :v)", &value(7)),
        3 + 19 + 1 + 39 + read(2, 1) + 7
    );
    let lists = [(":v", AttributeValue::L(vec![]))];
    assert_eq!(
        charge("SET a = list_append(bc, :v)", &lists),
        3 + 19 + 1 + 37 + read(2, 1) + 3
    );
}

/// Several RANGE values of an index together have the limit of one.
#[test]
fn range_values_of_an_index_share_their_limit() {
    let mut table = table("Multi1");
    table.indexes[0].range[1].kind = ScalarType::S;
    let old = |length: usize| {
        let text = |length| AttributeValue::S("x".repeat(length));
        let key = AttributeValue::S("k".into());
        Item::encode(&BTreeMap::from([
            ("pk".to_owned(), key),
            ("r1".to_owned(), text(600)),
            ("e".to_owned(), text(length)),
        ]))
    };
    let update = Update::parse("SET r2 = e", &Placeholders::default()).unwrap();
    assert!(update.apply(&table, Some(&old(424)), &Attributes::new()).is_ok());
    let refused = update.apply(&table, Some(&old(425)), &Attributes::new());
    assert_eq!(refused.unwrap_err(), KeyFault::RangeSize.into());
}

/// What an index key holds already, wrong or not, is no concern of an update that leaves it alone or writes it anew.
#[test]
fn a_bad_index_key_that_was_there_is_not_looked_at() {
    let table = table("Range1");
    let item = BTreeMap::from([
        ("pk".to_owned(), AttributeValue::S("k".into())),
        ("sk".to_owned(), AttributeValue::S("s".into())),
        ("g".to_owned(), AttributeValue::Null),
    ]);
    let old = Item::encode(&item);
    for text in ["SET b = g", "SET g = if_not_exists(g, b)", "REMOVE g"] {
        let update = Update::parse(text, &Placeholders::default()).unwrap();
        assert!(
            update.apply(&table, Some(&old), &Attributes::new()).is_ok(),
            "{text}"
        );
    }
    let update = Update::parse("SET g2 = g", &Placeholders::default()).unwrap();
    let refused = update.apply(&table, Some(&old), &Attributes::new()).unwrap_err();
    assert!(
        matches!(
            refused.fault,
            crate::error::Fault::Key(KeyFault::IndexType { .. })
        ),
        "{refused:?}"
    );
}

/// Threads have 2 MiB; unoptimised frames are some times larger than those that serve.
#[test]
fn hostile_texts_need_little_stack() {
    let texts = [
        format!("SET a = {}", "(".repeat(4000)),
        format!("SET a = {}", "f(".repeat(2000)),
        format!("SET a = {}:v{}", "list_append(".repeat(300), ",:v)".repeat(100)),
        format!("SET {} = b", vec!["a"; 2000].join(".")),
        format!("REMOVE a{}", "[1]".repeat(1300)),
        format!("SET a = {}b{}", "if_not_exists(b,".repeat(230), ")".repeat(230)),
    ];
    let run = move || {
        let key = BTreeMap::from([("pk".to_owned(), AttributeValue::S("k".into()))]);
        let old = Item::encode(&key);
        for text in &texts {
            if let Ok(update) = Update::parse(text, &Placeholders::default()) {
                update.charge();
                let _ = update.apply(&table("Hash1"), Some(&old), &key);
                update.targets().apply(&old);
            }
        }
    };
    std::thread::Builder::new()
        .stack_size(3 << 19)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_missing_operand_is_its_own_fault() {
    let update = Update::parse("SET a = b", &Placeholders::default()).unwrap();
    let key = BTreeMap::from([("pk".to_owned(), AttributeValue::S("k".into()))]);
    let refused = update.apply(&table("Hash1"), None, &key).unwrap_err();
    assert_eq!(refused, UpdateFault::MissingOperand.into());
}

/// An action on an attribute of its own, or on the list or the map that all share.
fn action(attribute: usize) -> impl Strategy<Value = String> {
    let name = ["a", "b", "c", "d"][attribute];
    prop_oneof![
        Just(format!("SET {name} = l")),
        Just(format!("SET {name} = if_not_exists(b, c)")),
        Just(format!("SET {name} = list_append(l, l)")),
        Just(format!("REMOVE {name}")),
        (0usize..6).prop_map(|index| format!("SET l[{index}] = n")),
        (0usize..6).prop_map(|index| format!("REMOVE l[{index}]")),
        Just(format!("SET m.{name} = n + n")),
        Just(format!("REMOVE m.{name}")),
    ]
}

/// One section a keyword.
fn statement(actions: &[String]) -> String {
    let section = |keyword: &str| {
        let bodies: Vec<&str> = actions
            .iter()
            .filter_map(|action| action.strip_prefix(keyword))
            .collect();
        if bodies.is_empty() {
            String::new()
        } else {
            format!("{keyword}{}", bodies.join(","))
        }
    };
    let (set, remove) = (section("SET "), section("REMOVE "));
    if actions[0].starts_with("SET") {
        format!("{set} {remove}")
    } else {
        format!("{remove} {set}")
    }
}

proptest! {
    /// Everything is read before anything is written, so no order of actions or sections shows.
    #[test]
    fn the_order_of_actions_does_not_matter(
        actions in (action(0), action(1), action(2), action(3)),
        turn in 0usize..4,
    ) {
        let mut actions = vec![actions.0, actions.1, actions.2, actions.3];
        let number = |value: u64| AttributeValue::N(value.into());
        let list = (0..3).map(number).collect();
        let map = BTreeMap::from([("a".to_owned(), number(1)), ("b".to_owned(), number(2))]);
        let item = BTreeMap::from([
            ("pk".to_owned(), AttributeValue::S("k".into())),
            ("b".to_owned(), number(8)),
            ("n".to_owned(), number(9)),
            ("l".to_owned(), AttributeValue::L(list)),
            ("m".to_owned(), AttributeValue::M(map)),
        ]);
        let old = Item::encode(&item);
        let outcome = |actions: &[String]| {
            let update = Update::parse(&statement(actions), &Placeholders::default()).ok()?;
            Some(update.apply(&table("Hash1"), Some(&old), &item).unwrap())
        };
        let first = outcome(&actions);
        actions.rotate_left(turn);
        prop_assert_eq!(outcome(&actions), first.clone());
        actions.reverse();
        prop_assert_eq!(outcome(&actions), first);
    }
}
