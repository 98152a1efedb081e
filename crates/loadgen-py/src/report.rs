//! The result as Python receives it: plain attributes, times in nanoseconds as the engine counts them.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use loadgen::Stage;

use crate::histogram::Histogram;

/// One bin of the time series.
#[pyclass(frozen, get_all, skip_from_py_object, module = "stackrace.load._engine")]
#[derive(Clone)]
pub struct Bin {
    ok: u64,
    errors: u64,
    in_flight: u64,
    p50_ns: u64,
    p99_ns: u64,
}

/// What a run saw in its recorded window.
#[pyclass(frozen, get_all, module = "stackrace.load._engine")]
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
    series: Vec<Bin>,
    status_classes: BTreeMap<String, u64>,
    bytes_read: u64,
    connections_opened: u64,
    reconnects: u64,
    established_peak: u64,
    cpu_ns: u64,
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
            failed: Stage::ALL.iter().map(|&stage| (stage.name(), counts.failed[stage as usize])).collect(),
            timed_out: counts.timed_out,
            in_flight: counts.in_flight,
            unsent: counts.unsent,
            latency: report.latency.into(),
            service: report.service.into(),
            lag: report.lag.into(),
            connect: report.connect.into(),
            series: report.series.iter().map(Bin::from).collect(),
            status_classes: classes(report.status_classes),
            bytes_read: report.bytes_read,
            connections_opened: report.connections_opened,
            reconnects: report.reconnects,
            established_peak: report.established_peak,
            cpu_ns: report.cpu_ns,
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

/// Only the classes that were seen; "other" is anything outside of 1xx to 5xx.
fn classes(counts: [u64; 6]) -> BTreeMap<String, u64> {
    let name = |class: usize| if class == 0 { "other".to_string() } else { format!("{class}xx") };
    (0..6).filter(|&class| counts[class] > 0).map(|class| (name(class), counts[class])).collect()
}
