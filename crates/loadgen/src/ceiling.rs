//! What the engine itself can do on this machine: its rate against a server that does nothing.
//!
//! A stack measured near it was not measured: the engine was. Where generator and stack share cores the null server
//! takes its share of them, too, so that the ceiling is that of the whole arrangement.

use crate::check::{BodyRule, Expectation};
use crate::engine::run;
use crate::error::RunError;
use crate::monitor::Monitor;
use crate::null_server::{NullServer, BODY};
use crate::plan::{Plan, Reuse, Target};
use crate::request::Request;
use crate::stop::Stop;
use crate::transport::Address;

/// How the ceiling is to be measured: as the load itself, so that it is the ceiling of that load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    /// Connections of a closed loop.
    pub connections: usize,
    /// How many requests a connection carries.
    pub reuse: Reuse,
    /// Event loops.
    pub threads: usize,
    /// Their cores; none leaves the choice to the kernel.
    pub cores: Vec<usize>,
    /// The null server's cores; none leaves the choice to the kernel.
    pub server_cores: Vec<usize>,
    /// How long to measure; a quarter of it more is spent before.
    pub duration_ns: u64,
}

impl Ceiling {
    /// Right answers per second, every byte of every answer checked. A run that the machine left no time at all says
    /// nothing of the engine: twice the time is given then, up to sixteen times.
    ///
    /// # Errors
    /// When the machine refuses the server or the load.
    pub fn measure(&self) -> Result<f64, RunError> {
        let server = NullServer::start(&self.server_cores).map_err(RunError::NullServer)?;
        let expectation = Expectation { status: Some(200), body: BodyRule::Exact(BODY.into()) };
        let targets = vec![Target::new(Request::get("/", "null"), expectation)];
        let mut plan = Plan {
            reuse: self.reuse,
            warmup_ns: self.duration_ns / 4,
            threads: self.threads,
            cores: self.cores.clone(),
            ..Plan::closed(Address::Tcp(server.address()), targets, self.connections, Stop::Requests(0))
        };
        let mut duration_ns = self.duration_ns;
        loop {
            plan.stop = Stop::DurationNs(duration_ns);
            let report = run(&plan, &Monitor::default())?;
            if report.counts.ok > 0 || duration_ns >= 16 * self.duration_ns {
                return Ok(report.counts.ok as f64 * 1e9 / report.duration_ns as f64);
            }
            duration_ns *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MILLISECOND_NS;

    #[test]
    fn the_engine_reaches_something_kept_alive_or_not() {
        for reuse in [Reuse::Always, Reuse::Never] {
            let ceiling = Ceiling {
                connections: 4,
                reuse,
                threads: 1,
                cores: Vec::new(),
                server_cores: Vec::new(),
                duration_ns: 100 * MILLISECOND_NS,
            };
            assert!(ceiling.measure().unwrap() > 0.0);
        }
    }
}
