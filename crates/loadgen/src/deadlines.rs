//! Connections with one time limit: which of them have passed it. Each is in the wheel at most once.

use crate::timer_wheel::TimerWheel;

#[derive(Debug)]
pub(crate) struct Deadlines {
    limit_ns: u64,
    wheel: TimerWheel,
    /// By connection.
    in_wheel: Vec<bool>,
    /// Connections whose slots have come up, still to be looked at.
    due: Vec<u32>,
}

impl Deadlines {
    pub fn new(limit_ns: u64, connections: usize, now_ns: u64) -> Deadlines {
        Deadlines {
            limit_ns,
            wheel: TimerWheel::new(limit_ns, now_ns),
            in_wheel: vec![false; connections],
            due: Vec::new(),
        }
    }

    /// Has connection `index` looked at once the limit, counted from `since_ns`, has passed.
    #[inline]
    pub fn watch(&mut self, index: usize, since_ns: u64) {
        if !self.in_wheel[index] {
            self.in_wheel[index] = true;
            self.wheel.insert(index as u32, since_ns + self.limit_ns);
        }
    }

    /// When the next look is due.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.wheel.next_ns()
    }

    /// The next connection whose limit has passed. `since` tells since when one is at it, `None` if it no longer is.
    pub fn expired(&mut self, now_ns: u64, since: impl Fn(usize) -> Option<u64>) -> Option<usize> {
        if self.next_ns().is_some_and(|next_ns| next_ns <= now_ns) {
            self.wheel.advance(now_ns, &mut self.due);
        }
        while let Some(index) = self.due.pop() {
            let index = index as usize;
            self.in_wheel[index] = false;
            match since(index) {
                Some(since_ns) if since_ns + self.limit_ns > now_ns => self.watch(index, since_ns),
                Some(_) => return Some(index),
                None => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MILLISECOND_NS;

    #[test]
    fn only_those_that_are_still_at_it_expire() {
        let mut deadlines = Deadlines::new(100 * MILLISECOND_NS, 3, 0);
        (0..3).for_each(|index| deadlines.watch(index, 0));
        let later_ns = 50 * MILLISECOND_NS;
        let since = [Some(0), None, Some(later_ns)];
        let now_ns = 130 * MILLISECOND_NS;
        assert_eq!(deadlines.expired(now_ns, |index| since[index]), Some(0));
        assert_eq!(deadlines.expired(now_ns, |index| since[index]), None);
        assert_eq!(deadlines.expired(now_ns + later_ns, |index| since[index]), Some(2));
        assert_eq!(deadlines.next_ns(), None);
    }
}
