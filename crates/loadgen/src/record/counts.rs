//! What may become of a request, and how often each of it did.

use serde::{Deserialize, Serialize};

/// Where a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureStage {
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

impl FailureStage {
    /// All stages, in the order a request passes them; the discriminant is the index.
    pub const ALL: [FailureStage; 6] = [
        FailureStage::Connect,
        FailureStage::Tls,
        FailureStage::Write,
        FailureStage::Read,
        FailureStage::Protocol,
        FailureStage::Body,
    ];

    /// The stage's name in results.
    pub fn name(self) -> &'static str {
        match self {
            FailureStage::Connect => "connect",
            FailureStage::Tls => "tls",
            FailureStage::Write => "write",
            FailureStage::Read => "read",
            FailureStage::Protocol => "protocol",
            FailureStage::Body => "body",
        }
    }
}

/// What became of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok {
        status: u16,
    },
    WrongStatus {
        status: u16,
    },
    WrongBody {
        status: u16,
    },
    Failed(FailureStage),
    /// The connection was not open in its own time.
    ConnectTimedOut,
    TimedOut,
}

impl Outcome {
    /// Whether the server answered at all.
    pub fn is_answer(self) -> bool {
        matches!(self, Outcome::Ok { .. } | Outcome::WrongStatus { .. } | Outcome::WrongBody { .. })
    }
}

/// The accounting identity: `scheduled = ok + non2xx + Σ failed + timed_out + in_flight + unsent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests that were due in the recorded window.
    pub scheduled: u64,
    /// Answered as expected.
    pub ok: u64,
    /// Answered with another status than the expected one.
    pub non2xx: u64,
    /// Failures, indexed by [`FailureStage`].
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

    pub(crate) fn settle(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ok { .. } => self.ok += 1,
            Outcome::WrongStatus { .. } => self.non2xx += 1,
            Outcome::WrongBody { .. } => self.failed[FailureStage::Body as usize] += 1,
            Outcome::Failed(stage) => self.failed[stage as usize] += 1,
            Outcome::ConnectTimedOut => self.failed[FailureStage::Connect as usize] += 1,
            Outcome::TimedOut => self.timed_out += 1,
        }
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
