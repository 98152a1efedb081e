//! The head of a response: status, how its body is framed, and whether the connection may live on.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Status};

use super::date;
use crate::error::ProtocolError;

/// The most header fields taken.
pub(crate) const FIELDS_MAX: usize = 1000;

/// There is room for so many fields at once: more are rare, and room for all would have to be made for every head.
const FIELDS_USUAL: usize = 128;

/// What the engine needs of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub status: u16,
    pub framing: Framing,
    pub keep_alive: bool,
    /// The Date, in seconds since 1970, where there is a valid one.
    pub date_s: Option<u64>,
    /// A cache says that it gave this answer.
    pub cached: bool,
}

/// Who a response is read for.
pub(crate) trait Sink {
    /// Whether header fields matter: then every head is parsed, even one that repeats the last.
    fn listens(&self) -> bool {
        false
    }

    /// A header field, if the sink listens.
    fn field(&mut self, _name: &str, _value: &[u8]) {}

    /// The next bytes of the body.
    fn body(&mut self, bytes: &[u8]);
}

/// Where the body ends. Source: RFC 9112 section 6.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// Parses a head at the start of `bytes`: the head and its length, or `None` while it is incomplete.
pub(crate) fn parse(
    bytes: &[u8],
    to_head: bool,
    sink: &mut impl Sink,
) -> Result<Option<(Head, usize)>, ProtocolError> {
    match parse_into(&mut [const { MaybeUninit::uninit() }; FIELDS_USUAL], bytes, to_head, sink) {
        Err(ProtocolError::HeadTooLong) => {
            parse_into(&mut vec![MaybeUninit::uninit(); FIELDS_MAX], bytes, to_head, sink)
        }
        parsed => parsed,
    }
}

fn parse_into<'a>(
    headers: &mut [MaybeUninit<Header<'a>>],
    bytes: &'a [u8],
    to_head: bool,
    sink: &mut impl Sink,
) -> Result<Option<(Head, usize)>, ProtocolError> {
    let mut response = httparse::Response::new(&mut []);
    let mut config = ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    let length = match config.parse_response_with_uninit_headers(&mut response, bytes, headers) {
        Ok(Status::Partial) => return Ok(None),
        Ok(Status::Complete(length)) => length,
        Err(httparse::Error::TooManyHeaders) => return Err(ProtocolError::HeadTooLong),
        Err(error) => return Err(ProtocolError::Head(error)),
    };
    let (Some(status), Some(version)) = (response.code, response.version) else {
        return Err(ProtocolError::Head(httparse::Error::Status));
    };
    let fields = Fields::collect(response.headers)?;
    let framing = fields.framing(status, to_head);
    let keep_alive = fields.keep_alive(version) && framing != Framing::UntilClose;
    if sink.listens() {
        response.headers.iter().for_each(|header| sink.field(header.name, &unfolded(header.value)));
    }
    let head = Head { status, framing, keep_alive, date_s: fields.date_s, cached: fields.cached };
    Ok(Some((head, length)))
}

/// The few header fields that bear on framing, persistence and freshness.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    coding: Option<bool>,
    close: bool,
    stay: bool,
    date_s: Option<u64>,
    cached: bool,
}

impl Fields {
    /// Looks at names by length first: most headers are passed over without comparing a byte.
    fn collect(headers: &[Header]) -> Result<Fields, ProtocolError> {
        let mut fields = Fields::default();
        for header in headers {
            match header.name.len() {
                // RFC 9111 section 5.1: an age tells that the origin did not make the answer for this request
                3 if header.name.eq_ignore_ascii_case("age") => fields.cached = true,
                4 if header.name.eq_ignore_ascii_case("date") => {
                    fields.date_s = date::parse(&unfolded(header.value))
                }
                7 if header.name.eq_ignore_ascii_case("x-cache") => fields.cached |= says_hit(header.value),
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    fields.close |= has_token(header.value, b"close");
                    fields.stay |= has_token(header.value, b"keep-alive");
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => fields.add_length(header.value)?,
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    fields.coding = Some(last_token(header.value).eq_ignore_ascii_case(b"chunked"));
                }
                _ => {}
            }
        }
        Ok(fields)
    }

    fn add_length(&mut self, value: &[u8]) -> Result<(), ProtocolError> {
        let length = decimal(value).ok_or(ProtocolError::ContentLength)?;
        if self.length.is_some_and(|other| other != length) {
            return Err(ProtocolError::ContentLength);
        }
        self.length = Some(length);
        Ok(())
    }

    /// A transfer coding overrides a length; without either the body ends with the connection.
    fn framing(&self, status: u16, to_head: bool) -> Framing {
        if to_head || status == 204 || status == 304 || status < 200 {
            return Framing::Length(0);
        }
        match (self.coding, self.length) {
            (Some(true), _) => Framing::Chunked,
            (None, Some(length)) => Framing::Length(length),
            _ => Framing::UntilClose,
        }
    }

    /// Where peers may disagree on the end of a body, nothing must follow it on the connection. Source: RFC 9112
    /// sections 6.1 (HTTP/1.0 has no transfer codings) and 6.3 (a length beside a coding).
    fn keep_alive(&self, version: u8) -> bool {
        let ambiguous = self.coding.is_some() && (version == 0 || self.length.is_some());
        !self.close && !ambiguous && (version == 1 || self.stay)
    }
}

/// A value with each line folding replaced by a space. Source: RFC 9112 section 5.2.
fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    if !value.contains(&b'\n') {
        return Cow::Borrowed(value);
    }
    let lines: Vec<&[u8]> = value.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
    Cow::Owned(lines.join(&b' '))
}

