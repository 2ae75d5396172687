//! The server's clock.

use extenddb_core::write::Timestamp;
use pgrx::pg_sys;

/// The wall clock, not the transaction's start.
pub fn now() -> Timestamp {
    // SAFETY: reads the clock.
    let since_2000_us = unsafe { pg_sys::GetCurrentTimestamp() };
    const FROM_1970_TO_2000_MS: i64 = 946_684_800_000;
    Timestamp(u64::try_from(since_2000_us / 1_000 + FROM_1970_TO_2000_MS).unwrap_or(0))
}
