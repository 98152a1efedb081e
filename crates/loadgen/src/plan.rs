//! Everything a run is told beforehand.

use std::num::NonZeroU32;

use crate::carried::{Fill, Handout};
use crate::check::{BodyRule, Expectation};
use crate::clock::SECOND_NS;
use crate::error::PlanError;
use crate::nonce::Nonce;
use crate::pacer::Pacer;
use crate::request::Request;
use crate::stop::Stop;
use crate::transport::{Address, Tls, TlsConnector};

/// A request and what a right answer to it looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The request.
    pub request: Request,
    /// Its right answer.
    pub expectation: Expectation,
    /// In a session, the pause between the answer before and this request.
    pub think_ns: u64,
    /// In a session, whether it belongs to the page before it, as a style sheet does.
    pub embedded: bool,
    /// What of its answer later requests of the visit send back.
    pub handouts: Vec<Handout>,
    /// Where it sends what the visitor was given; these do not overlap.
    pub fills: Vec<Fill>,
}

impl Target {
    /// A request without pause.
    pub fn new(request: Request, expectation: Expectation) -> Target {
        Target { request, expectation, think_ns: 0, embedded: false, handouts: Vec::new(), fills: Vec::new() }
    }
}

/// How targets are spread over connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Whichever connection of a thread is free sends the next target.
    Turn,
    /// Each connection plays all targets in order, as one visitor, then again as the next visitor. In an open loop
    /// it is visitors that fall due.
    Session,
}

/// How many requests a connection carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// One.
    Never,
    /// This many.
    Times(NonZeroU32),
    /// As many as the server lets it.
    Always,
}

/// Threads of other engines that send the same open loop: its arrivals are dealt out over all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OtherThreads {
    /// Those whose turn comes before ours.
    pub before: usize,
    /// Those whose turn comes after ours.
    pub after: usize,
}

impl OtherThreads {
    /// Thread `index` of `own`, counted over all: its number, and how many there are.
    pub(crate) fn place(self, index: usize, own: usize) -> (usize, usize) {
        (self.before + index, self.before + own + self.after)
    }
}

/// One run. Each part is a value that varies independently of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Where the server listens.
    pub address: Address,
    /// TLS on top, if any.
    pub tls: Option<Tls>,
    /// What is sent, over and over.
    pub targets: Vec<Target>,
    /// How targets are spread over connections.
    pub order: Order,
    /// Whether a session sends back the cookies it was given.
    pub cookies: bool,
    /// Whether each request carries a number of its own, for the answer to repeat.
    pub nonce: Option<Nonce>,
    /// When requests are due.
    pub pacer: Pacer,
    /// Until when requests are scheduled.
    pub stop: Stop,
    /// Connections over all threads: the concurrency of a closed loop, the limit of an open one.
    pub connections: usize,
    /// How many requests a connection carries.
    pub reuse: Reuse,
    /// The time a single request may take, connecting included.
    pub timeout_ns: u64,
    /// The time opening a connection may take, TLS included; `None` leaves it to `timeout_ns`.
    pub connect_timeout_ns: Option<u64>,
    /// A closed loop opens all its connections before its clock starts, for as long as one more is open after at
    /// most this time; `None` opens each for its first request.
    pub open_first_ns: Option<u64>,
    /// How long load is applied before the recorded window opens.
    pub warmup_ns: u64,
    /// How long load goes on, unrecorded, after a window bounded by time has closed: until the requests are answered
    /// that would otherwise leave lower bounds in the latencies. They count as unfinished all the same.
    pub follow_ns: u64,
    /// Longer bodies are wrong ones.
    pub body_max_bytes: u64,
    /// Ask the kernel again and again instead of sleeping: an answer is seen the moment it comes, not once a sleeping
    /// core has woken. Wants cores that nobody else needs.
    pub spin: bool,
    /// When the clock of the run starts, CLOCK_MONOTONIC in nanoseconds; `None`, or a moment that is over: at once.
    pub starts_ns: Option<u64>,
    /// Whom an open loop's rate is shared with.
    pub other_threads: OtherThreads,
    /// Event loops, each in a thread of its own.
    pub threads: usize,
    /// Cores for the threads: one each if there are enough threads for all cores, else all for every thread;
    /// empty leaves the choice to the kernel.
    pub cores: Vec<usize>,
}

/// A body that is longer than this is wrong, unless the plan says otherwise.
pub const BODY_MAX_BYTES: u64 = 256 * 1024 * 1024;

impl Plan {
    /// How long requests fall due: the warm-up and the recorded window; 0 where a closed loop ends with its requests.
    pub(crate) fn span_ns(&self) -> u64 {
        let recorded_ns = match (&self.stop, &self.pacer) {
            (Stop::DurationNs(duration_ns), _) => *duration_ns,
            (Stop::Requests(requests), Pacer::Constant { rate_per_s } | Pacer::Poisson { rate_per_s, .. }) => {
                (*requests as f64 / rate_per_s * SECOND_NS as f64) as u64
            }
            (Stop::Requests(_), Pacer::Closed) => 0,
        };
        self.warmup_ns + recorded_ns
    }

