//! A connection that wakes itself while it is polled is polled again at once.
//!
//! A request's body goes from the connection to whoever answers the request, both in one task, and to take it wakes the
//! connection: once a request, within its own poll. The runtime takes that for work that another of its threads might do, and
//! wakes one for it, which costs more than many an answer.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Polls at one wake of the task. What wakes itself further on takes turns with other tasks.
const POLLS: usize = 2;

pub async fn repolled<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut own: Option<(Arc<Wakes>, Waker)> = None;
    poll_fn(|task| {
        let known = own.take().filter(|(wakes, _)| wakes.task.will_wake(task.waker()));
        let (wakes, waker) = own.insert(known.unwrap_or_else(|| Wakes::of(task.waker())));
        for _ in 0..POLLS {
            wakes.state.swap(POLLED, Ordering::AcqRel);
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(output);
            }
            if wakes.state.swap(0, Ordering::AcqRel) & WOKEN == 0 {
                return Poll::Pending;
            }
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

const POLLED: u8 = 1;
const WOKEN: u8 = 2;

struct Wakes {
    task: Waker,
    state: AtomicU8,
}

impl Wakes {
    fn of(task: &Waker) -> (Arc<Wakes>, Waker) {
        let wakes = Arc::new(Wakes {
            task: task.clone(),
            state: AtomicU8::new(0),
        });
        (wakes.clone(), wakes.into())
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// Always writes, so that who polls again sees all that was done before any of the wakes.
    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(WOKEN, Ordering::AcqRel) & POLLED == 0 {
            self.task.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, thread};

    use super::*;

    #[derive(Default)]
    struct Task(Mutex<usize>);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
        }
    }

    /// Polls once; how often the task has been woken since then.
    fn poll_once<F: Future>(future: F) -> (Poll<F::Output>, usize) {
        let task = Arc::<Task>::default();
        let polled = pin!(repolled(future)).poll(&mut Context::from_waker(&task.clone().into()));
        let woken = *task.0.lock().unwrap();
        (polled, woken)
    }

    /// Wakes itself so often, then is done.
    fn wakes_itself(times: usize) -> impl Future<Output = usize> {
        let mut polls = 0;
        poll_fn(move |task| {
            polls += 1;
            if polls > times {
                return Poll::Ready(polls);
            }
            task.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[test]
    fn what_wakes_itself_once_is_polled_again_without_the_runtime() {
        assert_eq!(poll_once(wakes_itself(0)), (Poll::Ready(1), 0));
        assert_eq!(poll_once(wakes_itself(1)), (Poll::Ready(2), 0));
    }

    #[test]
    fn what_goes_on_waking_itself_takes_turns_with_other_tasks() {
        assert_eq!(poll_once(wakes_itself(100)), (Poll::Pending, 1));
    }

    #[test]
    fn what_waits_is_woken_from_elsewhere_while_it_is_polled_and_after() {
        let kept = Arc::new(Mutex::new(None::<Waker>));
        let keeps = kept.clone();
        let mut polls = 0;
        let waits = poll_fn(move |task| {
            polls += 1;
            match polls {
                1 => {
                    let waker = task.waker().clone();
                    thread::spawn(move || waker.wake()).join().unwrap();
                }
                _ => *keeps.lock().unwrap() = Some(task.waker().clone()),
            }
            Poll::<()>::Pending
        });
        let task = Arc::<Task>::default();
        let waker = task.clone().into();
        let mut waits = pin!(repolled(waits));
        for rounds in 1..3 {
            assert!(waits.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            assert_eq!(*task.0.lock().unwrap(), rounds - 1);
            kept.lock().unwrap().take().unwrap().wake();
            assert_eq!(*task.0.lock().unwrap(), rounds);
        }
    }

    /// A wake that were lost would hang it.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_wake_is_lost_between_threads() {
        for _ in 0..200 {
            let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
            let receiving = tokio::spawn(repolled(async move {
                let mut received = 0;
                while receiver.recv().await.is_some() {
                    received += 1;
                }
                received
            }));
            for number in 0..100 {
                sender.send(number).await.unwrap();
            }
            drop(sender);
            assert_eq!(receiving.await.unwrap(), 100);
        }
    }
}
