//! Where threads wait for one another before the clock starts.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use crate::clock;
use crate::monitor::Monitor;

/// How often a waiting thread looks.
const LOOK: Duration = Duration::from_micros(200);

/// The start of a run: the moment at which its last thread was ready, and a little later.
#[derive(Debug)]
pub(crate) struct Gate {
    awaited: AtomicUsize,
    start_ns: AtomicU64,
    headstart_ns: u64,
}

impl Gate {
    pub fn new(threads: usize, headstart_ns: u64) -> Gate {
        Gate { awaited: AtomicUsize::new(threads), start_ns: AtomicU64::new(0), headstart_ns }
    }

    /// Waits for all other threads; returns the same start to each. Cancelling ends the wait: then there is little to
    /// start.
    pub fn pass(&self, monitor: &Monitor) -> u64 {
        self.awaited.fetch_sub(1, SeqCst);
        while self.awaited.load(SeqCst) > 0 && !monitor.is_cancelled() {
            thread::sleep(LOOK);
        }
        let start_ns = clock::now_ns() + self.headstart_ns;
        match self.start_ns.compare_exchange(0, start_ns, SeqCst, SeqCst) {
            Ok(_) => {
                monitor.start(start_ns);
                start_ns
            }
            Err(start_ns) => start_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_start_at_one_moment_once_the_last_is_ready() {
        let (gate, monitor) = (Gate::new(3, 1000), Monitor::default());
        let (starts, last_ns) = thread::scope(|scope| {
            let handles: Vec<_> = (0..2).map(|_| scope.spawn(|| gate.pass(&monitor))).collect();
            thread::sleep(Duration::from_millis(20));
            assert_eq!(monitor.snapshot().elapsed_s, 0.0);
            let last_ns = clock::now_ns();
            let mine = gate.pass(&monitor);
            let mut starts: Vec<u64> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
            starts.push(mine);
            (starts, last_ns)
        });
        assert!(starts.iter().all(|&start| start == starts[0] && start >= last_ns + 1000), "{starts:?}");
    }

    #[test]
    fn a_thread_that_never_comes_holds_up_nobody_once_the_run_is_cancelled() {
        let (gate, monitor) = (Gate::new(2, 0), Monitor::default());
        monitor.cancel();
        assert!(gate.pass(&monitor) > 0);
    }
}
