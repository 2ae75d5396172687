//! Locks: on the storage of tables, and on keys.
//!
//! The right to write a key, present or absent, is a lock in a key space of our own beside the application's
//! `pg_advisory_lock`: in memory only, held to the end of the transaction, released after its commit is visible.
//! What is held is never remembered here, for a savepoint's rollback releases it: PostgreSQL is asked.

use std::{
    cell::Cell,
    ffi::CString,
    time::{Duration, Instant},
};

use extenddb_core::{
    item::ItemKey,
    store::StoreError,
    table::{TableId, TableName},
};
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::{
    guc::{lock_escalation, lock_timeout},
    spi,
    subtransaction::subtransaction,
};

/// Field 4 of an advisory lock's tag: 1 and 2 are the application's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Class {
    /// Keys of the system tables; tokens are locked before items.
    Token = 3,
    Key = 4,
    /// The name of a table, by whoever creates or changes it.
    Name = 5,
    /// The figures of a table, by whoever measures them.
    Statistics = 6,
}

/// What is locked, in the order in which everybody locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    class: Class,
    hash: u64,
}

/// The first id that is not a system table's.
pub const FIRST_ITEM_TABLE: TableId = TableId(2);

impl Tag {
    pub fn of_key(key: &ItemKey) -> Tag {
        let class = if key.table < FIRST_ITEM_TABLE {
            Class::Token
        } else {
            Class::Key
        };
        let table = key.table.0.to_le_bytes();
        let pk_bytes = (key.pk.len() as u32).to_le_bytes();
        Tag {
            class,
            hash: hash(&[&table, &pk_bytes, &key.pk, &key.sk]),
        }
    }

    pub fn of_name(name: &TableName) -> Tag {
        Tag {
            class: Class::Name,
            hash: hash(&[name.account.0.as_bytes(), name.name.as_bytes()]),
        }
    }

    pub fn of_statistics(table: TableId) -> Tag {
        Tag {
            class: Class::Statistics,
            hash: table.0 as u64,
        }
    }

    fn locktag(self) -> pg_sys::LOCKTAG {
        pg_sys::LOCKTAG {
            // SAFETY: set when the backend connected to its database.
            locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field2: (self.hash >> 32) as u32,
            locktag_field3: self.hash as u32,
            locktag_field4: self.class as u16,
            locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
            locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
        }
    }
}

/// FNV-1a with a finaliser; the same in every build, for backends of two builds lock against each other.
fn hash(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.iter().copied().flatten() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// The name of a lock, as answers tell it: whoever was refused for it may ask to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockName(pub u64);

impl LockName {
    pub fn of_key(key: &ItemKey) -> LockName {
        LockName(Tag::of_key(key).hash)
    }

    pub fn of_relation(oid: pg_sys::Oid) -> LockName {
        LockName(hash(&[b"relation", &oid.to_u32().to_le_bytes()]))
    }
}

/// How long one call may still wait for locks, all its waits together, and for which.
#[derive(Clone, Debug)]
pub struct Patience {
    left: Cell<Duration>,
    waits: Waits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    All,
    One { lock: LockName, for_each: bool },
    Nothing,
}

/// A lock was not had in time, or waiting for it would have been a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotHad;

/// Why a wait ended without its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Timeout,
    Deadlock,
}

impl Patience {
    pub fn of_a_call() -> Patience {
        Self::up_to(lock_timeout())
    }

    /// Waits for whatever is held, this long in all.
    pub fn up_to(time: Duration) -> Patience {
        Patience {
            left: Cell::new(time),
            waits: Waits::All,
        }
    }

    /// Waits for this lock and for no other. `for_each`: there are several requests, and where another lock is held some
    /// of them may be done all the same.
    pub fn for_one(lock: LockName, up_to: Duration, for_each: bool) -> Patience {
        Patience {
            left: Cell::new(up_to),
            waits: Waits::One { lock, for_each },
        }
    }

