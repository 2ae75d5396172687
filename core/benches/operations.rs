//! What the semantics cost without a database: operations on the memory store, and the steps of them that move an
//! item between its forms. `cargo bench -p extenddb-core --features store-suite [-- NAME]`
//!
//! Prints nanoseconds a call, the best of several rounds: on a machine that does other things the least disturbed one.

use std::{hint::black_box, time::Instant};

use extenddb_core::{
    item::Item,
    operation::{Context, Operation, serve},
    store_suite::{MemoryStore, run_now},
    table::{AccountId, TableId},
    wire::{Layer, json},
    write::Timestamp,
};

const TABLE: &str = r#"{"TableName":"Items","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;
const ITEM: &str = concat!(
    r#"{"pk":{"S":"user#12345"},"email":{"S":"anna.example@mail.example.com"},"name":{"S":"Anna Example"},"#,
    r#""visits":{"N":"500"},"score":{"N":"17.25"},"active":{"BOOL":true},"tags":{"SS":["blue","green","red"]},"#,
    r#""address":{"M":{"street":{"S":"12 Long Road"},"city":{"S":"Springfield"},"zip":{"S":"12345"}}},"#,
    r#""bio":{"S":"Likes long walks, short functions and tables that can be joined with other tables."},"#,
    r#""created":{"S":"2024-05-06T07:08:09Z"}}"#
);
const KEY: &str = r#""TableName":"Items","Key":{"pk":{"S":"user#12345"}}"#;

fn main() {
    let wanted: Option<String> = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let bench = |name: &str, call: &mut dyn FnMut()| {
        if wanted
            .as_ref()
            .is_none_or(|wanted| name.contains(wanted.as_str()))
        {
            println!("{name:40} {:8} ns", best_ns(call));
        }
    };

    let store = MemoryStore::default();
    let call = |operation: Operation, body: &str| {
        let context = Context {
            account: AccountId::default(),
            region: "us-east-1".into(),
            now: Timestamp(1_791_500_965_303),
            random: [7; 16],
            layer: Layer::New,
        };
        let answer = run_now(serve(&store, operation, body, &context));
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer
    };
    call(Operation::CreateTable, TABLE);

    let put = format!(r#"{{"TableName":"Items","Item":{ITEM}}}"#);
    let get = format!("{{{KEY}}}");
    let update = format!(
        r#"{{{KEY},"UpdateExpression":"SET visits = visits + :one","ConditionExpression":"active = :true","ExpressionAttributeValues":{{":one":{{"N":"1"}},":true":{{"BOOL":true}}}}}}"#
    );
    bench("PutItem", &mut || drop(black_box(call(Operation::PutItem, &put))));
    bench("GetItem", &mut || drop(black_box(call(Operation::GetItem, &get))));
    bench("GetItem of nothing", &mut || {
        drop(black_box(call(Operation::GetItem, &get.replace("12345", "0"))))
    });
    bench("UpdateItem on a condition", &mut || {
        drop(black_box(call(Operation::UpdateItem, &update)))
    });

    bench("check JSON", &mut || {
        let _ = black_box(json::check(black_box(&put)));
    });
    bench("parse JSON", &mut || {
        drop(black_box(json::parse(black_box(&put))))
    });
    let item = stored(&store);
    let attributes = item.to_attributes();
    bench("encode an item", &mut || {
        drop(black_box(Item::encode(&attributes)))
    });
    bench("take an item's bytes", &mut || {
        drop(black_box(Item::from_bytes(black_box(item.as_bytes()).into())))
    });
    bench("write an item as JSON", &mut || {
        let mut out = String::new();
        black_box(&item).write_json(&mut out);
        drop(black_box(out))
    });
}

/// The item that the table holds.
fn stored(store: &MemoryStore) -> Item {
    let mut items = (0..10).flat_map(|id| store.items(TableId(id)));
    items.next().expect("an item was put").1
}

fn best_ns(call: &mut dyn FnMut()) -> u128 {
    const ROUNDS: usize = 20;
    const ROUND_MS: u128 = 20;
    let started = Instant::now();
    let mut calls = 0_u32;
    while started.elapsed().as_millis() < ROUND_MS {
        call();
        calls += 1;
    }
    let round = || {
        let started = Instant::now();
        for _ in 0..calls {
            call();
        }
        started.elapsed().as_nanos() / u128::from(calls)
    };
    std::iter::repeat_with(round).take(ROUNDS).min().unwrap_or(0)
}
