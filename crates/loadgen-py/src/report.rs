//! The result as Python receives it: plain attributes, times in nanoseconds as the engine counts them.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use loadgen::{Counts, FailureStage};

use crate::histogram::{require_fraction, Histogram};

/// One bin of the time series.
#[pyclass(frozen, get_all, skip_from_py_object, module = "stackrace.measure.engine._engine")]
#[derive(Clone)]
pub struct Bin {
    ok: u64,
    errors: u64,
    in_flight: u64,
    p50_ns: u64,
    p99_ns: u64,
}

/// What became of the requests of one URL.
#[pyclass(frozen, skip_from_py_object, module = "stackrace.measure.engine._engine")]
#[derive(Clone)]
pub struct TargetReport(loadgen::TargetReport);

#[pymethods]
impl TargetReport {
    /// Method and path.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn scheduled(&self) -> u64 {
        self.0.counts.scheduled
    }

    #[getter]
    fn ok(&self) -> u64 {
        self.0.counts.ok
    }

    #[getter]
    fn non2xx(&self) -> u64 {
        self.0.counts.non2xx
    }

    #[getter]
    fn failed(&self) -> BTreeMap<&'static str, u64> {
        failed(&self.0.counts)
    }

    #[getter]
    fn timed_out(&self) -> u64 {
        self.0.counts.timed_out
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.counts.in_flight
    }

    #[getter]
    fn unsent(&self) -> u64 {
        self.0.counts.unsent
    }

    /// Latencies, lower bounds included.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    #[getter]
    fn mean_ns(&self) -> f64 {
        self.0.mean_ns()
    }

    #[getter]
    fn max_ns(&self) -> u64 {
        self.0.max_ns()
    }

    /// The quantile q (0 to 1) in nanoseconds, within 0.8 %; 0 when empty.
    fn quantile_ns(&self, q: f64) -> PyResult<u64> {
        Ok(self.0.quantile_ns(require_fraction(q)?))
    }

    /// Whether the quantile q is only a lower bound.
    fn is_censored(&self, q: f64) -> PyResult<bool> {
        Ok(self.0.is_censored(require_fraction(q)?))
    }
}

/// What a run saw in its recorded window.
#[pyclass(frozen, get_all, module = "stackrace.measure.engine._engine")]
pub struct Report {
    started_ns: u64,
    duration_ns: u64,
    bin_ns: u64,
    scheduled: u64,
    ok: u64,
    non2xx: u64,
    failed: BTreeMap<&'static str, u64>,
    timed_out: u64,
    in_flight: u64,
    unsent: u64,
    latency: Histogram,
    service: Histogram,
    lag: Histogram,
    connect: Histogram,
    tls: Histogram,
    pages: Histogram,
    targets: Vec<TargetReport>,
    series: Vec<Bin>,
    status_classes: BTreeMap<String, u64>,
    /// Sums by name, all as one value: a counter more is no line more here.
    counters: BTreeMap<&'static str, u64>,
    arrivals_distance: Option<f64>,
    established_peak: u64,
    cpu_ns: u64,
    spun_ns: u64,
    wait_ns: u64,
    busiest: f64,
    fairness: f64,
    dead_time: f64,
}

impl From<loadgen::Report> for Report {
    fn from(report: loadgen::Report) -> Report {
        let counts = report.counts;
        Report {
            started_ns: report.started_ns,
            duration_ns: report.duration_ns,
            bin_ns: loadgen::BIN_NS,
            scheduled: counts.scheduled,
            ok: counts.ok,
            non2xx: counts.non2xx,
            failed: failed(&counts),
            timed_out: counts.timed_out,
            in_flight: counts.in_flight,
            unsent: counts.unsent,
            latency: report.latency.into(),
            service: report.service.into(),
            lag: report.lag.into(),
            connect: report.connect.into(),
            tls: report.tls.into(),
            pages: report.pages.into(),
            targets: report.targets.into_iter().map(TargetReport).collect(),
            series: report.series.iter().map(Bin::from).collect(),
            status_classes: classes(report.status_classes),
            counters: report.counters.by_name().collect(),
            arrivals_distance: report.arrivals_distance,
            established_peak: report.established_peak,
            cpu_ns: report.cpu_ns,
            spun_ns: report.spun_ns,
            wait_ns: report.wait_ns,
            busiest: report.busiest,
            fairness: report.fairness,
            dead_time: report.dead_time,
        }
    }
}

impl From<&loadgen::Bin> for Bin {
    fn from(bin: &loadgen::Bin) -> Bin {
        Bin {
            ok: bin.ok,
            errors: bin.errors,
            in_flight: bin.in_flight,
            p50_ns: bin.quantile_ns(0.5),
            p99_ns: bin.quantile_ns(0.99),
        }
    }
}

fn failed(counts: &Counts) -> BTreeMap<&'static str, u64> {
    FailureStage::ALL.iter().map(|&stage| (stage.name(), counts.failed[stage as usize])).collect()
}

/// Only the classes that were seen; "other" is anything outside of 1xx to 5xx.
fn classes(counts: [u64; 6]) -> BTreeMap<String, u64> {
    let name = |class: usize| if class == 0 { "other".to_string() } else { format!("{class}xx") };
    (0..6).filter(|&class| counts[class] > 0).map(|class| (name(class), counts[class])).collect()
}
