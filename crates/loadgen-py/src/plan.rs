//! The plan as Python states it.

use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use loadgen::{
    Address, BodyRule, Expectation, Fill, Handout, Nonce, NoncePlace, Order, OtherThreads, Pacer, Part, Place,
    Request, Reuse, Source, Stop, TlsVersion, BODY_MAX_BYTES, SECOND_NS,
};

/// One request and what a right answer to it looks like.
#[pyclass(frozen, module = "stackrace.measure.engine._engine")]
pub struct Target(loadgen::Target);

#[pymethods]
impl Target {
    #[new]
    #[pyo3(signature = (method, path, host, headers, body, *, chunk_bytes=None, expects_continue=false, think_s=0.0,
        embedded=false, status=None, length=None, exact=None, parts=None, handouts=Vec::new(), fills=Vec::new()))]
    #[allow(clippy::too_many_arguments)] // one request and its answer, by keyword
    fn new(
        method: String,
        path: String,
        host: String,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
        chunk_bytes: Option<usize>,
        expects_continue: bool,
        think_s: f64,
        embedded: bool,
        status: Option<u16>,
        length: Option<u64>,
        exact: Option<Vec<u8>>,
        parts: Option<Vec<Vec<u8>>>,
        handouts: Vec<PyHandout>,
        fills: Vec<PyFill>,
    ) -> PyResult<Target> {
        let rule = match (exact, length, parts) {
            (Some(bytes), None, None) => BodyRule::Exact(Arc::from(bytes)),
            (None, Some(length), None) => BodyRule::Length(length),
            (None, None, Some(parts)) => BodyRule::Parts(Arc::from(parts)),
            (None, None, None) => BodyRule::Any,
            _ => return Err(PyValueError::new_err("give at most one of exact, length and parts")),
        };
        let chunk_bytes =
            chunk_bytes.map(|size| at_least_one("chunk_bytes", NonZeroUsize::new(size))).transpose()?;
        let request = Request { method, path, host, headers, body, chunk_bytes, expects_continue };
        Ok(Target(loadgen::Target {
            think_ns: nanoseconds("think_s", think_s)?,
            embedded,
            handouts: handouts.into_iter().map(PyHandout::handout).collect::<PyResult<_>>()?,
            fills: fills.into_iter().map(PyFill::fill).collect(),
            ..loadgen::Target::new(request, Expectation { status, body: rule })
        }))
    }
}

/// The place ("field" or "member"), the name there, its number among those of that name, and the slot.
#[derive(FromPyObject)]
struct PyHandout(String, String, usize, usize);

impl PyHandout {
    fn handout(self) -> PyResult<Handout> {
        let PyHandout(place, name, nth, slot) = self;
        let place = match place.as_str() {
            "field" => Place::Field,
            "member" => Place::Member,
            _ => return Err(PyValueError::new_err(format!("{place:?} gives no values; use field or member"))),
        };
        Ok(Handout { place, name, nth, slot })
    }
}

/// The part ("path", "body" or "header:NAME"), its bytes from and to, the slot or cookie that fills them, and whether
/// as forms encode it.
#[derive(FromPyObject)]
struct PyFill(String, usize, usize, PySource, bool);

#[derive(FromPyObject)]
enum PySource {
    #[pyo3(transparent)]
    Slot(usize),
    #[pyo3(transparent)]
    Cookie(String),
}

impl PyFill {
    fn fill(self) -> Fill {
        let PyFill(part, start, end, source, form) = self;
        let part = match part.as_str() {
            "path" => Part::Path,
            "body" => Part::Body,
            _ => Part::Header(part.strip_prefix("header:").unwrap_or(&part).into()),
        };
        let source = match source {
            PySource::Slot(slot) => Source::Slot(slot),
            PySource::Cookie(name) => Source::Cookie(name),
        };
        Fill { part, range: start..end, source, form }
    }
}

#[derive(FromPyObject)]
enum PyAddress {
    Tcp(IpAddr, u16),
    #[pyo3(transparent)]
    Unix(std::path::PathBuf),
}

/// One run.
#[pyclass(frozen, module = "stackrace.measure.engine._engine")]
pub struct Plan {
    pub plan: loadgen::Plan,
}

