//! Opening all connections of a closed loop before its clock starts.

use std::io::ErrorKind;
use std::time::Duration;

use mio::Events;

use super::{Worker, EVENTS, WAKE_NS};
use crate::clock;
use crate::error::RunError;
use crate::gate::Gate;
use crate::timer::TIMER;

/// Opening connections before a run takes no longer than so many times the patience for each.
const PATIENCES: u64 = 6;
/// Connections that are being opened at once, before a run.
const OPENING: usize = 128;

impl<'a> Worker<'a> {
    /// Opens all connections of a closed loop, waits at the gate for the other threads, and starts the clock anew.
    pub fn opened_first(mut self, gate: &Gate) -> Result<Worker<'a>, RunError> {
        let opened = self.open_all();
        let start_ns = gate.pass(self.thread.monitor);
        opened?;
        self.thread.start_ns = start_ns;
        let (thread, mut books) = (&self.thread, self.thread.books());
        books.connections = std::mem::take(&mut self.books.connections);
        books.connections.opened_first = true;
        self.requests = thread.deadlines(thread.plan.timeout_ns);
        self.openings = thread.plan.connect_timeout_ns.map(|limit_ns| thread.deadlines(limit_ns));
        self.books = books;
        Ok(self)
    }

    /// Opens connections, some at a time so that the server's queue of them does not overflow, until all are open or
    /// none was for so long that no more will be.
    fn open_all(&mut self) -> Result<(), RunError> {
        let mut events = Events::with_capacity(EVENTS);
        let patience_ns = self.thread.plan.open_first_ns.unwrap_or(0);
        let last_ns = clock::now_ns() + PATIENCES * patience_ns;
        let (mut progress_ns, mut asked, mut open) = (clock::now_ns(), 0, 0);
        let mut opening = Vec::new();
        while !self.thread.monitor.is_cancelled() && clock::now_ns() < last_ns.min(progress_ns + patience_ns) {
            let now_ns = clock::now_ns();
            while asked < self.connections.len() && opening.len() < OPENING {
                self.with_context(asked, |connection, context| connection.open_ahead(now_ns, context));
                opening.push(asked);
                asked += 1;
            }
            let before = opening.len();
            opening.retain(|&index| self.connections[index].opening_since_ns().is_some());
            if opening.len() < before {
                progress_ns = clock::now_ns();
                let now_open = self.books.connections.established;
                self.thread.monitor.open(now_open.saturating_sub(open));
                open = now_open.max(open);
                continue;
            }
            if asked == self.connections.len() && opening.is_empty() {
                break;
            }
            match self.poll.poll(&mut events, Some(Duration::from_nanos(WAKE_NS))) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(RunError::Poll(error)),
                _ => {}
            }
            for event in events.iter().filter(|event| event.token() != TIMER) {
                self.with_context(event.token().0, |connection, context| connection.ready(event.into(), context));
            }
        }
        Ok(())
    }
}
