//! Threads that read, each on a connection of its own.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

type Look = Box<dyn FnOnce(&Connection) + Send>;

enum Message {
    Look(Look),
    Stop,
}

pub struct Readers {
    sender: Sender<Message>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Readers {
    pub fn start(connections: Vec<Connection>) -> io::Result<Readers> {
        let (sender, receiver) = mpsc::channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let start = |connection| {
            let receiver = receiver.clone();
            thread::Builder::new()
                .name("sqlite-reader".into())
                .spawn(move || serve(&connection, &receiver))
        };
        let threads = connections.into_iter().map(start).collect::<io::Result<_>>()?;
        Ok(Readers {
            sender,
            threads: Mutex::new(threads),
        })
    }

    /// If they are stopped, `look` is dropped.
    pub fn send(&self, look: Look) {
        let _ = self.sender.send(Message::Look(look));
    }

    /// Ends the threads, and their connections with them.
    pub fn stop(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for _ in &threads {
            let _ = self.sender.send(Message::Stop);
        }
        for thread in threads {
            let _ = thread.join();
        }
    }
}

fn serve(connection: &Connection, receiver: &Mutex<Receiver<Message>>) {
    loop {
        // Only waiting happens under the lock.
        let message = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match message {
            Ok(Message::Look(look)) => {
                if catch_unwind(AssertUnwindSafe(|| look(connection))).is_err() {
                    tracing::error!("a look-up panicked");
                }
            }
            Ok(Message::Stop) | Err(_) => return,
        }
    }
}