    /// A closed loop of `connections` sending `targets` in turn, kept alive, on one thread, ten seconds a request.
    pub fn closed(address: Address, targets: Vec<Target>, connections: usize, stop: Stop) -> Plan {
        Plan {
            address,
            tls: None,
            targets,
            order: Order::Turn,
            cookies: false,
            nonce: None,
            pacer: Pacer::Closed,
            stop,
            connections,
            reuse: Reuse::Always,
            timeout_ns: 10 * SECOND_NS,
            connect_timeout_ns: None,
            open_first_ns: None,
            warmup_ns: 0,
            follow_ns: 0,
            body_max_bytes: BODY_MAX_BYTES,
            spin: false,
            starts_ns: None,
            other_threads: OtherThreads::default(),
            threads: 1,
            cores: Vec::new(),
        }
    }

    /// Whether the plan can be run.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), PlanError> {
        if self.targets.is_empty() {
            return Err(PlanError::NoTargets);
        }
        if self.connections == 0 {
            return Err(PlanError::NoConnections);
        }
        if self.threads == 0 || self.threads > self.connections {
            return Err(PlanError::Threads { threads: self.threads, connections: self.connections });
        }
        if self.timeout_ns == 0 || self.connect_timeout_ns == Some(0) {
            return Err(PlanError::NoTimeout);
        }
        self.validate_rate()?;
        self.tls.as_ref().map(TlsConnector::new).transpose()?;
        if let Some(nonce) = &self.nonce {
            nonce.validate()?;
        }
        self.targets.iter().try_for_each(Target::validate)
    }

    /// Whether some session pauses: its connections are then idle on purpose.
    pub(crate) fn thinks(&self) -> bool {
        self.order == Order::Session && self.targets.iter().any(|target| target.think_ns > 0)
    }

    fn validate_rate(&self) -> Result<(), PlanError> {
        match self.pacer {
            Pacer::Constant { rate_per_s } | Pacer::Poisson { rate_per_s, .. }
                if !(rate_per_s.is_finite() && rate_per_s > 0.0) =>
            {
                Err(PlanError::Rate { rate_per_s })
            }
            _ => Ok(()),
        }
    }

    /// How many connections each thread has; they differ by at most one.
    pub(crate) fn shares(&self) -> Vec<usize> {
        let (each, extra) = (self.connections / self.threads, self.connections % self.threads);
        (0..self.threads).map(|index| each + usize::from(index < extra)).collect()
    }

    /// The cores thread `index` may run on; empty for any.
    pub(crate) fn cores_of(&self, index: usize) -> &[usize] {
        if self.cores.is_empty() || self.threads < self.cores.len() {
            return &self.cores;
        }
        let position = index % self.cores.len();
        &self.cores[position..=position]
    }
}

impl Target {
    fn validate(&self) -> Result<(), PlanError> {
        match &self.expectation.body {
            BodyRule::Parts(parts) if parts.len() < 2 => return Err(PlanError::Parts),
            _ => self.request.validate()?,
        }
        self.fills.iter().try_for_each(|fill| self.request.validate_fill(fill))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(connections: usize, threads: usize, cores: &[usize]) -> Plan {
        let targets = vec![Target::new(Request::get("/", "h"), Expectation::default())];
        Plan {
            threads,
            cores: cores.to_vec(),
            ..Plan::closed(Address::Unix("/".into()), targets, connections, Stop::Requests(1))
        }
    }

    #[test]
    fn connections_are_split_evenly() {
        assert_eq!(plan(10, 3, &[]).shares(), [4, 3, 3]);
        assert_eq!(plan(3, 3, &[]).shares(), [1, 1, 1]);
    }

    #[test]
    fn enough_threads_get_a_core_each_and_few_roam() {
        assert_eq!(plan(9, 2, &[4, 5]).cores_of(1), [5]);
        assert_eq!(plan(9, 3, &[4, 5]).cores_of(2), [4]);
        assert_eq!(plan(9, 1, &[4, 5]).cores_of(0), [4, 5]);
        assert!(plan(9, 3, &[]).cores_of(2).is_empty());
    }

    #[test]
    fn a_rate_must_be_a_rate() {
        for rate_per_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let pacer = Pacer::Poisson { rate_per_s, seed: 0 };
            assert!(matches!(Plan { pacer, ..plan(1, 1, &[]) }.validate(), Err(PlanError::Rate { .. })));
        }
        assert!(plan(1, 1, &[]).validate().is_ok());
    }
}
