//! Every scheduled request is counted exactly once, whatever the server does.

mod server;

use std::cell::Cell;
use std::io::Write;
use std::net::TcpListener;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use loadgen::*;
use server::{assert_consistent, hang, play, play_until, read_request, Server};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn plan(server: &Server, stop: Stop) -> Plan {
    let targets = vec![Target::new(Request::get("/", "test"), Expectation::default())];
    Plan::closed(Address::Tcp(server.address), targets, 4, stop)
}

fn expecting(mut plan: Plan, expectation: Expectation) -> Plan {
    plan.targets[0].expectation = expectation;
    plan
}

fn body(bytes: &[u8]) -> Expectation {
    Expectation { status: Some(200), body: BodyRule::Exact(Arc::from(bytes)) }
}

fn failed(report: &Report, stage: FailureStage) -> u64 {
    report.counts.failed[stage as usize]
}

fn all_ok(requests: u64) -> Counts {
    Counts { scheduled: requests, ok: requests, ..Counts::default() }
}

#[test]
fn exactly_n_requests_are_sent_and_the_server_agrees() {
    let server = Server::answering(HELLO);
    for requests in [0, 1, 3, 1001] {
        let before = server.requests();
        let report = play(&expecting(plan(&server, Stop::Requests(requests)), body(b"hello")));
        assert_eq!(report.counts, all_ok(requests));
        assert_eq!(server.requests() - before, requests);
        assert_eq!(report.counters.bytes_read, requests * HELLO.len() as u64);
        assert_eq!(report.status_classes[2], requests);
        assert_eq!(report.counters.connections_opened, requests.min(4));
        assert_eq!(report.counters.reconnects, 0);
    }
}

#[test]
fn threads_share_the_requests() {
    let server = Server::answering(HELLO);
    let report = play(&Plan { threads: 3, ..plan(&server, Stop::Requests(1000)) });
    assert_eq!(report.counts, all_ok(1000));
    assert_eq!((server.requests(), server.connections()), (1000, 4));
    assert_eq!(report.established_peak, 4);
}

#[test]
fn a_run_by_time_leaves_at_most_one_request_per_connection_unfinished() {
    let server = Server::answering(HELLO);
    let report = play(&plan(&server, Stop::DurationNs(SECOND_NS / 4)));
    assert_eq!(report.duration_ns, SECOND_NS / 4);
    assert_eq!(report.series.len(), 3);
    let report = play_until(&plan(&server, Stop::DurationNs(SECOND_NS / 4)), |report| report.counts.ok > 0);
    assert!(report.counts.in_flight <= 4);
    assert_eq!(report.counts.errors(), 0);
    assert!(report.fairness > 0.0 && report.fairness <= 1.0);
    // another server: what the run before left unfinished reaches the first one at any time
    let server = Server::answering(HELLO);
    let counts = play(&plan(&server, Stop::DurationNs(SECOND_NS / 4))).counts;
    assert!((counts.ok..=counts.scheduled).contains(&server.requests()), "{counts:?}");
}

#[test]
fn warm_up_is_not_recorded_but_keeps_its_connections() {
    let server = Server::answering(HELLO);
    let timed = Plan { warmup_ns: SECOND_NS / 5, ..plan(&server, Stop::DurationNs(SECOND_NS / 5)) };
    let before = Cell::new(0);
    let report = play_until(&timed, |report| {
        let seen = server.requests() - before.replace(server.requests());
        // four may be those that the run before left unfinished
        report.counts.ok > 0 && seen > report.counts.scheduled + 4
    });
    assert_eq!((report.counters.connections_opened, report.established_peak), (4, 4));
    assert_eq!(report.connect.count(), 0);
    let counted = Plan { stop: Stop::Requests(500), ..timed };
    assert_eq!(play(&counted).counts, all_ok(500));
    let fewer_than_connections = Plan { stop: Stop::Requests(2), ..counted };
    assert_eq!(play(&fewer_than_connections).counts, all_ok(2));
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let server = Server::answering(HELLO);
    let report = play(&Plan { reuse: Reuse::Never, ..plan(&server, Stop::Requests(100)) });
    assert_eq!(report.counts, all_ok(100));
    assert_eq!(
        (server.connections(), report.counters.connections_opened, report.counters.reconnects),
        (100, 100, 0)
    );
    assert_eq!(report.connect.count(), 100);
}

