//! Watching and cancelling a run from another thread.

use std::sync::Arc;

use pyo3::prelude::*;

/// Shared between a run and its onlookers.
#[pyclass(frozen, module = "stackrace.measure.engine._engine")]
pub struct Monitor(Arc<loadgen::Monitor>);

impl Monitor {
    pub fn shared(&self) -> Arc<loadgen::Monitor> {
        self.0.clone()
    }
}

#[pymethods]
impl Monitor {
    #[new]
    fn new() -> Monitor {
        Monitor(Arc::default())
    }

    /// Ends the run within about 50 ms; what was measured is returned as usual.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether somebody has cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Connections that were open before the run started, if it opens them first.
    #[getter]
    fn opened(&self) -> u64 {
        self.0.opened()
    }

    /// (right answers, errors, seconds since the start); counters lag by up to 100 ms.
    fn snapshot(&self) -> (u64, u64, f64) {
        let snapshot = self.0.snapshot();
        (snapshot.ok, snapshot.errors, snapshot.elapsed_s)
    }
}
