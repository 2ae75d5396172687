//! Deadlines for who has one after the other.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use tokio::time::{Instant, Sleep, sleep_until};

/// The deadline has passed.
#[derive(Debug)]
pub(crate) struct Late;

/// A timer that stays set when what it was for is done, and is set anew when it rings: nearly everything is done long
/// before its deadline. To set one and to clear it each time takes locks, and wakes the thread that waits for the next.
pub(crate) struct Alarm(Pin<Box<Sleep>>);

impl Alarm {
    pub(crate) fn new() -> Alarm {
        Alarm(Box::pin(sleep_until(Instant::now())))
    }

    /// What becomes of the work, unless the deadline passes before.
    pub(crate) async fn unless<T>(
        &mut self,
        deadline: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, Late> {
        let mut work = pin!(work);
        if self.0.deadline() > deadline {
            self.0.as_mut().reset(deadline);
        }
        poll_fn(|task| match work.as_mut().poll(task) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.rings(task, deadline).map(Err),
        })
        .await
    }

    fn rings(&mut self, task: &mut Context<'_>, deadline: Instant) -> Poll<Late> {
        while self.0.as_mut().poll(task).is_ready() {
            if deadline <= Instant::now() {
                return Poll::Ready(Late);
            }
            self.0.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        time::Duration,
    };

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_has_its_own_deadline() {
        let mut alarm = Alarm::new();
        let started = Instant::now();
        let after = |seconds| started + Duration::from_secs(seconds);
        assert_eq!(alarm.unless(after(10), ready(1)).await.unwrap(), 1);
        // A later one: the alarm that is set rings in between.
        let work = sleep(Duration::from_secs(1));
        alarm.unless(after(10), work).await.unwrap();
        alarm.unless(after(20), pending::<()>()).await.unwrap_err();
        assert_eq!(Instant::now(), after(20));
        // An earlier one than that which is set.
        alarm
            .unless(after(100), sleep(Duration::from_secs(1)))
            .await
            .unwrap();
        alarm.unless(after(30), pending::<()>()).await.unwrap_err();
        assert_eq!(Instant::now(), after(30));
        // One that has passed does not stop what is ready.
        assert_eq!(alarm.unless(after(5), ready(2)).await.unwrap(), 2);
        alarm.unless(after(5), pending::<()>()).await.unwrap_err();
        assert_eq!(Instant::now(), after(30));
    }
}
