//! Sessions: each connection is a visitor who asks for one thing after the other.

mod server;

use std::io::{Read, Write};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{channel, Receiver};
use std::sync::Mutex;

use loadgen::*;
use server::{get, play, play_until, read_request, Server};

/// Answers everything and tells what each connection was asked for. The first answer to `/` gives two cookies.
fn recording() -> (Server, Receiver<(u64, String)>) {
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let server = Server::start(move |mut stream, number, counts| {
        while let Some(request) = read_request(&mut stream) {
            counts.requests.fetch_add(1, SeqCst);
            let cookies = if request.starts_with("GET / ") && !request.contains("Cookie:") {
                "Set-Cookie: sessionid=abc; HttpOnly; Path=/\r\nset-cookie: lang=de\r\n"
            } else {
                ""
            };
            sender.lock().unwrap().send((number, request)).unwrap();
            let answer = format!("HTTP/1.1 200 OK\r\n{cookies}Content-Length: 5\r\n\r\nhello");
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    (server, receiver)
}

fn session(server: &Server, paths: &[&str], connections: usize, requests: u64) -> Plan {
    let targets = paths.iter().map(|path| get(path)).collect();
    let plan = Plan::closed(Address::Tcp(server.address), targets, connections, Stop::Requests(requests));
    Plan { order: Order::Session, ..plan }
}

fn path(request: &str) -> &str {
    request.split(' ').nth(1).unwrap()
}

fn cookie(request: &str) -> Option<&str> {
    request.lines().find_map(|line| line.strip_prefix("Cookie: "))
}

#[test]
fn every_connection_plays_the_whole_list_in_order() {
    let (server, told) = recording();
    let paths = ["/", "/a", "/b?c=d"];
    let report = play(&session(&server, &paths, 3, 90));
    assert_eq!(report.counts.ok, 90);
    let mut places = [0; 3];
    for (connection, request) in told.try_iter() {
        let place = &mut places[connection as usize];
        assert_eq!(path(&request), paths[*place % 3]);
        *place += 1;
    }
    assert_eq!(places.iter().sum::<usize>(), 90);
    let names: Vec<&str> = report.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["GET /", "GET /a", "GET /b?c=d"]);
}

#[test]
fn in_turn_the_list_is_shared_by_the_connections_of_a_thread() {
    let (server, told) = recording();
    let plan = Plan { order: Order::Turn, ..session(&server, &["/", "/a"], 5, 100) };
    let report = play(&plan);
    assert_eq!((report.targets[0].counts.ok, report.targets[1].counts.ok), (50, 50));
    assert_eq!(told.try_iter().filter(|(_, request)| path(request) == "/a").count(), 50);
}

#[test]
fn cookies_last_for_a_visit() {
    let (server, told) = recording();
    let plan = Plan { cookies: true, ..session(&server, &["/", "/a", "/b"], 1, 6) };
    assert_eq!(play(&plan).counts.ok, 6);
    let sent: Vec<Option<String>> =
        told.try_iter().map(|(_, request)| cookie(&request).map(str::to_string)).collect();
    let both = Some("sessionid=abc; lang=de".to_string());
    assert_eq!(sent, [None, both.clone(), both.clone(), None, both.clone(), both]);
}

#[test]
fn cookies_are_kept_to_oneself_unless_asked_for() {
    let (server, told) = recording();
    play(&session(&server, &["/", "/a"], 1, 4));
    assert!(told.try_iter().all(|(_, request)| cookie(&request).is_none()));
}

#[test]
fn a_page_is_timed_with_what_is_embedded_in_it() {
    let (server, _told) = recording();
    let mut plan = session(&server, &["/", "/a.css", "/a.js", "/next"], 2, 80);
    plan.targets[1].embedded = true;
    plan.targets[2].embedded = true;
    let report = play(&plan);
    assert_eq!(report.counts.ok, 80);
    // "/next" has nothing embedded; with two visitors at most two pages are unfinished after 80 requests
    assert!((18..=20).contains(&report.pages.count()), "{}", report.pages.count());
    assert!(report.pages.min_ns() > report.latency.min_ns());
}

#[test]
fn visitors_think() {
    let (server, _told) = recording();
    let mut plan = session(&server, &["/", "/a"], 4, 0);
    plan.targets[1].think_ns = 50 * MILLISECOND_NS;
    plan.stop = Stop::DurationNs(SECOND_NS);
    let report = play_until(&plan, |report| report.counts.ok > 0);
    // a visit takes at least its pause: no connection plays more than 20 in a second
    let visits = 4 * report.duration_ns / (50 * MILLISECOND_NS);
    assert!(report.targets[1].counts.scheduled <= visits, "{:?}", report.targets[1].counts);
    assert_eq!(report.dead_time, 0.0);
}

#[test]
fn in_an_open_loop_visitors_fall_due() {
    let (server, told) = recording();
    let plan = session(&server, &["/", "/a", "/b"], 50, 0);
    let pacer = Pacer::Constant { rate_per_s: 100.0 };
    let report = play(&Plan { pacer, stop: Stop::DurationNs(SECOND_NS / 2), ..plan });
    let begun = report.targets[0].counts.scheduled + report.counts.unsent;
    assert_eq!(begun, 50);
    let mut paths: Vec<String> = told.try_iter().map(|(_, request)| path(&request).to_string()).collect();
    paths.sort();
    assert!(paths.iter().filter(|path| *path == "/b").count() <= 50);
}

#[test]
fn a_visit_goes_on_after_a_failure() {
    let server = Server::start(|mut stream, _, received| {
        while let Some(request) = read_request(&mut stream) {
            received.requests.fetch_add(1, SeqCst);
            if request.starts_with("GET /bad") {
                return;
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
    });
    let mut plan = session(&server, &["/", "/bad", "/b"], 1, 9);
    plan.targets[1].request.method = "POST".into();
    let report = play(&plan);
    assert_eq!((report.counts.ok, report.counts.errors()), (9, 0), "POST is answered");
    plan.targets[1].request.method = "GET".into();
    let report = play(&plan);
    assert_eq!((report.counts.ok, report.counts.failed[FailureStage::Read as usize]), (6, 3));
    assert_eq!(report.targets[1].counts.failed[FailureStage::Read as usize], 3);
}

/// Answers a form whose tokens are numbered, in a page and in a cookie, and tells what is sent to it.
fn forms() -> (Server, Receiver<String>) {
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let server = Server::start(move |mut stream, number, counts| {
        while let Some(head) = read_request(&mut stream) {
            counts.requests.fetch_add(1, SeqCst);
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            stream.read_exact(&mut body).unwrap();
            sender.lock().unwrap().send(head + std::str::from_utf8(&body).unwrap()).unwrap();
            let visit = number;
            let page = format!(
                "<meta name=csrf content='m{visit}'><input type=hidden name=t value='other'>\
                 <input type=hidden name=t value='a/b &amp; {visit}'>"
            );
            // in two pieces, the token cut in the middle
            let (first, second) = page.split_at(page.len() - 8);
            let head =
                format!("HTTP/1.1 200 OK\r\nSet-Cookie: c=k{visit}\r\nContent-Length: {}\r\n\r\n", page.len());
            stream.write_all((head + first).as_bytes()).unwrap();
            stream.write_all(second.as_bytes()).unwrap();
        }
    });
    (server, receiver)
}

#[test]
fn what_a_page_gave_is_sent_with_the_next_form() {
    let (server, told) = forms();
    let mut plan = Plan { cookies: true, ..session(&server, &["/form", "/send?t=recorded&x=1"], 1, 4) };
    plan.targets[0].handouts = vec![
        Handout { place: Place::Field, name: "t".into(), nth: 1, slot: 1 },
        Handout { place: Place::Field, name: "csrf".into(), nth: 0, slot: 0 },
    ];
    let target = &mut plan.targets[1];
    target.request.method = "POST".into();
    target.request.headers = vec![("X-CSRF".into(), "recorded".into()), ("X-Cookie".into(), "recorded".into())];
    target.request.body = b"t=recorded&u=2".to_vec();
    let fill = |part, range, source, form| Fill { part, range, source, form };
    target.fills = vec![
        fill(Part::Body, 2..10, Source::Slot(1), true),
        fill(Part::Path, 8..16, Source::Slot(1), true),
        fill(Part::Header("x-csrf".into()), 0..8, Source::Slot(0), false),
        fill(Part::Header("X-Cookie".into()), 0..8, Source::Cookie("c".into()), false),
    ];
    assert_eq!(play(&plan).counts.ok, 4);
    let posted: Vec<String> = told.try_iter().filter(|request| request.starts_with("POST")).collect();
    assert_eq!(posted.len(), 2);
    for request in posted {
        assert!(request.starts_with("POST /send?t=a%2Fb+%26+0&x=1 HTTP/1.1\r\n"), "{request}");
        assert!(request.ends_with("\r\n\r\nt=a%2Fb+%26+0&u=2"), "{request}");
        assert!(request.contains("\r\nContent-Length: 17\r\n"), "{request}");
        assert!(request.contains("\r\nX-CSRF: m0\r\nX-Cookie: k0\r\n"), "{request}");
    }
}

#[test]
fn what_no_page_gave_is_sent_as_it_was_recorded() {
    let (server, told) = forms();
    let mut plan = session(&server, &["/form", "/send?t=recorded"], 1, 2);
    plan.targets[0].handouts = vec![Handout { place: Place::Field, name: "t".into(), nth: 2, slot: 0 }];
    plan.targets[1].fills = vec![Fill { part: Part::Path, range: 8..16, source: Source::Slot(0), form: true }];
    assert_eq!(play(&plan).counts.ok, 2);
    assert!(told.try_iter().any(|request| request.starts_with("GET /send?t=recorded HTTP")));
}
