//! Requests fall due whatever the server does, and whoever is late shows.

mod server;

use std::io::Write;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use loadgen::*;
use server::{get, hang, play, read_request, Server};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn at_rate(server: &Server, rate_per_s: f64, connections: usize, duration_ns: u64) -> Plan {
    let stop = Stop::DurationNs(duration_ns);
    let plan = Plan::closed(Address::Tcp(server.address), vec![get("/")], connections, stop);
    Plan { pacer: Pacer::Constant { rate_per_s }, ..plan }
}

#[test]
fn what_falls_due_is_scheduled_no_more_and_no_less() {
    let server = Server::answering(HELLO);
    for threads in [1, 3] {
        let plan = Plan { threads, ..at_rate(&server, 200.0, 30, SECOND_NS / 2) };
        let report = play(&plan);
        assert_eq!(report.counts.scheduled, 100);
        assert_eq!(report.lag.count(), report.counts.ok);
        assert_eq!(report.service.count() - report.service.censored_count(), report.counts.ok);
    }
    let poisson = Pacer::Poisson { rate_per_s: 500.0, seed: 3 };
    let plan = Plan { pacer: poisson, ..at_rate(&server, 1.0, 100, SECOND_NS / 2) };
    assert_eq!(play(&plan).counts.scheduled, play(&plan).counts.scheduled, "equal seeds, equal arrivals");
}

#[test]
fn a_number_of_requests_is_kept_at_a_rate_too() {
    let server = Server::answering(HELLO);
    let plan = Plan { stop: Stop::Requests(40), ..at_rate(&server, 400.0, 20, 0) };
    let report = play(&plan);
    assert_eq!((report.counts.ok, server.requests()), (40, 40));
    assert!(report.duration_ns >= 39 * SECOND_NS / 400, "the last request was not sent before its time");
}

#[test]
fn a_hung_server_fills_the_pool_and_hides_nothing() {
    let server = Server::start(|stream, _, _| hang(stream));
    let report = play(&at_rate(&server, 100.0, 3, SECOND_NS / 2));
    let counts = report.counts;
    assert_eq!((counts.scheduled, counts.ok, counts.in_flight + counts.unsent), (50, 0, 50));
    assert_eq!((report.latency.count(), report.latency.censored_count()), (50, 50));
    assert!(report.latency.quantile(0.5).censored);
    // one connection for each request under way, and perhaps one that was opened ahead for the next
    assert!((counts.in_flight..=3).contains(&report.counters.connections_opened), "{counts:?}");
}

#[test]
fn the_pool_keeps_its_limit_however_much_falls_due() {
    let server = Server::start(|stream, _, _| hang(stream));
    let plan = at_rate(&server, 1000.0, 3, 0);
    let report = play(&Plan { stop: Stop::Requests(20), timeout_ns: SECOND_NS / 20, ..plan });
    // no more than three could wait at a time: the others were sent as these were given up, late and counted
    assert_eq!((report.counts.timed_out, report.latency.censored_count()), (20, 20));
    assert!(report.established_peak <= 3, "{}", report.established_peak);
    assert!(
        report.duration_ns >= 7 * SECOND_NS / 20,
        "some connection had seven of the twenty, one after the other"
    );
}

#[test]
fn the_pool_grows_only_as_needed() {
    let server = Server::start(|stream, _, _| hang(stream));
    let report = play(&at_rate(&server, 100.0, 1000, SECOND_NS / 5));
    let counts = report.counts;
    assert_eq!((counts.in_flight + counts.unsent, report.counters.pool_waits), (20, 0));
    // one for each request that never came back, and perhaps one that was opened ahead for the next
    assert!((counts.in_flight..=counts.in_flight + 1).contains(&report.counters.connections_opened), "{counts:?}");
}

#[test]
fn requests_that_wait_for_a_connection_are_counted() {
    // one answer takes a tenth of a second, and five requests fall due meanwhile
    let server = Server::start(|mut stream, _, received| {
        while read_request(&mut stream).is_some() {
            received.requests.fetch_add(1, SeqCst);
            thread::sleep(Duration::from_millis(100));
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    let report = play(&at_rate(&server, 50.0, 1, SECOND_NS));
    assert!(report.counts.unsent > 0 && report.counters.pool_waits > 0, "{:?}", report.counts);
    assert!(report.counters.pool_waits < report.counts.scheduled);
    assert!(report.lag.max().value_ns >= 80 * MILLISECOND_NS, "the second request waited for the first");
    assert!(report.service.quantile(0.1).value_ns >= 99 * MILLISECOND_NS);
}

#[test]
fn a_pause_of_the_server_delays_everything_that_falls_due_in_it() {
    let server = Server::start(|mut stream, _, received| {
        while read_request(&mut stream).is_some() {
            if received.requests.fetch_add(1, SeqCst) == 10 {
                thread::sleep(Duration::from_millis(500));
            }
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    let report = play(&at_rate(&server, 100.0, 1, 2 * SECOND_NS));
    // 50 of 200 requests fell due in the pause: half of them waited for more than half of it
    assert!(report.latency.max().value_ns >= 499 * MILLISECOND_NS);
    assert!(report.latency.quantile(0.9).value_ns >= 250 * MILLISECOND_NS);
    assert!(report.service.quantile(0.9).value_ns < report.latency.quantile(0.9).value_ns);
}
