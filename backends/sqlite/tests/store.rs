//! The store suite on a file and in memory, and what is SQLite's alone: neighbours of a unit that fails, and what a file
//! holds after a stop.

#![allow(clippy::unwrap_used)]

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
};

use extenddb_backend_sqlite::{Config, Place, Sqlite, Synchronous};
use extenddb_core::{
    item::{AttributeValue, Attributes, Item, ItemKey, encode_hash, hash_bucket, stored_hash},
    store::{Ended, Part, Range, Store, StoreError},
    store_suite,
    table::{AccountId, TableId, TableName, Version},
    write::{Decision, Keys, Need, Unit, derive},
};

fn config(place: Place) -> Config {
    Config {
        place,
        synchronous: Synchronous::Full,
        max_pages: None,
    }
}

fn in_file(directory: &Path) -> Sqlite {
    Sqlite::open(&config(Place::File(directory.join("data.sqlite")))).unwrap()
}

async fn run_suite(store: &Sqlite) {
    for (number, case) in store_suite::CASES.iter().enumerate() {
        let name = TableName {
            account: AccountId::default(),
            name: format!("case-{number}"),
        };
        store_suite::run(store, case, name)
            .await
            .unwrap_or_else(|fault| panic!("{case}: {fault}"));
    }
}

#[tokio::test]
async fn the_suite_passes_on_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_file(directory.path());
    run_suite(&store).await;
    store.close();
}

/// On a runtime of one thread, as above, no write waits for the disk in place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_passes_on_a_file_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_file(directory.path());
    run_suite(&store).await;
    store.close();
}

#[tokio::test]
async fn the_suite_passes_in_memory() {
    run_suite(&Sqlite::open(&config(Place::Memory)).unwrap()).await;
}

/// The system table of tokens: it is there in every database.
fn key(value: &str) -> ItemKey {
    let hash = encode_hash([&AttributeValue::S(value.into())]);
    ItemKey {
        table: TableId::TOKENS,
        bucket: hash_bucket(&hash),
        pk: stored_hash(hash),
        sk: Vec::new(),
    }
}

fn item(value: &str, text: &str) -> Item {
    Item::encode(&Attributes::from([
        ("pk".into(), AttributeValue::S(value.into())),
        ("text".into(), AttributeValue::S(text.into())),
    ]))
}

fn put(value: &str, text: &str) -> Unit<()> {
    let (key, item) = (key(value), item(value, text));
    let table = extenddb_core::table::Table::system(TableId::TOKENS).unwrap();
    Unit {
        tables: vec![(TableId::TOKENS, Version(0))],
        keys: Keys(vec![(key.clone(), Need::Image)]),
        decide: Box::new(move |images| Decision {
            changes: vec![derive(&table, 0, &key, images.item(0).unwrap(), Some(item.clone())).change],
            answer: (),
        }),
    }
}

/// Writes, then deletes what is not there.
fn broken(value: &str) -> Unit<()> {
    let sound = put(value, "never seen");
    Unit {
        keys: Keys(vec![(key(value), Need::Image), (key("absent"), Need::Image)]),
        tables: sound.tables,
        decide: Box::new(move |images| {
            let table = extenddb_core::table::Table::system(TableId::TOKENS).unwrap();
            let mut decided = (sound.decide)(images);
            decided
                .changes
                .push(derive(&table, 1, &key("absent"), None, None).change);
            decided
        }),
    }
}

fn panicking(value: &str) -> Unit<()> {
    Unit {
        decide: Box::new(|_| panic!("a decision of a test")),
        ..put(value, "never seen")
    }
}

#[tokio::test]
async fn a_unit_that_fails_harms_no_neighbour() {
    fails_alone().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_unit_that_fails_in_place_harms_no_neighbour() {
    fails_alone().await;
}

async fn fails_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_file(directory.path());
    let units = vec![
        put("a", "1"),
        broken("b"),
        put("c", "3"),
        panicking("d"),
        put("a", "5"),
    ];
    let answers = store.transact(units).await;
    let outcomes: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(outcomes, [true, false, true, false, true], "{answers:?}");
    assert!(matches!(&answers[1], Err(StoreError::Unavailable(text)) if text.contains("touched 0 rows")));
    let stored = store.read(&["a", "b", "c", "d"].map(key)).await.unwrap();
    assert_eq!(stored, [Some(item("a", "5")), None, Some(item("c", "3")), None]);
    // Nor those that come later.
    for text in ["6", "7"] {
        let alone = store.transact(vec![panicking("d")]).await.remove(0);
        assert!(matches!(alone, Err(StoreError::Unavailable(_))), "{alone:?}");
        store.transact(vec![put("a", text)]).await.remove(0).unwrap();
        assert_eq!(store.read(&[key("a")]).await.unwrap(), [Some(item("a", text))]);
    }
    store.ready().await.unwrap();
    store.close();
}

