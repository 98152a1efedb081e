//! What another thread may see and do while a run is going on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::clock;

/// Shared between a run and its onlookers: live counters out, a cancel flag in.
#[derive(Debug, Default)]
pub struct Monitor {
    cancelled: AtomicBool,
    ok: AtomicU64,
    errors: AtomicU64,
    started_ns: AtomicU64,
    opened: AtomicU64,
}

/// A run at one moment; counters lag by up to 100 ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot {
    /// Right answers in the recorded window so far.
    pub ok: u64,
    /// Requests answered wrongly or not at all in the recorded window so far.
    pub errors: u64,
    /// Seconds since the run started, warm-up included; 0 before.
    pub elapsed_s: f64,
}

impl Monitor {
    /// Ends the run within about 50 ms; what was measured is reported as usual.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    /// How far the run has come.
    pub fn snapshot(&self) -> Snapshot {
        let started_ns = self.started_ns.load(Relaxed);
        let elapsed_ns = if started_ns == 0 { 0 } else { clock::now_ns().saturating_sub(started_ns) };
        Snapshot {
            ok: self.ok.load(Relaxed),
            errors: self.errors.load(Relaxed),
            elapsed_s: elapsed_ns as f64 / clock::SECOND_NS as f64,
        }
    }

    /// Connections that were open before the run started, if it opens them first; so far, until it starts.
    pub fn opened(&self) -> u64 {
        self.opened.load(Relaxed)
    }

    pub(crate) fn open(&self, more: u64) {
        self.opened.fetch_add(more, Relaxed);
    }

    pub(crate) fn start(&self, now_ns: u64) {
        self.started_ns.store(now_ns, Relaxed);
    }

    pub(crate) fn add(&self, ok: u64, errors: u64) {
        self.ok.fetch_add(ok, Relaxed);
        self.errors.fetch_add(errors, Relaxed);
    }
}
