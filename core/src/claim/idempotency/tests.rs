//! Every way through the automaton, with the clock in hand.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::{claim::sweep_all, engine::run_now, store_suite::MemoryStore};

const START_MS: u64 = 1_791_500_965_303;
const MINUTE_US: i128 = 60_000_000;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A store, its clock, and the name of the next attempt.
struct Application {
    store: MemoryStore,
    now_ms: u64,
    attempts: u8,
}

impl Application {
    fn new() -> Application {
        let application = Application {
            store: MemoryStore::default(),
            now_ms: START_MS,
            attempts: 0,
        };
        application.store.set_now(Timestamp(START_MS));
        application
    }

    fn pass(&mut self, ms: u64) {
        self.now_ms += ms;
        self.store.set_now(Timestamp(self.now_ms));
    }

    /// The outcome, and the name of this attempt.
    fn claim_for(&mut self, fingerprint: &str, stale_after_us: i128) -> (Claimed, String) {
        self.attempts += 1;
        let attempt = Attempt::new(fingerprint.as_bytes(), stale_after_us, [self.attempts; 16]).unwrap();
        let token = attempt.claim.clone();
        let now = Timestamp(self.now_ms);
        (run_now(claim(&self.store, &key(), attempt, now)).unwrap(), token)
    }

    fn claim(&mut self, fingerprint: &str) -> Claimed {
        self.claim_for(fingerprint, MINUTE_US).0
    }

    /// The token of an attempt that may go ahead.
    fn go(&mut self, fingerprint: &str) -> String {
        let (claimed, token) = self.claim_for(fingerprint, MINUTE_US);
        assert_eq!(claimed, Claimed::Go);
        token
    }

    fn complete(&self, token: &str, body: &str) -> bool {
        let hour = Duration::from_secs(60 * 60);
        run_now(complete(
            &self.store,
            &key(),
            token.to_owned(),
            response(body),
            hour,
        ))
        .unwrap()
    }

    fn release(&self, token: &str) -> bool {
        run_now(release(&self.store, &key(), token.to_owned())).unwrap()
    }

    fn sweep(&self) -> usize {
        run_now(sweep_all(&self.store, Timestamp(self.now_ms), 1000)).unwrap()
    }

    fn rows(&self) -> usize {
        self.store.items(TableId::CLAIMS).len()
    }
}

fn key() -> IdempotencyKey {
    IdempotencyKey::new("tenant-1", "POST", "/orders", "k1").unwrap()
}

fn response(body: &str) -> Response {
    Response::new(201, "{\"A\": 1}", body.as_bytes(), Some(b"digest")).unwrap()
}

#[test]
fn the_first_goes_and_the_same_request_waits_while_another_is_refused() {
    let mut app = Application::new();
    app.go("f");
    assert_eq!(app.claim("f"), Claimed::InFlight);
    assert_eq!(app.claim("g"), Claimed::Reused);
}

#[test]
fn a_completed_request_is_replayed_byte_for_byte_and_another_is_refused() {
    let mut app = Application::new();
    let token = app.go("f");
    assert!(app.complete(&token, "made"));
    assert_eq!(app.claim("f"), Claimed::Replay(response("made")));
    assert_eq!(app.claim("g"), Claimed::Reused);
    assert!(!app.complete(&token, "again"), "what is done is not done again");
    assert!(!app.release(&token));
    assert_eq!(app.claim("f"), Claimed::Replay(response("made")));
}

#[test]
fn a_response_is_kept_to_the_last_millisecond_of_its_time() {
    let mut app = Application::new();
    let token = app.go("f");
    app.pass(5_000);
    app.complete(&token, "made");
    // The hour counts from the completion; replays and refusals do not prolong it.
    app.pass(60 * MINUTE_MS - 1);
    assert_eq!(app.claim("f"), Claimed::Replay(response("made")));
    assert_eq!(app.claim("g"), Claimed::Reused);
    app.pass(1);
    assert_eq!(app.claim("g"), Claimed::Go, "the key is free, for any request");
}

#[test]
fn a_released_key_is_free_for_any_request() {
    let mut app = Application::new();
    let token = app.go("f");
    assert!(app.release(&token));
    assert_eq!(app.rows(), 0);
    assert!(!app.release(&token) && !app.complete(&token, "late"));
    assert_eq!(app.claim("g"), Claimed::Go);
}

