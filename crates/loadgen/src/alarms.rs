//! Connections that go on at a moment of their own, soonest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Why a connection waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// Connecting failed: it waits, so that a dead server costs no core.
    BackOff,
    /// The visitor reads the page before he asks for the next.
    Think,
    /// The queue of a Unix socket was full.
    Reconnect,
    /// The server should ask for the body of a request.
    ContinueTimeout,
}

#[derive(Debug, Default)]
pub(crate) struct Alarms(BinaryHeap<Reverse<(u64, u32, Alarm)>>);

impl Alarms {
    pub fn set(&mut self, at_ns: u64, index: usize, alarm: Alarm) {
        self.0.push(Reverse((at_ns, index as u32, alarm)));
    }

    /// When the next one goes off.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.0.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// The first whose time has come: when it was set for, the connection, and why.
    #[inline]
    pub fn take(&mut self, now_ns: u64) -> Option<(u64, usize, Alarm)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.0.pop().map(|Reverse((at_ns, index, alarm))| (at_ns, index as usize, alarm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_go_off_in_order_of_time() {
        let mut alarms = Alarms::default();
        alarms.set(30, 1, Alarm::BackOff);
        alarms.set(10, 2, Alarm::Think);
        alarms.set(20, 3, Alarm::ContinueTimeout);
        assert_eq!(alarms.take(9), None);
        assert_eq!(alarms.take(20), Some((10, 2, Alarm::Think)));
        assert_eq!(alarms.take(20), Some((20, 3, Alarm::ContinueTimeout)));
        assert_eq!((alarms.take(20), alarms.next_ns()), (None, Some(30)));
    }
}