    pub fn none() -> Patience {
        Patience {
            left: Cell::new(Duration::ZERO),
            waits: Waits::Nothing,
        }
    }

    fn allows(&self, lock: LockName) -> bool {
        match self.waits {
            Waits::All => true,
            Waits::One { lock: wanted, .. } => wanted == lock,
            Waits::Nothing => false,
        }
    }

    /// Whether it makes sense to wait for others though this lock was not had.
    fn goes_on_without(&self, lock: LockName) -> bool {
        matches!(self.waits, Waits::One { lock: wanted, for_each: true } if wanted != lock)
    }

    /// What a lock that was not had means to the request that wanted it. `None`: everything was waited for, and that has
    /// ended. Whoever waits for one lock is told of it though its wait has ended: others may have more time.
    pub fn held(&self, lock: LockName) -> Option<StoreError> {
        (self.waits != Waits::All).then_some(StoreError::Held(lock.0))
    }

    fn refusal(&self, lock: LockName) -> StoreError {
        self.held(lock).unwrap_or(StoreError::Busy)
    }

    fn left(&self) -> Option<Duration> {
        Some(self.left.get()).filter(|left| !left.is_zero())
    }

    fn spend(&self, since: Instant) {
        self.left.set(self.left.get().saturating_sub(since.elapsed()));
    }
}

thread_local! {
    /// (transaction, key locks taken in it). Too high after a savepoint's rollback, which only escalates earlier.
    static TAKEN: Cell<(u32, usize)> = const { Cell::new((0, 0)) };
    /// Those of them that the running call took.
    static LOCKED_BY_CALL: Cell<usize> = const { Cell::new(0) };
}

/// Takes the locks of these keys in their order; answers for each whether it was had. After the first that was not,
/// the rest are only tried, where none of them is of use without it. Past [`lock_escalation`] locks in a transaction the whole table is locked instead: lock
/// memory is finite and shared by the cluster. `storage` finds a table's OID.
pub fn lock_keys(
    keys: &[&ItemKey],
    patience: &Patience,
    storage: impl Fn(TableId) -> Option<pg_sys::Oid>,
) -> Vec<bool> {
    let mut order: Vec<(Tag, usize)> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| (Tag::of_key(key), place))
        .collect();
    order.sort_unstable();
    let mut had = vec![false; keys.len()];
    let mut all_had = true;
    let mut previous: Option<(Tag, bool)> = None;
    LOCKED_BY_CALL.set(0);
    for (tag, place) in order {
        had[place] = match previous {
            Some((same, answer)) if same == tag => answer,
            _ => lock_key(
                tag,
                keys[place].table,
                &storage,
                Some(patience).filter(|_| all_had),
            ),
        };
        previous = Some((tag, had[place]));
        all_had &= had[place] || patience.goes_on_without(LockName(tag.hash));
    }
    had
}

fn lock_key(
    tag: Tag,
    table: TableId,
    storage: &impl Fn(TableId) -> Option<pg_sys::Oid>,
    patience: Option<&Patience>,
) -> bool {
    let transaction = transaction();
    let (of, taken) = TAKEN.get();
    let taken = if of == transaction { taken } else { 0 };
    if taken >= lock_escalation()
        && !held(&tag.locktag(), pg_sys::ExclusiveLock)
        && let Some(oid) = storage(table)
    {
        let patience = patience.filter(|patience| patience.allows(LockName(tag.hash)));
        return whole_table_held(oid) || lock_whole_table(oid, patience).is_ok();
    }
    let had = match acquire(tag, false) {
        pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL => {
            let patience = patience.filter(|patience| patience.allows(LockName(tag.hash)));
            patience.is_some_and(|patience| wait_for_key(tag, taken, patience).is_ok())
        }
        pg_sys::LockAcquireResult::LOCKACQUIRE_OK => true,
        _already_held => return true,
    };
    if had {
        TAKEN.set((transaction, taken + 1));
        LOCKED_BY_CALL.set(LOCKED_BY_CALL.get() + 1);
    }
    had
}