#[test]
fn a_claim_is_stale_from_the_millisecond_that_its_holder_named() {
    let mut app = Application::new();
    app.go("f");
    app.pass(MINUTE_MS - 1);
    assert_eq!(app.claim("f"), Claimed::InFlight);
    app.pass(1);
    assert_eq!(
        app.claim("g"),
        Claimed::Reused,
        "stale, but not for another request"
    );
    assert_eq!(app.claim("f"), Claimed::Go);
    assert_eq!(
        app.claim("f"),
        Claimed::InFlight,
        "the new holder has its own minute"
    );
    app.pass(MINUTE_MS - 1);
    assert_eq!(app.claim("f"), Claimed::InFlight);
}

#[test]
fn what_the_holder_named_counts_not_what_the_next_attempt_would_like() {
    let mut app = Application::new();
    app.claim_for("f", 10 * MINUTE_US);
    app.pass(5 * MINUTE_MS);
    assert_eq!(app.claim_for("f", 1_000).0, Claimed::InFlight);
}

/// Pause the first attempt after its claim, let a second take over and finish, resume the first.
#[test]
fn a_holder_that_was_taken_over_changes_nothing() {
    let mut app = Application::new();
    let first = app.go("f");
    app.pass(MINUTE_MS);
    let second = app.go("f");
    assert!(!app.complete(&first, "first"));
    assert!(!app.release(&first));
    assert_eq!(app.claim("f"), Claimed::InFlight, "the second is at it still");
    assert!(app.complete(&second, "second"));
    assert!(!app.complete(&first, "first"));
    assert!(!app.release(&first));
    assert_eq!(app.claim("f"), Claimed::Replay(response("second")));
}

#[test]
fn a_slow_holder_that_nobody_took_over_finishes() {
    let mut app = Application::new();
    let token = app.go("f");
    app.pass(30 * MINUTE_MS);
    assert!(app.complete(&token, "late"));
    assert_eq!(app.claim("f"), Claimed::Replay(response("late")));
}

#[test]
fn a_dead_claim_is_forgotten_a_day_after_it_went_stale() {
    let mut app = Application::new();
    let token = app.go("f");
    app.pass(MINUTE_MS + DAY_MS - 1);
    assert_eq!(app.claim("g"), Claimed::Reused);
    app.pass(1);
    assert!(!app.complete(&token, "too late"), "over, swept or not");
    assert!(!app.release(&token));
    assert_eq!(app.claim("g"), Claimed::Go);
}

#[test]
fn each_part_of_a_key_makes_another_key() {
    let mut app = Application::new();
    app.go("f");
    let others = [
        ["tenant-2", "POST", "/orders", "k1"],
        ["tenant-1", "PUT", "/orders", "k1"],
        ["tenant-1", "POST", "/orders/", "k1"],
        ["tenant-1", "POST", "/orders", "K1"],
    ];
    for [scope, method, path, name] in others {
        let key = IdempotencyKey::new(scope, method, path, name).unwrap();
        let attempt = Attempt::new(b"f", MINUTE_US, [99; 16]).unwrap();
        let claimed = run_now(claim(&app.store, &key, attempt, Timestamp(app.now_ms))).unwrap();
        assert_eq!(claimed, Claimed::Go, "{scope} {method} {path} {name}");
    }
    assert_eq!(app.rows(), 5);
}

