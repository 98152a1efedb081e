//! What a thread of the engine may use of this machine, and what it has used.

use std::fs;
use std::io;

use rustix::process::{getrlimit, Resource};
use rustix::thread::{sched_setaffinity, CpuSet};

use crate::clock;
use crate::error::RunError;

/// Open files beside the connections: readiness queues, wakers, what the caller opens meanwhile.
const SPARE_FILES: u64 = 64;

/// Binds the calling thread to `cores`; none leaves it free.
pub(crate) fn pin(cores: &[usize]) -> Result<(), RunError> {
    if cores.is_empty() {
        return Ok(());
    }
    let refused = |source| RunError::Pin { cores: cores.to_vec(), source };
    let mut set = CpuSet::new();
    for &core in cores {
        if core >= CpuSet::MAX_CPU {
            return Err(refused(io::Error::from(io::ErrorKind::InvalidInput)));
        }
        set.set(core);
    }
    sched_setaffinity(None, &set).map_err(|error| refused(error.into()))
}

/// Makes sure that `connections` more files may be opened.
pub(crate) fn require_files(connections: usize, threads: usize) -> Result<(), RunError> {
    let open = fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
    let needed = connections as u64 + 4 * threads as u64 + SPARE_FILES + open;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < needed => Err(RunError::OpenFiles { needed, limit }),
        _ => Ok(()),
    }
}

/// What the calling thread has used so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub cpu_ns: u64,
    /// Time spent runnable but waiting for a core; 0 where the kernel does not tell.
    pub wait_ns: u64,
}

impl Usage {
    pub fn now() -> Usage {
        Usage { cpu_ns: clock::thread_cpu_ns(), wait_ns: run_queue_wait_ns().unwrap_or(0) }
    }

    pub fn since(self, earlier: Usage) -> Usage {
        Usage {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            wait_ns: self.wait_ns.saturating_sub(earlier.wait_ns),
        }
    }
}

/// The second field of schedstat. Source: the kernel's Documentation/scheduler/sched-stats.rst.
fn run_queue_wait_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}
