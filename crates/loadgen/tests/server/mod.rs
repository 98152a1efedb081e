//! Servers on loopback that behave, or misbehave, exactly as told; one thread per connection, nothing hidden.

#![allow(dead_code)] // each file of tests uses its own part

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::Arc;
use std::thread;

use loadgen::*;

/// What a server has received.
#[derive(Default)]
pub struct Received {
    pub connections: AtomicU64,
    pub requests: AtomicU64,
    stopped: AtomicBool,
}

pub struct Server {
    pub address: SocketAddr,
    pub received: Arc<Received>,
}

impl Server {
    /// Calls `serve(stream, number of the connection, received)` for every connection, each in its own thread.
    pub fn start(serve: impl Fn(TcpStream, u64, &Received) + Send + Sync + 'static) -> Server {
        Server::start_on(TcpListener::bind("127.0.0.1:0").unwrap(), serve)
    }

    pub fn start_on(
        listener: TcpListener,
        serve: impl Fn(TcpStream, u64, &Received) + Send + Sync + 'static,
    ) -> Server {
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Received::default());
        let (serve, shared) = (Arc::new(serve), received.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stopped.load(SeqCst) {
                    return;
                }
                stream.set_nodelay(true).unwrap();
                let number = shared.connections.fetch_add(1, SeqCst);
                let (serve, received) = (serve.clone(), shared.clone());
                thread::spawn(move || serve(stream, number, &received));
            }
        });
        Server { address, received }
    }

    /// Answers every request with `answer`; closes after it if the request or `answer` says so.
    pub fn answering(answer: &'static [u8]) -> Server {
        Server::start(move |mut stream, _, received| {
            while let Some(request) = read_request(&mut stream) {
                received.requests.fetch_add(1, SeqCst);
                if stream.write_all(answer).is_err() || request.contains("Connection: close") {
                    return;
                }
            }
        })
    }

    pub fn requests(&self) -> u64 {
        self.received.requests.load(SeqCst)
    }

    pub fn connections(&self) -> u64 {
        self.received.connections.load(SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.received.stopped.store(true, SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

/// The next request without body, or `None` once the client has closed.
pub fn read_request(stream: &mut impl Read) -> Option<String> {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => text.push(byte[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8(text).unwrap())
}

/// Keeps the connection open and silent until the client gives up.
pub fn hang(mut stream: TcpStream) {
    let mut rest = [0; 4096];
    while matches!(stream.read(&mut rest), Ok(count) if count > 0) {}
}

/// Runs the plan and holds what all runs share. A request whose time no test has chosen has ten minutes: on a busy
/// machine the server's thread may wait long for a core.
pub fn play(plan: &Plan) -> Report {
    let usual_ns = Plan::closed(plan.address.clone(), Vec::new(), 1, plan.stop).timeout_ns;
    let timeout_ns = if plan.timeout_ns == usual_ns { 600 * SECOND_NS } else { plan.timeout_ns };
    let report = run(&Plan { timeout_ns, ..plan.clone() }, &Monitor::default()).unwrap();
    assert_consistent(&report, plan);
    report
}

/// Runs a plan for a time, and for twice the time again until it has come to what its test is about: a busy machine
/// may leave a short run no time at all, which proves nothing.
pub fn play_until(plan: &Plan, reached: impl Fn(&Report) -> bool) -> Report {
    let Stop::DurationNs(mut duration_ns) = plan.stop else { panic!("not a run by time: {:?}", plan.stop) };
    loop {
        let report = play(&Plan { stop: Stop::DurationNs(duration_ns), ..plan.clone() });
        if reached(&report) {
            return report;
        }
        assert!(duration_ns < 10 * SECOND_NS, "this never came about: {:?}", report.counts);
        duration_ns *= 2;
    }
}

/// The books balance, and what is known of the answers fits them.
pub fn assert_consistent(report: &Report, plan: &Plan) {
    let counts = report.counts;
    assert_eq!(counts.scheduled, counts.accounted(), "{counts:?}");
    if let Stop::Requests(requests) = plan.stop {
        assert_eq!(counts.scheduled, requests);
    }
    assert_eq!(report.latency.count() - report.latency.censored_count(), counts.ok);
    assert_eq!(report.series.iter().map(|bin| bin.ok).sum::<u64>(), counts.ok);
    assert_eq!(report.series.iter().map(|bin| bin.errors).sum::<u64>(), counts.errors());
    let answered: u64 = report.status_classes.iter().sum();
    assert_eq!(answered, counts.ok + counts.non2xx + counts.failed[FailureStage::Body as usize]);
    if !report.targets.is_empty() {
        let sum = |part: fn(&Counts) -> u64| report.targets.iter().map(|target| part(&target.counts)).sum::<u64>();
        assert_eq!((sum(|counts| counts.ok), sum(|counts| counts.errors())), (counts.ok, counts.errors()));
        assert_eq!(sum(|counts| counts.scheduled) + counts.unsent, counts.scheduled);
    }
}

pub fn get(path: &str) -> Target {
    Target::new(Request::get(path, "test"), Expectation::default())
}

/// Closes with a reset instead of in order.
pub fn close_at_once(stream: TcpStream) {
    let _ = stream.shutdown(Shutdown::Both);
}
