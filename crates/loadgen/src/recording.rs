//! What a run recorded, before figures are made of it: recordings of several engines can be joined, and travel.
//!
//! Everything in it is a sum, so joining is exact: a joined histogram has in each bucket what one engine would have
//! counted there. Quantiles cannot be joined, so they are made last, by [`Recording::report`].

use std::iter;

use serde::{Deserialize, Serialize};

use crate::books::ThreadReport;
use crate::error::{HistogramError, RecordingError};
use crate::plan::Plan;
use crate::record::{merge_bins, Arrivals, Bin, Counters, Counts, Latency, TargetReport};
use crate::report::Report;

/// In front of the bytes: whose they are, and in which version.
const MAGIC: &[u8; 8] = b"STKRREC1";

/// The books of all threads of one engine, or of several.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recording {
    /// In order of first appearance in the plan.
    urls: Vec<String>,
    connections: u64,
    /// Connections idle on purpose: in an open loop, or while a visitor thinks.
    idles: bool,
    /// The window of the thread that opened it last, and of the one that closed it last.
    opens_ns: u64,
    closes_ns: u64,
    /// Requests settled by an answer, by connection.
    answers: Vec<u64>,
    engaged_ns: u64,
    arrivals: Arrivals,
    counts: Counts,
    latency: Latency,
    service: Latency,
    lag: Latency,
    connect: Latency,
    tls: Latency,
    pages: Latency,
    /// By URL; empty when there is one only.
    targets: Vec<TargetReport>,
    series: Vec<Bin>,
    status_classes: [u64; 6],
    counters: Counters,
    established_peak: u64,
    cpu_ns: u64,
    spun_ns: u64,
    wait_ns: u64,
    /// The busiest thread's share of its own window.
    busiest: f64,
}

impl Recording {
    pub(crate) fn new(
        plan: &Plan,
        urls: Vec<String>,
        threads: Vec<ThreadReport>,
    ) -> Result<Recording, HistogramError> {
        let mut whole = Recording::blank(urls, plan.pacer.is_open() || plan.thinks());
        whole.connections = plan.connections as u64;
        for thread in threads {
            whole.add(Recording::of(thread))?;
        }
        Ok(whole)
    }

    /// One recording of all, each with what is to be added to its machine's clock to get the common one, in
    /// nanoseconds. They are taken one after another, so that only one is held beside the sum.
    ///
    /// The engines have begun together, each by its own clock, so their windows differ by what those clocks are known
    /// to: the joined window opens and closes with the last of them.
    ///
    /// # Errors
    /// When there is none, when one cannot be had, or when they did not send the same requests in the same kind of
    /// loop.
    pub fn join(
        recordings: impl IntoIterator<Item = Result<(Recording, i64), RecordingError>>,
    ) -> Result<Recording, RecordingError> {
        let mut recordings = recordings.into_iter().map(|each| each.map(|(one, shift_ns)| one.shifted(shift_ns)));
        let first = recordings.next().ok_or(RecordingError::None)??;
        let mut whole = Recording::blank(first.urls.clone(), first.idles);
        for other in iter::once(Ok(first)).chain(recordings) {
            let other = other?;
            if other.urls != whole.urls || other.idles != whole.idles {
                return Err(RecordingError::Strangers);
            }
            whole.connections += other.connections;
            whole.add(other)?;
        }
        Ok(whole)
    }

    /// Makes figures of it.
    pub fn report(self) -> Report {
        let duration_ns = self.closes_ns.saturating_sub(self.opens_ns);
        let capacity_ns = duration_ns as f64 * self.connections as f64;
        Report {
            started_ns: self.opens_ns,
            duration_ns,
            fairness: jain(&self.answers),
            dead_time: if self.idles { 0.0 } else { (1.0 - ratio(self.engaged_ns as f64, capacity_ns)).max(0.0) },
            arrivals_distance: self.arrivals.distance(duration_ns),
            counts: self.counts,
            latency: self.latency,
            service: self.service,
            lag: self.lag,
            connect: self.connect,
            tls: self.tls,
            pages: self.pages,
            targets: self.targets,
            series: self.series,
            status_classes: self.status_classes,
            counters: self.counters,
            established_peak: self.established_peak,
            cpu_ns: self.cpu_ns,
            spun_ns: self.spun_ns,
            wait_ns: self.wait_ns,
            busiest: self.busiest,
        }
    }

