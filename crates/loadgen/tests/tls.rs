//! Every request is counted exactly once through TLS, too, whatever the server does with the handshake and its records.

#[allow(dead_code)]
mod secure;
mod server;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::Duration;

use loadgen::*;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{HandshakeKind, ProtocolVersion, ServerConnection, StreamOwned};
use secure::*;
use server::{hang, Server};
use TlsVersion::{V1_2, V1_3};

/// Answers until the client closes.
fn answer(mut stream: Secure, received: &server::Received) {
    while next_request(&mut stream, received).is_some_and(|request| {
        stream.write_all(HELLO).unwrap();
        !request.contains("Connection: close")
    }) {}
}

fn speaking(tls: Tls, versions: &[TlsVersion]) -> Option<Tls> {
    Some(Tls { versions: versions.to_vec(), ..tls })
}

/// Posts `bytes` and expects `answer`.
fn posting(mut plan: Plan, bytes: Vec<u8>, answer: &[u8]) -> Plan {
    plan.targets[0].request.method = "POST".into();
    plan.targets[0].request.body = bytes;
    plan.targets[0].expectation.body = BodyRule::Exact(Arc::from(answer));
    plan
}

#[test]
fn the_newest_version_both_sides_speak_is_spoken() {
    let authority = Authority::new();
    for (ours, theirs, spoken) in [
        (&[V1_2][..], &[&TLS12][..], ProtocolVersion::TLSv1_2),
        (&[V1_3], &[&TLS13], ProtocolVersion::TLSv1_3),
        (&[V1_3, V1_2], &[&TLS12], ProtocolVersion::TLSv1_2),
        (&[V1_2], &BOTH, ProtocolVersion::TLSv1_2),
        (&[V1_2, V1_3], &BOTH, ProtocolVersion::TLSv1_3),
    ] {
        let server = start(authority.config(&["localhost"], theirs), move |mut stream, received| {
            while next_request(&mut stream, received).is_some() {
                assert_eq!(stream.conn.protocol_version(), Some(spoken));
                stream.write_all(HELLO).unwrap();
            }
        });
        let report = play(&plan(&server, speaking(authority.tls("localhost"), ours), 200));
        assert_eq!(report.counts, all_ok(200));
        assert_eq!((server.requests(), server.connections(), report.counters.reconnects), (200, 4, 0));
        assert_eq!((report.counters.connections_opened, report.connect.count(), report.tls.count()), (4, 4, 4));
        assert_eq!(report.counters.bytes_read, 200 * HELLO.len() as u64, "what TLS wraps around is not counted");
    }
}

#[test]
fn without_a_common_version_every_handshake_fails() {
    let authority = Authority::new();
    for (ours, theirs) in [(V1_2, &TLS13), (V1_3, &TLS12)] {
        let server = start(authority.config(&["localhost"], &[theirs]), answer);
        let report = play(&plan(&server, speaking(authority.tls("localhost"), &[ours]), 10));
        assert_eq!(report.counts, all_failed(FailureStage::Tls, 10));
        assert_eq!(server.connections(), 10);
    }
}

#[test]
fn every_connection_is_a_new_visitor_that_asks_for_its_name_and_says_goodbye() {
    let authority = Authority::new();
    for (version, name) in [(V1_2, "localhost"), (V1_3, "localhost"), (V1_2, "127.0.0.1"), (V1_3, "127.0.0.1")] {
        let asked = name.parse::<std::net::IpAddr>().is_err().then_some(name);
        let (goodbyes, heard) = mpsc::channel();
        // The server offers to resume by default: session identifiers in 1.2, tickets in 1.3.
        let server = start(authority.config(&["localhost", "127.0.0.1"], &BOTH), move |mut stream, received| {
            if next_request(&mut stream, received).is_some() {
                assert_eq!(stream.conn.handshake_kind(), Some(HandshakeKind::Full));
                assert_eq!(stream.conn.server_name(), asked);
                assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
                stream.write_all(HELLO).unwrap();
                // Without close_notify the end would be an error.
                goodbyes.send(stream.read(&mut [0]).is_ok_and(|count| count == 0)).unwrap();
            }
        });
        let tls = speaking(authority.tls(name), &[version]);
        let report = play(&Plan { reuse: Reuse::Never, ..plan(&server, tls, 50) });
        assert_eq!(report.counts, all_ok(50));
        assert_eq!(
            (server.connections(), report.counters.connections_opened, report.counters.reconnects),
            (50, 50, 0)
        );
        assert_eq!(report.connect.count(), 50);
        assert!(heard.iter().take(50).all(|goodbye| goodbye));
    }
}

