//! Settings: `extenddb.*`. They exist once the library is loaded, by `shared_preload_libraries` or by the first call.

use std::{ffi::CString, time::Duration};

use extenddb_core::wire::Layer;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum, pg_sys};

static REGION: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"us-east-1"));
static LOCK_TIMEOUT_MS: GucSetting<i32> = GucSetting::<i32>::new(5_000);
static LOCK_ESCALATION: GucSetting<i32> = GucSetting::<i32>::new(1_000);
static VALIDATION_LAYER: GucSetting<ValidationLayer> =
    GucSetting::<ValidationLayer>::new(ValidationLayer::New);

/// Which of DynamoDB's two request layers is spoken.                                        behaviour/wire §layers
#[derive(Clone, Copy, PostgresGucEnum)]
enum ValidationLayer {
    #[name = c"new"]
    New,
    #[name = c"old"]
    Old,
}

pub fn register() {
    // Part of every ARN, so not for a session to choose.
    GucRegistry::define_string_guc(
        c"extenddb.region",
        c"The AWS region that this database serves.",
        c"It stands in the ARNs of tables, indexes and streams.",
        &REGION,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"extenddb.lock_timeout",
        c"How long one call waits for the locks of its items, all waits together.",
        c"A write that does not get its locks in this time answers TransactionConflictException.",
        &LOCK_TIMEOUT_MS,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    // Lock memory is shared by the cluster: not for a session to choose.
    GucRegistry::define_int_guc(
        c"extenddb.lock_escalation",
        c"How many items a transaction locks one by one.",
        c"From then on it locks whole tables of items, because the memory for locks is shared by all sessions.",
        &LOCK_ESCALATION,
        1,
        1_000_000,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"extenddb.validation_layer",
        c"Which of DynamoDB's two request layers words the faults of requests.",
        c"DynamoDB moved from the old to the new one in 2026, region by region.",
        &VALIDATION_LAYER,
        GucContext::Userset,
        GucFlags::default(),
    );
    // SAFETY: called once, from _PG_init.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"extenddb".as_ptr()) };
}

pub fn region() -> String {
    REGION.get().map_or_else(
        || "us-east-1".into(),
        |region| region.to_string_lossy().into_owned(),
    )
}

/// The budget of a call for all of its waits together.
pub fn lock_timeout() -> Duration {
    Duration::from_millis(LOCK_TIMEOUT_MS.get().max(1) as u64)
}

/// Key locks that a transaction holds before it locks whole tables.
pub fn lock_escalation() -> usize {
    LOCK_ESCALATION.get().max(1) as usize
}

pub fn validation_layer() -> Layer {
    match VALIDATION_LAYER.get() {
        ValidationLayer::New => Layer::New,
        ValidationLayer::Old => Layer::Old,
    }
}
