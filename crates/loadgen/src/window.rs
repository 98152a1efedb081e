//! The recorded window: when it opens and closes, its bins, and how many requests it may still schedule.

use crate::clock::NEVER;
use crate::host::Usage;
use crate::record::BIN_NS;
use crate::stop::{Quota, Stop};

/// A moment at which something is to be done, in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowEvent {
    /// The window opens.
    Open,
    /// A bin of the series ends.
    Bin,
    /// The window closes.
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Open,
    After,
}

#[derive(Debug)]
pub(crate) struct Window {
    pub opens_ns: u64,
    pub closes_ns: u64,
    /// How long load may go on after the close.
    follow_ns: u64,
    stop: Stop,
    quota: Quota,
    phase: Phase,
    /// The opening, then the ends of bins.
    next_ns: u64,
    /// The thread's usage up to the opening; once the window is closed, what was used while it was open.
    usage: Usage,
}

impl Window {
    pub fn new(stop: Stop, opens_ns: u64) -> Window {
        Window {
            opens_ns,
            closes_ns: stop.closes_ns(opens_ns),
            follow_ns: 0,
            stop,
            quota: stop.quota(),
            phase: Phase::Before,
            next_ns: opens_ns,
            usage: Usage::default(),
        }
    }

    /// The same; load may go on for so long after the close.
    pub fn following(self, follow_ns: u64) -> Window {
        Window { follow_ns, ..self }
    }

    /// The next event that `now_ns` has passed, if any. A window that never opened does not close either.
    #[inline]
    pub fn pass(&mut self, now_ns: u64) -> Option<WindowEvent> {
        if now_ns < self.next_ns.min(self.closes_ns) {
            return None;
        }
        match self.phase {
            Phase::After => None,
            Phase::Open if self.next_ns > self.closes_ns => {
                self.phase = Phase::After;
                self.usage = Usage::now().since(self.usage);
                Some(WindowEvent::Close)
            }
            Phase::Open => {
                self.next_ns += BIN_NS;
                Some(WindowEvent::Bin)
            }
            Phase::Before if self.next_ns > self.closes_ns => None,
            Phase::Before => {
                self.next_ns += BIN_NS;
                self.phase = Phase::Open;
                self.usage = Usage::now();
                Some(WindowEvent::Open)
            }
        }
    }

    /// The earliest moment at which the window wants the loop awake.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        match self.phase {
            Phase::Before => self.next_ns,
            Phase::Open => self.closes_ns,
            Phase::After => self.ends_ns(),
        }
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    #[inline]
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::After
    }

    /// When load ends at the latest.
    #[inline]
    pub fn ends_ns(&self) -> u64 {
        self.closes_ns.saturating_add(self.follow_ns)
    }

    /// Whether no more requests may be scheduled.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.quota.is_exhausted()
    }

    /// Schedules one request; false when none may be any more.
    #[inline]
    pub fn schedule(&mut self) -> bool {
        self.quota.take()
    }

    /// Requests of a bounded number that were not scheduled.
    pub fn unscheduled(&self) -> u64 {
        self.quota.remaining(self.stop)
    }

    /// Has the window close at `now_ns` instead of later.
    pub fn shut(&mut self, now_ns: u64) {
        self.closes_ns = self.closes_ns.min(now_ns);
    }

    /// What the thread used while the window was open; one that never opened is empty.
    pub fn sum_up(&mut self) -> Usage {
        if self.phase == Phase::Before {
            self.opens_ns = self.closes_ns;
        }
        self.usage
    }

    /// Whether a bin was begun and not ended.
    pub fn has_partial_bin(&self) -> bool {
        self.phase != Phase::Before && self.next_ns != NEVER && self.next_ns - BIN_NS < self.closes_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND_NS;

    fn events(window: &mut Window, now_ns: u64) -> Vec<WindowEvent> {
        std::iter::from_fn(|| window.pass(now_ns)).collect()
    }

    #[test]
    fn events_come_in_order_and_bins_tile_the_window() {
        let mut window = Window::new(Stop::DurationNs(SECOND_NS), 5 * SECOND_NS);
        assert_eq!(events(&mut window, 5 * SECOND_NS - 1), []);
        assert!(!window.is_open());
        assert_eq!(events(&mut window, 5 * SECOND_NS), [WindowEvent::Open]);
        assert_eq!(events(&mut window, 5 * SECOND_NS + BIN_NS), [WindowEvent::Bin]);
        let rest = events(&mut window, 60 * SECOND_NS);
        assert_eq!((rest.len(), rest[8], rest[9]), (10, WindowEvent::Bin, WindowEvent::Close));
        assert_eq!(events(&mut window, 61 * SECOND_NS), []);
        assert!(window.is_closed() && !window.is_open());
        assert_eq!(window.closes_ns, 6 * SECOND_NS);
        assert!(!window.has_partial_bin());
    }

    #[test]
    fn a_window_closed_early_has_a_partial_bin() {
        let mut window = Window::new(Stop::DurationNs(SECOND_NS), 0);
        events(&mut window, BIN_NS * 3 / 2);
        window.shut(BIN_NS * 3 / 2);
        assert_eq!(events(&mut window, BIN_NS * 3 / 2), [WindowEvent::Close]);
        assert!(window.has_partial_bin());
        assert_eq!(window.closes_ns, BIN_NS * 3 / 2);
    }

    #[test]
    fn a_window_that_never_opened_is_empty() {
        let mut window = Window::new(Stop::Requests(10), SECOND_NS);
        window.shut(SECOND_NS / 2);
        assert_eq!(events(&mut window, SECOND_NS / 2), []);
        window.sum_up();
        assert_eq!((window.opens_ns, window.closes_ns), (SECOND_NS / 2, SECOND_NS / 2));
        assert_eq!(window.unscheduled(), 10);
        assert!(!window.has_partial_bin());
    }

    #[test]
    fn load_may_go_on_for_a_while_after_the_close() {
        let mut window = Window::new(Stop::DurationNs(SECOND_NS), 0).following(SECOND_NS / 5);
        events(&mut window, 0);
        assert_eq!(window.next_ns(), SECOND_NS);
        events(&mut window, SECOND_NS);
        assert_eq!((window.next_ns(), window.ends_ns()), (SECOND_NS * 6 / 5, SECOND_NS * 6 / 5));
        assert_eq!(Window::new(Stop::Requests(1), 0).following(1).ends_ns(), NEVER);
    }
}
