//! One client: what it sent, when that was read, and whether it is owed an answer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use httparse::{Status, EMPTY_HEADER};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\
    Connection: keep-alive\r\n\r\nHello, World!";
const LAST_ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\
    Connection: close\r\n\r\nHello, World!";
const TRUTH: &str = "/__truth";
/// Requests are short; a client that sends more at once is dismissed.
const INBOX_BYTES: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;

/// A complete request.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// To be answered after its time.
    Work { arrived_ns: u64 },
    /// Asks what the server knows.
    Truth,
}

pub struct Client {
    stream: TcpStream,
    /// Unlike its index, no other client ever has it.
    pub number: u64,
    inbox: Vec<u8>,
    read_ns: u64,
    /// Whether a request is being worked on; the next one waits for its answer.
    busy: bool,
    /// Whether that request is the last on this connection.
    last: bool,
}

impl Client {
    pub fn new(stream: TcpStream, number: u64) -> Client {
        Client { stream, number, inbox: Vec::with_capacity(512), read_ns: 0, busy: false, last: false }
    }

    /// Reads once, and asks `clock` for the time right after that. An error when the client is to be dismissed.
    pub fn read(&mut self, clock: impl Fn() -> u64) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let count = match self.stream.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.read_ns = clock();
        self.inbox.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if self.inbox.len() > INBOX_BYTES {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(())
    }

    /// The next request, if it has come whole and the one before is answered.
    pub fn next_request(&mut self) -> io::Result<Option<Request>> {
        if self.busy || self.inbox.is_empty() {
            return Ok(None);
        }
        let mut headers = [EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        let head_bytes = match request.parse(&self.inbox).map_err(io::Error::other)? {
            Status::Partial => return Ok(None),
            Status::Complete(bytes) => bytes,
        };
        let header = |name: &str| {
            let field = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            field.and_then(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
        };
        let body_bytes: usize = header("content-length").map_or(Ok(0), str::parse).map_err(io::Error::other)?;
        if body_bytes > self.inbox.len() - head_bytes {
            return Ok(None);
        }
        self.last = match header("connection") {
            Some(value) if value.eq_ignore_ascii_case("close") => true,
            Some(value) if value.eq_ignore_ascii_case("keep-alive") => false,
            _ => request.version == Some(0),
        };
        let asks_truth = request.path == Some(TRUTH);
        self.inbox.drain(..head_bytes + body_bytes);
        self.busy = true;
        Ok(Some(if asks_truth { Request::Truth } else { Request::Work { arrived_ns: self.read_ns } }))
    }

    /// Answers the request that is worked on; whether the connection lives on.
    pub fn answer(&mut self) -> io::Result<bool> {
        self.busy = false;
        self.stream.write_all(if self.last { LAST_ANSWER } else { ANSWER })?;
        Ok(!self.last)
    }

    /// Answers with `json` instead; whether the connection lives on.
    pub fn tell(&mut self, json: &str) -> io::Result<bool> {
        self.busy = false;
        let length = json.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        self.stream.write_all((head + json).as_bytes())?;
        Ok(!self.last)
    }
}
