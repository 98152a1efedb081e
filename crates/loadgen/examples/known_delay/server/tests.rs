use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
const TRUTH: &[u8] = b"GET /__truth HTTP/1.1\r\nConnection: close\r\n\r\n";

struct Running {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Ledger>>,
}

impl Running {
    fn start(service: &str, stall: Stall) -> Running {
        let behaviour = Behaviour { service: service.parse().unwrap(), seed: 0, stall };
        let server = Server::bind(behaviour).unwrap();
        let (address, ended) = (server.address().unwrap(), Arc::new(AtomicBool::new(false)));
        let flag = ended.clone();
        Running { address, ended, thread: thread::spawn(move || server.run(&flag)) }
    }

    /// All that comes back until the server closes.
    fn ask(&self, bytes: &[u8]) -> String {
        let mut client = TcpStream::connect(self.address).unwrap();
        client.write_all(bytes).unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        text
    }

    fn end(self) -> String {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().unwrap().truth()
    }
}

#[test]
fn every_request_is_answered_once_and_stamped() {
    let server = Running::start("exponential:100us", Stall::default());
    let text = server.ask(&[GET, GET, LAST].concat());
    assert_eq!(text.matches("Hello, World!").count(), 3);
    let truth = server.end();
    assert!(truth.contains(r#""count": 3"#) && truth.contains(r#""arrived": 3, "unanswered": 0"#), "{truth}");
}

/// A lower bound is logic and not timing: no answer departs before it is due.
#[test]
fn no_request_takes_less_than_its_time() {
    let server = Running::start("constant:2ms", Stall::default());
    server.ask(&[GET, LAST].concat());
    let truth = server.end();
    let median = truth.split_once(r#""p50": "#).unwrap().1.split(',').next().unwrap();
    assert!(median.parse::<f64>().unwrap() >= 0.002, "{truth}");
}

#[test]
fn while_it_hangs_it_still_tells_the_truth() {
    let server = Running::start("constant:0", Stall::hang());
    let mut waiting = TcpStream::connect(server.address).unwrap();
    waiting.write_all(GET).unwrap();
    while !server.ask(TRUTH).contains(r#""arrived": 1, "unanswered": 1"#) {}
    assert!(server.end().contains(r#""count": 0"#));
    assert_eq!(waiting.read(&mut [0; 16]).unwrap_or(0), 0);
}

#[test]
fn the_answer_for_a_client_that_left_goes_to_nobody_else() {
    let server = Running::start("constant:20ms", Stall::default());
    let mut leaving = TcpStream::connect(server.address).unwrap();
    leaving.write_all(GET).unwrap();
    while !server.ask(TRUTH).contains(r#""arrived": 1"#) {}
    drop(leaving);
    assert_eq!(server.ask(LAST).matches("Hello").count(), 1);
    server.end();
}

#[test]
fn what_is_not_http_and_what_is_too_long_is_dismissed() {
    let server = Running::start("constant:0", Stall::default());
    let endless = [b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 100_000]].concat();
    for bytes in [b"\x16\x03\x01".as_slice(), &endless] {
        let mut client = TcpStream::connect(server.address).unwrap();
        let _ = client.write_all(bytes);
        assert_eq!(client.read(&mut [0; 16]).unwrap_or(0), 0);
    }
    assert!(server.ask(LAST).contains("Hello"));
    server.end();
}

#[test]
fn arrivals_are_written_in_order() {
    let server = Running::start("constant:0", Stall::default());
    server.ask(&[GET, GET, LAST].concat());
    server.ended.store(true, Ordering::Relaxed);
    let ledger = server.thread.join().unwrap().unwrap();
    let path = std::env::temp_dir().join(format!("known-delay-{}", std::process::id()));
    ledger.write_arrivals(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let stamps: Vec<u64> = bytes.chunks(8).map(|stamp| u64::from_le_bytes(stamp.try_into().unwrap())).collect();
    assert_eq!(stamps.len(), 3);
    assert!(stamps.is_sorted());
}