#[test]
fn a_server_that_keeps_the_connection_open_anyway_is_left() {
    let server = Server::start(|mut stream, _, received| {
        while read_request(&mut stream).is_some() {
            received.requests.fetch_add(1, SeqCst);
            stream.write_all(HELLO).unwrap();
        }
    });
    let report = play(&Plan { reuse: Reuse::Never, ..plan(&server, Stop::Requests(50)) });
    assert_eq!(report.counts, all_ok(50));
    assert_eq!(server.connections(), 50);
}

#[test]
fn connection_close_is_followed_by_a_reconnect() {
    let server = Server::start(|mut stream, _, received| {
        if read_request(&mut stream).is_some() {
            received.requests.fetch_add(1, SeqCst);
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok").unwrap();
        }
    });
    let report = play(&Plan { connections: 1, ..plan(&server, Stop::Requests(20)) });
    assert_eq!(report.counts, all_ok(20));
    assert_eq!((server.connections(), report.counters.reconnects), (20, 19));
}

#[test]
fn a_connection_closed_between_requests_is_no_failure() {
    let server = Server::start(|mut stream, _, received| {
        for _ in 0..3 {
            if read_request(&mut stream).is_some() {
                received.requests.fetch_add(1, SeqCst);
                stream.write_all(HELLO).unwrap();
            }
        }
        // The fourth request is swallowed: closed at the moment of reuse.
        read_request(&mut stream);
    });
    let report = play(&Plan { connections: 1, ..plan(&server, Stop::Requests(30)) });
    assert_eq!(report.counts, all_ok(30));
    assert_eq!((server.requests(), server.connections(), report.counters.reconnects), (30, 10, 9));
}

#[test]
fn what_is_not_idempotent_is_never_sent_again() {
    let server = Server::start(|mut stream, _, _| {
        read_request(&mut stream);
        stream.write_all(HELLO).unwrap();
        read_request(&mut stream);
    });
    let mut plan = Plan { connections: 1, ..plan(&server, Stop::Requests(10)) };
    plan.targets[0].request.method = "POST".into();
    let report = play(&plan);
    assert_eq!((report.counts.ok, failed(&report, FailureStage::Read)), (5, 5));
}

#[test]
fn a_body_that_ends_with_the_connection_is_an_answer() {
    let server = Server::start(|mut stream, _, _| {
        read_request(&mut stream);
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhel").unwrap();
        stream.write_all(b"lo").unwrap();
    });
    let report = play(&expecting(plan(&server, Stop::Requests(40)), body(b"hello")));
    assert_eq!(report.counts, all_ok(40));
}

#[test]
fn answers_that_drip_byte_by_byte_are_right() {
    let answer = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   2;x\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n";
    let server = Server::start(move |mut stream, _, _| {
        while read_request(&mut stream).is_some() {
            for byte in answer {
                stream.write_all(&[*byte]).unwrap();
                thread::sleep(Duration::from_micros(50));
            }
        }
    });
    let report = play(&expecting(plan(&server, Stop::Requests(20)), body(b"hello")));
    assert_eq!(report.counts, all_ok(20));
    assert_eq!(report.counters.reconnects, 0);
}

#[test]
fn large_answers_and_large_requests_pass_whole() {
    const LENGTH: usize = 3_000_000;
    let server = Server::start(|mut stream, _, received| {
        while let Some(request) = read_request(&mut stream) {
            assert!(request.contains("Content-Length: 3000000\r\n"));
            thread::sleep(Duration::from_millis(20));
            let mut body = vec![0; LENGTH];
            std::io::Read::read_exact(&mut stream, &mut body).unwrap();
            assert!(body.iter().all(|&byte| byte == b'q'));
            received.requests.fetch_add(1, SeqCst);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
        }
    });
    let mut plan = expecting(plan(&server, Stop::Requests(12)), body(&[b'q'; LENGTH]));
    plan.targets[0].request.method = "POST".into();
    plan.targets[0].request.body = vec![b'q'; LENGTH];
    assert_eq!(play(&plan).counts, all_ok(12));
    assert_eq!(server.requests(), 12);
}

