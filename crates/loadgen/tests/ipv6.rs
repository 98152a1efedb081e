//! A server on the IPv6 loopback, in plain and through TLS. Skipped on a machine that has none.

#[allow(dead_code)]
mod secure;
mod server;

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;

use secure::{all_failed, all_ok, next_request, plan, play, Authority, BOTH, HELLO};
use server::{read_request, Server};

use loadgen::FailureStage;

fn listen() -> Option<TcpListener> {
    let listener = TcpListener::bind("[::1]:0").ok();
    if listener.is_none() {
        eprintln!("skipped: this machine has no ::1");
    }
    listener
}

#[test]
fn a_server_on_ipv6_is_loaded() {
    let Some(listener) = listen() else { return };
    let server = Server::start_on(listener, |mut stream, _, _| {
        while read_request(&mut stream).is_some() {
            stream.write_all(HELLO).unwrap();
        }
    });
    let report = play(&plan(&server, None, 100));
    assert_eq!((report.counts, server.connections()), (all_ok(100), 4));
}

#[test]
fn an_ipv6_address_is_a_name_in_a_certificate() {
    let Some(listener) = listen() else { return };
    let authority = Authority::new();
    let config = Arc::new(authority.config(&["::1"], &BOTH));
    let server = Server::start_on(listener, move |stream, _, received| {
        let mut stream = secure::secure(&config, stream);
        while next_request(&mut stream, received).is_some() {
            stream.write_all(HELLO).unwrap();
        }
    });
    assert_eq!(play(&plan(&server, Some(authority.tls("::1")), 20)).counts, all_ok(20));
    assert_eq!(play(&plan(&server, Some(authority.tls("::2")), 20)).counts, all_failed(FailureStage::Tls, 20));
}
