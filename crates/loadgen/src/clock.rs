//! The one clock of a run: CLOCK_MONOTONIC in nanoseconds.
//!
//! Only the event loop reads it. Everything that decides by time (pacers, stop rules, timeouts, records) receives
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
