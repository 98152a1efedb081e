//! A stall: a span in which no answer departs, whatever is due.

/// Begins some time after the first request. The default never begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stall {
    after_ns: Option<u64>,
    /// `None`: for ever.
    length_ns: Option<u64>,
    /// When it begins, known once the first request has arrived.
    begins_ns: Option<u64>,
}

impl Stall {
    /// Begins `after_ns` after the first request and lasts `length_ns`, or for ever.
    pub fn new(after_ns: u64, length_ns: Option<u64>) -> Stall {
        Stall { after_ns: Some(after_ns), length_ns, begins_ns: None }
    }

    /// Nothing is ever answered.
    pub fn hang() -> Stall {
        Stall::new(0, None)
    }

    /// Learns when a request arrived; the first one counts.
    pub fn begin(&mut self, arrived_ns: u64) {
        if self.begins_ns.is_none() {
            self.begins_ns = self.after_ns.map(|after_ns| arrived_ns + after_ns);
        }
    }

    /// When an answer that is due at `due_ns` departs: then, or at the end of the stall, or never.
    pub fn shift(&self, due_ns: u64) -> Option<u64> {
        let begins_ns = self.begins_ns.unwrap_or(u64::MAX);
        if due_ns < begins_ns {
            return Some(due_ns);
        }
        Some(due_ns.max(begins_ns + self.length_ns?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_in_it_departs_at_its_end() {
        let mut stall = Stall::new(100, Some(50));
        stall.begin(1_000);
        stall.begin(5_000);
        let shifted = [1_099, 1_100, 1_149, 1_150, 1_151].map(|due_ns| stall.shift(due_ns));
        assert_eq!(shifted, [1_099, 1_150, 1_150, 1_150, 1_151].map(Some));
    }

    #[test]
    fn without_end_nothing_departs_any_more() {
        let mut stall = Stall::new(100, None);
        stall.begin(0);
        assert_eq!((stall.shift(99), stall.shift(100)), (Some(99), None));
    }

    #[test]
    fn by_default_there_is_none() {
        let mut stall = Stall::default();
        stall.begin(7);
        assert_eq!(stall.shift(u64::MAX - 1), Some(u64::MAX - 1));
    }
}
