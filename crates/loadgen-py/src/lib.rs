//! Python binding of the load engine: converts the plan, releases the GIL, returns one result.

#![deny(missing_docs)]

mod histogram;
mod monitor;
mod plan;
mod recording;
mod report;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use loadgen::RunError;

/// Plays a plan to its end without holding the GIL.
///
/// ValueError: the plan is wrong. OSError: a limit of this machine stands in the way. RuntimeError: a bug.
#[pyfunction]
fn run(py: Python<'_>, plan: &plan::Plan, monitor: &monitor::Monitor) -> PyResult<report::Report> {
    let (plan, shared) = (&plan.plan, monitor.shared());
    let report = py.detach(|| loadgen::run(plan, &shared)).map_err(translate)?;
    Ok(report::Report::from(report))
}

fn translate(error: RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Plan(_) | RunError::Pin { .. } => PyValueError::new_err(text),
        RunError::OpenFiles { .. } | RunError::Poll(_) | RunError::Spawn(_) => PyOSError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::histogram::Histogram;
    #[pymodule_export]
    use super::monitor::Monitor;
    #[pymodule_export]
    use super::plan::{Plan, Target};
    #[pymodule_export]
    use super::recording::{read_recording, Recorded, Step};
    #[pymodule_export]
    use super::report::{Bin, Report};
    #[pymodule_export]
    use super::run;
}
