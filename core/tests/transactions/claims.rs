//! The automaton of claims, as rows of a system table, and their sweep.           behaviour/transactions §claims

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use extenddb_core::{
    claim::{Arrival, Claim, ClaimKey, State, arrive, sweep},
    item::{AttributeValue, Item},
    store::Store,
    store_suite::{MemoryStore, run_now},
    table::TableId,
    write::{Base, Decision, Images, Keys, Need, Timestamp, Unit},
};

use crate::gate::Gate;

const AT_MS: u64 = 1_791_500_965_303;
const WINDOW_MS: u64 = 10_000;
const STALE_MS: u64 = 2_000;

fn claim(state: State) -> Claim {
    Claim {
        fingerprint: vec![1; 32],
        at: Timestamp(AT_MS),
        window: Duration::from_millis(WINDOW_MS),
        state,
    }
}

fn running() -> State {
    State::Running {
        owner: "mine".into(),
        stale_after: Duration::from_millis(STALE_MS),
    }
}

fn kept() -> AttributeValue {
    AttributeValue::L(vec![AttributeValue::S("kept".into())])
}

#[test]
fn nothing_stored_lets_go() {
    assert_eq!(arrive(None, &[1; 32], Timestamp(AT_MS)), Arrival::Go);
}

/// First the window, then the fingerprint, then the state.
#[test]
fn each_state_at_each_time() {
    let value = kept();
    let (committed, cancelled, running) = (
        claim(State::Committed(kept())),
        claim(State::Cancelled),
        claim(running()),
    );
    let replay = Arrival::Replay(&value);
    for (state, after_ms, same, other) in [
        (&committed, 0, replay.clone(), Arrival::Mismatch),
        (&committed, WINDOW_MS - 1, replay, Arrival::Mismatch),
        (&committed, WINDOW_MS, Arrival::Go, Arrival::Go),
        (&cancelled, 0, Arrival::Go, Arrival::Mismatch),
        (&cancelled, WINDOW_MS - 1, Arrival::Go, Arrival::Mismatch),
        (&cancelled, WINDOW_MS, Arrival::Go, Arrival::Go),
        (&running, 0, Arrival::InProgress, Arrival::Mismatch),
        (&running, STALE_MS - 1, Arrival::InProgress, Arrival::Mismatch),
        (&running, STALE_MS, Arrival::Go, Arrival::Mismatch),
        (&running, WINDOW_MS - 1, Arrival::Go, Arrival::Mismatch),
        (&running, WINDOW_MS, Arrival::Go, Arrival::Go),
    ] {
        let now = Timestamp(AT_MS + after_ms);
        assert_eq!(
            arrive(Some(state), &[1; 32], now),
            same,
            "{state:?} after {after_ms} ms"
        );
        assert_eq!(
            arrive(Some(state), &[2; 32], now),
            other,
            "{state:?} after {after_ms} ms"
        );
        assert_eq!(
            arrive(Some(state), &[1; 31], now),
            other,
            "{state:?} after {after_ms} ms"
        );
    }
}

#[test]
fn only_its_owner_holds_a_claim() {
    assert!(claim(running()).is_held_by("mine"));
    assert!(!claim(running()).is_held_by("other"));
    assert!(!claim(State::Cancelled).is_held_by("mine"));
    assert!(!claim(State::Committed(kept())).is_held_by("mine"));
}

fn key(sk: &str) -> ClaimKey {
    ClaimKey::new(TableId::CLAIMS, "scope".into(), sk.into())
}

/// A write of one row: what it finds decides.
fn write(
    store: &MemoryStore,
    key: &ClaimKey,
    change: impl Fn(&ClaimKey, Option<&Item>) -> Change + Send + 'static,
) {
    let of = key.clone();
    let unit = Unit {
        tables: Vec::new(),
        keys: Keys(vec![(key.item.clone(), Need::Image)]),
        decide: Box::new(move |images: &Images| Decision {
            changes: vec![change(&of, images.item(0).expect("it is not held"))],
            answer: (),
        }),
    };
    run_now(store.transact(vec![unit]))[0]
        .clone()
        .expect("it is written");
}

type Change = extenddb_core::write::Change;

fn put(store: &MemoryStore, key: &ClaimKey, claim: Claim) {
    write(store, key, move |key, stored| key.put(0, stored, &claim));
}

fn read(store: &MemoryStore, key: &ClaimKey) -> Option<Claim> {
    let rows = run_now(store.read(std::slice::from_ref(&key.item))).expect("the memory store answers");
    rows.into_iter()
        .next()
        .flatten()
        .map(|row| Claim::read(&row).expect("a claim"))
}

#[test]
fn a_claim_is_read_as_it_was_written() {
    let store = MemoryStore::default();
    for state in [running(), State::Committed(kept()), State::Cancelled] {
        put(&store, &key("k"), claim(state.clone()));
        assert_eq!(read(&store, &key("k")), Some(claim(state)));
    }
    assert_eq!(read(&store, &key("K")), None);
    write(&store, &key("k"), |key, stored| {
        key.remove(0, stored.expect("it is there"))
    });
    assert_eq!(read(&store, &key("k")), None);
}

