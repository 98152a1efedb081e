//! What is checked on the wire, and how bodies and connections are handled.

mod server;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::num::{NonZeroU32, NonZeroUsize};
use std::process::Command;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use loadgen::*;
use server::{get, hang, play, read_request, Server};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn plan(server: &Server, targets: Vec<Target>, requests: u64) -> Plan {
    Plan::closed(Address::Tcp(server.address), targets, 2, Stop::Requests(requests))
}

/// Answers each request with what `make` says of it.
fn answering(make: impl Fn(&str) -> String + Send + Sync + 'static) -> Server {
    Server::start(move |mut stream, _, received| {
        while let Some(request) = read_request(&mut stream) {
            received.requests.fetch_add(1, SeqCst);
            if stream.write_all(make(&request).as_bytes()).is_err() {
                return;
            }
        }
    })
}

fn ok(headers: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn failed(report: &Report, stage: FailureStage) -> u64 {
    report.counts.failed[stage as usize]
}

fn post(body: &[u8]) -> Target {
    let request = Request { method: "POST".into(), body: body.to_vec(), ..Request::get("/", "test") };
    Target::new(request, Expectation::default())
}

/// The head of a request and its body, its framing removed.
fn read_whole(stream: &mut (impl Read + Write)) -> Option<(String, Vec<u8>)> {
    let head = read_request(stream)?;
    let mut body = Vec::new();
    if head.contains("Transfer-Encoding: chunked") {
        loop {
            let mut line = String::new();
            while !line.ends_with("\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).ok()?;
                line.push(byte[0] as char);
            }
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).ok()?;
            if size == 0 {
                return Some((head, body));
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
    body.resize(length.parse().unwrap(), 0);
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

#[test]
fn a_nonce_that_comes_back_was_made_for_its_request() {
    for (place, make) in [
        (NoncePlace::Header, (|request| ok(&line_of(request, "X-Nonce: "), "hello")) as fn(&str) -> String),
        (NoncePlace::Query, |request| ok("", request.split(' ').nth(1).unwrap())),
    ] {
        let server = answering(make);
        let nonce = Some(Nonce { place, name: "X-Nonce".into() });
        let report = play(&Plan { nonce, ..plan(&server, vec![get("/?a=1")], 50) });
        assert_eq!((report.counts.ok, report.counters.nonces_lost), (50, 0), "{place:?}");
    }
}

fn line_of(request: &str, prefix: &str) -> String {
    request.lines().find(|line| line.starts_with(prefix)).map_or(String::new(), |line| format!("{line}\r\n"))
}

#[test]
fn a_nonce_of_another_request_betrays_a_cache() {
    let first = std::sync::OnceLock::new();
    let server = answering(move |request| ok(first.get_or_init(|| line_of(request, "N: ")), "hello"));
    let nonce = Some(Nonce { place: NoncePlace::Header, name: "N".into() });
    let report = play(&Plan { nonce, connections: 1, ..plan(&server, vec![get("/")], 20) });
    assert_eq!((report.counts.ok, report.counters.nonces_lost, failed(&report, FailureStage::Body)), (1, 19, 19));
}

#[test]
fn old_dates_and_caches_are_counted() {
    let server = answering(|_| ok("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nAge: 5\r\n", ""));
    let report = play(&plan(&server, vec![get("/")], 10));
    assert_eq!((report.counts.ok, report.counters.stale_dates, report.counters.cached_answers), (10, 10, 10));
    let server = answering(|_| ok("Date: Fri, 31 Dec 9999 23:59:59 GMT\r\nX-Cache: MISS\r\n", ""));
    let report = play(&plan(&server, vec![get("/")], 10));
    assert_eq!((report.counts.ok, report.counters.stale_dates, report.counters.cached_answers), (10, 0, 0));
}

#[test]
fn bytes_written_are_those_that_the_server_received() {
    let received = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let sum = Arc::clone(&received);
    let server = Server::start(move |mut stream, _, _| {
        while let Some((head, body)) = read_whole(&mut stream) {
            sum.fetch_add((head.len() + body.len()) as u64, SeqCst);
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    let report = play(&plan(&server, vec![post(&[b'x'; 100_000])], 20));
    assert_eq!((report.counts.ok, report.counters.bytes_written), (20, received.load(SeqCst)));
}

#[test]
fn an_answer_that_takes_long_is_not_stale() {
    let server = answering(|_| {
        let stamped = Command::new("date").env("LC_ALL", "C").args(["-u", "+%a, %d %b %Y %H:%M:%S GMT"]).output();
        let date = String::from_utf8(stamped.unwrap().stdout).unwrap();
        thread::sleep(Duration::from_millis(3500));
        ok(&format!("Date: {}\r\n", date.trim()), "")
    });
    let report = play(&plan(&server, vec![get("/")], 2));
    assert_eq!((report.counts.ok, report.counters.stale_dates), (2, 0));
}

#[test]
fn dynamic_parts_of_a_body_may_differ_and_fixed_ones_may_not() {
    let turn = std::sync::atomic::AtomicU64::new(0);
    let server = answering(move |_| match turn.fetch_add(1, SeqCst) % 5 {
        4 => ok("", "<b>time</b> is 12:00</html>"),
        turn => ok("", &format!("<html>time is 12:0{turn}</html>")),
    });
    let mut target = get("/");
    target.expectation.body = BodyRule::Parts([b"<html>time is ".to_vec(), b"</html>".to_vec()].into());
    let report = play(&plan(&server, vec![target], 50));
    assert_eq!((report.counts.ok, failed(&report, FailureStage::Body)), (40, 10));
}

#[test]
fn a_body_beyond_its_limit_is_wrong_and_ends_the_connection() {
    let server = answering(|request| {
        let endless = "f\r\n123456789012345\r\n".repeat(1000);
        let framing = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        if request.starts_with("GET /endless") {
            format!("{framing}{endless}")
        } else {
            ok("", "hello")
        }
    });
    let targets = vec![get("/"), get("/endless")];
    let limited = Plan { body_max_bytes: 10_000, ..plan(&server, targets, 20) };
    let report = play(&limited);
    assert_eq!((report.counts.ok, failed(&report, FailureStage::Body)), (10, 10));
}

#[test]
fn a_connection_carries_as_many_requests_as_it_should() {
    let server = answering(|_| ok("", "hello"));
    let reuse = Reuse::Times(NonZeroU32::new(10).unwrap());
    let report = play(&Plan { reuse, connections: 1, ..plan(&server, vec![get("/")], 95) });
    assert_eq!((report.counts.ok, report.counters.connections_opened, report.counters.reconnects), (95, 10, 0));
    assert_eq!(server.connections(), 10);
}

#[test]
fn the_last_request_on_a_connection_says_so() {
    let server = Server::answering(HELLO);
    let reuse = Reuse::Times(NonZeroU32::new(2).unwrap());
    let report = play(&Plan { reuse, connections: 1, ..plan(&server, vec![get("/")], 10) });
    assert_eq!((report.counts.ok, server.connections(), server.requests()), (10, 5, 10));
}

#[test]
fn bodies_go_whole_or_in_chunks() {
    let sent: Vec<u8> = (0..100_000u32).map(|number| number as u8).collect();
    let expected = Arc::new(sent.clone());
    let server = Server::start(move |mut stream, _, received| {
        while let Some((_, body)) = read_whole(&mut stream) {
            received.requests.fetch_add(1, SeqCst);
            let status = if body == *expected { "200 OK" } else { "400 Wrong" };
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
    });
    for chunk_bytes in [None, NonZeroUsize::new(1), NonZeroUsize::new(4096), NonZeroUsize::new(1 << 20)] {
        let mut target = post(&sent);
        target.request.chunk_bytes = chunk_bytes;
        let report = play(&plan(&server, vec![target], 6));
        assert_eq!((report.counts.ok, report.counts.non2xx), (6, 0), "{chunk_bytes:?}");
    }
}

#[test]
fn a_body_is_held_back_until_it_is_asked_for() {
    let server = Server::start(|mut stream, number, received| {
        if let Some(head) = read_request(&mut stream) {
            assert!(head.contains("Expect: 100-continue"));
            received.requests.fetch_add(1, SeqCst);
            if number % 2 == 1 {
                // refused: the body never comes, and the connection cannot go on
                let _ = stream.write_all(b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n");
                return hang(stream);
            }
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            let mut body = [0; 4];
            stream.read_exact(&mut body).unwrap();
            assert_eq!(&body, b"body");
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
    });
    let mut target = post(b"body");
    target.request.expects_continue = true;
    let report = play(&Plan { connections: 1, ..plan(&server, vec![target], 10) });
    assert_eq!((report.counts.ok, report.counts.non2xx), (5, 5));
}

#[test]
fn a_server_that_never_asks_gets_the_body_all_the_same() {
    let server = Server::start(|mut stream, _, _| {
        while let Some((_, body)) = read_whole(&mut stream) {
            assert_eq!(body, b"body");
            stream.write_all(HELLO).unwrap();
        }
    });
    let mut target = post(b"body");
    target.request.expects_continue = true;
    let report = play(&plan(&server, vec![target], 2));
    assert_eq!(report.counts.ok, 2);
    assert!(report.latency.min_ns() >= 999 * MILLISECOND_NS, "it was held back for a second");
}

#[test]
fn opening_a_connection_has_a_time_of_its_own() {
    // a listener whose queue is full and that nobody accepts from: connecting hangs
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&socket, 0).unwrap();
    let address = socket.local_addr().unwrap();
    // it is full when connecting hangs twice in a row, not merely once because this machine was busy
    let queued: Vec<_> = (0..1000).map_while(|_| connect_soon(address).or_else(|| connect_soon(address))).collect();
    let targets = vec![get("/")];
    let patient = Plan::closed(Address::Tcp(address), targets, 2, Stop::Requests(4));
    let limited = Plan { connect_timeout_ns: Some(SECOND_NS / 10), ..patient };
    let report = play(&limited);
    assert_eq!((failed(&report, FailureStage::Connect), report.counts.timed_out), (4, 0), "{:?}", report.counts);
    assert_eq!(report.latency.censored_count(), 4);
    drop(queued);
}

fn connect_soon(address: SocketAddr) -> Option<std::net::TcpStream> {
    std::net::TcpStream::connect_timeout(&address, std::time::Duration::from_millis(200)).ok()
}

#[test]
fn a_request_sent_again_is_counted_once_and_said_to_be() {
    // closes each connection after its first answer without saying so
    let server = Server::start(|mut stream, _, received| {
        if read_request(&mut stream).is_some() {
            received.requests.fetch_add(1, SeqCst);
            let _ = stream.write_all(HELLO);
        }
        let _ = read_request(&mut stream);
    });
    let report = play(&Plan { connections: 1, ..plan(&server, vec![get("/")], 10) });
    assert_eq!((report.counts.ok, report.counters.retried, report.counters.reconnects), (10, 9, 9));
}

#[test]
fn a_head_beyond_its_limit_is_no_answer() {
    let server = Server::start(|mut stream, _, _| {
        if read_request(&mut stream).is_some() && stream.write_all(b"HTTP/1.1 200 OK\r\n").is_ok() {
            while stream.write_all(b"X-Endless: yes\r\n").is_ok() {}
        }
    });
    let report = play(&plan(&server, vec![get("/")], 4));
    assert_eq!(failed(&report, FailureStage::Protocol), 4, "{:?}", report.counts);
}

#[test]
fn an_answer_that_drips_for_ever_runs_into_the_timeout() {
    let server = Server::start(|mut stream, _, _| {
        if read_request(&mut stream).is_some() && stream.write_all(b"HTTP/1.1 200 OK\r\nX: ").is_ok() {
            while stream.write_all(b"y").is_ok() {
                thread::sleep(Duration::from_millis(10));
            }
        }
    });
    let report = play(&Plan { timeout_ns: SECOND_NS / 5, ..plan(&server, vec![get("/")], 4) });
    assert_eq!(report.counts.timed_out, 4, "{:?}", report.counts);
}

#[test]
fn a_half_closed_connection_is_read_to_its_end_and_left() {
    let server = Server::start(|mut stream, number, _| {
        if read_request(&mut stream).is_some() {
            let answer = if number % 2 == 0 { HELLO } else { &HELLO[..HELLO.len() - 1] };
            let _ = stream.write_all(answer);
            let _ = stream.shutdown(Shutdown::Write);
            hang(stream);
        }
    });
    let report = play(&Plan { connections: 1, ..plan(&server, vec![get("/")], 10) });
    assert_eq!((report.counts.ok, failed(&report, FailureStage::Read)), (5, 5), "{:?}", report.counts);
}

#[test]
fn connections_that_are_opened_first_all_stand_before_the_first_request() {
    const MANY: usize = 200;
    for threads in [1, 3] {
        let monitor = Arc::new(Monitor::default());
        let seen = Arc::clone(&monitor);
        let server = Server::start(move |mut stream, _, _| {
            while read_request(&mut stream).is_some() {
                // What the engine opened, not what this server has taken from its queue so far.
                let all = seen.opened() >= MANY as u64;
                let answer: &[u8] = if all { HELLO } else { b"HTTP/1.1 500 Early\r\nContent-Length: 0\r\n\r\n" };
                if stream.write_all(answer).is_err() {
                    return;
                }
            }
        });
        let plan = Plan {
            connections: MANY,
            threads,
            open_first_ns: Some(5 * SECOND_NS),
            ..plan(&server, vec![get("/")], 1000)
        };
        let report = run(&plan, &monitor).unwrap();
        assert_eq!((report.counts.ok, report.counts.scheduled), (1000, 1000));
        assert_eq!((monitor.opened(), report.counters.connections_opened), (MANY as u64, MANY as u64));
    }
}

#[test]
fn a_server_that_takes_no_more_connections_is_not_waited_for_for_ever() {
    let refused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let monitor = Monitor::default();
    let targets = vec![Target::new(Request::get("/", "h"), Expectation::default())];
    let plan = Plan {
        open_first_ns: Some(SECOND_NS / 5),
        ..Plan::closed(Address::Tcp(refused), targets, 20, Stop::DurationNs(SECOND_NS / 10))
    };
    let report = run(&plan, &monitor).unwrap();
    assert_eq!((monitor.opened(), report.counts.ok), (0, 0));
}
