//! What a run recorded, on its way to be joined with others.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use loadgen::RecordingError;

use crate::report::Report;

/// The books of one engine, or of several that sent one load together.
#[pyclass(frozen, skip_from_py_object, module = "stackrace.load._engine")]
#[derive(Clone)]
pub struct Recording(loadgen::Recording);

impl From<loadgen::Recording> for Recording {
    fn from(recording: loadgen::Recording) -> Recording {
        Recording(recording)
    }
}

fn translate(error: RecordingError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Recording {
    /// Reads what to_bytes of the same version wrote; ValueError for anything else.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Recording> {
        loadgen::Recording::from_bytes(bytes).map(Recording).map_err(translate)
    }

    /// One recording of all, each with the nanoseconds to add to its clock; ValueError for strangers.
    #[staticmethod]
    fn join(py: Python<'_>, recordings: Vec<(PyRef<'_, Recording>, i64)>) -> PyResult<Recording> {
        let owned: Vec<_> =
            recordings.iter().map(|(recording, shift_ns)| (recording.0.clone(), *shift_ns)).collect();
        drop(recordings);
        py.detach(|| loadgen::Recording::join(owned)).map(Recording).map_err(translate)
    }

    /// It, for another machine.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.to_bytes().map(|bytes| PyBytes::new(py, &bytes)).map_err(translate)
    }

    /// Makes figures of it.
    fn report(&self) -> Report {
        Report::from(self.0.clone().report())
    }
}