#[test]
fn a_wrong_name_and_an_unknown_authority_fail_the_handshake() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = authority.server(answer);
    for version in [V1_2, V1_3] {
        for tls in [authority.tls("example.org"), authority.tls("127.0.0.1"), other.tls("localhost")] {
            let report = play(&plan(&server, speaking(tls, &[version]), 10));
            assert_eq!(report.counts, all_failed(FailureStage::Tls, 10));
            assert_eq!((report.counters.bytes_read, report.latency.count()), (0, 0));
        }
    }
    assert_eq!(server.requests(), 0);
    let both = [authority.pem(), other.pem()].concat();
    let tls = Tls { authorities: Some(both), ..authority.tls("localhost") };
    assert_eq!(play(&plan(&server, Some(tls), 10)).counts, all_ok(10));
}

#[test]
fn without_authorities_any_certificate_is_accepted() {
    let mut parameters = CertificateParams::new(["example.org".to_string()]).unwrap();
    parameters.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let key = KeyPair::generate().unwrap();
    let server = start(config(&parameters.self_signed(&key).unwrap(), &key, &BOTH), answer);
    for version in [V1_2, V1_3] {
        let tls = Tls { name: "localhost".into(), authorities: None, versions: vec![version] };
        assert_eq!(play(&plan(&server, Some(tls), 10)).counts, all_ok(10));
    }
}

#[test]
fn a_listed_certificate_is_trusted_even_if_it_calls_itself_an_authority() {
    let mut parameters = CertificateParams::new(["localhost".to_string()]).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    let server = start(config(&certificate, &key, &BOTH), answer);
    let tls = |name: &str| Tls { authorities: Some(certificate.pem().into()), ..Authority::new().tls(name) };
    assert_eq!(play(&plan(&server, Some(tls("localhost")), 10)).counts, all_ok(10));
    assert_eq!(play(&plan(&server, Some(tls("example.org")), 10)).counts, all_failed(FailureStage::Tls, 10));
}

/// Presents a certificate whose key it does not have.
#[derive(Debug)]
struct Impostor(Arc<CertifiedKey>);