#[test]
fn head_has_no_body_and_targets_take_turns() {
    let server = Server::start(|mut stream, _, received| {
        while let Some(request) = read_request(&mut stream) {
            received.requests.fetch_add(1, SeqCst);
            let answer: &[u8] = match request.split(' ').next() {
                Some("HEAD") => b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n",
                Some("OPTIONS") => b"HTTP/1.1 204 No Content\r\n\r\n",
                _ => b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n",
            };
            stream.write_all(answer).unwrap();
        }
    });
    let mut plan = Plan { connections: 1, ..plan(&server, Stop::Requests(30)) };
    let turn = |method: &str, status| {
        let request = Request { method: method.into(), ..Request::get("/", "test") };
        Target::new(request, Expectation { status: Some(status), body: BodyRule::Length(0) })
    };
    plan.targets = vec![turn("HEAD", 200), turn("OPTIONS", 204), turn("GET", 304)];
    let report = play(&plan);
    assert_eq!(report.counts, all_ok(30));
    assert_eq!((report.status_classes[2], report.status_classes[3]), (20, 10));
}

#[test]
fn a_wrong_status_is_no_success() {
    let server = Server::answering(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    let report = play(&plan(&server, Stop::Requests(10)));
    assert_eq!((report.counts.non2xx, report.status_classes[5]), (10, 10));
    let found = Expectation { status: Some(502), body: BodyRule::Any };
    assert_eq!(play(&expecting(plan(&server, Stop::Requests(10)), found)).counts, all_ok(10));
}

#[test]
fn a_wrong_body_is_no_success() {
    let server = Server::answering(HELLO);
    let report = play(&expecting(plan(&server, Stop::Requests(10)), body(b"jello")));
    assert_eq!(failed(&report, FailureStage::Body), 10);
    let length = Expectation { status: None, body: BodyRule::Length(4) };
    let report = play(&expecting(plan(&server, Stop::Requests(10)), length));
    assert_eq!(failed(&report, FailureStage::Body), 10);
    assert_eq!(server.connections(), 8, "a wrong body is no reason to reconnect");
}

#[test]
fn closing_without_an_answer_is_a_read_failure() {
    let server = Server::start(|mut stream, _, _| {
        read_request(&mut stream);
    });
    let report = play(&plan(&server, Stop::Requests(25)));
    assert_eq!(failed(&report, FailureStage::Read), 25);
    assert_eq!(server.connections(), 25);
}

#[test]
fn closing_within_the_body_is_a_read_failure() {
    let server = Server::start(|mut stream, _, _| {
        read_request(&mut stream);
        stream.write_all(&HELLO[..HELLO.len() - 1]).unwrap();
    });
    assert_eq!(failed(&play(&plan(&server, Stop::Requests(25))), FailureStage::Read), 25);
}

#[test]
fn rubbish_and_surplus_are_protocol_failures() {
    let answers: [&[u8]; 3] = [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello",
    ];
    for answer in answers {
        let server = Server::answering(answer);
        let report = play(&plan(&server, Stop::Requests(10)));
        assert_eq!(failed(&report, FailureStage::Protocol), 10);
    }
}

#[test]
fn a_refused_connection_is_a_connect_failure_and_does_not_spin() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::answering(HELLO);
    let counted = Plan { address: Address::Tcp(address), ..plan(&server, Stop::Requests(10)) };
    assert_eq!(failed(&play(&counted), FailureStage::Connect), 10);
    let timed = Plan { stop: Stop::DurationNs(SECOND_NS / 5), ..counted };
    let report = play_until(&timed, |report| failed(report, FailureStage::Connect) > 0);
    let refused = failed(&report, FailureStage::Connect);
    let rests = 4 * report.duration_ns / (10 * MILLISECOND_NS);
    assert!(refused <= rests, "4 connections rest 10 ms each time: {refused}");
}