    /// It as bytes, for another machine.
    ///
    /// # Errors
    /// When a histogram cannot be encoded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RecordingError> {
        Ok(postcard::to_extend(self, MAGIC.to_vec())?)
    }

    /// Reads what [`Recording::to_bytes`] of this version wrote.
    ///
    /// # Errors
    /// When the bytes are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Recording, RecordingError> {
        let body = bytes.strip_prefix(MAGIC).ok_or(RecordingError::Foreign)?;
        Ok(postcard::from_bytes(body)?)
    }

    /// The books of one thread, as a part of a whole.
    fn of(thread: ThreadReport) -> Recording {
        let open_ns = (thread.closes_ns - thread.opens_ns) as f64;
        let worked_ns = thread.usage.cpu_ns.saturating_sub(thread.spun_ns);
        let mut counters = thread.connections.counters;
        counters.pool_waits += thread.pool_waits;
        Recording {
            opens_ns: thread.opens_ns,
            closes_ns: thread.closes_ns,
            answers: thread.answers,
            engaged_ns: thread.engaged_ns,
            arrivals: thread.tally.arrivals,
            counts: thread.tally.counts,
            latency: thread.tally.latency,
            service: thread.tally.service,
            lag: thread.tally.lag,
            connect: thread.connections.connect,
            tls: thread.connections.tls,
            pages: thread.tally.pages,
            targets: thread.targets,
            series: thread.tally.series.into_bins(),
            status_classes: thread.tally.classes,
            counters,
            established_peak: thread.connections.established_peak,
            cpu_ns: thread.usage.cpu_ns,
            spun_ns: thread.spun_ns.min(thread.usage.cpu_ns),
            wait_ns: thread.usage.wait_ns,
            busiest: ratio(worked_ns as f64, open_ns).min(1.0),
            ..Recording::empty()
        }
    }

    fn add(&mut self, other: Recording) -> Result<(), HistogramError> {
        // A thread without a share of n requests ended before the window opened.
        self.opens_ns = self.opens_ns.max(other.opens_ns);
        self.closes_ns = self.closes_ns.max(other.closes_ns);
        self.answers.extend(other.answers);
        self.engaged_ns += other.engaged_ns;
        self.arrivals.merge(&other.arrivals);
        self.counts.add(&other.counts);
        self.latency.merge(&other.latency)?;
        self.service.merge(&other.service)?;
        self.lag.merge(&other.lag)?;
        self.connect.merge(&other.connect)?;
        self.tls.merge(&other.tls)?;
        self.pages.merge(&other.pages)?;
        self.targets.iter_mut().zip(&other.targets).for_each(|(sum, part)| sum.merge(part));
        merge_bins(&mut self.series, other.series);
        self.status_classes.iter_mut().zip(other.status_classes).for_each(|(sum, part)| *sum += part);
        self.counters.add(&other.counters);
        self.established_peak += other.established_peak;
        self.cpu_ns += other.cpu_ns;
        self.spun_ns += other.spun_ns;
        self.wait_ns += other.wait_ns;
        self.busiest = self.busiest.max(other.busiest);
        Ok(())
    }

    fn shifted(self, shift_ns: i64) -> Recording {
        Recording {
            opens_ns: self.opens_ns.saturating_add_signed(shift_ns),
            closes_ns: self.closes_ns.saturating_add_signed(shift_ns),
            ..self
        }
    }

    /// One of nothing so far, to which recordings of these requests are added.
    fn blank(urls: Vec<String>, idles: bool) -> Recording {
        let targets =
            if urls.len() > 1 { urls.iter().cloned().map(TargetReport::new).collect() } else { Vec::new() };
        Recording { urls, idles, targets, ..Recording::empty() }
    }

    fn empty() -> Recording {
        Recording {
            urls: Vec::new(),
            connections: 0,
            idles: false,
            opens_ns: 0,
            closes_ns: 0,
            answers: Vec::new(),
            engaged_ns: 0,
            arrivals: Arrivals::default(),
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
            established_peak: 0,
            cpu_ns: 0,
            spun_ns: 0,
            wait_ns: 0,
            busiest: 0.0,
        }
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
    use crate::clock::{MILLISECOND_NS, SECOND_NS};

    fn recording(opens_ns: u64, latencies_ns: &[u64], bounds_ns: &[u64]) -> Recording {
        let mut latency = Latency::default();
        latencies_ns.iter().for_each(|&value| latency.record(value));
        bounds_ns.iter().for_each(|&value| latency.record_at_least(value));
        let counts = Counts { scheduled: latency.count(), ok: latencies_ns.len() as u64, ..Counts::default() };
        Recording {
            urls: vec!["GET /".to_string()],
            connections: 2,
            opens_ns,
            closes_ns: opens_ns + SECOND_NS,
            answers: vec![latencies_ns.len() as u64, 0],
            engaged_ns: SECOND_NS,
            counts,
            latency,
            ..Recording::empty()
        }
    }

    #[test]
    fn fairness_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[0, 0]), 1.0);
    }

    #[test]
    fn joined_recordings_have_the_counts_of_one_that_recorded_all() {
        let all: Vec<u64> = (1..=4000).map(|number| number * 977).collect();
        let whole = recording(0, &all, &[5_000_000; 7]);
        // each with a wider range than the one before
        let travelled = |one: Recording| Ok((Recording::from_bytes(&one.to_bytes()?)?, 0));
        let parts = all.chunks(1000).map(|part| travelled(recording(0, part, &[])));
        let bounds = iter::once(travelled(recording(0, &[], &[5_000_000; 7])));
        let joined = Recording::join(parts.chain(bounds)).unwrap();
        assert_eq!(joined.latency.buckets().collect::<Vec<_>>(), whole.latency.buckets().collect::<Vec<_>>());
        assert_eq!(joined.latency.censored_count(), 7);
        assert_eq!((joined.counts, joined.connections), (whole.counts, 10));
    }

    #[test]
    fn windows_meet_on_the_common_clock() {
        let ahead = 3_500 * MILLISECOND_NS;
        let parts = [
            Ok((recording(10 * SECOND_NS, &[1000; 10], &[]), 0)),
            Ok((recording(10 * SECOND_NS + ahead + MILLISECOND_NS, &[1000; 10], &[]), -(ahead as i64))),
        ];
        let report = Recording::join(parts).unwrap().report();
        assert_eq!(report.started_ns, 10 * SECOND_NS + MILLISECOND_NS);
        assert_eq!(report.duration_ns, SECOND_NS);
        assert_eq!((report.fairness, report.dead_time), (0.5, 0.5));
    }

    #[test]
    fn bytes_carry_everything() {
        let mut before = recording(7, &[900, 1_000, 2_000_000], &[3_000_000]);
        before.counters.reconnects = 3;
        before.arrivals.record(MILLISECOND_NS);
        let after = Recording::from_bytes(&before.to_bytes().unwrap()).unwrap();
        assert!(after.to_bytes().unwrap() == before.to_bytes().unwrap(), "something was lost on the way");
        assert_eq!(after.latency.buckets().collect::<Vec<_>>(), before.latency.buckets().collect::<Vec<_>>());
        assert_eq!((after.latency.max(), after.latency.min_ns()), (before.latency.max(), before.latency.min_ns()));
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        let bytes = recording(7, &[900], &[]).to_bytes().unwrap();
        assert!(matches!(Recording::from_bytes(b""), Err(RecordingError::Foreign)));
        assert!(matches!(Recording::from_bytes(b"STKRREC0 of another version"), Err(RecordingError::Foreign)));
        for length in MAGIC.len()..bytes.len() {
            assert!(Recording::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn strangers_and_nobody_are_not_joined() {
        let mut other = recording(0, &[1], &[]);
        other.urls = vec!["GET /other".to_string()];
        let both = [Ok((recording(0, &[1], &[]), 0)), Ok((other, 0))];
        assert!(matches!(Recording::join(both), Err(RecordingError::Strangers)));
        assert!(matches!(Recording::join([]), Err(RecordingError::None)));
        let damaged = [Ok((recording(0, &[1], &[]), 0)), Err(RecordingError::Foreign)];
        assert!(matches!(Recording::join(damaged), Err(RecordingError::Foreign)));
    }
}
