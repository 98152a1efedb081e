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
