//! What became of the requests of one URL.

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Outcome};
use super::sketch::{self, Sketch};

/// One URL's part of a run; latencies within 0.8 %, as in the time series.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TargetReport {
    /// Method and path; "others" sums up what came after the first 500.
    pub name: String,
    /// What became of its requests.
    pub counts: Counts,
    sum_ns: f64,
    max_ns: u64,
    /// Values that are only lower bounds.
    at_least: u64,
    buckets: Vec<(u16, u32)>,
}

impl TargetReport {
    pub(crate) fn new(name: String) -> TargetReport {
        TargetReport { name, ..TargetReport::default() }
    }

    /// The smallest latency that at least the fraction `q` (0 to 1) of all do not exceed; 0 when there are none.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        sketch::quantile(&self.buckets, q).min(self.max_ns)
    }

    /// Whether the quantile `q` may be larger: requests that timed out or were unfinished reach it.
    pub fn is_censored(&self, q: f64) -> bool {
        let rank = (q * self.count() as f64).ceil() as u64;
        rank > self.count() - self.at_least
    }

    /// How many latencies there are.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|&(_, count)| u64::from(count)).sum()
    }

    /// The mean latency in nanoseconds; 0 when there are none.
    pub fn mean_ns(&self) -> f64 {
        self.sum_ns / (self.count() as f64).max(1.0)
    }

    /// The largest latency in nanoseconds.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Adds another thread's.
    pub(crate) fn merge(&mut self, other: &TargetReport) {
        self.counts.add(&other.counts);
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.at_least += other.at_least;
        sketch::merge(&mut self.buckets, &other.buckets);
    }
}

/// The book of one URL on one thread.
#[derive(Debug, Default)]
pub(crate) struct TargetTally {
    report: TargetReport,
    sketch: Sketch,
}

impl TargetTally {
    pub fn counts(&mut self) -> &mut Counts {
        &mut self.report.counts
    }

    pub fn settle(&mut self, outcome: Outcome, latency_ns: u64) {
        self.report.counts.settle(outcome);
        match outcome {
            Outcome::Ok { .. } => self.record(latency_ns),
            Outcome::TimedOut | Outcome::ConnectTimedOut => self.record_at_least(latency_ns),
            _ => {}
        }
    }

    pub fn record_at_least(&mut self, latency_ns: u64) {
        self.report.at_least += 1;
        self.record(latency_ns);
    }

    pub fn record(&mut self, latency_ns: u64) {
        self.sketch.record(latency_ns);
        self.report.sum_ns += latency_ns as f64;
        self.report.max_ns = self.report.max_ns.max(latency_ns);
    }

    pub fn into_report(mut self) -> TargetReport {
        self.report.buckets = self.sketch.drain();
        self.report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_and_bounds_censor() {
        let report = |latencies: &[u64], timeouts: u64| {
            let mut tally = TargetTally::default();
            latencies.iter().for_each(|&latency_ns| tally.settle(Outcome::Ok { status: 200 }, latency_ns));
            (0..timeouts).for_each(|_| tally.settle(Outcome::TimedOut, 1_000_000));
            tally.into_report()
        };
        let mut all = report(&[1_000; 90], 0);
        all.merge(&report(&[2_000; 9], 1));
        assert_eq!((all.count(), all.counts.ok, all.counts.timed_out), (100, 99, 1));
        assert_eq!((all.max_ns(), all.mean_ns()), (1_000_000, 11_080.0));
        assert!((all.quantile_ns(0.5) as f64 - 1_000.0).abs() < 10.0);
        assert!(!all.is_censored(0.99) && all.is_censored(0.999));
        assert_eq!((report(&[], 0).quantile_ns(0.5), report(&[], 0).is_censored(0.5)), (0, false));
    }
}
