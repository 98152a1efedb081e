//! Python binding of the load engine: converts the plan, releases the GIL, returns one result.

#![deny(missing_docs)]

mod histogram;
mod monitor;
mod plan;
mod report;

use std::borrow::Cow;
use std::io::ErrorKind;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyOverflowError, PyRuntimeError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use loadgen::{AskError, Ceiling, Pacer, Recording, RecordingError, Reuse, RunError, SECOND_NS};

/// Plays a plan to its end without holding the GIL.
///
/// ValueError: the plan is wrong. OSError: a limit of this machine stands in the way. RuntimeError: a bug.
#[pyfunction]
fn run(py: Python<'_>, plan: &plan::Plan, monitor: &monitor::Monitor) -> PyResult<report::Report> {
    let (plan, shared) = (&plan.plan, monitor.shared());
    let report = py.detach(|| loadgen::run(plan, &shared)).map_err(translate)?;
    Ok(report::Report::from(report))
}

/// Plays a plan as `run` does, and returns what was recorded before figures are made of it.
#[pyfunction]
fn record<'py>(py: Python<'py>, plan: &plan::Plan, monitor: &monitor::Monitor) -> PyResult<Bound<'py, PyBytes>> {
    let (plan, shared) = (&plan.plan, monitor.shared());
    let recording = py.detach(|| loadgen::record(plan, &shared)).map_err(translate)?;
    Ok(PyBytes::new(py, &recording.to_bytes().map_err(unusable)?))
}

/// Makes figures of what `record` returned on all machines, each with the nanoseconds to add to its clock.
///
/// ValueError: not all are recordings of one load, made by this version.
#[pyfunction]
fn join(py: Python<'_>, recordings: Vec<(PyBackedBytes, i64)>) -> PyResult<report::Report> {
    let parts = recordings.iter().map(|(bytes, shift_ns)| Ok((Recording::from_bytes(bytes)?, *shift_ns)));
    let joined = py.detach(|| Recording::join(parts)).map_err(unusable)?;
    Ok(report::Report::from(joined.report()))
}

/// Right answers per second that the engine reaches here against a server that does nothing.
///
/// ValueError: a plan that cannot be run. OSError: a limit of this machine stands in the way.
#[pyfunction]
#[pyo3(signature = (*, connections, keep_alive, threads, cores, server_cores, duration_s))]
fn ceiling(
    py: Python<'_>,
    connections: usize,
    keep_alive: bool,
    threads: usize,
    cores: Vec<usize>,
    server_cores: Vec<usize>,
    duration_s: f64,
) -> PyResult<f64> {
    let reuse = if keep_alive { Reuse::Always } else { Reuse::Never };
    let duration_ns = plan::nanoseconds("duration_s", duration_s)?;
    let ceiling = Ceiling { connections, reuse, threads, cores, server_cores, duration_ns };
    py.detach(|| ceiling.measure()).map_err(translate)
}

type Fields = Vec<(String, Cow<'static, [u8]>)>;

/// Sends one request, given as bytes, and returns its answer: status, header fields, body, the body's length, and
/// whether it was still being sent when it was given up. Of the body, at most `body_max_bytes` are kept.
///
/// OSError: there was no connection, or it broke. OverflowError: its head is too large. ValueError: what came is no answer that a run would take.
#[pyfunction]
fn ask<'py>(
    py: Python<'py>,
    address: (String, u16),
    message: &[u8],
    to_head: bool,
    timeout_s: f64,
    body_max_bytes: usize,
) -> PyResult<(u16, Fields, Bound<'py, PyBytes>, u64, bool)> {
    let timeout = Duration::from_nanos(plan::nanoseconds("timeout_s", timeout_s)?.max(1));
    let asked = py.detach(|| loadgen::ask((&address.0, address.1), message, to_head, timeout, body_max_bytes));
    let answer = asked.map_err(unanswered)?;
    let fields = answer.fields.into_iter().map(|(name, value)| (name, Cow::Owned(value))).collect();
    Ok((answer.status, fields, PyBytes::new(py, &answer.body), answer.body_bytes, answer.endless))
}

fn unanswered(error: AskError) -> PyErr {
    match error {
        AskError::Io(error) if error.kind() == ErrorKind::WouldBlock => PyTimeoutError::new_err("timed out"),
        AskError::Io(error) => {
            let (code, text) = (error.raw_os_error(), error.to_string());
            let said = text.split(" (os error").next().unwrap_or_default().to_owned();
            code.map_or_else(|| PyOSError::new_err(said.clone()), |code| PyOSError::new_err((code, said.clone())))
        }
        AskError::HeadTooLong => PyOverflowError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The named fields of a page (`<input>`, `<meta>`) in order: name, value, and whether a browser sends it unseen.
#[pyfunction]
fn page_fields(page: &[u8]) -> Vec<(Vec<u8>, Vec<u8>, bool)> {
    loadgen::fields_of(page)
}

/// When the requests of an open loop with random arrivals fall due, in seconds after its start, in order.
///
/// ValueError: no such rate or span.
#[pyfunction]
#[pyo3(signature = (*, rate_per_s, seed, span_s, threads))]
fn arrivals(rate_per_s: f64, seed: u64, span_s: f64, threads: usize) -> PyResult<Vec<f64>> {
    if !(rate_per_s.is_finite() && rate_per_s > 0.0) {
        return Err(PyValueError::new_err("the rate must be above 0"));
    }
    let pacer = Pacer::Poisson { rate_per_s, seed };
    let due_ns = pacer.arrivals(plan::nanoseconds("span_s", span_s)?, threads);
    Ok(due_ns.into_iter().map(|due_ns| due_ns as f64 / SECOND_NS as f64).collect())
}

fn translate(error: RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Plan(_) | RunError::Pin { .. } => PyValueError::new_err(text),
        RunError::OpenFiles { .. } | RunError::Poll(_) | RunError::Spawn(_) | RunError::NullServer(_) => {
            PyOSError::new_err(text)
        }
        _ => PyRuntimeError::new_err(text),
    }
}

fn unusable(error: RecordingError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::arrivals;
    #[pymodule_export]
    use super::ask;
    #[pymodule_export]
    use super::ceiling;
    #[pymodule_export]
    use super::histogram::Histogram;
    #[pymodule_export]
    use super::join;
    #[pymodule_export]
    use super::monitor::Monitor;
    #[pymodule_export]
    use super::page_fields;
    #[pymodule_export]
    use super::plan::{Plan, Target};
    #[pymodule_export]
    use super::record;
    #[pymodule_export]
    use super::report::{Bin, Report, TargetReport};
    #[pymodule_export]
    use super::run;
}
