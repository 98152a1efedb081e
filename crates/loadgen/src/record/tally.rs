//! One thread's book: every scheduled request is counted exactly once.

use super::counts::{Counts, Outcome};
use super::series::Series;
use super::target::{TargetReport, TargetTally};
use super::{Arrivals, Latency};

/// The times of one settled request, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// From the intended send time to the end.
    pub latency_ns: u64,
    /// From the moment its connection was ready to the end.
    pub service_ns: u64,
    /// From the intended send time to the moment a connection took it.
    pub lag_ns: u64,
}

/// One thread's book of requests.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub counts: Counts,
    /// Right answers that were sent at once over an open connection: latency and service are one, lag is nothing.
    /// The hot path of a closed loop records only here.
    plain: Latency,
    pub latency: Latency,
    pub service: Latency,
    pub lag: Latency,
    pub pages: Latency,
    pub series: Series,
    /// When the requests of an open loop went out.
    pub arrivals: Arrivals,
    /// By URL; empty when there is one only.
    targets: Vec<TargetTally>,
    /// Answers by first digit of their status; index 0 is anything outside of 1 to 5.
    pub classes: [u64; 6],
}

impl Tally {
    pub fn new(urls: usize) -> Tally {
        let entries = if urls > 1 { urls } else { 0 };
        Tally { targets: std::iter::repeat_with(TargetTally::default).take(entries).collect(), ..Tally::default() }
    }

    /// A request of URL number `url` was scheduled.
    #[inline]
    pub fn schedule(&mut self, url: usize) {
        self.counts.scheduled += 1;
        if let Some(target) = self.targets.get_mut(url) {
            target.counts().scheduled += 1;
        }
    }

    #[inline]
    pub fn settle(&mut self, outcome: Outcome, url: usize, times: Times) {
        self.counts.settle(outcome);
        if let Some(target) = self.targets.get_mut(url) {
            target.settle(outcome, times.latency_ns);
        }
        match outcome {
            Outcome::Ok { status } => {
                self.class(status);
                self.series.ok(times.latency_ns);
                if times.service_ns == times.latency_ns {
                    self.plain.record(times.latency_ns);
                } else {
                    self.latency.record(times.latency_ns);
                    self.service.record(times.service_ns);
                    self.lag.record(times.lag_ns);
                }
                return;
            }
            Outcome::WrongStatus { status } | Outcome::WrongBody { status } => self.class(status),
            Outcome::Failed(_) => {}
            Outcome::ConnectTimedOut => self.latency.record_at_least(times.latency_ns),
            Outcome::TimedOut => {
                self.latency.record_at_least(times.latency_ns);
                self.service.record_at_least(times.service_ns);
                self.lag.record(times.lag_ns);
            }
        }
        self.series.error();
    }

    #[inline]
    fn class(&mut self, status: u16) {
        let class = usize::from(status / 100);
        self.classes[if class < 6 { class } else { 0 }] += 1;
    }

    /// All settled requests are in: puts the plain ones where they belong.
    pub fn sum_up(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        for whole in [&mut self.latency, &mut self.service] {
            whole.merge(&plain).expect("both were made alike");
        }
        self.lag.record_zeros(plain.count());
    }

    /// A request was unfinished as the window closed.
    pub fn leave(&mut self, url: usize) {
        self.counts.in_flight += 1;
        if let Some(target) = self.targets.get_mut(url) {
            target.counts().in_flight += 1;
        }
    }

    /// An unfinished request was followed to its end: its times are known, though it counts for nothing else.
    pub fn follow(&mut self, outcome: Outcome, url: usize, times: Times) {
        if !matches!(outcome, Outcome::Ok { .. }) {
            return self.bound(Some(url), times.latency_ns);
        }
        self.latency.record(times.latency_ns);
        self.service.record(times.service_ns);
        self.lag.record(times.lag_ns);
        if let Some(target) = self.targets.get_mut(url) {
            target.record(times.latency_ns);
        }
    }

    /// Enters a request that took at least `age_ns` as a lower bound; its URL is not known before it is sent.
    pub fn bound(&mut self, url: Option<usize>, age_ns: u64) {
        self.latency.record_at_least(age_ns);
        if let Some(target) = url.and_then(|url| self.targets.get_mut(url)) {
            target.record_at_least(age_ns);
        }
    }

    /// What became of each URL's requests; empty when there is one only.
    pub fn target_reports(&mut self) -> Vec<TargetReport> {
        std::mem::take(&mut self.targets).into_iter().map(TargetTally::into_report).collect()
    }
}
