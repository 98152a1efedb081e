//! What became of the requests: every scheduled one is counted exactly once.

use super::series::Series;
use super::Latency;

/// Where a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The connection was refused, or broke before the request could be sent.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The connection broke while the request was being sent.
    Write,
    /// The connection broke or was closed before the answer was complete.
    Read,
    /// The answer was no valid HTTP, or more bytes came than it announced.
    Protocol,
    /// The answer's body was not the expected one.
    Body,
}

impl Stage {
    /// All stages, in the order a request passes them; the discriminant is the index.
    pub const ALL: [Stage; 6] =
        [Stage::Connect, Stage::Tls, Stage::Write, Stage::Read, Stage::Protocol, Stage::Body];

    /// The stage's name in results.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Connect => "connect",
            Stage::Tls => "tls",
            Stage::Write => "write",
            Stage::Read => "read",
            Stage::Protocol => "protocol",
            Stage::Body => "body",
        }
    }
}

/// What became of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok { status: u16 },
    WrongStatus { status: u16 },
    WrongBody { status: u16 },
    Failed(Stage),
    TimedOut,
}

/// The accounting identity: `scheduled = ok + non2xx + Σ failed + timed_out + in_flight + unsent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were due in the recorded window.
    pub scheduled: u64,
    /// Answered as expected.
    pub ok: u64,
    /// Answered with another status than the expected one.
    pub non2xx: u64,
    /// Failures, indexed by [`Stage`].
    pub failed: [u64; 6],
    /// Not answered in time.
    pub timed_out: u64,
    /// Begun, but unfinished when the window closed.
    pub in_flight: u64,
    /// Due, but never begun.
    pub unsent: u64,
}

impl Counts {
    /// The right-hand side of the identity.
    pub fn accounted(&self) -> u64 {
        self.ok + self.errors() + self.in_flight + self.unsent
    }

    /// Requests answered wrongly or not at all.
    pub fn errors(&self) -> u64 {
        self.non2xx + self.failed.iter().sum::<u64>() + self.timed_out
    }

    pub(crate) fn add(&mut self, other: &Counts) {
        self.scheduled += other.scheduled;
        self.ok += other.ok;
        self.non2xx += other.non2xx;
        self.failed.iter_mut().zip(other.failed).for_each(|(sum, part)| *sum += part);
        self.timed_out += other.timed_out;
        self.in_flight += other.in_flight;
        self.unsent += other.unsent;
    }
}

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
    pub latency: Latency,
    pub service: Latency,
    pub lag: Latency,
    pub series: Series,
    /// Answers by first digit of their status; index 0 is anything outside of 1 to 5.
    pub classes: [u64; 6],
}

impl Tally {
    #[inline]
    pub fn settle(&mut self, outcome: Outcome, times: Times) {
        match outcome {
            Outcome::Ok { status } => {
                self.class(status);
                self.counts.ok += 1;
                self.latency.record(times.latency_ns);
                self.service.record(times.service_ns);
                self.lag.record(times.lag_ns);
                self.series.ok(times.latency_ns);
                return;
            }
            Outcome::WrongStatus { status } => {
                self.class(status);
                self.counts.non2xx += 1;
            }
            Outcome::WrongBody { status } => {
                self.class(status);
                self.counts.failed[Stage::Body as usize] += 1;
            }
            Outcome::Failed(stage) => self.counts.failed[stage as usize] += 1,
            Outcome::TimedOut => {
                self.counts.timed_out += 1;
                self.latency.record_at_least(times.latency_ns);
                self.service.record_at_least(times.service_ns);
            }
        }
        self.series.error();
    }

    fn class(&mut self, status: u16) {
        let class = usize::from(status / 100);
        self.classes[if class < 6 { class } else { 0 }] += 1;
    }
}

impl Tally {
    /// Enters a request that took at least `age_ns` as a lower bound, unless it is younger than `usual_ns`.
    pub fn bound(&mut self, age_ns: u64, usual_ns: u64) {
        if age_ns >= usual_ns {
            self.latency.record_at_least(age_ns);
        }
    }
}