/// Waits for the lock of a key. What a deadlock means depends on what this transaction holds (`taken` key locks, and more
/// once it has written): where earlier statements hold it, an answer would not let it go, so the caller gets the
/// ERROR, as with rows. A call by itself takes its locks in everybody's order: holding some, it gives way, and its answer
/// ends the transaction; holding none, it is in another's circle only by its place in the queue, and waits on.
fn wait_for_key(tag: Tag, taken: usize, patience: &Patience) -> Result<(), NotHad> {
    // SAFETY: this transaction's own state.
    let has_written = unsafe { pg_sys::GetTopTransactionIdIfAny() } != pg_sys::InvalidTransactionId;
    loop {
        match try_wait(patience, || lock(tag)) {
            Ok(()) => return Ok(()),
            Err(Refusal::Timeout) => return Err(NotHad),
            Err(Refusal::Deadlock) if has_written || taken > LOCKED_BY_CALL.get() => spi::raise(
                PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED,
                "deadlock detected: another transaction waits for what earlier statements of this one hold",
            ),
            Err(Refusal::Deadlock) if taken > 0 => return Err(NotHad),
            Err(Refusal::Deadlock) => {}
        }
    }
}

/// Everybody else's writes of this table end here. After a first turn, which sends an autovacuum away,
/// `deadlock_timeout` is raised above the wait: two transactions with key locks that escalate on one table do wait for
/// each other, and the first to look would be the victim.
fn lock_whole_table(oid: pg_sys::Oid, patience: Option<&Patience>) -> Result<(), NotHad> {
    if try_lock_relation(oid, pg_sys::ShareRowExclusiveLock) {
        return Ok(());
    }
    let patience = patience.ok_or(NotHad)?;
    let take = || lock_relation(oid, pg_sys::ShareRowExclusiveLock);
    wait_a_turn(patience, take).or_else(|NotHad| {
        wait(patience, || {
            set_for_subtransaction("deadlock_timeout", lock_timeout() + Duration::from_secs(1));
            take();
        })
    })
}

fn whole_table_held(oid: pg_sys::Oid) -> bool {
    let tag = pg_sys::LOCKTAG {
        // SAFETY: as in `Tag::locktag`.
        locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
        locktag_field2: oid.to_u32(),
        locktag_field3: 0,
        locktag_field4: 0,
        locktag_type: pg_sys::LockTagType::LOCKTAG_RELATION as u8,
        locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
    };
    [
        pg_sys::ShareRowExclusiveLock,
        pg_sys::ExclusiveLock,
        pg_sys::AccessExclusiveLock,
    ]
    .into_iter()
    .any(|mode| held(&tag, mode))
}

fn held(tag: &pg_sys::LOCKTAG, mode: u32) -> bool {
    // SAFETY: looks into this backend's own lock table.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        return pg_sys::LockHeldByMe(tag, mode as i32);
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        return pg_sys::LockHeldByMe(tag, mode as i32, false);
    }
}