fn tokens(value: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    tokens(value).any(|found| found.eq_ignore_ascii_case(token))
}

fn says_hit(value: &[u8]) -> bool {
    value.windows(3).any(|word| word.eq_ignore_ascii_case(b"hit"))
}

fn last_token(value: &[u8]) -> &[u8] {
    tokens(value).next_back().unwrap_or_default()
}

/// Digits only: no sign, no inner space, no overflow.
fn decimal(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Sink for Nobody {
        fn body(&mut self, _: &[u8]) {}
    }

    fn head(text: &str) -> Head {
        parse(text.as_bytes(), false, &mut Nobody).unwrap().unwrap().0
    }

    #[test]
    fn a_length_frames_the_body_and_http_1_1_stays_open() {
        let head = head("HTTP/1.1 200 OK\r\ncontent-LENGTH:  12 \r\n\r\n");
        let framing = Framing::Length(12);
        assert_eq!(head, Head { status: 200, framing, keep_alive: true, date_s: None, cached: false });
    }

    #[test]
    fn http_1_0_closes_unless_it_says_otherwise() {
        assert!(!head("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n").keep_alive);
        assert!(head("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\n").keep_alive);
        assert!(!head("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\n").keep_alive);
    }

    #[test]
    fn a_body_whose_end_is_in_doubt_ends_the_connection() {
        let old = head("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!((old.framing, old.keep_alive), (Framing::Chunked, false));
        let both = head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n");
        assert_eq!((both.framing, both.keep_alive), (Framing::Chunked, false));
        assert!(head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").keep_alive);
    }

    #[derive(Default)]
    struct Listener(Vec<(String, Vec<u8>)>);

    impl Sink for Listener {
        fn listens(&self) -> bool {
            true
        }

        fn field(&mut self, name: &str, value: &[u8]) {
            self.0.push((name.to_owned(), value.to_vec()));
        }

        fn body(&mut self, _: &[u8]) {}
    }

    #[test]
    fn a_folded_line_is_read_as_if_it_were_not() {
        let text = b"HTTP/1.1 200 OK\r\nX: a\r\n b\t\r\n\t c\r\nContent-Length:\r\n 12\r\n\
                     Connection: x,\r\n\tclose\r\nDate: Thu, 01 Jan 1970\r\n 00:00:01 GMT\r\n\r\n";
        let mut listener = Listener::default();
        let (head, length) = parse(text, false, &mut listener).unwrap().unwrap();
        assert_eq!((head.framing, head.keep_alive, length), (Framing::Length(12), false, text.len()));
        assert_eq!(head.date_s, Some(1));
        assert_eq!(listener.0[0], ("X".to_owned(), b"a b c".to_vec()));
        for wrong in ["HTTP/1.1 200 OK\r\n X: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n"] {
            assert!(parse(wrong.as_bytes(), false, &mut Nobody).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_thousand_fields_are_taken_and_no_more() {
        for (number, right) in [(FIELDS_USUAL, true), (FIELDS_USUAL + 1, true), (999, true), (1000, false)] {
            let text = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 7\r\n\r\n", "X: y\r\n".repeat(number));
            let mut listener = Listener::default();
            match parse(text.as_bytes(), false, &mut listener) {
                Ok(Some((head, length))) => {
                    assert_eq!((head.framing, length, right), (Framing::Length(7), text.len(), true));
                    assert_eq!(listener.0.len(), number + 1);
                }
                other => assert!(!right && other == Err(ProtocolError::HeadTooLong)),
            }
        }
    }

    #[test]
    fn a_transfer_coding_overrides_a_length() {
        let chunked = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n";
        assert_eq!(head(chunked).framing, Framing::Chunked);
        let unknown = head("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n");
        assert_eq!(unknown.framing, Framing::UntilClose);
        assert!(!unknown.keep_alive);
    }

    #[test]
    fn some_answers_never_have_a_body() {
        for status in [204, 304] {
            let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 9\r\n\r\n");
            assert_eq!(head(&text).framing, Framing::Length(0));
        }
        let (head, _) = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true, &mut Nobody).unwrap().unwrap();
        assert_eq!(head.framing, Framing::Length(0));
    }

    #[test]
    fn lengths_that_are_no_number_or_disagree_are_refused() {
        for length in ["", "-1", "+1", "1 2", "0x1", "18446744073709551616"] {
            let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            assert!(parse(text.as_bytes(), false, &mut Nobody).is_err(), "{length}");
        }
        assert!(parse(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", false, &mut Nobody)
            .is_err());
        assert!(
            parse(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", false, &mut Nobody).is_ok()
        );
    }

    #[test]
    fn caches_give_themselves_away() {
        assert!(head("HTTP/1.1 200 OK\r\nAge: 0\r\nContent-Length: 0\r\n\r\n").cached);
        assert!(head("HTTP/1.1 200 OK\r\nx-cache: TCP_Hit from a\r\nContent-Length: 0\r\n\r\n").cached);
        assert!(!head("HTTP/1.1 200 OK\r\nX-Cache: MISS\r\nContent-Length: 0\r\n\r\n").cached);
        let dated = head("HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(dated.date_s, Some(784_111_777));
    }

    #[test]
    fn every_prefix_of_a_head_is_incomplete_never_wrong() {
        let text = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(parse(&text[..end], false, &mut Nobody).unwrap(), None, "{end}");
        }
        assert_eq!(parse(text, false, &mut Nobody).unwrap().unwrap().1, text.len());
    }
}
