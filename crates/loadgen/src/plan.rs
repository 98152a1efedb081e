//! Everything a run is told beforehand.

use crate::check::Expectation;
use crate::error::PlanError;
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
}

/// One run. Each part is a value that varies independently of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Where the server listens.
    pub address: Address,
    /// What is needed to speak TLS; `None` speaks plain HTTP.
    pub tls: Option<Tls>,
    /// Sent in turn by each thread, over and over.
    pub targets: Vec<Target>,
    /// When requests are due.
    pub pacer: Pacer,
    /// Until when requests are scheduled.
    pub stop: Stop,
    /// Connections over all threads: the concurrency of a closed loop, the limit of an open one.
    pub connections: usize,
    /// Whether connections carry more than one request.
    pub keep_alive: bool,
    /// The time a single request may take, connecting included.
    pub timeout_ns: u64,
    /// How long load is applied before the recorded window opens.
    pub warmup_ns: u64,
    /// Event loops, each in a thread of its own.
    pub threads: usize,
    /// Cores for the threads: one each if there are enough threads for all cores, else all for every thread;
    /// empty leaves the choice to the kernel.
    pub cores: Vec<usize>,
}

impl Plan {
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
        if self.timeout_ns == 0 {
            return Err(PlanError::NoTimeout);
        }
        self.validate_rate()?;
        self.tls.as_ref().map(TlsConnector::new).transpose()?;
        self.targets.iter().try_for_each(|target| target.request.validate())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(connections: usize, threads: usize, cores: &[usize]) -> Plan {
        Plan {
            address: Address::Unix("/".into()),
            tls: None,
            targets: vec![Target { request: Request::get("/", "h"), expectation: Expectation::default() }],
            pacer: Pacer::Closed,
            stop: Stop::Requests(1),
            connections,
            keep_alive: true,
            timeout_ns: 1,
            warmup_ns: 0,
            threads,
            cores: cores.to_vec(),
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