/// Takes a lock to the end of the transaction, without waiting.
pub fn try_lock(tag: Tag) -> bool {
    acquire(tag, false) != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

/// Takes a lock to the end of the transaction, waiting as long as it takes: call it in [`wait`].
fn lock(tag: Tag) {
    acquire(tag, true);
}

/// Takes the lock of a name or of figures, as long as patience lasts.
pub fn lock_patiently(tag: Tag, patience: &Patience) -> Result<(), NotHad> {
    if try_lock(tag) {
        Ok(())
    } else {
        wait(patience, || lock(tag))
    }
}

fn acquire(tag: Tag, waiting: bool) -> pg_sys::LockAcquireResult::Type {
    // SAFETY: an advisory lock of this database.
    unsafe { pg_sys::LockAcquire(&tag.locktag(), pg_sys::ExclusiveLock as i32, false, !waiting) }
}

/// Takes a lock on a table to the end of the transaction, as long as patience lasts, and lets in the invalidations
/// that came before it. The OID need not be of a table any more.
pub fn lock_relation_patiently(oid: pg_sys::Oid, mode: u32, patience: &Patience) -> Result<(), StoreError> {
    if try_lock_relation(oid, mode) {
        return Ok(());
    }
    let lock = LockName::of_relation(oid);
    if !patience.allows(lock) {
        return Err(patience.refusal(lock));
    }
    wait(patience, || lock_relation(oid, mode)).map_err(|NotHad| patience.refusal(lock))
}

fn try_lock_relation(oid: pg_sys::Oid, mode: u32) -> bool {
    // SAFETY: only takes the lock; nothing is opened.
    unsafe { pg_sys::ConditionalLockRelationOid(oid, mode as i32) }
}

/// A lock that other transactions queue behind while it waits (a change of a table): short waits with pauses between.
pub fn wait_in_turns(patience: &Patience, take: impl Fn()) -> Result<(), NotHad> {
    const PAUSE: Duration = Duration::from_millis(50);
    while wait_a_turn(patience, &take).is_err() {
        let started = Instant::now();
        patience.left().ok_or(NotHad)?;
        std::thread::sleep(PAUSE);
        patience.spend(started);
        pgrx::check_for_interrupts!();
    }
    Ok(())
}

/// A short wait. An autovacuum that holds the lock gives way to whoever looks for a deadlock, so that is done early: it
/// may be at a large table for hours. A deadlock that is found costs this turn only.
fn wait_a_turn(patience: &Patience, take: impl FnOnce()) -> Result<(), NotHad> {
    const TURN: Duration = Duration::from_millis(200);
    const LOOK_FOR_DEADLOCKS: Duration = Duration::from_millis(20);
    let started = Instant::now();
    let left = patience.left().ok_or(NotHad)?;
    let turn = Patience {
        left: Cell::new(left.min(TURN)),
        waits: patience.waits,
    };
    let outcome = wait(&turn, || {
        set_for_subtransaction("deadlock_timeout", LOOK_FOR_DEADLOCKS);
        take();
    });
    patience.spend(started);
    outcome
}

pub fn lock_relation(oid: pg_sys::Oid, mode: u32) {
    // SAFETY: only takes the lock; nothing is opened.
    unsafe { pg_sys::LockRelationOid(oid, mode as i32) }
}

/// Takes one lock in a subtransaction of its own, waiting as long as patience lasts. A failed wait releases every lock
/// of its subtransaction, hence one each; it assigns no transaction id.
pub fn wait(patience: &Patience, take: impl FnOnce()) -> Result<(), NotHad> {
    try_wait(patience, take).map_err(|_| NotHad)
}

fn try_wait(patience: &Patience, take: impl FnOnce()) -> Result<(), Refusal> {
    let Some(left) = patience.left() else {
        return Err(Refusal::Timeout);
    };
    let not_had = [
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
        PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED,
    ];
    let started = Instant::now();
    let outcome = subtransaction(&not_had, || {
        set_for_subtransaction("lock_timeout", left);
        take();
    });
    patience.spend(started);
    outcome.map_err(|code| match code {
        PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED => Refusal::Deadlock,
        _ => Refusal::Timeout,
    })
}

/// Undone at the subtransaction's end. With the right of a superuser, which the owner of the tables is not.
fn set_for_subtransaction(setting: &str, value: Duration) {
    let name = CString::new(setting).expect("a setting's name");
    let value_ms = value.as_millis().clamp(1, i32::MAX as u128);
    let value = CString::new(value_ms.to_string()).expect("digits");
    // SAFETY: both strings outlive the call.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}

/// The number of this backend's transaction.
fn transaction() -> u32 {
    // SAFETY: this backend's own entry.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        return (*pg_sys::MyProc).lxid;
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        return (*pg_sys::MyProc).vxid.lxid;
    }
}
