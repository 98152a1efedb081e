//! What a run saw, merged over its threads.

use crate::books::ThreadReport;
use crate::error::HistogramError;
use crate::plan::Plan;
use crate::record::{merge_bins, Arrivals, Bin, Counters, Counts, Latency, TargetReport};

/// The result of a run. All of it speaks of the recorded window.
#[derive(Debug)]
pub struct Report {
    /// When the window opened, CLOCK_MONOTONIC in nanoseconds.
    pub started_ns: u64,
    /// How long it was open: the time asked for, or until the last request was settled, or until cancelled.
    pub duration_ns: u64,
    /// What became of the requests.
    pub counts: Counts,
    /// Right answers, from the intended send time; timed out and unfinished requests as lower bounds.
    pub latency: Latency,
    /// The same from the moment the connection was ready to send.
    pub service: Latency,
    /// From the intended send time to the moment a connection took the request.
    pub lag: Latency,
    /// Times to open connections in the window, up to the TLS handshake.
    pub connect: Latency,
    /// Times of TLS handshakes in the window.
    pub tls: Latency,
    /// Pages with everything embedded in them, from the document's intended time to the last answer.
    pub pages: Latency,
    /// By URL, in order of first appearance; empty when there is one only.
    pub targets: Vec<TargetReport>,
    /// 100 ms bins.
    pub series: Vec<Bin>,
    /// Answers by first digit of their status; index 0 is anything outside of 1 to 5.
    pub status_classes: [u64; 6],
    /// What is counted beside the fates of the requests.
    pub counters: Counters,
    /// How far the moments at which an open loop sent its requests are from uniform: the distance of Kolmogorov and
    /// Smirnov, 0 to 1; `None` for a closed loop.
    pub arrivals_distance: Option<f64>,
    /// The most connections that stood at once; with several threads the sum of their peaks.
    pub established_peak: u64,
    /// CPU time of the engine's threads, summed.
    pub cpu_ns: u64,
    /// The part of that in which the engine spun with nothing to do: a request was due soon, or the plan said so.
    pub spun_ns: u64,
    /// Time the engine's threads waited for a core, summed.
    pub wait_ns: u64,
    /// The busiest thread's share of a core, 0 to 1; spinning is no work.
    pub busiest: f64,
    /// Jain's index over the connections' answers: 1 when all got the same, 1/n when one got all; 1 without any.
    pub fairness: f64,
    /// The share of the connections' time in which no request was under way; 0 for an open loop or a thinking
    /// visitor, whose connections idle on purpose.
    pub dead_time: f64,
}

impl Report {
    pub(crate) fn merge(
        plan: &Plan,
        urls: Vec<String>,
        threads: Vec<ThreadReport>,
    ) -> Result<Report, HistogramError> {
        // A thread without a share of n requests ended before the window opened.
        let opens_ns = threads.iter().map(|thread| thread.opens_ns).max().unwrap_or(0);
        let closes_ns = threads.iter().map(|thread| thread.closes_ns).max().unwrap_or(0);
        let duration_ns = closes_ns - opens_ns;
        let answers: Vec<u64> = threads.iter().flat_map(|thread| thread.answers.iter().copied()).collect();
        let engaged_ns: u64 = threads.iter().map(|thread| thread.engaged_ns).sum();
        let capacity_ns = duration_ns as f64 * plan.connections as f64;
        let mut report = Report {
            fairness: jain(&answers),
            dead_time: if plan.pacer.is_open() || plan.thinks() {
                0.0
            } else {
                (1.0 - ratio(engaged_ns as f64, capacity_ns)).max(0.0)
            },
            ..Report::empty(opens_ns, duration_ns)
        };
        if urls.len() > 1 {
            report.targets = urls.into_iter().map(TargetReport::new).collect();
        }
        let mut arrivals = Arrivals::default();
        for thread in threads {
            arrivals.merge(&thread.tally.arrivals);
            report.add(thread)?;
        }
        report.arrivals_distance = arrivals.distance(duration_ns);
        Ok(report)
    }

    fn empty(started_ns: u64, duration_ns: u64) -> Report {
        Report {
            started_ns,
            duration_ns,
            counts: Counts::default(),
            latency: Latency::default(),
            service: Latency::default(),
            lag: Latency::default(),
            connect: Latency::default(),
            tls: Latency::default(),
            pages: Latency::default(),
            targets: Vec::new(),
            series: Vec::new(),
            status_classes: [0; 6],
            counters: Counters::default(),
            arrivals_distance: None,
            established_peak: 0,
            cpu_ns: 0,
            spun_ns: 0,
            wait_ns: 0,
            busiest: 0.0,
            fairness: 1.0,
            dead_time: 0.0,
        }
    }

    fn add(&mut self, thread: ThreadReport) -> Result<(), HistogramError> {
        self.counts.add(&thread.tally.counts);
        self.latency.merge(&thread.tally.latency)?;
        self.service.merge(&thread.tally.service)?;
        self.lag.merge(&thread.tally.lag)?;
        self.connect.merge(&thread.connections.connect)?;
        self.tls.merge(&thread.connections.tls)?;
        self.pages.merge(&thread.tally.pages)?;
        self.targets.iter_mut().zip(&thread.targets).for_each(|(sum, part)| sum.merge(part));
        merge_bins(&mut self.series, thread.tally.series.into_bins());
        self.status_classes.iter_mut().zip(thread.tally.classes).for_each(|(sum, part)| *sum += part);
        self.counters.add(&thread.connections.counters);
        self.counters.pool_waits += thread.pool_waits;
        self.established_peak += thread.connections.established_peak;
        self.cpu_ns += thread.usage.cpu_ns;
        self.spun_ns += thread.spun_ns.min(thread.usage.cpu_ns);
        self.wait_ns += thread.usage.wait_ns;
        let open_ns = (thread.closes_ns - thread.opens_ns) as f64;
        let worked_ns = thread.usage.cpu_ns.saturating_sub(thread.spun_ns);
        self.busiest = self.busiest.max(ratio(worked_ns as f64, open_ns).min(1.0));
        Ok(())
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        part / whole
    } else {
        0.0
    }
}

/// (Σx)² / (n Σx²). Source: Jain, Chiu & Hawe 1984.
fn jain(answers: &[u64]) -> f64 {
    let sum: f64 = answers.iter().map(|&count| count as f64).sum();
    let squares: f64 = answers.iter().map(|&count| (count as f64).powi(2)).sum();
    if squares == 0.0 {
        1.0
    } else {
        sum * sum / (answers.len() as f64 * squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[0, 0]), 1.0);
    }
}
