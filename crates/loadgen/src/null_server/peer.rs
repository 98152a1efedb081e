//! One connection to the null server: what was asked, and how much of the answers is still to be written.

use std::io::{self, ErrorKind, Read, Write};

use mio::net::TcpStream;

use super::requests::Requests;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";
const LAST_ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\
    Connection: close\r\n\r\nHello, World!";

/// Answers that go out with one write at most.
const BATCH: usize = 64;

/// Whether the connection lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Open,
    Close,
}

#[derive(Debug)]
pub(super) struct Peer {
    stream: TcpStream,
    requests: Requests,
    /// Answers owed. As all are the same, a client that asks and does not read costs no memory.
    owed: u64,
    /// Bytes of the first of them that were written.
    written: usize,
    closing: bool,
}

impl Peer {
    pub fn new(stream: TcpStream) -> Peer {
        Peer { stream, requests: Requests::default(), owed: 0, written: 0, closing: false }
    }

    /// Reads and answers until the socket has nothing more, or takes nothing more.
    ///
    /// Readiness is edge-triggered. A read that did not fill the buffer has emptied the socket, so the read that
    /// would only say so is saved, unless the client has closed (`hung_up`). Source: epoll(7), question 9.
    #[inline]
    pub fn serve(&mut self, hung_up: bool, buffer: &mut [u8]) -> Next {
        let mut empty = false;
        loop {
            match self.write_owed() {
                Ok(true) if self.closing => return Next::Close,
                Ok(true) if !empty => {}
                Ok(_) => return Next::Open,
                Err(_) => return Next::Close,
            }
            let count = match self.stream.read(buffer) {
                Ok(0) => return Next::Close,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Next::Open,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Next::Close,
            };
            let Some(completed) = buffer.get(..count).and_then(|bytes| self.requests.take(bytes)) else {
                return Next::Close;
            };
            self.owed += completed.requests;
            self.closing = completed.close;
            empty = count < buffer.len() && !hung_up;
        }
    }

    /// Writes what is owed; whether all of it could be written.
    #[inline]
    fn write_owed(&mut self) -> io::Result<bool> {
        while self.owed > 0 {
            let bytes = self.next_bytes();
            match self.stream.write(bytes) {
                Ok(count) => self.count_written(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// The next bytes to write.
    fn next_bytes(&self) -> &'static [u8] {
        static BLOCK: [u8; ANSWER.len() * BATCH] = repeated();
        let alike = self.owed - u64::from(self.closing);
        let whole: &[u8] = match alike {
            0 => LAST_ANSWER,
            _ => BLOCK.get(..ANSWER.len() * alike.min(BATCH as u64) as usize).unwrap_or(ANSWER),
        };
        whole.get(self.written..).unwrap_or_default()
    }

    fn count_written(&mut self, count: usize) {
        let is_last = self.closing && self.owed == 1;
        let length = if is_last { LAST_ANSWER.len() } else { ANSWER.len() };
        let bytes = self.written + count;
        self.owed -= (bytes / length) as u64;
        self.written = bytes % length;
    }
}

const fn repeated() -> [u8; ANSWER.len() * BATCH] {
    let mut block = [0; ANSWER.len() * BATCH];
    let mut index = 0;
    while index < block.len() {
        block[index] = ANSWER[index % ANSWER.len()];
        index += 1;
    }
    block
}
