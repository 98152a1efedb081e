//! Recorded sessions, one step at a time: a long log is not held twice.

use std::path::PathBuf;
use std::vec::IntoIter;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use recording::{open, Format, ReadError};

/// One recorded request with what is known of its answer.
#[pyclass(frozen, get_all, module = "stackrace.load._engine")]
pub struct Step {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    status: Option<u16>,
    answer: Option<Vec<u8>>,
    think_ns: u64,
    embedded: bool,
}

impl From<recording::Step> for Step {
    fn from(step: recording::Step) -> Step {
        Step {
            method: step.method,
            path: step.path,
            headers: step.headers,
            body: step.body,
            status: step.status,
            answer: step.answer,
            think_ns: step.think_ns,
            embedded: step.embedded,
        }
    }
}

/// A recording, and an iterator that gives its steps away.
#[pyclass(module = "stackrace.load._engine")]
pub struct Recorded {
    is_session: bool,
    origin: Option<String>,
    skipped: Vec<(String, u64)>,
    steps: IntoIter<recording::Step>,
}

#[pymethods]
impl Recorded {
    /// Whether one visitor was recorded, not a server.
    #[getter]
    fn is_session(&self) -> bool {
        self.is_session
    }

    /// Where the requests were sent; a log does not say.
    #[getter]
    fn origin(&self) -> Option<String> {
        self.origin.clone()
    }

    /// What was left out: the reason, and how many requests it befell.
    #[getter]
    fn skipped(&self) -> Vec<(String, u64)> {
        self.skipped.clone()
    }

    fn __iter__(this: PyRef<'_, Recorded>) -> PyRef<'_, Recorded> {
        this
    }

    fn __next__(&mut self) -> Option<Step> {
        self.steps.next().map(Step::from)
    }
}

/// Reads the first `limit` steps of the HAR file or access log at `path`, all of them without a limit.
///
/// ValueError: it is neither. OSError: it cannot be read.
#[pyfunction]
#[pyo3(signature = (path, limit=None))]
pub fn read_recording(py: Python<'_>, path: PathBuf, limit: Option<usize>) -> PyResult<Recorded> {
    let (format, read) = py.detach(|| open(&path, limit)).map_err(translate)?;
    Ok(Recorded {
        is_session: format == Format::Har,
        origin: read.origin,
        skipped: read.skipped,
        steps: read.steps.into_iter(),
    })
}

fn translate(error: ReadError) -> PyErr {
    match error {
        ReadError::Io(error) => error.into(),
        other => PyValueError::new_err(other.to_string()),
    }
}
