//! What a run saw, merged over its threads.

use crate::record::{Bin, Counters, Counts, Latency, TargetReport};

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