/// What is kept beside a claim is for people who look, and what is over long leaves no trace of the state before.
#[test]
fn a_row_holds_its_key_and_nothing_of_earlier_states() {
    let store = MemoryStore::default();
    let key = key("k").beside("path", AttributeValue::S("/orders".into()));
    put(&store, &key, claim(running()));
    put(&store, &key, claim(State::Cancelled));
    let (_, row) = store.items(TableId::CLAIMS).remove(0);
    let names: Vec<String> = ["pk", "sk", "path", "owner", "stale_after", "kept"]
        .into_iter()
        .filter(|name| row.get(name).is_some())
        .map(str::to_owned)
        .collect();
    assert_eq!(names, ["pk", "sk", "path"]);
    assert_eq!(row.get("pk"), Some(AttributeValue::S("scope".into())));
}

#[test]
fn what_is_no_claim_is_not_read_as_one() {
    let store = MemoryStore::default();
    for state in [running(), State::Committed(kept()), State::Cancelled] {
        put(&store, &key("k"), claim(state.clone()));
        let (_, row) = store.items(TableId::CLAIMS).remove(0);
        let mut needed = vec!["state", "fingerprint", "at", "window"];
        match state {
            State::Running { .. } => needed.extend(["owner", "stale_after"]),
            State::Committed(_) => needed.push("kept"),
            State::Cancelled => {}
        }
        for name in needed {
            assert!(Claim::read(&row.retain(|other| other != name)).is_err(), "{name}");
        }
    }
    let odd = |name: &str, value| {
        let (_, row) = store.items(TableId::CLAIMS).remove(0);
        let mut attributes = row.to_attributes();
        attributes.insert(name.into(), value);
        Claim::read(&Item::encode(&attributes))
    };
    assert!(odd("state", AttributeValue::S("finished".into())).is_err());
    assert!(odd("state", AttributeValue::Null).is_err());
    assert!(odd("at", AttributeValue::S("1".into())).is_err());
    assert!(
        odd(
            "at",
            AttributeValue::N(extenddb_core::item::Number::parse("-1").expect("a number"))
        )
        .is_err()
    );
    assert!(odd("fingerprint", AttributeValue::S("1".into())).is_err());
}

fn swept(store: &MemoryStore, now_ms: u64, max: usize) -> usize {
    store.set_now(Timestamp(now_ms));
    run_now(sweep(store, TableId::CLAIMS, Timestamp(now_ms), max)).expect("the memory store answers")
}

/// Only what is over, at most as many as were asked for, and nothing that somebody holds.
#[test]
fn a_sweep_removes_claims_that_are_over() {
    let store = MemoryStore::default();
    store.set_now(Timestamp(AT_MS));
    for sk in ["a", "b", "c", "d"] {
        put(&store, &key(sk), claim(State::Cancelled));
    }
    let long = Claim {
        window: Duration::from_secs(3_600),
        ..claim(State::Committed(kept()))
    };
    put(&store, &key("long"), long);
    assert_eq!(swept(&store, AT_MS + WINDOW_MS - 1, 10), 0);
    store.hold(key("a").item);
    assert_eq!(swept(&store, AT_MS + WINDOW_MS, 3), 2);
    assert_eq!(swept(&store, AT_MS + WINDOW_MS, 3), 1);
    assert_eq!(swept(&store, AT_MS + WINDOW_MS, 3), 0);
    store.release(&key("a").item);
    assert_eq!(swept(&store, AT_MS + WINDOW_MS, 3), 1);
    assert!(read(&store, &key("long")).is_some());
    assert_eq!(store.items(TableId::CLAIMS).len(), 1);
}

/// A store that is busy is asked again another time.
#[test]
fn a_sweep_of_a_busy_store_removes_nothing() {
    let gate = Gate::open(MemoryStore::default());
    gate.store.set_now(Timestamp(AT_MS));
    put(&gate.store, &key("k"), claim(State::Cancelled));
    let now = Timestamp(AT_MS + WINDOW_MS);
    gate.store.set_now(now);
    gate.units.store(true, Relaxed);
    assert_eq!(run_now(sweep(&gate, TableId::CLAIMS, now, 10)), Ok(0));
    gate.units.store(false, Relaxed);
    assert_eq!(run_now(sweep(&gate, TableId::CLAIMS, now, 10)), Ok(1));
}

/// It was found as expired, and is claimed anew before its turn.
#[test]
fn a_sweep_looks_again_under_the_lock() {
    let store = MemoryStore::default();
    store.set_now(Timestamp(AT_MS));
    put(&store, &key("k"), claim(State::Cancelled));
    let renewed = Claim {
        at: Timestamp(AT_MS + WINDOW_MS),
        ..claim(State::Cancelled)
    };
    // The time by which it is found stays: only the claim itself says that it is in use.
    write(&store, &key("k"), move |key, stored| {
        let mut change = key.put(0, stored, &renewed);
        change.keep_for = Some(Duration::ZERO);
        assert!(matches!(change.base, Base::Put(_)));
        change
    });
    assert_eq!(swept(&store, AT_MS + WINDOW_MS, 10), 0);
    assert!(read(&store, &key("k")).is_some());
    assert_eq!(swept(&store, AT_MS + 2 * WINDOW_MS, 10), 1);
}