impl ResolvesServerCert for Impostor {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

#[test]
fn the_certificates_key_must_be_proven_whatever_is_trusted() {
    let (own, stolen) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let certificate = CertificateParams::new(["localhost".to_string()]).unwrap().self_signed(&stolen).unwrap();
    let key = ring::sign::any_supported_type(&PrivateKeyDer::try_from(own.serialize_der()).unwrap()).unwrap();
    let certified = Arc::new(CertifiedKey::new(vec![certificate.der().clone()], key));
    let mut config = Authority::new().config(&["localhost"], &BOTH);
    config.cert_resolver = Arc::new(Impostor(certified));
    let server = start(config, answer);
    for version in [V1_2, V1_3] {
        for authorities in [None, Some(certificate.pem().into_bytes())] {
            let tls = Tls { name: "localhost".into(), authorities, versions: vec![version] };
            assert_eq!(play(&plan(&server, Some(tls), 10)).counts, all_failed(FailureStage::Tls, 10));
        }
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_port_that_does_not_speak_tls_fails_the_handshake() {
    let tls = || Some(Authority::new().tls("localhost"));
    let answers: [&[u8]; 4] = [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x16\x03", b"\x16\x03\x03\xff\xff"];
    for bytes in answers {
        let server = Server::start(move |mut stream, _, _| {
            stream.write_all(bytes).unwrap();
            // Closed in order, so that the bytes are not lost to a reset.
            stream.shutdown(Shutdown::Write).unwrap();
            hang(stream);
        });
        assert_eq!(play(&plan(&server, tls(), 20)).counts, all_failed(FailureStage::Tls, 20), "{bytes:?}");
    }
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = Plan { address: Address::Tcp(dead), ..plan(&Server::answering(HELLO), tls(), 10) };
    assert_eq!(play(&refused).counts, all_failed(FailureStage::Connect, 10));
}

#[test]
fn a_handshake_that_is_never_answered_and_a_request_that_is_never_read_run_into_the_timeout() {
    let authority = Authority::new();
    let timed_out = Counts { scheduled: 12, timed_out: 12, ..Counts::default() };
    let silent = Server::start(|stream, _, _| hang(stream));
    let short = |plan: Plan| Plan { timeout_ns: SECOND_NS / 2, ..plan };
    let report = play(&short(plan(&silent, Some(authority.tls("localhost")), 12)));
    assert_eq!((report.counts, silent.connections()), (timed_out, 12));
    let stuck = authority.server(|mut stream, _| {
        let _ = stream.conn.complete_io(&mut stream.sock);
        thread::park_timeout(Duration::from_secs(20));
    });
    let patient = plan(&stuck, Some(authority.tls("localhost")), 12);
    assert_eq!(play(&short(posting(patient, vec![b'q'; 20_000_000], b""))).counts, timed_out);
}

#[test]
fn an_answer_without_end_runs_into_the_timeout() {
    let authority = Authority::new();
    let server = authority.server(|mut stream, received| {
        if next_request(&mut stream, received).is_some() {
            let endless = [&b"HTTP/1.0 200 OK\r\n\r\n"[..], &[b'q'; 64 * 1024]].concat();
            while stream.write_all(&endless).is_ok() {}
        }
    });
    let plain = Server::start(|mut stream, _, _| {
        server::read_request(&mut stream);
        let endless = [&b"HTTP/1.0 200 OK\r\n\r\n"[..], &[b'q'; 64 * 1024]].concat();
        while stream.write_all(&endless).is_ok() {}
    });
    for plan in [plan(&plain, None, 4), plan(&server, Some(authority.tls("localhost")), 4)] {
        let body_max_bytes = u64::MAX;
        let report = play(&Plan { timeout_ns: SECOND_NS / 4, connections: 1, body_max_bytes, ..plan });
        assert_eq!(report.counts, Counts { scheduled: 4, timed_out: 4, ..Counts::default() });
    }
}

#[test]
fn long_and_roundabout_handshakes_succeed() {
    let authority = Authority::new();
    let many: Vec<String> = (0..1500).map(|number| format!("host-{number}.example.org")).collect();
    let names: Vec<&str> = many.iter().map(String::as_str).collect();
    for version in [V1_2, V1_3] {
        let server = start(authority.config(&names, &BOTH), answer);
        let tls = speaking(authority.tls("host-1499.example.org"), &[version]);
        assert_eq!(play(&plan(&server, tls, 20)).counts, all_ok(20), "a certificate of 38 kB");
    }
    // A server that does not like the key that is offered first asks for another.
    let mut provider = ring::default_provider();
    provider.kx_groups = vec![ring::kx_group::SECP384R1];
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_string()]).unwrap().self_signed(&key).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&BOTH)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    let server = start(config, |mut stream, received| {
        while next_request(&mut stream, received).is_some() {
            assert_eq!(stream.conn.handshake_kind(), Some(HandshakeKind::FullWithHelloRetryRequest));
            stream.write_all(HELLO).unwrap();
        }
    });
    let tls = Tls { name: "localhost".into(), authorities: None, versions: vec![V1_3] };
    assert_eq!(play(&plan(&server, Some(tls), 20)).counts, all_ok(20));
}

#[test]
fn an_answer_of_one_byte_records_is_right() {
    let answer = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   2;x\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n";
    let authority = Authority::new();
    // Each record in a segment of its own, then all records at once.
    for at_once in [false, true] {
        let server = authority.server(move |mut stream, received| {
            while next_request(&mut stream, received).is_some() {
                for byte in answer {
                    assert_eq!(stream.conn.writer().write(&[*byte]).unwrap(), 1);
                    while !at_once && stream.conn.wants_write() {
                        stream.conn.write_tls(&mut stream.sock).unwrap();
                    }
                }
                stream.flush().unwrap();
            }
        });
        for version in [V1_2, V1_3] {
            let report = play(&plan(&server, speaking(authority.tls("localhost"), &[version]), 40));
            assert_eq!((report.counts, report.counters.reconnects), (all_ok(40), 0));
            assert_eq!(report.counters.bytes_read, 40 * answer.len() as u64);
        }
    }
}

const LARGE: usize = 5_000_000;

fn body_of(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

#[test]
fn large_requests_and_large_answers_pass_whole() {
    let authority = Authority::new();
    let server = authority.server(|mut stream, received| {
        while let Some(request) = next_request(&mut stream, received) {
            assert!(request.contains("Content-Length: 5000000\r\n"));
            let mut body = vec![0; LARGE];
            stream.read_exact(&mut body).unwrap();
            assert!(body == body_of(LARGE));
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
        }
    });
    for version in [V1_2, V1_3] {
        let plan = plan(&server, speaking(authority.tls("localhost"), &[version]), 8);
        let report = play(&posting(plan, body_of(LARGE), &body_of(LARGE)));
        assert_eq!((report.counts, report.counters.reconnects), (all_ok(8), 0));
    }
    assert_eq!(server.requests(), 16);
}

#[test]
fn an_echo_flows_both_ways_at_once() {
    let authority = Authority::new();
    let server = authority.server(|mut stream, received| {
        while next_request(&mut stream, received).is_some() {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\n\r\n").unwrap();
            let (mut left, mut piece) = (LARGE, vec![0; 10_000]);
            while left > 0 {
                let count = stream.read(&mut piece).unwrap();
                stream.write_all(&piece[..count]).unwrap();
                left -= count;
            }
        }
    });
    let plan = plan(&server, Some(authority.tls("localhost")), 8);
    assert_eq!(play(&posting(plan, body_of(LARGE), &body_of(LARGE))).counts, all_ok(8));
}

#[test]
fn a_body_that_ends_with_the_connection_is_an_answer_with_and_without_close_notify() {
    let authority = Authority::new();
    for notify in [false, true] {
        let server = authority.server(move |mut stream, received| {
            if next_request(&mut stream, received).is_some() {
                stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhel").unwrap();
                stream.write_all(b"lo").unwrap();
                close(stream, notify);
            }
        });
        for version in [V1_2, V1_3] {
            let report = play(&plan(&server, speaking(authority.tls("localhost"), &[version]), 40));
            assert_eq!(report.counts, all_ok(40));
        }
    }
}

/// Sends no more, then waits for the client to close, so that nothing is lost to a reset.
fn close(mut stream: Secure, notify: bool) {
    if notify {
        stream.conn.send_close_notify();
        stream.flush().unwrap();
    }
    stream.sock.shutdown(Shutdown::Write).unwrap();
    hang(stream.sock);
}

#[test]
fn a_truncated_answer_fails_at_read_with_and_without_close_notify() {
    let authority = Authority::new();
    for notify in [false, true] {
        for kept in [0, 10, HELLO.len() - 1] {
            let server = authority.server(move |mut stream, received| {
                if next_request(&mut stream, received).is_some() {
                    stream.write_all(&HELLO[..kept]).unwrap();
                    close(stream, notify);
                }
            });
            let report = play(&plan(&server, Some(authority.tls("localhost")), 10));
            assert_eq!(report.counts, all_failed(FailureStage::Read, 10));
        }
    }
}

#[test]
fn a_truncated_or_forged_record_fails_at_read() {
    let authority = Authority::new();
    for forged in [false, true] {
        let server = authority.server(move |mut stream, received| {
            if next_request(&mut stream, received).is_some() {
                stream.conn.writer().write_all(HELLO).unwrap();
                let mut record = Vec::new();
                while stream.conn.wants_write() {
                    stream.conn.write_tls(&mut record).unwrap();
                }
                match record.pop() {
                    Some(last) if forged => record.push(!last),
                    _ => {}
                }
                stream.sock.write_all(&record).unwrap();
                close(stream, false);
            }
        });
        for version in [V1_2, V1_3] {
            let report = play(&plan(&server, speaking(authority.tls("localhost"), &[version]), 10));
            assert_eq!(report.counts, all_failed(FailureStage::Read, 10));
        }
    }
}

#[test]
fn surplus_is_a_protocol_failure() {
    let authority = Authority::new();
    let server = authority.server(|mut stream, received| {
        while next_request(&mut stream, received).is_some() {
            stream.conn.writer().write_all(HELLO).unwrap();
            stream.conn.writer().write_all(b"!").unwrap();
            if stream.flush().is_err() {
                return;
            }
        }
    });
    let report = play(&plan(&server, Some(authority.tls("localhost")), 10));
    assert_eq!(report.counts, all_failed(FailureStage::Protocol, 10));
}

#[test]
fn a_connection_closed_between_requests_is_no_failure() {
    let authority = Authority::new();
    for notify in [false, true] {
        let server = authority.server(move |mut stream, received| {
            for _ in 0..3 {
                if next_request(&mut stream, received).is_some() {
                    stream.write_all(HELLO).unwrap();
                }
            }
            // The fourth request is swallowed: closed at the moment of reuse.
            server::read_request(&mut stream);
            close(stream, notify);
        });
        let report = play(&Plan { connections: 1, ..plan(&server, Some(authority.tls("localhost")), 30) });
        assert_eq!(report.counts, all_ok(30));
        assert_eq!((server.requests(), server.connections(), report.counters.reconnects), (30, 10, 9));
    }
}

#[test]
fn session_tickets_are_passed_over_unless_there_is_no_end_to_them() {
    let authority = Authority::new();
    for (tickets, counts) in [(100, all_ok(10)), (5000, all_failed(FailureStage::Read, 10))] {
        let mut config = authority.config(&["localhost"], &BOTH);
        config.send_tls13_tickets = tickets;
        let server = start(config, answer);
        assert_eq!(play(&plan(&server, Some(authority.tls("localhost")), 10)).counts, counts);
    }
}

#[test]
fn keys_may_change_between_answers() {
    let authority = Authority::new();
    let server = authority.server(|mut stream, received| {
        while next_request(&mut stream, received).is_some() {
            stream.conn.refresh_traffic_keys().unwrap();
            stream.write_all(HELLO).unwrap();
        }
    });
    let report = play(&plan(&server, speaking(authority.tls("localhost"), &[V1_3]), 40));
    assert_eq!((report.counts, report.counters.reconnects), (all_ok(40), 0));
}

/// A Unix socket holds some 200 KiB, so for some of these lengths it takes all of the request but a part of the last
/// records: only that part is left to be sent when there is room again.
#[test]
fn a_request_is_sent_to_its_end_over_a_unix_socket_too() {
    let lengths: Vec<usize> = (64..=320).step_by(8).map(|kibibytes| kibibytes * 1024).collect();
    let authority = Authority::new();
    let path = std::env::temp_dir().join(format!("loadgen-tls-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let config = Arc::new(authority.config(&["localhost"], &BOTH));
    let (expected, bound) = (lengths.clone(), path.clone());
    let served = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        std::fs::remove_file(bound).unwrap();
        let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
        for length in expected {
            server::read_request(&mut stream).unwrap();
            // Lets the socket fill up; how far decides what is tested, not whether it passes.
            thread::sleep(Duration::from_millis(5));
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            assert!(body == body_of(length));
            stream.write_all(HELLO).unwrap();
        }
    });
    let nowhere = Server::answering(HELLO);
    let plan = plan(&nowhere, Some(authority.tls("localhost")), lengths.len() as u64);
    let mut plan = posting(Plan { connections: 1, ..plan }, Vec::new(), b"hello");
    plan.address = Address::Unix(path);
    plan.targets = vec![plan.targets[0].clone(); lengths.len()];
    plan.targets.iter_mut().zip(&lengths).for_each(|(target, length)| target.request.body = body_of(*length));
    let report = play(&plan);
    assert_eq!((report.counts, report.counters.connections_opened), (all_ok(lengths.len() as u64), 1));
    served.join().unwrap();
}

#[test]
fn a_plan_whose_tls_cannot_be_spoken_is_refused() {
    let server = Server::answering(HELLO);
    let fine = Authority::new().tls("localhost");
    let refusal = |tls| run(&plan(&server, Some(tls), 1), &Monitor::default()).unwrap_err().to_string();
    assert!(refusal(Tls { name: "[::1]:443".into(), ..fine.clone() }).contains("[::1]:443"));
    assert!(refusal(Tls { authorities: Some(b"PEM".to_vec()), ..fine.clone() }).contains("no certificate"));
    assert!(refusal(Tls { versions: Vec::new(), ..fine }).contains("1.2, 1.3"));
}