/// A put that says when it decides, and waits there until it may go on.
fn halting(value: &str) -> (Unit<()>, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (decides, is_deciding) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let may_go_on = Mutex::new(may_go_on);
    let sound = put(value, "halted");
    let unit = Unit {
        decide: Box::new(move |images| {
            decides.send(()).unwrap();
            let _ = may_go_on.lock().unwrap().recv();
            (sound.decide)(images)
        }),
        ..put(value, "")
    };
    (unit, is_deciding, go_on)
}

/// One runs in place. Reads go on beside it, those who write meanwhile share the next commit, and a stop waits for all.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn while_one_writes_in_place_others_read_and_wait_for_one_commit() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(in_file(directory.path()));
    let (halted, is_deciding, go_on) = halting("halted");
    let in_place = tokio::spawn({
        let store = store.clone();
        async move { store.transact(vec![halted]).await.remove(0) }
    });
    is_deciding.recv().unwrap();
    assert_eq!(store.read(&[key("halted")]).await.unwrap(), [None]);
    assert_eq!(store.walk(whole(TableId::TOKENS, None)).await.unwrap().rows, []);
    let first = store.transact(vec![put("first", "x")]);
    let decided = Arc::new(AtomicUsize::new(0));
    let others = (0..20).map(|number| {
        let (sound, decided) = (put(&number.to_string(), "x"), decided.clone());
        store.transact(vec![Unit {
            decide: Box::new(move |images| {
                decided.fetch_add(1, Ordering::Relaxed);
                (sound.decide)(images)
            }),
            ..put(&number.to_string(), "")
        }])
    });
    let others: Vec<_> = others.collect();
    // Whoever asked for this one has gone away; it is done as a whole or not at all.
    drop(store.transact(vec![put("gone", "x")]));
    let stopping = tokio::task::spawn_blocking({
        let store = store.clone();
        move || store.close()
    });
    go_on.send(()).unwrap();
    in_place.await.unwrap().unwrap();
    first.await.remove(0).unwrap();
    assert_eq!(
        decided.load(Ordering::Relaxed),
        20,
        "all have decided before one is answered"
    );
    for answer in others {
        answer.await.remove(0).unwrap();
    }
    stopping.await.unwrap();
    let store = in_file(directory.path());
    let found = store.walk(whole(TableId::TOKENS, None)).await.unwrap().rows;
    assert_eq!(found.len(), 23);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_at_once_each_is_answered_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(in_file(directory.path()));
    let tasks = (0..200).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let value = format!("k{number}");
            let unit = if number % 10 == 3 {
                broken(&value)
            } else {
                put(&value, "x")
            };
            let answers = store.transact(vec![unit]).await;
            let written = answers[0].is_ok();
            // What is acknowledged is seen by whoever reads next.
            let seen = store.read(&[key(&value)]).await.unwrap();
            (number, written, seen[0].is_some())
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        let (number, written, seen) = task.await.unwrap();
        assert_eq!((written, seen), (number % 10 != 3, number % 10 != 3), "{number}");
    }
}

