//! Latency distributions in nanoseconds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use loadgen::{HistogramError, Latency};

/// A latency distribution that knows which of its values are only lower bounds.
#[pyclass(skip_from_py_object, module = "stackrace.measure.engine._engine")]
#[derive(Clone, Default)]
pub struct Histogram(Latency);

impl From<Latency> for Histogram {
    fn from(latency: Latency) -> Histogram {
        Histogram(latency)
    }
}

fn translate(error: HistogramError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// `q`, if it is a quantile.
pub fn require_fraction(q: f64) -> PyResult<f64> {
    if (0.0..=1.0).contains(&q) {
        return Ok(q);
    }
    Err(PyValueError::new_err(format!("{q} is no quantile; use a number from 0 to 1")))
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Histogram {
        Histogram::default()
    }

    /// Reads what to_bytes wrote; ValueError for anything else.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Histogram> {
        Latency::from_bytes(bytes).map(Histogram).map_err(translate)
    }

    /// HdrHistogram V2 encoding; lower bounds follow as a second one.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.to_bytes().map(|bytes| PyBytes::new(py, &bytes)).map_err(translate)
    }

    /// Adds another distribution to this one.
    fn merge(&mut self, other: PyRef<'_, Histogram>) -> PyResult<()> {
        self.0.merge(&other.0).map_err(translate)
    }

    /// The quantile q (0 to 1) in nanoseconds; 0 when empty.
    fn quantile(&self, q: f64) -> PyResult<u64> {
        Ok(self.0.quantile(require_fraction(q)?).value_ns)
    }

    /// Whether the quantile q is only a lower bound.
    fn is_censored(&self, q: f64) -> PyResult<bool> {
        Ok(self.0.quantile(require_fraction(q)?).censored)
    }

    /// (highest value in nanoseconds, count) of each bucket that is not empty, ascending.
    fn buckets(&self) -> Vec<(u64, u64)> {
        self.0.buckets().collect()
    }

    /// The same without the values that are only lower bounds.
    fn known_buckets(&self) -> Vec<(u64, u64)> {
        self.0.known_buckets().collect()
    }

    /// Values, lower bounds included.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// Values that are only lower bounds.
    #[getter]
    fn censored_count(&self) -> u64 {
        self.0.censored_count()
    }

    /// Nanoseconds.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean_ns()
    }

    /// Nanoseconds.
    #[getter]
    fn min(&self) -> u64 {
        self.0.min_ns()
    }

    /// Nanoseconds.
    #[getter]
    fn max(&self) -> u64 {
        self.0.max().value_ns
    }
}
