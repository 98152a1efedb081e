//! The one clock of a run: CLOCK_MONOTONIC in nanoseconds.
//!
//! The wall clock is asked once, to judge the Date of answers. Only the event loop reads the clock. Everything that decides by time (pacers, stop rules, timeouts, records) receives
//! `now_ns` as an argument, so tests drive it with simulated times.

use rustix::time::{clock_gettime, ClockId, Timespec};

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Nanoseconds in a millisecond.
pub const MILLISECOND_NS: u64 = 1_000_000;

/// A moment no run reaches: "never" for deadlines.
pub const NEVER: u64 = u64::MAX;

/// The monotonic time in nanoseconds; the same scale as Python's `time.monotonic_ns()`.
pub fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// The CPU time the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}

/// The wall clock, set by the monotonic one: read once, so that a step of it changes nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calendar {
    /// The wall clock's nanoseconds since 1970 when the monotonic clock stood at 0.
    epoch_ns: u64,
}

impl Calendar {
    pub fn now() -> Calendar {
        Calendar { epoch_ns: nanoseconds(clock_gettime(ClockId::Realtime)).saturating_sub(now_ns()) }
    }

    /// Seconds since 1970.
    #[inline]
    pub fn wall_s(self, now_ns: u64) -> u64 {
        (self.epoch_ns + now_ns) / SECOND_NS
    }
}