#[test]
fn a_server_that_hangs_for_ever_runs_into_the_timeout() {
    let server = Server::start(|stream, _, _| hang(stream));
    let report = play(&Plan { timeout_ns: SECOND_NS / 20, ..plan(&server, Stop::Requests(12)) });
    assert_eq!(report.counts.timed_out, 12);
    assert!(report.latency.quantile(0.5).censored && report.latency.max().censored);
    assert!(report.latency.min_ns() > SECOND_NS / 20 - SECOND_NS / 1000);
}

#[test]
fn a_server_that_hangs_for_ever_is_seen_at_the_end_of_the_window() {
    let server = Server::start(|stream, _, _| hang(stream));
    let plan = plan(&server, Stop::DurationNs(SECOND_NS / 5));
    let report = play_until(&plan, |report| report.counts.in_flight == 4);
    assert_eq!(report.counts.scheduled, 4);
    let median = report.latency.quantile(0.5);
    assert!(median.censored && median.value_ns > 0);
    assert_eq!(report.series.last().unwrap().in_flight, 4);
}

#[test]
fn a_connection_that_waits_for_long_is_followed_beyond_the_window() {
    // one connection of four gets its first answer only after 300 ms
    let server = Server::start(|mut stream, number, _| {
        while read_request(&mut stream).is_some() {
            thread::sleep(Duration::from_millis(if number == 0 { 300 } else { 5 }));
            if stream.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    let cut_off = plan(&server, Stop::DurationNs(SECOND_NS / 5));
    let followed = Plan { follow_ns: 10 * SECOND_NS, ..cut_off };
    let report = run(&followed, &Monitor::default()).unwrap();
    assert_eq!(report.duration_ns, SECOND_NS / 5);
    assert_eq!(report.counts.scheduled, report.counts.accounted());
    assert!((1..=4).contains(&report.counts.in_flight), "{:?}", report.counts);
    assert_eq!(report.latency.censored_count(), 0);
    assert!(report.latency.max().value_ns >= 300 * MILLISECOND_NS);
    assert_eq!(report.series.iter().map(|bin| bin.ok).sum::<u64>(), report.counts.ok);
}

#[test]
fn a_stall_shows_in_the_quantiles_it_reaches_and_no_others() {
    let server = Server::start(|mut stream, number, _| {
        for turn in 0.. {
            if read_request(&mut stream).is_none() {
                return;
            }
            stream.write_all(HELLO).unwrap();
            if number % 4 == 0 && turn == 20 {
                return hang(stream);
            }
        }
    });
    let report = play_until(&plan(&server, Stop::DurationNs(SECOND_NS / 2)), |report| report.counts.ok >= 100);
    assert!(!report.latency.quantile(0.9).censored);
    assert!(report.latency.max().censored);
}

#[test]
fn failures_of_all_sorts_at_once_are_each_counted_once() {
    let server = Server::start(|mut stream, number, received| {
        for turn in 0.. {
            if read_request(&mut stream).is_none() {
                return;
            }
            received.requests.fetch_add(1, SeqCst);
            let answer: &[u8] = match (number + turn) % 6 {
                0 | 1 => HELLO,
                2 => b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
                3 => b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhey",
                4 => b"HTTP/1.1 200 OK\r\nContent-Le",
                _ => {
                    return if number % 2 == 0 {
                        hang(stream)
                    }
                }
            };
            if stream.write_all(answer).is_err() || !answer.ends_with(b"o") && (number + turn) % 6 == 4 {
                return;
            }
        }
    });
    for (stop, reuse, threads, warmup_ns) in [
        (Stop::Requests(300), Reuse::Always, 1, 0),
        (Stop::Requests(300), Reuse::Never, 2, 0),
        (Stop::DurationNs(SECOND_NS / 3), Reuse::Always, 2, SECOND_NS / 10),
        (Stop::DurationNs(SECOND_NS / 3), Reuse::Never, 1, SECOND_NS / 10),
    ] {
        let timeout_ns = SECOND_NS / 20;
        let plan = Plan { reuse, threads, warmup_ns, timeout_ns, connections: 7, ..plan(&server, stop) };
        let plan = expecting(plan, body(b"hello"));
        let mixed = |report: &Report| report.counts.ok > 0 && report.counts.errors() > 0;
        match stop {
            Stop::Requests(_) => assert!(mixed(&play(&plan))),
            Stop::DurationNs(_) => drop(play_until(&plan, mixed)),
        }
    }
}

#[test]
fn cancelling_ends_the_run_and_keeps_what_was_measured() {
    let server = Server::answering(HELLO);
    for (stop, warmup_ns) in [
        (Stop::DurationNs(3600 * SECOND_NS), 0),
        (Stop::Requests(1 << 40), 0),
        (Stop::Requests(7), 3600 * SECOND_NS),
    ] {
        let plan = Plan { warmup_ns, ..plan(&server, stop) };
        let monitor = Monitor::default();
        let report = thread::scope(|scope| {
            let handle = scope.spawn(|| run(&plan, &monitor).unwrap());
            let goal = server.requests() + 100;
            while server.requests() < goal || (warmup_ns == 0 && monitor.snapshot().ok == 0) {
                thread::sleep(Duration::from_millis(5));
            }
            monitor.cancel();
            handle.join().unwrap()
        });
        assert_consistent(&report, &plan);
        assert_eq!(report.counts.ok > 0, warmup_ns == 0);
        assert_eq!(report.counts.errors(), 0);
    }
}

#[test]
fn a_unix_socket_serves_as_well() {
    let path = std::env::temp_dir().join(format!("loadgen-{}.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                while read_request(&mut stream).is_some() {
                    stream.write_all(HELLO).unwrap();
                }
            });
        }
    });
    let server = Server::answering(HELLO);
    let plan = Plan { address: Address::Unix(path.clone()), ..plan(&server, Stop::Requests(500)) };
    let report = play(&expecting(plan.clone(), body(b"hello")));
    assert_eq!(report.counts, all_ok(500));
    std::fs::remove_file(&path).unwrap();
    let gone = play(&Plan { stop: Stop::Requests(3), ..plan });
    assert_eq!(failed(&gone, FailureStage::Connect), 3);
}

