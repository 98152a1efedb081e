//! Which connections to look at for a timeout, and when, at a cost that does not grow with the request rate.
//!
//! A wheel of coarse slots. A connection stands in at most one slot; when the slot comes up, the caller compares
//! the connection's actual expiry and puts it back if that lies later. So a busy connection costs one visit per
//! timeout, not one entry per request. Visits are late by at most one slot, never early.

use crate::clock::MILLISECOND_NS;

const SLOT_MIN_NS: u64 = 10 * MILLISECOND_NS;
const SLOTS_MAX: u64 = 1024;

#[derive(Debug)]
pub(crate) struct TimerWheel {
    slots: Vec<Vec<u32>>,
    slot_ns: u64,
    /// The number, counted from time 0, of the next slot to come up.
    next: u64,
    entries: usize,
}

impl TimerWheel {
    pub fn new(timeout_ns: u64, now_ns: u64) -> TimerWheel {
        let slot_ns = (timeout_ns / (SLOTS_MAX - 4)).max(SLOT_MIN_NS);
        let count = timeout_ns / slot_ns + 4;
        TimerWheel { slots: vec![Vec::new(); count as usize], slot_ns, next: now_ns / slot_ns, entries: 0 }
    }

    /// Has `connection` looked at once `expiry_ns` has passed; at most one timeout ahead of now.
    pub fn insert(&mut self, connection: u32, expiry_ns: u64) {
        let furthest = self.next + self.slots.len() as u64 - 1;
        let number = (expiry_ns / self.slot_ns + 1).clamp(self.next, furthest);
        let index = (number % self.slots.len() as u64) as usize;
        self.slots[index].push(connection);
        self.entries += 1;
    }

    /// When the next slot comes up; `None` while nobody stands in any.
    pub fn next_ns(&self) -> Option<u64> {
        (self.entries > 0).then_some(self.next * self.slot_ns)
    }

    /// Moves the connections whose slots have come up into `due`.
    pub fn advance(&mut self, now_ns: u64, due: &mut Vec<u32>) {
        let last = now_ns / self.slot_ns;
        // After a long sleep every slot comes up once; more rounds would find them empty.
        self.next = self.next.max((last + 1).saturating_sub(self.slots.len() as u64));
        while self.next <= last {
            let index = (self.next % self.slots.len() as u64) as usize;
            self.entries -= self.slots[index].len();
            due.append(&mut self.slots[index]);
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND_NS;

    fn up(timeouts: &mut TimerWheel, now_ns: u64) -> Vec<u32> {
        let mut seen = Vec::new();
        timeouts.advance(now_ns, &mut seen);
        seen.sort_unstable();
        seen
    }

    #[test]
    fn nobody_is_seen_early_and_everybody_within_one_slot() {
        for timeout_ns in [MILLISECOND_NS, 100 * MILLISECOND_NS, 10 * SECOND_NS, 3600 * SECOND_NS] {
            let start_ns = 123_456_789_012_345;
            let mut timeouts = TimerWheel::new(timeout_ns, start_ns);
            for step in 0..50 {
                timeouts.insert(step, start_ns + timeout_ns * u64::from(step) / 49);
            }
            let mut now_ns = start_ns;
            let mut seen = 0;
            while seen < 50 {
                now_ns += timeouts.slot_ns / 3;
                for connection in up(&mut timeouts, now_ns) {
                    let expiry_ns = start_ns + timeout_ns * u64::from(connection) / 49;
                    assert!(expiry_ns <= now_ns && now_ns - expiry_ns <= 2 * timeouts.slot_ns);
                    seen += 1;
                }
            }
            assert_eq!(timeouts.next_ns(), None);
        }
    }

    #[test]
    fn a_long_sleep_brings_everybody_up_once() {
        let mut timeouts = TimerWheel::new(SECOND_NS, 0);
        (0..10).for_each(|connection| timeouts.insert(connection, u64::from(connection) * SECOND_NS / 10));
        assert_eq!(up(&mut timeouts, 1000 * SECOND_NS), (0..10).collect::<Vec<_>>());
        assert_eq!(up(&mut timeouts, 2000 * SECOND_NS), Vec::<u32>::new());
        timeouts.insert(3, 2000 * SECOND_NS + SECOND_NS);
        assert_eq!(up(&mut timeouts, 2000 * SECOND_NS + SECOND_NS / 2), Vec::<u32>::new());
        assert_eq!(up(&mut timeouts, 2002 * SECOND_NS), vec![3]);
    }
}
