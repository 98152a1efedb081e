//! A stop rule decides *until* when requests are scheduled.

use crate::clock::NEVER;

/// What ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Exactly this many requests are scheduled; the run ends when the last one is settled.
    Requests(u64),
    /// The recorded window lasts this many nanoseconds; requests unfinished at its end are censored there.
    DurationNs(u64),
}

impl Stop {
    /// The share of thread `index` when `connections` are split as `shares` over the threads.
    ///
    /// Requests are dealt out in proportion to connections, remainders exactly once.
    pub(crate) fn share(self, shares: &[usize], index: usize) -> Stop {
        match self {
            Stop::DurationNs(_) => self,
            Stop::Requests(requests) => {
                let total: u128 = shares.iter().map(|&share| share as u128).sum();
                let upto = |end: usize| {
                    let before: u128 = shares[..end].iter().map(|&share| share as u128).sum();
                    (u128::from(requests) * before / total) as u64
                };
                Stop::Requests(upto(index + 1) - upto(index))
            }
        }
    }

    pub(crate) fn quota(self) -> Quota {
        match self {
            Stop::Requests(left) => Quota { left },
            Stop::DurationNs(_) => Quota { left: u64::MAX },
        }
    }

    /// When a window opened at `opens_ns` closes.
    pub(crate) fn closes_ns(self, opens_ns: u64) -> u64 {
        match self {
            Stop::Requests(_) => NEVER,
            Stop::DurationNs(duration_ns) => opens_ns.saturating_add(duration_ns),
        }
    }
}

/// How many requests may still be scheduled.
#[derive(Debug)]
pub(crate) struct Quota {
    left: u64,
}

impl Quota {
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Takes one request; false when none is left.
    #[inline]
    pub fn take(&mut self) -> bool {
        let allowed = self.left > 0;
        self.left -= u64::from(allowed);
        allowed
    }

    /// What a cancelled run of exactly n requests leaves unsent; zero for a run bounded by time.
    pub fn remaining(&self, stop: Stop) -> u64 {
        match stop {
            Stop::Requests(_) => self.left,
            Stop::DurationNs(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_requests_add_up_whatever_the_split() {
        for requests in [0, 1, 7, 1000, u64::MAX] {
            for shares in [vec![1], vec![3, 4], vec![1, 1, 1], vec![334, 333, 333]] {
                let sum: u64 = (0..shares.len())
                    .map(|index| match Stop::Requests(requests).share(&shares, index) {
                        Stop::Requests(share) => share,
                        Stop::DurationNs(_) => unreachable!(),
                    })
                    .sum();
                assert_eq!(sum, requests);
            }
        }
    }

    #[test]
    fn a_quota_allows_exactly_its_number() {
        let mut quota = Stop::Requests(2).quota();
        assert!(quota.take() && quota.take());
        assert!(quota.is_exhausted());
        assert!(!quota.take());
    }

    #[test]
    fn a_window_never_closes_by_itself_when_requests_bound_it() {
        assert_eq!(Stop::Requests(1).closes_ns(5), NEVER);
        assert_eq!(Stop::DurationNs(10).closes_ns(5), 15);
        assert_eq!(Stop::DurationNs(u64::MAX).closes_ns(5), NEVER);
    }
}
