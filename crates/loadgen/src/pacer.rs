//! A pacer decides *when* the next request is due. It is a value: no pacer has a loop of its own.
//!
//! The event loop calls [`Pacing::take`] whenever a connection is free. A closed loop always has a request due; an
//! open loop has one due when its intended time has come, and requests nobody was free to send stay due, oldest
//! first. Latency counts from the intended time, so lateness of server or generator shows in it.

use crate::clock::SECOND_NS;

/// When requests are due.
#[derive(Debug, Clone, PartialEq)]
pub enum Pacer {
    /// A connection's next request is due as soon as its last one is answered.
    Closed,
    /// Open loop: one request every `1 / rate_per_s` seconds.
    Constant {
        /// Requests per second over all threads, above 0.
        rate_per_s: f64,
    },
    /// Open loop: random arrivals, a Poisson process given that the run has as many as its rate says.
    ///
    /// A process of its own number of arrivals would offer another rate: of 100 it has 80 to 120.
    Poisson {
        /// Requests per second over all threads, above 0.
        rate_per_s: f64,
        /// Equal seeds give equal arrival times.
        seed: u64,
    },
}

impl Pacer {
    /// Whether arrivals ignore the server's answers.
    pub fn is_open(&self) -> bool {
        !matches!(self, Pacer::Closed)
    }

    /// When requests fall due within `span_ns` of the start, over all `threads`, in order; none of a closed loop.
    pub fn arrivals(&self, span_ns: u64, threads: usize) -> Vec<u64> {
        let due = |index| {
            let mut pacing = self.pacing(0, index, threads, span_ns);
            std::iter::from_fn(move || pacing.take_unsent(span_ns))
        };
        let mut all: Vec<u64> = (0..threads).flat_map(due).collect();
        all.sort_unstable();
        all
    }

    /// The part of this pacer that thread `index` of `threads` plays for `span_ns`, starting at `start_ns`.
    ///
    /// Constant arrivals are dealt out in turn; a Poisson process is split into independent thinner ones, whose
    /// superposition is the original process.
    pub(crate) fn pacing(&self, start_ns: u64, index: usize, threads: usize, span_ns: u64) -> Pacing {
        let threads = threads as f64;
        match *self {
            Pacer::Closed => Pacing::Closed,
            Pacer::Constant { rate_per_s } => {
                let gap_ns = SECOND_NS as f64 / rate_per_s;
                let start_ns = start_ns + (index as f64 * gap_ns) as u64;
                Pacing::Constant { start_ns, gap_ns: gap_ns * threads, sent: 0 }
            }
            Pacer::Poisson { rate_per_s, seed } => {
                let mut random = Random(seed ^ (index as u64 + 1).wrapping_mul(0xA076_1D64_78BD_642F));
                let mean_ns = SECOND_NS as f64 / rate_per_s * threads;
                let gap_ns = mean_ns * random.clone().fit(span_ns as f64 / mean_ns);
                let ahead_ns = random.exponential() * gap_ns;
                Pacing::Poisson { start_ns, gap_ns, ahead_ns, random }
            }
        }
    }
}

/// A pacer at work on one thread.
#[derive(Debug)]
pub(crate) enum Pacing {
    Closed,
    /// Intended times are computed from the count, never summed up, so they do not drift.
    Constant {
        start_ns: u64,
        gap_ns: f64,
        sent: u64,
    },
    Poisson {
        start_ns: u64,
        gap_ns: f64,
        ahead_ns: f64,
        random: Random,
    },
}

impl Pacing {
    /// Whether requests fall due by the clock.
    #[inline]
    pub fn is_open(&self) -> bool {
        !matches!(self, Pacing::Closed)
    }

    /// How many requests fall due in `span_ns`, at least one; none of a closed loop.
    pub fn expected(&self, span_ns: u64) -> usize {
        match self {
            Pacing::Closed => 0,
            Pacing::Constant { gap_ns, .. } | Pacing::Poisson { gap_ns, .. } => {
                (span_ns as f64 / gap_ns).ceil().max(1.0) as usize
            }
        }
    }

    /// When the next request is due, or `None` when a free connection is all it waits for.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        match self {
            Pacing::Closed => None,
            Pacing::Constant { start_ns, gap_ns, sent } => Some(start_ns + (*sent as f64 * gap_ns) as u64),
            Pacing::Poisson { start_ns, ahead_ns, .. } => Some(start_ns + *ahead_ns as u64),
        }
    }

    /// Takes the oldest request that is due and returns its intended time, at most `now_ns`.
    #[inline]
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        let Some(intended_ns) = self.next_ns() else {
            return Some(now_ns);
        };
        if intended_ns > now_ns {
            return None;
        }
        match self {
            Pacing::Closed => {}
            Pacing::Constant { sent, .. } => *sent += 1,
            Pacing::Poisson { gap_ns, ahead_ns, random, .. } => *ahead_ns += random.exponential() * *gap_ns,
        }
        Some(intended_ns)
    }

    /// Takes a request that was due before `end_ns` although nobody was free to send it.
    pub fn take_unsent(&mut self, end_ns: u64) -> Option<u64> {
        match self {
            Pacing::Closed => None,
            _ => self.take(end_ns.checked_sub(1)?),
        }
    }
}

/// SplitMix64: small, fast, and good enough for gaps. Source: Steele, Lea & Flood 2014.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

