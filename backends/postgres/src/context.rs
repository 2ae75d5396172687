//! What a request's context says about waiting for locks.

use std::{fmt::Write, time::Duration};

use tokio::time::Instant;

use crate::batch::Waiting;

/// Which locks a call may wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waits<'a> {
    /// None: what finds one held is not done.
    ForNone,
    /// This one, as long as the request has patience.
    For(&'a str),
    /// None any more: what finds one held is a conflict.
    NoLonger,
    /// Whatever it meets, as long as the request has patience.
    ForAll,
}

/// The name of no lock.
const NO_LOCK: &str = "0000000000000000";

/// Patience that ends this soon after the first one's ends with it: another call is not worth it.
pub(crate) const SOON: Duration = Duration::from_millis(100);

impl Waits<'_> {
    /// The context of a request that met no lock yet.
    pub fn said_at_first(self, context: &str) -> String {
        self.said(context, None)
    }

    pub fn said_in(self, request: &Waiting) -> String {
        let left = request
            .patience
            .map(|patience| patience.saturating_duration_since(Instant::now()));
        self.said(&request.context, left)
    }

    fn said(self, context: &str, left: Option<Duration>) -> String {
        let (tag, left) = match self {
            Self::ForNone => (Some(NO_LOCK), left),
            Self::For(lock) => (Some(lock), left),
            Self::NoLonger => (Some(NO_LOCK), Some(Duration::ZERO)),
            Self::ForAll => (None, left),
        };
        let mut said = String::with_capacity(context.len() + 64);
        said.push('{');
        // Writing to a string cannot fail.
        if let Some(tag) = tag {
            let _ = write!(said, r#""waitTag":"{tag}","#);
        }
        if let Some(left) = left {
            let _ = write!(said, r#""waitMs":{},"#, left.as_millis());
        }
        let rest = context.strip_prefix('{').unwrap_or("}");
        if rest.trim_start().starts_with('}') && said.ends_with(',') {
            said.pop();
        }
        said.push_str(rest);
        said
    }
}

/// The contexts of requests that travel together; the first has the least patience.
pub(crate) fn in_context(batch: &[Waiting], waits: Waits<'_>) -> Vec<String> {
    let now = Instant::now();
    let first = batch.first().and_then(|request| request.patience);
    let left = |request: &Waiting| {
        let patience = match (request.patience?, first) {
            (own, Some(first)) if own <= first + SOON => first.min(own),
            (own, _) => own,
        };
        Some(patience.saturating_duration_since(now))
    };
    batch
        .iter()
        .map(|request| waits.said(&request.context, left(request)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_says_what_may_be_waited_for() {
        assert_eq!(
            Waits::ForNone.said_at_first("{}"),
            r#"{"waitTag":"0000000000000000"}"#
        );
        let (context, left) = (r#"{"account":"000000000000"}"#, Some(Duration::from_millis(1500)));
        assert_eq!(
            Waits::For("00000000000000ff").said(context, left),
            r#"{"waitTag":"00000000000000ff","waitMs":1500,"account":"000000000000"}"#
        );
        assert_eq!(
            Waits::NoLonger.said(context, left),
            r#"{"waitTag":"0000000000000000","waitMs":0,"account":"000000000000"}"#
        );
        assert_eq!(Waits::ForAll.said("{ }", left), r#"{"waitMs":1500 }"#);
        assert_eq!(Waits::ForAll.said("{}", None), "{}");
    }
}