#[test]
fn an_open_loop_sends_when_due_and_counts_what_it_could_not() {
    let server = Server::answering(HELLO);
    let constant = Pacer::Constant { rate_per_s: 2000.0 };
    let report = play(&Plan { pacer: constant.clone(), ..plan(&server, Stop::Requests(400)) });
    assert_eq!(report.counts, all_ok(400));
    let poisson = Pacer::Poisson { rate_per_s: 2000.0, seed: 1 };
    let report = play(&Plan { pacer: poisson, threads: 2, ..plan(&server, Stop::Requests(400)) });
    assert_eq!(report.counts, all_ok(400));
    let silent = Server::start(|stream, _, _| hang(stream));
    let overrun = Plan { pacer: constant, ..plan(&silent, Stop::DurationNs(SECOND_NS / 2)) };
    let report = play_until(&overrun, |report| report.counts.in_flight == 4);
    let due = report.duration_ns / (SECOND_NS / 2000);
    assert_eq!(report.counts.scheduled, due, "the first is due at 0, and none at the very end");
    assert_eq!(report.counts.unsent, due - 4);
    assert!(report.latency.quantile(0.5).censored);
    assert!(report.latency.quantile(0.5).value_ns > 2 * report.duration_ns / 5);
}

#[test]
fn a_plan_that_cannot_be_run_says_why() {
    let server = Server::answering(HELLO);
    let fine = plan(&server, Stop::Requests(1));
    let refusal = |plan: Plan| run(&plan, &Monitor::default()).unwrap_err().to_string();
    assert!(refusal(Plan { connections: 0, ..fine.clone() }).contains("at least 1"));
    assert!(refusal(Plan { threads: 5, ..fine.clone() }).contains("1 to 4"));
    assert!(refusal(Plan { targets: Vec::new(), ..fine.clone() }).contains("target"));
    assert!(refusal(Plan { timeout_ns: 0, ..fine.clone() }).contains("timeout"));
    assert!(refusal(Plan { connections: 100_000_000, ..fine.clone() }).contains("RLIMIT_NOFILE"));
    assert!(refusal(Plan { cores: vec![9999], ..fine.clone() }).contains("9999"));
    let pacer = Pacer::Constant { rate_per_s: 0.0 };
    assert!(refusal(Plan { pacer, ..fine }).contains("above 0"));
}
