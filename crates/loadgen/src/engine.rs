//! Runs a plan: splits it over threads, and merges what they saw.

use std::thread;

use crate::books::ThreadReport;
use crate::clock::{self, MILLISECOND_NS};
use crate::error::RunError;
use crate::gate::Gate;
use crate::host;
use crate::monitor::Monitor;
use crate::plan::Plan;
use crate::recording::Recording;
use crate::report::Report;
use crate::script::Script;
use crate::transport::TlsConnector;
use crate::worker::{ThreadPlan, Worker};

/// Threads get this long to start before the first request is due.
const HEADSTART_NS: u64 = 2 * MILLISECOND_NS;

/// Runs `plan` to its end, blocking the caller; `monitor` lets other threads watch and cancel.
///
/// # Errors
/// When the plan is wrong or the machine does not allow it. Requests that fail are no error: they are counted.
pub fn run(plan: &Plan, monitor: &Monitor) -> Result<Report, RunError> {
    Ok(record(plan, monitor)?.report())
}

/// Does the same, and returns what was recorded before figures are made of it: to be joined with other engines'.
///
/// # Errors
/// As those of [`run`].
pub fn record(plan: &Plan, monitor: &Monitor) -> Result<Recording, RunError> {
    plan.validate()?;
    host::require_files(plan.connections, plan.threads)?;
    let tls = plan.tls.as_ref().map(TlsConnector::new).transpose()?;
    let script = Script::new(plan);
    let gate = plan.open_first_ns.map(|_| Gate::new(plan.threads, HEADSTART_NS));
    let start_ns = plan.starts_ns.unwrap_or(0).max(clock::now_ns() + HEADSTART_NS);
    if gate.is_none() {
        monitor.start(start_ns);
    }
    let reports = thread::scope(|scope| {
        let spawn = |index| {
            let (script, tls, gate) = (&script, tls.as_ref(), gate.as_ref());
            let work = move || work(plan, script, tls, monitor, index, start_ns, gate);
            thread::Builder::new().name(format!("loadgen-{index}")).spawn_scoped(scope, work)
        };
        let handles: Vec<_> = (0..plan.threads).map(spawn).collect();
        if handles.iter().any(Result::is_err) {
            monitor.cancel();
        }
        let join = |handle: std::io::Result<thread::ScopedJoinHandle<'_, _>>| {
            handle.map_err(RunError::Spawn)?.join().map_err(|_| RunError::Panic)?
        };
        // All threads are joined before the first error is returned.
        handles.into_iter().map(join).collect::<Vec<Result<ThreadReport, RunError>>>()
    });
    let reports = reports.into_iter().collect::<Result<Vec<ThreadReport>, RunError>>()?;
    Ok(Recording::new(plan, script.urls, reports)?)
}

fn work(
    plan: &Plan,
    script: &Script,
    tls: Option<&TlsConnector>,
    monitor: &Monitor,
    index: usize,
    start_ns: u64,
    gate: Option<&Gate>,
) -> Result<ThreadReport, RunError> {
    let shares = plan.shares();
    let (place, of) = plan.other_threads.place(index, plan.threads);
    let thread = ThreadPlan {
        plan,
        script,
        tls,
        monitor,
        index,
        connections: shares[index],
        stop: plan.stop.share(&shares, index),
        pacing: plan.pacer.pacing(start_ns, place, of, plan.span_ns()),
        start_ns,
    };
    let outcome = host::pin(plan.cores_of(index)).and_then(|()| match gate {
        None => Worker::new(thread)?.run(),
        Some(gate) => Worker::new(thread)?.opened_first(gate)?.run(),
    });
    if outcome.is_err() {
        monitor.cancel();
    }
    outcome
}
