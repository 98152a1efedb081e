//! Wakes the event loop at a given moment: exact where epoll's own timeout counts in milliseconds.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::time::{
    timerfd_create, timerfd_settime, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
};

use crate::clock::SECOND_NS;

/// The token of the timer's own readiness, which says nothing beyond "awake".
pub(crate) const TIMER: Token = Token(usize::MAX);

/// The least and the most time before a request is due at which an open loop stops sleeping and spins.
const MARGIN_MIN_NS: u64 = 20_000;
const MARGIN_MAX_NS: u64 = 200_000;

/// How late the kernel wakes this thread: a high quantile that follows the machine's moods. An open loop wakes that
/// much earlier and spins for the rest, so that requests leave when they are due.
#[derive(Debug)]
pub(crate) struct Oversleep {
    usual_ns: u64,
}

impl Oversleep {
    pub fn new() -> Oversleep {
        Oversleep { usual_ns: MARGIN_MIN_NS }
    }

    /// How long before its next request an open loop should be awake.
    #[inline]
    pub fn margin_ns(&self) -> u64 {
        (2 * self.usual_ns).clamp(MARGIN_MIN_NS, MARGIN_MAX_NS)
    }

    /// Takes in that the thread was woken so late. Rises fast and falls slowly: it rests where one wake in some
    /// thirty is later.
    pub fn observe(&mut self, late_ns: u64) {
        let late_ns = late_ns.min(MARGIN_MAX_NS);
        if late_ns > self.usual_ns {
            self.usual_ns += (late_ns - self.usual_ns) / 2;
        } else {
            self.usual_ns -= (self.usual_ns - late_ns) / 64;
        }
    }
}

/// A timer on CLOCK_MONOTONIC.
#[derive(Debug)]
pub(crate) struct Timer {
    file: OwnedFd,
    armed_ns: u64,
}

impl Timer {
    /// Edge-triggered: each expiry is reported once, without having to be read.
    pub fn new(registry: &Registry) -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let file = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&file.as_raw_fd()), TIMER, Interest::READABLE)?;
        Ok(Timer { file, armed_ns: 0 })
    }

    /// Goes off at `at_ns`, or at once when that has passed.
    pub fn arm(&mut self, at_ns: u64) -> io::Result<()> {
        if self.armed_ns == at_ns {
            return Ok(());
        }
        let at = Timespec { tv_sec: (at_ns / SECOND_NS) as i64, tv_nsec: (at_ns % SECOND_NS) as _ };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        timerfd_settime(&self.file, TimerfdTimerFlags::ABSTIME, &once)?;
        self.armed_ns = at_ns;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_follows_the_machine_between_its_bounds() {
        let mut oversleep = Oversleep::new();
        (0..1000).for_each(|_| oversleep.observe(5_000));
        assert_eq!(oversleep.margin_ns(), MARGIN_MIN_NS);
        (0..10).for_each(|_| oversleep.observe(60_000));
        assert!((110_000..=120_000).contains(&oversleep.margin_ns()));
        oversleep.observe(50_000_000);
        assert_eq!(oversleep.margin_ns(), MARGIN_MAX_NS);
        (0..2000).for_each(|_| oversleep.observe(5_000));
        assert_eq!(oversleep.margin_ns(), MARGIN_MIN_NS);
    }
}