/// The number of more arrivals than this varies by less than 0.3 %.
const MOST_FITTED: f64 = 1e5;

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// An exponential variate with mean 1; the argument of the logarithm lies in (0, 1].
    fn exponential(&mut self) -> f64 {
        let uniform = ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        -uniform.ln()
    }

    /// What the next gaps are to be multiplied with, so that `arrivals` lie within as many mean gaps.
    ///
    /// Given their number, arrivals are uniform ones in order; these are partial sums of exponential gaps over the
    /// sum of one gap more. Source: S. M. Ross, Introduction to Probability Models, section 5.3.
    fn fit(mut self, arrivals: f64) -> f64 {
        let gaps = arrivals.round() + 1.0;
        if !(2.0..=MOST_FITTED).contains(&gaps) {
            return 1.0;
        }
        let sum: f64 = (0..gaps as usize).map(|_| self.exponential()).sum();
        arrivals / sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pacing: &mut Pacing, until_ns: u64) -> Vec<u64> {
        std::iter::from_fn(|| pacing.take(until_ns)).collect()
    }

    #[test]
    fn a_closed_loop_is_due_at_once_and_always() {
        let mut pacing = Pacer::Closed.pacing(5, 0, 1, SECOND_NS);
        assert_eq!(pacing.next_ns(), None);
        assert_eq!(pacing.take(7), Some(7));
        assert_eq!(pacing.take(7), Some(7));
        assert_eq!((pacing.take_unsent(100), pacing.expected(SECOND_NS)), (None, 0));
    }

    #[test]
    fn a_rate_tells_how_many_to_expect() {
        let pacing = |rate_per_s| Pacer::Constant { rate_per_s }.pacing(0, 1, 2, SECOND_NS);
        assert_eq!((pacing(10.0).expected(SECOND_NS / 1000), pacing(50_000.0).expected(SECOND_NS / 1000)), (1, 25));
    }

    #[test]
    fn constant_arrivals_stand_on_a_grid_that_does_not_drift() {
        let mut pacing = Pacer::Constant { rate_per_s: 3.0 }.pacing(100, 0, 1, SECOND_NS);
        assert_eq!(pacing.take(99), None);
        let seen = times(&mut pacing, 100 + 1000 * SECOND_NS);
        assert_eq!(seen.len(), 3001);
        assert_eq!(seen[0], 100);
        assert_eq!(seen[3000], 100 + 1000 * SECOND_NS);
    }

    #[test]
    fn what_nobody_was_free_to_send_stays_due_oldest_first() {
        let mut pacing = Pacer::Constant { rate_per_s: 10.0 }.pacing(0, 0, 1, SECOND_NS);
        assert_eq!(pacing.take(SECOND_NS), Some(0));
        assert_eq!(pacing.take(SECOND_NS), Some(SECOND_NS / 10));
        assert_eq!(pacing.next_ns(), Some(SECOND_NS / 5));
    }

    #[test]
    fn threads_share_constant_arrivals_in_turn() {
        let pacer = Pacer::Constant { rate_per_s: 1000.0 };
        let mut all: Vec<u64> =
            (0..3).flat_map(|index| times(&mut pacer.pacing(0, index, 3, SECOND_NS), SECOND_NS - 1)).collect();
        all.sort_unstable();
        assert_eq!(all, times(&mut pacer.pacing(0, 0, 1, SECOND_NS), SECOND_NS - 1));
    }

    #[test]
    fn poisson_arrivals_repeat_with_their_seed() {
        let pacer = Pacer::Poisson { rate_per_s: 1000.0, seed: 7 };
        let first = times(&mut pacer.pacing(0, 0, 1, SECOND_NS), SECOND_NS);
        assert_eq!(first, times(&mut pacer.pacing(0, 0, 1, SECOND_NS), SECOND_NS));
        assert_ne!(first, times(&mut pacer.pacing(0, 1, 2, SECOND_NS), SECOND_NS));
    }

    #[test]
    fn a_run_has_as_many_poisson_arrivals_as_its_rate_says() {
        for (rate_per_s, seed) in (1..200).map(|seed| (seed as f64 * 3.7, seed)) {
            let pacer = Pacer::Poisson { rate_per_s, seed };
            for threads in [1, 2] {
                let count = |index| times(&mut pacer.pacing(9, index, threads, SECOND_NS), SECOND_NS).len();
                let seen: usize = (0..threads).map(count).sum();
                assert!((seen as f64 - rate_per_s).abs() <= threads as f64, "{seen} of {rate_per_s}");
            }
        }
    }

    #[test]
    fn arrivals_are_those_of_all_threads_in_order() {
        let pacer = Pacer::Poisson { rate_per_s: 500.0, seed: 4 };
        let all = pacer.arrivals(SECOND_NS, 2);
        assert!(all.is_sorted() && all.iter().all(|&due_ns| due_ns < SECOND_NS));
        let second = times(&mut pacer.pacing(0, 1, 2, SECOND_NS), SECOND_NS - 1);
        assert!(second.iter().all(|due_ns| all.contains(due_ns)));
        assert_eq!(Pacer::Closed.arrivals(SECOND_NS, 2), []);
    }

    /// Given N arrivals in (0, T), their times are uniform: Kolmogorov–Smirnov with the 1 % limit 1.63/√N.
    #[test]
    fn poisson_arrivals_are_uniform_given_their_number() {
        let runs = 200;
        let span_ns = SECOND_NS;
        let uniform = (0..runs).filter(|&seed| {
            let mut pacing = Pacer::Poisson { rate_per_s: 5000.0, seed }.pacing(0, 0, 1, SECOND_NS);
            let seen = times(&mut pacing, span_ns);
            let n = seen.len() as f64;
            let distance = seen.iter().enumerate().map(|(index, &time_ns)| {
                let position = time_ns as f64 / span_ns as f64;
                (position - index as f64 / n).abs().max((position - (index as f64 + 1.0) / n).abs())
            });
            distance.fold(0.0, f64::max) < 1.63 / n.sqrt()
        });
        assert!(uniform.count() >= runs as usize * 97 / 100);
    }
}
