//! One request by itself, read as those of a run are: whether a server answers, and what.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::error::AskError;
use crate::http1::{HeadCache, Progress, RequestContext, Response, Sink};

/// A body that is not whole is read on, without being kept, to this many times the bytes kept: it may end yet.
const READ_ON: u64 = 16;

/// A body may take so long from its first byte to its last.
const SENDING_MAX: Duration = Duration::from_secs(20);

/// As long, where less than `STEADY_BYTES` of it came: such an answer drips, or its head does.
const DRIPPING_MAX: Duration = Duration::from_secs(5);

const STEADY_BYTES: u64 = 1 << 20;

const PIECE_BYTES: usize = 64 * 1024;

/// What a server answered.
#[derive(Debug, Default)]
pub struct Answer {
    /// The final status.
    pub status: u16,
    /// The header fields, those of interim answers before it included.
    pub fields: Vec<(String, Vec<u8>)>,
    /// The body, or its beginning.
    pub body: Vec<u8>,
    /// The length of the body, as far as it is known; of a head that does not end, what came of it.
    pub body_bytes: u64,
    /// Whether the body was still being sent when it was given up.
    pub endless: bool,
}

/// Sends `message` to a server, and reads its answer of which at most `body_max` bytes are kept.
///
/// `timeout` holds for connecting, and for each wait for bytes. What is longer than `body_max` is given up where its
/// length is announced, and read on for a while where it is not.
pub fn ask(
    (host, port): (&str, u16),
    message: &[u8],
    to_head: bool,
    timeout: Duration,
    body_max: usize,
) -> Result<Answer, AskError> {
    let mut stream = connect((host, port), timeout)?;
    stream.write_all(message)?;
    let mut reader = Reader { answer: Answer::default(), body_max };
    let (mut response, mut cache) = (Response::new(), HeadCache::default());
    let mut buffer = vec![0; PIECE_BYTES];
    let mut begun: Option<Instant> = None;
    loop {
        if let Some(begun) = begun {
            let left = reader.longest().saturating_sub(begun.elapsed());
            if left.is_zero() || reader.answer.body_bytes > READ_ON.saturating_mul(body_max as u64) {
                reader.answer.endless = true;
                reader.answer.body_bytes += response.held_bytes() as u64;
                return Ok(reader.answer);
            }
            stream.set_read_timeout(Some(timeout.min(left)))?;
        }
        let count = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock && reader.is_late(begun) => continue,
            read => read?,
        };
        let request = RequestContext { to_head, head_cache: &mut cache };
        let ended = match count {
            0 if response.close() => true,
            0 => return Err(io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection").into()),
            _ => matches!(response.feed(&buffer[..count], request, &mut reader)?, Progress::Done { .. }),
        };
        let answer = &mut reader.answer;
        answer.status = response.status();
        if ended {
            return Ok(reader.answer);
        }
        let announced = response.announced_bytes();
        if announced.is_some_and(|bytes| bytes > body_max as u64) {
            answer.body_bytes = announced.unwrap_or_default();
            return Ok(reader.answer);
        }
        if response.has_head() || response.held_bytes() > 0 {
            // an interim answer is only a sign of life
            begun.get_or_insert_with(Instant::now);
        }
    }
}

fn connect(address: (&str, u16), timeout: Duration) -> io::Result<TcpStream> {
    let mut failure = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

struct Reader {
    answer: Answer,
    body_max: usize,
}

impl Reader {
    /// How long the answer may take from its first byte to its last.
    fn longest(&self) -> Duration {
        if self.answer.body_bytes < STEADY_BYTES {
            DRIPPING_MAX
        } else {
            SENDING_MAX
        }
    }

    fn is_late(&self, begun: Option<Instant>) -> bool {
        begun.is_some_and(|begun| begun.elapsed() >= self.longest())
    }
}

impl Sink for Reader {
    fn listens(&self) -> bool {
        true
    }

    fn field(&mut self, name: &str, value: &[u8]) {
        self.answer.fields.push((name.to_owned(), value.to_vec()));
    }

    fn body(&mut self, bytes: &[u8]) {
        let room = self.body_max - self.answer.body.len();
        self.answer.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.answer.body_bytes += bytes.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn answer(pieces: Vec<Vec<u8>>, body_max: usize) -> Result<Answer, AskError> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            for piece in pieces {
                // whoever asked may have gone
                let _ = stream.write_all(&piece);
            }
        });
        ask(("localhost", port), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, LONG, body_max)
    }

    #[test]
    fn an_answer_has_its_status_fields_and_body() {
        let whole = b"HTTP/1.1 404 Not Found\r\nSet-Cookie: a=b\r\nContent-Length: 5\r\n\r\nhello".to_vec();
        let answer = answer(vec![whole], 5).unwrap();
        assert_eq!((answer.status, answer.body.as_slice(), answer.endless), (404, &b"hello"[..], false));
        assert_eq!(answer.fields[0], ("Set-Cookie".to_owned(), b"a=b".to_vec()));
    }

    #[test]
    fn of_a_body_beyond_its_limit_only_the_beginning_is_kept() {
        let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\nhello".to_vec();
        let answer_of = |pieces| answer(pieces, 2).map(|it| (it.body_bytes, it.body.len(), it.endless)).unwrap();
        assert_eq!(answer_of(vec![announced]).0, 5_000_000_000);
        let until_close = b"HTTP/1.1 200 OK\r\n\r\nhello".to_vec();
        assert_eq!(answer_of(vec![until_close.clone()]), (5, 2, false));
        let (bytes, kept, endless) = answer_of(vec![until_close, vec![b'x'; 1000]]);
        assert!(bytes > 32 && kept == 2 && endless);
    }

    #[test]
    fn what_drips_is_given_up() {
        let given_up = |text: &str| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = ("127.0.0.1", listener.local_addr().unwrap().port());
            let text = text.to_owned();
            thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(text.as_bytes()).unwrap();
                while stream.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(100));
                }
            });
            ask(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, LONG, 100).unwrap()
        };
        let asked = thread::spawn(move || given_up("HTTP/1.1 200 OK\r\n\r\n"));
        let head = given_up("HTTP/1.1 200 OK\r\nX: ");
        let body = asked.join().unwrap();
        assert!(head.endless && head.status == 0 && head.body_bytes > 20);
        assert!(body.endless && body.status == 200 && (1..100).contains(&body.body.len()));
    }

    #[test]
    fn what_is_no_whole_answer_is_an_error() {
        for text in ["", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"] {
            assert!(answer(vec![text.into()], 100).is_err());
        }
    }
}
