//! Finds the ends of requests in a stream of bytes: complete, split anywhere, or several in one read.
//!
//! Sources: RFC 9112 sections 6.3 (bodies) and 9.3 (persistence).

use std::mem;

use httparse::{Request, Status, EMPTY_HEADER};

/// A head longer than this is nobody's.
const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 64;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// What some bytes completed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Completed {
    pub requests: u64,
    /// Whether the last of them is the connection's last; what follows it is not looked at.
    pub close: bool,
}

/// Where a connection stands in its stream of requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The beginning of a head whose end has not come.
    head: Vec<u8>,
    /// Bytes of the body still to come.
    body_left: u64,
    /// Whether the request with that body is the last.
    close: bool,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    bytes: usize,
    body_bytes: u64,
    close: bool,
}

impl Requests {
    /// What `bytes`, the next of the stream, complete; `None` when they are not HTTP/1, or have a body of a kind
    /// this server does not know.
    #[inline]
    pub fn take(&mut self, mut bytes: &[u8]) -> Option<Completed> {
        let mut completed = Completed::default();
        while !bytes.is_empty() && !completed.close {
            if self.body_left == 0 {
                let (head, rest) = self.next_head(bytes)?;
                bytes = rest;
                let Some(head) = head else { break };
                (self.body_left, self.close) = (head.body_bytes, head.close);
            }
            let skipped = self.body_left.min(bytes.len() as u64);
            self.body_left -= skipped;
            bytes = bytes.get(skipped as usize..)?;
            if self.body_left == 0 {
                completed.requests += 1;
                completed.close = self.close;
            }
        }
        Some(completed)
    }

    /// The head that ends in `bytes`, if one does, and what follows it.
    #[inline]
    fn next_head<'a>(&mut self, bytes: &'a [u8]) -> Option<(Option<Head>, &'a [u8])> {
        if !self.head.is_empty() {
            return self.continued_head(bytes);
        }
        match parse(bytes)? {
            Some(head) => Some((Some(head), bytes.get(head.bytes..)?)),
            None => self.keep(bytes),
        }
    }

    /// Parses only once the end has come: a client that sends byte by byte costs no more than others.
    #[cold]
    fn continued_head<'a>(&mut self, bytes: &'a [u8]) -> Option<(Option<Head>, &'a [u8])> {
        let before = self.head.len();
        let searched = before.saturating_sub(HEAD_END.len() - 1);
        let kept = self.keep(bytes);
        if !self.head.get(searched..)?.windows(HEAD_END.len()).any(|window| window == HEAD_END) {
            return kept;
        }
        let head = parse(&mem::take(&mut self.head))??;
        Some((Some(head), bytes.get(head.bytes.checked_sub(before)?..)?))
    }

    /// Keeps the beginning of a head, unless that has become too long.
    #[cold]
    fn keep<'a>(&mut self, bytes: &[u8]) -> Option<(Option<Head>, &'a [u8])> {
        self.head.extend_from_slice(bytes);
        (self.head.len() <= HEAD_BYTES_MAX).then_some((None, &[]))
    }
}

/// The head at the start of `bytes`; the inner `None` while it is incomplete, the outer when it is not one.
#[inline]
fn parse(bytes: &[u8]) -> Option<Option<Head>> {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut request = Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Some(None),
        Err(_) => return None,
    };
    // An answer to HEAD would need to go without its body.
    if request.method == Some("HEAD") {
        return None;
    }
    let mut head = Head { bytes: length, body_bytes: 0, close: request.version == Some(0) };
    for header in request.headers.iter() {
        match header.name.len() {
            10 if header.name.eq_ignore_ascii_case("connection") => {
                head.close = has(header.value, b"close") || (head.close && !has(header.value, b"keep-alive"));
            }
            14 if header.name.eq_ignore_ascii_case("content-length") => {
                head.body_bytes = std::str::from_utf8(header.value).ok()?.trim().parse().ok()?;
            }
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => return None,
            _ => {}
        }
    }
    Some(Some(head))
}

fn has(value: &[u8], token: &[u8]) -> bool {
    value.split(|&byte| byte == b',').any(|found| found.trim_ascii().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const POST: &[u8] = b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello";
    const LAST: &[u8] = b"GET / HTTP/1.1\r\nconnection: x, Close\r\n\r\n";

    fn completed(requests: u64, close: bool) -> Option<Completed> {
        Some(Completed { requests, close })
    }

    #[test]
    fn several_requests_in_one_read_are_all_seen() {
        let bytes = [GET, POST, GET, LAST, GET].concat();
        assert_eq!(Requests::default().take(&bytes), completed(4, true));
    }

    #[test]
    fn requests_may_be_split_anywhere() {
        let bytes = [GET, POST, POST, GET, LAST].concat();
        for first in 0..bytes.len() {
            for second in [first + 1, first + 3, bytes.len()].map(|end| end.min(bytes.len())) {
                let mut requests = Requests::default();
                let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                let seen = parts.map(|part| requests.take(part).unwrap());
                assert_eq!(seen.iter().map(|completed| completed.requests).sum::<u64>(), 5, "{first} {second}");
                assert!(seen.iter().any(|completed| completed.close));
                assert!(requests.head.is_empty());
            }
        }
    }

    #[test]
    fn http_1_0_closes_unless_it_says_otherwise() {
        assert_eq!(Requests::default().take(b"GET / HTTP/1.0\r\n\r\n"), completed(1, true));
        let stays = b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
        assert_eq!(Requests::default().take(stays), completed(1, false));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let chunked: &[u8] = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let length: &[u8] = b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n";
        for bytes in [b"\x16\x03\x01\x02", chunked, length, b"HEAD / HTTP/1.1\r\n\r\n"] {
            assert_eq!(Requests::default().take(bytes), None);
        }
    }

    #[test]
    fn a_head_without_end_is_given_up() {
        let mut requests = Requests::default();
        assert_eq!(requests.take(b"GET / HTTP/1.1\r\nA: "), completed(0, false));
        let refused = (0..100).find(|_| requests.take(&[b'a'; 1024]).is_none());
        assert!(refused.is_some());
    }

    /// A parser may take a bare line feed for the end of a line (RFC 9112 section 2.2); the search does not.
    #[test]
    fn ends_that_only_the_parser_sees_are_found_late_or_refused() {
        let mut requests = Requests::default();
        assert_eq!(requests.take(b"GET / HTTP/1.1\n"), completed(0, false));
        assert_eq!(requests.take(b"\n"), completed(0, false));
        assert_eq!(requests.take(GET), completed(2, false));
        assert_eq!(requests.take(b"GET / HTTP/1.1\n"), completed(0, false));
        assert_eq!(requests.take(b"\nGET"), completed(0, false));
        assert_eq!(requests.take(b" / HTTP/1.1\r\n\r\n"), None);
    }
}