#[tokio::test]
async fn a_full_database_refuses_writes_and_keeps_what_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(Place::File(directory.path().join("data.sqlite")));
    config.max_pages = Some(60);
    let store = Sqlite::open(&config).unwrap();
    let text = "x".repeat(20_000);
    let mut kept = Vec::new();
    let refused = loop {
        let value = format!("k{}", kept.len());
        match store.transact(vec![put(&value, &text)]).await.remove(0) {
            Ok(()) => kept.push(value),
            Err(fault) => break fault,
        }
    };
    assert!(
        matches!(&refused, StoreError::Unavailable(text) if text.contains("full")),
        "{refused:?}"
    );
    assert!(kept.len() > 5);
    // Beside one that does not fit, one that does is taken.
    let answers = store
        .transact(vec![
            put("large", &text),
            put(&kept[0], "small"),
            put("more", &text[..4_000]),
        ])
        .await;
    let outcomes: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(
        outcomes,
        [false, true, true],
        "the last takes the space that the second frees: {answers:?}"
    );
    store.close();
    drop(store);
    config.max_pages = None;
    let store = Sqlite::open(&config).unwrap();
    let keys: Vec<ItemKey> = kept.iter().map(|value| key(value)).collect();
    let stored = store.read(&keys).await.unwrap();
    assert_eq!(stored[0], Some(item("k0", "small")));
    for (value, stored) in kept.iter().zip(stored).skip(1) {
        assert_eq!(stored, Some(item(value, &text)));
    }
}

#[tokio::test]
async fn what_is_closed_is_in_the_file_itself() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_file(directory.path());
    store.transact(vec![put("a", "1")]).await.remove(0).unwrap();
    store.close();
    assert!(!directory.path().join("data.sqlite-wal").exists());
    let after = store.transact(vec![put("b", "2")]).await.remove(0);
    assert!(matches!(after, Err(StoreError::Unavailable(_))), "{after:?}");
    assert!(store.ready().await.is_err());
    let store = in_file(directory.path());
    assert_eq!(store.read(&[key("a")]).await.unwrap(), [Some(item("a", "1"))]);
}

/// As when it is dropped between the look at its description and the look at its items.
#[tokio::test]
async fn a_table_that_is_gone_has_no_items() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_file(directory.path());
    let gone = TableId(99);
    let key = ItemKey {
        table: gone,
        ..key("a")
    };
    assert_eq!(store.read(&[key.clone(), key]).await.unwrap(), [None, None]);
    let later = extenddb_core::time::Timestamp(u64::MAX);
    assert_eq!(store.expired(gone, later, 10).await.unwrap(), []);
    for index in [None, Some(1)] {
        let page = store.walk(whole(gone, index)).await.unwrap();
        assert_eq!((page.rows, page.ended), (vec![], Ended::Data));
    }
}

fn whole(table: TableId, index: Option<i32>) -> Range {
    Range {
        table,
        index,
        part: Part::Buckets {
            first: i32::MIN,
            last: i32::MAX,
        },
        after: None,
        reverse: false,
        max_items: None,
        max_bytes: 1 << 20,
        with_base: false,
    }
}

/// What a page shows was there at one moment, though writers go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_page_is_of_one_moment() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(in_file(directory.path()));
    let both = |text: String| -> Unit<()> {
        let (left, right) = (put("left", &text), put("right", &text));
        let table = extenddb_core::table::Table::system(TableId::TOKENS).unwrap();
        Unit {
            tables: left.tables,
            keys: Keys(vec![(key("left"), Need::Image), (key("right"), Need::Image)]),
            decide: Box::new(move |images| {
                let change = |of, value| {
                    derive(
                        &table,
                        of,
                        &key(value),
                        images.item(of).unwrap(),
                        Some(item(value, &text)),
                    )
                    .change
                };
                let _ = &right;
                Decision {
                    changes: vec![change(0, "left"), change(1, "right")],
                    answer: (),
                }
            }),
        }
    };
    let writing = {
        let store = store.clone();
        tokio::spawn(async move {
            for round in 0..300 {
                store
                    .transact(vec![both(round.to_string())])
                    .await
                    .remove(0)
                    .unwrap();
            }
        })
    };
    let whole = whole(TableId::TOKENS, None);
    loop {
        let done = writing.is_finished();
        let page = store.walk(whole.clone()).await.unwrap();
        assert_eq!(page.ended, Ended::Data);
        let mut texts: Vec<_> = page.rows.iter().map(|row| row.item.get("text")).collect();
        texts.dedup();
        assert!(texts.len() <= 1, "{texts:?}");
        let read = store.read(&[key("left"), key("right")]).await.unwrap();
        let texts: Vec<_> = read.iter().flatten().map(|item| item.get("text")).collect();
        assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
        if done {
            break;
        }
    }
    writing.await.unwrap();
}
