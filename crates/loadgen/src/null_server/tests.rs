use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

fn client(server: &NullServer) -> TcpStream {
    TcpStream::connect(server.address()).unwrap()
}

/// Everything until the server closes.
fn rest(mut client: TcpStream) -> String {
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    text
}

fn answers(text: &str) -> usize {
    text.matches("HTTP/1.1 200 OK\r\n").count()
}

#[test]
fn the_answer_is_whole_and_the_last_one_closes() {
    let server = NullServer::start(&[]).unwrap();
    let mut client = client(&server);
    for request in [GET, GET, LAST] {
        client.write_all(request).unwrap();
    }
    let text = rest(client);
    assert_eq!(answers(&text), 3);
    assert_eq!(text.matches("Content-Length: 13\r\n").count(), 3);
    assert_eq!(text.matches("Connection: close\r\n").count(), 1);
    assert!(text.ends_with("\r\n\r\nHello, World!"));
}

#[test]
fn a_request_sent_byte_by_byte_is_answered_once() {
    let server = NullServer::start(&[]).unwrap();
    let mut client = client(&server);
    client.set_nodelay(true).unwrap();
    let post: &[u8] = b"POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\nGET / HTTP/1.1\r\nHost: body\r\n\r\n";
    for byte in post.iter().chain(LAST) {
        client.write_all(&[*byte]).unwrap();
    }
    assert_eq!(answers(&rest(client)), 2);
}

/// The answers are far more than the sockets hold: the server has to stop reading, and to go on later.
#[test]
fn a_client_that_reads_late_gets_every_answer() {
    const REQUESTS: usize = 200_000;
    let server = NullServer::start(&[]).unwrap();
    let client = client(&server);
    let mut writer = client.try_clone().unwrap();
    let writing = thread::spawn(move || {
        let block = GET.repeat(1000);
        (0..REQUESTS / 1000).for_each(|_| writer.write_all(&block).unwrap());
        writer.write_all(LAST).unwrap();
    });
    let text = rest(client);
    writing.join().unwrap();
    assert_eq!(answers(&text), REQUESTS + 1);
    assert_eq!(text.matches("Connection: close\r\n").count(), 1);
}

#[test]
fn many_connections_come_and_go() {
    let server = NullServer::start(&[]).unwrap();
    for _ in 0..3 {
        let mut clients: Vec<TcpStream> = (0..200).map(|_| client(&server)).collect();
        clients.iter_mut().for_each(|client| client.write_all(LAST).unwrap());
        assert!(clients.into_iter().all(|client| answers(&rest(client)) == 1));
    }
}

#[test]
fn a_client_that_has_finished_sending_is_still_answered() {
    let server = NullServer::start(&[]).unwrap();
    let mut client = client(&server);
    client.write_all(GET).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(answers(&rest(client)), 1);
}

#[test]
fn what_is_not_http_ends_its_connection_only() {
    let server = NullServer::start(&[]).unwrap();
    let mut stray = client(&server);
    stray.write_all(b"\x16\x03\x01 not HTTP").unwrap();
    assert_eq!(stray.read(&mut [0; 16]).unwrap_or(0), 0);
    let mut other = client(&server);
    other.write_all(LAST).unwrap();
    assert_eq!(answers(&rest(other)), 1);
}

#[test]
fn dropping_it_closes_everything() {
    let server = NullServer::start(&[]).unwrap();
    let address = server.address();
    let (mut used, idle) = (client(&server), client(&server));
    used.write_all(GET).unwrap();
    assert!(used.read(&mut [0; 16]).unwrap() > 0);
    drop(server);
    for mut client in [used, idle] {
        let mut bytes = Vec::new();
        let _ = client.read_to_end(&mut bytes);
    }
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_core_that_does_not_exist_is_an_error() {
    assert!(NullServer::start(&[1_000_000]).is_err());
    assert!(NullServer::start(&[0]).is_ok());
}
