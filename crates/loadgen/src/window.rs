//! The recorded window: when it opens and closes, its bins, and how many requests it may still schedule.

use crate::clock::NEVER;
use crate::host::Usage;
use crate::record::BIN_NS;
use crate::stop::{Budget, Stop};

/// A moment at which something is to be done, in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The window opens.
    Open,
    /// A bin of the series ends.
    Bin,
}

#[derive(Debug)]
pub(crate) struct Window {
    pub opens_ns: u64,
    pub closes_ns: u64,
    stop: Stop,
    budget: Budget,
    open: bool,
    /// The opening, then the ends of bins.
    next_ns: u64,
    before: Usage,
}

impl Window {
    pub fn new(stop: Stop, opens_ns: u64) -> Window {
        Window {
            opens_ns,
            closes_ns: stop.closes_ns(opens_ns),
            stop,
            budget: stop.budget(),
            open: false,
            next_ns: opens_ns,
            before: Usage::default(),
        }
    }

    /// The next mark that `now_ns` has passed, if any. Nothing happens at or after the close.
    #[inline]
    pub fn pass(&mut self, now_ns: u64) -> Option<Mark> {
        if now_ns < self.next_ns || self.next_ns > self.closes_ns {
            return None;
        }
        self.next_ns += BIN_NS;
        if self.open {
            return Some(Mark::Bin);
        }
        self.open = true;
        self.before = Usage::now();
        Some(Mark::Open)
    }

    /// The earliest moment at which the window wants the loop awake.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        if self.open {
            self.closes_ns
        } else {
            self.next_ns
        }
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether no more requests may be scheduled.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    /// Schedules one request; false when none may be any more.
    #[inline]
    pub fn spend(&mut self) -> bool {
        self.budget.spend()
    }

    /// Requests of a bounded number that were not scheduled.
    pub fn unspent(&self) -> u64 {
        self.budget.unspent(self.stop)
    }

    /// Has the window close at `now_ns` instead of later.
    pub fn shut(&mut self, now_ns: u64) {
        self.closes_ns = self.closes_ns.min(now_ns);
    }

    /// Closes the window at `now_ns` at the latest; returns what the thread used while it was open.
    pub fn close(&mut self, now_ns: u64) -> Usage {
        self.shut(now_ns);
        if !self.open {
            self.opens_ns = self.closes_ns;
            return Usage::default();
        }
        Usage::now().since(self.before)
    }

    /// Whether a bin was begun and not ended.
    pub fn has_partial_bin(&self) -> bool {
        self.open && self.next_ns != NEVER && self.next_ns - BIN_NS < self.closes_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND_NS;

    fn marks(window: &mut Window, now_ns: u64) -> Vec<Mark> {
        std::iter::from_fn(|| window.pass(now_ns)).collect()
    }

    #[test]
    fn marks_come_in_order_and_bins_tile_the_window() {
        let mut window = Window::new(Stop::DurationNs(SECOND_NS), 5 * SECOND_NS);
        assert_eq!(marks(&mut window, 5 * SECOND_NS - 1), []);
        assert!(!window.is_open());
        assert_eq!(marks(&mut window, 5 * SECOND_NS), [Mark::Open]);
        assert_eq!(marks(&mut window, 5 * SECOND_NS + BIN_NS), [Mark::Bin]);
        assert_eq!(marks(&mut window, 60 * SECOND_NS).len(), 9);
        window.close(60 * SECOND_NS);
        assert_eq!(window.closes_ns, 6 * SECOND_NS);
        assert!(!window.has_partial_bin());
    }

    #[test]
    fn a_window_closed_early_has_a_partial_bin() {
        let mut window = Window::new(Stop::DurationNs(SECOND_NS), 0);
        marks(&mut window, BIN_NS * 3 / 2);
        window.close(BIN_NS * 3 / 2);
        assert!(window.has_partial_bin());
        assert_eq!(window.closes_ns, BIN_NS * 3 / 2);
    }

    #[test]
    fn a_window_that_never_opened_is_empty() {
        let mut window = Window::new(Stop::Requests(10), SECOND_NS);
        window.close(SECOND_NS / 2);
        assert_eq!((window.opens_ns, window.closes_ns), (SECOND_NS / 2, SECOND_NS / 2));
        assert_eq!(window.unspent(), 10);
        assert!(!window.has_partial_bin());
    }
}
