//! The plan as Python states it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use loadgen::{Address, BodyRule, Expectation, Pacer, Request, Stop, SECOND_NS};

/// One request and what a right answer to it looks like.
#[pyclass(frozen, module = "stackrace.load._engine")]
pub struct Target(loadgen::Target);

#[pymethods]
impl Target {
    #[new]
    #[pyo3(signature = (method, path, host, headers, body, *, status=None, length=None, exact=None))]
    #[allow(clippy::too_many_arguments)] // one request and its answer, by keyword
    fn new(
        method: String,
        path: String,
        host: String,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
        status: Option<u16>,
        length: Option<u64>,
        exact: Option<Vec<u8>>,
    ) -> PyResult<Target> {
        let rule = match (exact, length) {
            (Some(_), Some(_)) => return Err(PyValueError::new_err("exact says what length would; give one")),
            (Some(bytes), None) => BodyRule::Exact(Arc::from(bytes)),
            (None, Some(length)) => BodyRule::Length(length),
            (None, None) => BodyRule::Any,
        };
        let request = Request { method, path, host, headers, body };
        Ok(Target(loadgen::Target { request, expectation: Expectation { status, body: rule } }))
    }
}

#[derive(FromPyObject)]
enum PyAddress {
    Tcp(IpAddr, u16),
    #[pyo3(transparent)]
    Unix(std::path::PathBuf),
}

/// One run.
#[pyclass(frozen, module = "stackrace.load._engine")]
pub struct Plan {
    pub plan: loadgen::Plan,
}

#[pymethods]
impl Plan {
    #[new]
    #[pyo3(signature = (*, address, targets, connections, timeout_s, keep_alive=true, duration_s=None,
        requests=None, warmup_s=0.0, rate_per_s=None, poisson_seed=None, threads=1, cores=Vec::new()))]
    #[allow(clippy::too_many_arguments)] // mirrors the fields of the plan, by keyword
    fn new(
        address: PyAddress,
        targets: Vec<PyRef<'_, Target>>,
        connections: usize,
        timeout_s: f64,
        keep_alive: bool,
        duration_s: Option<f64>,
        requests: Option<u64>,
        warmup_s: f64,
        rate_per_s: Option<f64>,
        poisson_seed: Option<u64>,
        threads: usize,
        cores: Vec<usize>,
    ) -> PyResult<Plan> {
        let plan = loadgen::Plan {
            address: match address {
                PyAddress::Tcp(host, port) => Address::Tcp(SocketAddr::new(host, port)),
                PyAddress::Unix(path) => Address::Unix(path),
            },
            tls: None,
            targets: targets.iter().map(|target| target.0.clone()).collect(),
            pacer: pacer(rate_per_s, poisson_seed)?,
            stop: stop(duration_s, requests)?,
            connections,
            keep_alive,
            timeout_ns: nanoseconds("timeout_s", timeout_s)?,
            warmup_ns: nanoseconds("warmup_s", warmup_s)?,
            threads,
            cores,
        };
        plan.validate().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Plan { plan })
    }
}

fn pacer(rate_per_s: Option<f64>, poisson_seed: Option<u64>) -> PyResult<Pacer> {
    match (rate_per_s, poisson_seed) {
        (None, None) => Ok(Pacer::Closed),
        (Some(rate_per_s), None) => Ok(Pacer::Constant { rate_per_s }),
        (Some(rate_per_s), Some(seed)) => Ok(Pacer::Poisson { rate_per_s, seed }),
        (None, Some(_)) => Err(PyValueError::new_err("poisson_seed needs rate_per_s")),
    }
}

fn stop(duration_s: Option<f64>, requests: Option<u64>) -> PyResult<Stop> {
    match (duration_s, requests) {
        (Some(duration_s), None) => Ok(Stop::DurationNs(nanoseconds("duration_s", duration_s)?)),
        (None, Some(requests)) => Ok(Stop::Requests(requests)),
        _ => Err(PyValueError::new_err("give exactly one of duration_s and requests")),
    }
}

/// A year is more than any run needs and far from overflowing.
fn nanoseconds(name: &str, seconds: f64) -> PyResult<u64> {
    if (0.0..=366.0 * 86400.0).contains(&seconds) {
        return Ok((seconds * SECOND_NS as f64).round() as u64);
    }
    Err(PyValueError::new_err(format!("{name} is {seconds}; use seconds from 0 to a year")))
}