#[test]
fn a_row_tells_those_who_look_what_it_is_of() {
    let mut app = Application::new();
    let token = app.go("f");
    let (_, row) = app.store.items(TableId::CLAIMS).remove(0);
    let text = |name| match row.get(name) {
        Some(AttributeValue::S(text)) => text,
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(
        [text("pk"), text("method"), text("path"), text("key")],
        ["tenant-1", "POST", "/orders", "k1"]
    );
    // SHA-256 of `/orders`.
    assert_eq!(
        text("sk"),
        "POST fc7d055239d95d35c93e7767caf840b625547b99b4432b68e8673f4a0c6b137c k1"
    );
    assert_eq!(text("owner"), token);
}

#[test]
fn a_key_that_somebody_has_locked_is_in_flight_and_ends_later() {
    let mut app = Application::new();
    app.store.hold(key().0.item);
    assert_eq!(app.claim("f"), Claimed::InFlight);
    app.store.release(&key().0.item);
    let token = app.go("f");
    app.store.hold(key().0.item);
    let ended = run_now(release(&app.store, &key(), token.clone()));
    assert_eq!(
        ended,
        Err(IdempotencyFault::Busy),
        "held or not: nobody knows yet"
    );
    app.store.release(&key().0.item);
    assert!(app.complete(&token, "made"));
    // A replay waits for nobody.
    app.store.hold(key().0.item);
    assert_eq!(app.claim("f"), Claimed::Replay(response("made")));
}

#[test]
fn a_response_that_fits_is_kept_and_one_byte_more_is_refused() {
    let mut app = Application::new();
    let token = app.go("f");
    let hour = Duration::from_secs(3600);
    let complete_with = |bytes: usize| {
        let response = Response::new(200, "{}", &vec![0; bytes], None).unwrap();
        run_now(complete(&app.store, &key(), token.clone(), response, hour))
    };
    let Err(IdempotencyFault::ResponseSize { over_bytes }) = complete_with(ITEM_MAX_BYTES - 2) else {
        panic!("it leaves no room for the key");
    };
    assert_eq!(
        complete_with(ITEM_MAX_BYTES - 1 - over_bytes),
        Err(IdempotencyFault::ResponseSize { over_bytes: 1 })
    );
    assert_eq!(complete_with(ITEM_MAX_BYTES - 2 - over_bytes), Ok(true));
    let (_, row) = app.store.items(TableId::CLAIMS).remove(0);
    assert_eq!(row.size(), ITEM_MAX_BYTES);
    assert_eq!(
        Response::new(200, "{}", &vec![0; ITEM_MAX_BYTES], None),
        Err(IdempotencyFault::ResponseSize { over_bytes: 2 })
    );
}

#[test]
fn what_is_out_of_bounds_is_named() {
    let text = |fault: IdempotencyFault| fault.text();
    let key = |scope: &str, method: &str, path: &str, key: &str| {
        IdempotencyKey::new(scope, method, path, key)
            .map(drop)
            .map_err(text)
    };
    let long = "é".repeat(513);
    assert_eq!(
        key("", "GET", "/", "k"),
        Err("owner_scope must have 1 to 1024 bytes, this one has 0".into())
    );
    assert_eq!(
        key(&long, "GET", "/", "k"),
        Err("owner_scope must have 1 to 1024 bytes, this one has 1026".into())
    );
    for method in ["", "GET POST", "GÉT", "GET/", &"M".repeat(33)] {
        assert_eq!(
            key("s", method, "/", "k"),
            Err("method must be an HTTP method of 1 to 32 characters".into())
        );
    }
    assert_eq!(
        key("s", "GET", "", "k"),
        Err("path must have 1 to 8192 bytes, this one has 0".into())
    );
    assert_eq!(
        key("s", "GET", &"p".repeat(8193), "k"),
        Err("path must have 1 to 8192 bytes, this one has 8193".into())
    );
    assert_eq!(
        key("s", "GET", "/", &"k".repeat(256)),
        Err("key must have 1 to 255 bytes, this one has 256".into())
    );
    assert_eq!(
        key(
            &"s".repeat(1024),
            &"M".repeat(32),
            &"p".repeat(8192),
            &"k".repeat(255)
        ),
        Ok(())
    );

    let attempt = |bytes: usize, us| Attempt::new(&vec![1; bytes], us, [0; 16]).map(drop).map_err(text);
    assert_eq!(
        attempt(0, MINUTE_US),
        Err("fingerprint must have 1 to 1024 bytes, this one has 0".into())
    );
    assert_eq!(
        attempt(1025, MINUTE_US),
        Err("fingerprint must have 1 to 1024 bytes, this one has 1025".into())
    );
    for us in [i128::MIN, -1, 0, 999, 86_400_000_001, i128::MAX] {
        assert_eq!(
            attempt(32, us),
            Err("stale_after must be from 1 millisecond to 1 day".into()),
            "{us}"
        );
    }
    assert_eq!(
        (attempt(1, 1_000), attempt(1024, 86_400_000_000)),
        (Ok(()), Ok(()))
    );
    assert_eq!(
        keep_for(0).map_err(text),
        Err("keep_for must be from 1 millisecond to 366 days".into())
    );
    assert_eq!(
        keep_for(366 * 86_400_000_000),
        Ok(Duration::from_secs(366 * 86_400))
    );
    assert_eq!(
        keep_for(366 * 86_400_000_000 + 1).map_err(text),
        Err("keep_for must be from 1 millisecond to 366 days".into())
    );

    let response = |status, headers| Response::new(status, headers, b"", None).map(drop).map_err(text);
    for status in [-1, 0, 99, 600, 65_736] {
        let expected = format!("status must be an HTTP status from 100 to 599, not {status}");
        assert_eq!(response(status, "{}"), Err(expected));
    }
    assert_eq!((response(100, " [\"a\"]"), response(599, "{}")), (Ok(()), Ok(())));
    for headers in ["null", "1", "\"a\"", "true"] {
        assert_eq!(
            response(200, headers),
            Err("headers must be a JSON object or array".into())
        );
    }
    assert_eq!(
        Response::new(200, "{}", b"", Some(b"")).map_err(text),
        Err("content_digest must have 1 to 1024 bytes, this one has 0".into())
    );
    for max in [i32::MIN, 0, 10_001] {
        assert_eq!(
            sweep_size(max).map_err(text),
            Err("max must be from 1 to 10000".into())
        );
    }
    assert_eq!((sweep_size(1), sweep_size(10_000)), (Ok(1), Ok(10_000)));
}

#[test]
fn a_row_that_is_no_claim_is_an_error_and_never_an_answer() {
    let app = Application::new();
    let junk = Item::encode(&crate::item::Attributes::from([(
        "pk".to_owned(),
        AttributeValue::S("tenant-1".to_owned()),
    )]));
    let row = key().0;
    let unit = key().unit(move |_| Decision {
        changes: vec![super::super::row::change(&row.item, 0, None, Some(junk.clone()))],
        answer: (),
    });
    run_now(engine::run(&app.store, unit)).unwrap();
    let attempt = Attempt::new(b"f", MINUTE_US, [1; 16]).unwrap();
    let now = Timestamp(app.now_ms);
    assert_eq!(
        run_now(claim(&app.store, &key(), attempt, now)),
        Err(IdempotencyFault::Corrupt)
    );
    assert_eq!(
        run_now(release(&app.store, &key(), "x".into())),
        Err(IdempotencyFault::Corrupt)
    );
}

#[test]
fn the_sweep_takes_what_is_over_and_nothing_else() {
    let mut app = Application::new();
    let token = app.go("f");
    app.complete(&token, "made");
    app.pass(60 * MINUTE_MS - 1);
    assert_eq!((app.sweep(), app.rows()), (0, 1), "one millisecond is left");
    app.pass(1);
    app.store.hold(key().0.item);
    assert_eq!((app.sweep(), app.rows()), (0, 1), "somebody is at it");
    app.store.release(&key().0.item);
    assert_eq!((app.sweep(), app.rows()), (1, 0));
}

/// What a test of the sweep does next.
#[derive(Clone, Debug)]
enum Step {
    Claim { of: u8, brief: bool },
    Complete { by: u8 },
    Release { by: u8 },
    Pass { ms: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let moments = prop::sample::select(vec![
        1,
        999,
        1_000,
        MINUTE_MS - 1,
        MINUTE_MS,
        60 * MINUTE_MS - 1,
        60 * MINUTE_MS,
        DAY_MS - 1,
        DAY_MS,
        DAY_MS + MINUTE_MS,
    ]);
    let step = prop_oneof![
        4 => (0..2_u8, any::<bool>()).prop_map(|(of, brief)| Step::Claim { of, brief }),
        2 => (1..6_u8).prop_map(|by| Step::Complete { by }),
        1 => (1..6_u8).prop_map(|by| Step::Release { by }),
        3 => moments.prop_map(|ms| Step::Pass { ms }),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    /// A sweep at any moment changes no answer.
    #[test]
    fn nobody_can_tell_whether_it_was_swept(steps in steps()) {
        let (mut swept, mut left) = (Application::new(), Application::new());
        for step in steps {
            swept.sweep();
            let did = [&mut swept, &mut left].map(|app| {
                let token = |by: u8| hex(&[app.attempts.saturating_sub(by - 1); 16]);
                match step {
                    Step::Claim { of, brief } => {
                        let stale_after_us = if brief { 1_000_000 } else { MINUTE_US };
                        format!("{:?}", app.claim_for(&of.to_string(), stale_after_us))
                    }
                    Step::Complete { by } => app.complete(&token(by), "made").to_string(),
                    Step::Release { by } => app.release(&token(by)).to_string(),
                    Step::Pass { ms } => {
                        app.pass(ms);
                        String::new()
                    }
                }
            });
            prop_assert_eq!(&did[0], &did[1]);
        }
    }
}
