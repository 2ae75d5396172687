//! Who may call, and as whom the work is done. Functions are SECURITY INVOKER: they ask whether the caller has the
//! rights of a role, then work as `ddb_owner`, which owns everything and cannot log in.

use std::ffi::CStr;

use extenddb_core::operation::Operation;
use pgrx::pg_sys;

use crate::raise::{INSUFFICIENT_PRIVILEGE, INTERNAL_ERROR, Raise};

/// What a call needs. Each role has the rights of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    Read,
    Write,
    Admin,
    /// To name the account and the principal a request is made for.
    Proxy,
}

impl Right {
    pub fn of(operation: Operation) -> Right {
        if operation.writes_tables() {
            Right::Admin
        } else if operation.writes_items() {
            Right::Write
        } else {
            Right::Read
        }
    }

    fn role(self) -> &'static CStr {
        match self {
            Self::Read => c"ddb_read",
            Self::Write => c"ddb_write",
            Self::Admin => c"ddb_admin",
            Self::Proxy => c"ddb_proxy",
        }
    }

    /// Whether the caller has the right: a superuser, or a member of the role.
    pub fn held(self) -> bool {
        // SAFETY: syscache look-ups inside a transaction.
        unsafe {
            let role = pg_sys::get_role_oid(self.role().as_ptr(), true);
            let caller = pg_sys::GetUserId();
            if role == pg_sys::InvalidOid {
                pg_sys::superuser_arg(caller)
            } else {
                pg_sys::has_privs_of_role(caller, role)
            }
        }
    }

    /// `what` completes "permission denied for".
    pub fn require(self, what: impl std::fmt::Display) -> Result<(), Raise> {
        if self.held() {
            return Ok(());
        }
        let role = self.role().to_string_lossy();
        Err(
            Raise::new(INSUFFICIENT_PRIVILEGE, format!("permission denied for {what}"))
                .detail(format!("It needs the rights of role {role}."))
                .hint(format!("GRANT {role} TO the role that calls.")),
        )
    }
}

/// While it lives, SQL runs as `ddb_owner`. Dropping it, on the way of an error too, makes the caller current again;
/// an aborted transaction would restore the caller as well.
struct AsOwner {
    caller: pg_sys::Oid,
    context: i32,
}

impl AsOwner {
    fn new() -> Result<AsOwner, Raise> {
        // SAFETY: a look-up, then the same calls that PostgreSQL makes for maintenance on behalf of an owner.
        unsafe {
            let owner = pg_sys::get_role_oid(c"ddb_owner".as_ptr(), true);
            if owner == pg_sys::InvalidOid {
                return Err(Raise::new(INTERNAL_ERROR, "role ddb_owner does not exist")
                    .hint("CREATE EXTENSION extenddb makes it; it must not be dropped or renamed."));
            }
            let (mut caller, mut context) = (pg_sys::InvalidOid, 0);
            pg_sys::GetUserIdAndSecContext(&mut caller, &mut context);
            // The first flag forbids SET ROLE meanwhile, the second whatever would outlive the change of user.
            let flags = pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION;
            pg_sys::SetUserIdAndSecContext(owner, context | flags as i32);
            Ok(AsOwner { caller, context })
        }
    }
}

impl Drop for AsOwner {
    fn drop(&mut self) {
        // SAFETY: sets two variables, raises nothing.
        unsafe { pg_sys::SetUserIdAndSecContext(self.caller, self.context) }
    }
}

/// Runs `work` as `ddb_owner`. Ask for the caller's right first: inside, `GetUserId` is the owner.
pub fn as_owner<T>(work: impl FnOnce() -> T) -> Result<T, Raise> {
    let _owner = AsOwner::new()?;
    Ok(work())
}