#[pymethods]
impl Plan {
    #[new]
    #[pyo3(signature = (*, address, targets, connections, timeout_s, tls=None, session=false, cookies=false,
        nonce=None, keep_alive=true, requests_per_connection=None, connect_timeout_s=None, open_first_s=None, body_max_bytes=None,
        duration_s=None, requests=None, warmup_s=0.0, follow_s=0.0, rate_per_s=None, poisson_seed=None, spin=false, threads=1,
        cores=Vec::new(), starts_s=None, other_threads=(0, 0)))]
    #[allow(clippy::too_many_arguments)] // mirrors the fields of the plan, by keyword
    fn new(
        address: PyAddress,
        targets: Vec<PyRef<'_, Target>>,
        connections: usize,
        timeout_s: f64,
        tls: Option<PyTls>,
        session: bool,
        cookies: bool,
        nonce: Option<(String, String)>,
        keep_alive: bool,
        requests_per_connection: Option<u32>,
        connect_timeout_s: Option<f64>,
        open_first_s: Option<f64>,
        body_max_bytes: Option<u64>,
        duration_s: Option<f64>,
        requests: Option<u64>,
        warmup_s: f64,
        follow_s: f64,
        rate_per_s: Option<f64>,
        poisson_seed: Option<u64>,
        spin: bool,
        threads: usize,
        cores: Vec<usize>,
        starts_s: Option<f64>,
        other_threads: (usize, usize),
    ) -> PyResult<Plan> {
        let plan = loadgen::Plan {
            address: match address {
                PyAddress::Tcp(host, port) => Address::Tcp(SocketAddr::new(host, port)),
                PyAddress::Unix(path) => Address::Unix(path),
            },
            tls: tls.map(PyTls::plan).transpose()?,
            targets: targets.iter().map(|target| target.0.clone()).collect(),
            order: if session { Order::Session } else { Order::Turn },
            cookies,
            nonce: nonce.map(place_nonce).transpose()?,
            pacer: pacer(rate_per_s, poisson_seed)?,
            stop: stop(duration_s, requests)?,
            connections,
            reuse: reuse(keep_alive, requests_per_connection)?,
            timeout_ns: nanoseconds("timeout_s", timeout_s)?,
            connect_timeout_ns: connect_timeout_s.map(|time| nanoseconds("connect_timeout_s", time)).transpose()?,
            open_first_ns: open_first_s.map(|time| nanoseconds("open_first_s", time)).transpose()?,
            warmup_ns: nanoseconds("warmup_s", warmup_s)?,
            follow_ns: nanoseconds("follow_s", follow_s)?,
            body_max_bytes: body_max_bytes.unwrap_or(BODY_MAX_BYTES),
            spin,
            starts_ns: starts_s.map(moment).transpose()?,
            other_threads: OtherThreads { before: other_threads.0, after: other_threads.1 },
            threads,
            cores,
        };
        plan.validate().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Plan { plan })
    }
}

/// Name, trusted certificates in PEM (None: any), versions.
#[derive(FromPyObject)]
struct PyTls(String, Option<Vec<u8>>, Vec<String>);

impl PyTls {
    fn plan(self) -> PyResult<loadgen::Tls> {
        let PyTls(name, authorities, versions) = self;
        let version = |text: &String| match text.as_str() {
            "1.2" => Ok(TlsVersion::V1_2),
            "1.3" => Ok(TlsVersion::V1_3),
            _ => Err(PyValueError::new_err(format!("TLS {text:?} is not spoken; use 1.2 or 1.3"))),
        };
        Ok(loadgen::Tls { name, authorities, versions: versions.iter().map(version).collect::<PyResult<_>>()? })
    }
}

fn place_nonce((place, name): (String, String)) -> PyResult<Nonce> {
    let place = match place.as_str() {
        "header" => NoncePlace::Header,
        "query" => NoncePlace::Query,
        _ => return Err(PyValueError::new_err(format!("{place:?} is no place for a nonce; use header or query"))),
    };
    Ok(Nonce { place, name })
}

fn reuse(keep_alive: bool, requests_per_connection: Option<u32>) -> PyResult<Reuse> {
    match (keep_alive, requests_per_connection) {
        (true, None) => Ok(Reuse::Always),
        (true, Some(most)) => at_least_one("requests_per_connection", NonZeroU32::new(most)).map(Reuse::Times),
        (false, None | Some(1)) => Ok(Reuse::Never),
        (false, Some(_)) => Err(PyValueError::new_err("requests_per_connection needs keep_alive")),
    }
}

fn at_least_one<T>(name: &str, number: Option<T>) -> PyResult<T> {
    number.ok_or_else(|| PyValueError::new_err(format!("{name} is 0; use at least 1")))
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

/// A moment of CLOCK_MONOTONIC.
fn moment(seconds: f64) -> PyResult<u64> {
    if (0.0..=u64::MAX as f64 * 1e-10).contains(&seconds) {
        return Ok((seconds * SECOND_NS as f64).round() as u64);
    }
    Err(PyValueError::new_err(format!("starts_s is {seconds}; use seconds of CLOCK_MONOTONIC")))
}

/// A year is more than any run needs and far from overflowing.
pub fn nanoseconds(name: &str, seconds: f64) -> PyResult<u64> {
    if (0.0..=366.0 * 86400.0).contains(&seconds) {
        return Ok((seconds * SECOND_NS as f64).round() as u64);
    }
    Err(PyValueError::new_err(format!("{name} is {seconds}; use seconds from 0 to a year")))
}
