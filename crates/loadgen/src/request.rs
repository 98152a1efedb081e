//! A request, and the bytes it is sent as: rendered once per run, never in the hot path.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::carried::{Fill, Part};
use crate::error::PlanError;
use crate::nonce::{Nonce, NoncePlace, NONCE_BYTES};
use crate::token::is_token;

/// One HTTP/1.1 request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path with its query, starting with a slash.
    pub path: String,
    /// The Host header.
    pub host: String,
    /// Further headers. One called Host, User-Agent or Accept replaces what is sent by default.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Send the body in chunks of this many bytes (RFC 9112 section 7.1); `None` announces its length.
    pub chunk_bytes: Option<NonZeroUsize>,
    /// Send the body only once the server asks for it, or after a second (RFC 9110 section 10.1.1).
    pub expects_continue: bool,
}

const LENGTH: &str = "Content-Length: ";

/// A request as bytes, and where in them something may be put in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub bytes: Vec<u8>,
    /// The length of the head, its empty line included.
    pub head_bytes: usize,
    /// Where the nonce's digits stand.
    pub nonce_at: Option<usize>,
    /// What is replaced by what the visitor was given, in order, with its place among the target's fills.
    pub gaps: Vec<(Range<usize>, usize)>,
    /// Where the body's length stands, if it does.
    pub length_at: Option<Range<usize>>,
}

impl Request {
    /// A GET of `path`.
    pub fn get(path: &str, host: &str) -> Request {
        Request {
            method: "GET".into(),
            path: path.into(),
            host: host.into(),
            headers: Vec::new(),
            body: Vec::new(),
            chunk_bytes: None,
            expects_continue: false,
        }
    }

    pub(crate) fn validate(&self) -> Result<(), PlanError> {
        let wrong = |part, text: &str| Err(PlanError::Request { part, text: text.into() });
        if !is_token(&self.method) {
            return wrong("method", &self.method);
        }
        if !self.path.starts_with(['/', '*']) || !self.path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return wrong("path", &self.path);
        }
        if !is_value(&self.host) {
            return wrong("host", &self.host);
        }
        for (name, value) in &self.headers {
            if !is_token(name) {
                return wrong("header name", name);
            }
            if !is_value(value) {
                return wrong("header value", value);
            }
        }
        Ok(())
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Whether sending it twice does what sending it once does. Source: RFC 9110 section 9.2.2.
    pub(crate) fn is_idempotent(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
    }

    /// The bytes to send; `close` asks the server to end the connection afterwards.
    pub(crate) fn message(&self, close: bool, nonce: Option<&Nonce>, fills: &[Fill]) -> Message {
        let digits = "0".repeat(NONCE_BYTES);
        let mut nonce_at = None;
        let mut starts = vec![None; fills.len()];
        let mut start = |wanted: &dyn Fn(&Part) -> bool, at: usize| {
            for (place, fill) in starts.iter_mut().zip(fills).filter(|(_, fill)| wanted(&fill.part)) {
                *place = place.or(Some(at + fill.range.start));
            }
        };
        let mut text = format!("{} {}", self.method, self.path);
        start(&|part| *part == Part::Path, self.method.len() + 1);
        if let Some(Nonce { place: NoncePlace::Query, name }) = nonce {
            text += &format!("{}{name}=", if self.path.contains('?') { '&' } else { '?' });
            nonce_at = Some(text.len());
            text += &digits;
        }
        text += " HTTP/1.1\r\n";
        let defaults = [("Host", self.host.as_str()), ("User-Agent", "stackrace"), ("Accept", "*/*")];
        for (name, value) in defaults {
            if !self.has(name) {
                text += &format!("{name}: {value}\r\n");
            }
        }
        for (name, value) in &self.headers {
            let named = |part: &Part| matches!(part, Part::Header(other) if other.eq_ignore_ascii_case(name));
            start(&named, text.len() + name.len() + 2);
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(Nonce { place: NoncePlace::Header, name }) = nonce {
            text += &format!("{name}: ");
            nonce_at = Some(text.len());
            text += &format!("{digits}\r\n");
        }
        let framing = self.framing();
        text += &framing;
        let measured =
            framing.starts_with(LENGTH).then(|| text.len() - framing.len() + LENGTH.len()..text.len() - 2);
        if self.waits_for_continue() && !self.has("Expect") {
            text += "Expect: 100-continue\r\n";
        }
        if close && !self.has("Connection") {
            text += "Connection: close\r\n";
        }
        text += "\r\n";
        let head_bytes = text.len();
        start(&|part| *part == Part::Body, head_bytes);
        let mut gaps: Vec<(Range<usize>, usize)> = (starts.iter().zip(fills).enumerate())
            .filter_map(|(index, (start, fill))| start.map(|start| (start..start + fill.range.len(), index)))
            .collect();
        gaps.sort_by_key(|(range, _)| range.start);
        let bytes = [text.into_bytes(), self.framed_body()].concat();
        Message { bytes, head_bytes, nonce_at, gaps, length_at: measured }
    }

    /// Whether a body is held back until the server asks for it.
    pub(crate) fn waits_for_continue(&self) -> bool {
        self.expects_continue && !self.body.is_empty()
    }

    /// The header line that says where the body ends, if one is needed.
    fn framing(&self) -> String {
        let expects_body = matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        if self.has("Content-Length") || self.has("Transfer-Encoding") {
            String::new()
        } else if self.chunk_bytes.is_some() {
            "Transfer-Encoding: chunked\r\n".into()
        } else if expects_body || !self.body.is_empty() {
            format!("{LENGTH}{}\r\n", self.body.len())
        } else {
            String::new()
        }
    }

    fn framed_body(&self) -> Vec<u8> {
        let Some(chunk_bytes) = self.chunk_bytes else {
            return self.body.clone();
        };
        let mut framed = Vec::with_capacity(self.body.len() + 32);
        for chunk in self.body.chunks(chunk_bytes.get()) {
            framed.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            framed.extend_from_slice(chunk);
            framed.extend_from_slice(b"\r\n");
        }
        framed.extend_from_slice(b"0\r\n\r\n");
        framed
    }

    /// Refuses a fill that does not lie in its part.
    pub(crate) fn validate_fill(&self, fill: &Fill) -> Result<(), PlanError> {
        let length = match &fill.part {
            Part::Path => Some(self.path.len()),
            Part::Header(name) => self.header(name).map(str::len),
            // only a length that we announce can follow what is filled in
            Part::Body => Some(self.body.len()).filter(|_| self.framing().starts_with(LENGTH)),
        };
        if fill.range.start <= fill.range.end && length.is_some_and(|length| fill.range.end <= length) {
            return Ok(());
        }
        Err(PlanError::Fill { range: fill.range.clone() })
    }

    /// The value of the first header called `name`, in any case.
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.header(name).is_some()
    }
}

fn is_value(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: Message) -> String {
        String::from_utf8(message.bytes).unwrap()
    }

    #[test]
    fn a_get_is_as_short_as_it_can_be() {
        assert_eq!(
            Request::get("/a?b", "example.org").message(false, None, &[]).bytes,
            b"GET /a?b HTTP/1.1\r\nHost: example.org\r\nUser-Agent: stackrace\r\nAccept: */*\r\n\r\n"
        );
    }

    #[test]
    fn closing_is_asked_for_and_a_body_is_measured() {
        let mut request = Request::get("/", "h");
        request.method = "POST".into();
        request.headers = vec![("host".into(), "other".into()), ("X".into(), "y".into())];
        request.body = b"1=2".to_vec();
        assert_eq!(
            text(request.message(true, None, &[])),
            "POST / HTTP/1.1\r\nUser-Agent: stackrace\r\nAccept: */*\r\nhost: other\r\nX: y\r\n\
             Content-Length: 3\r\nConnection: close\r\n\r\n1=2"
        );
        assert!(!request.is_idempotent());
    }

    #[test]
    fn a_nonce_has_its_place_in_the_query_or_in_a_header() {
        for (place, path) in [(NoncePlace::Query, "/"), (NoncePlace::Query, "/?a=1"), (NoncePlace::Header, "/")] {
            let nonce = Nonce { place, name: "N".into() };
            let message = Request::get(path, "h").message(false, Some(&nonce), &[]);
            let at = message.nonce_at.unwrap();
            assert_eq!(&message.bytes[at..at + NONCE_BYTES], b"0000000000000000");
            assert!(message.bytes[..at].ends_with(if place == NoncePlace::Query { b"N=" } else { b"N: " }));
            assert_eq!(message.head_bytes, message.bytes.len());
        }
    }

    #[test]
    fn a_body_goes_in_chunks_and_waits_where_asked_to() {
        let mut request = Request::get("/", "h");
        request.method = "PUT".into();
        request.body = b"abcdefgh".to_vec();
        request.chunk_bytes = NonZeroUsize::new(3);
        request.expects_continue = true;
        let message = request.message(false, None, &[]);
        let (head, body) = message.bytes.split_at(message.head_bytes);
        assert_eq!(body, b"3\r\nabc\r\n3\r\ndef\r\n2\r\ngh\r\n0\r\n\r\n");
        let head = String::from_utf8(head.to_vec()).unwrap();
        assert!(head.ends_with("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"), "{head}");
    }

    #[test]
    fn nothing_can_break_out_of_its_line() {
        let fine = Request::get("/", "h");
        assert!(fine.validate().is_ok());
        assert!(Request { path: "/a b".into(), ..fine.clone() }.validate().is_err());
        assert!(Request { path: "a".into(), ..fine.clone() }.validate().is_err());
        assert!(Request { host: "h\r\nX: y".into(), ..fine.clone() }.validate().is_err());
        assert!(Request { method: "G T".into(), ..fine.clone() }.validate().is_err());
        let header = |name: &str, value: &str| vec![(name.to_string(), value.to_string())];
        assert!(Request { headers: header("A:", "b"), ..fine.clone() }.validate().is_err());
        assert!(Request { headers: header("A", "b\nc"), ..fine.clone() }.validate().is_err());
        assert!(Request { headers: header("A", "b\tc"), ..fine }.validate().is_ok());
    }

    #[test]
    fn what_is_filled_in_is_found_in_the_bytes() {
        let mut request = Request::get("/a?t=PATH", "h");
        request.method = "POST".into();
        request.headers = vec![("Token".into(), "HEAD".into()), ("token".into(), "second".into())];
        request.body = b"t=BODY".to_vec();
        let fill = |part, range| Fill { part, range, source: crate::carried::Source::Slot(0), form: false };
        let fills = [fill(Part::Body, 2..6), fill(Part::Header("TOKEN".into()), 0..4), fill(Part::Path, 5..9)];
        let message = request.message(false, None, &fills);
        let texts: Vec<&[u8]> = message.gaps.iter().map(|(range, _)| &message.bytes[range.clone()]).collect();
        assert_eq!(texts, [b"PATH", b"HEAD", b"BODY"]);
        assert_eq!(message.gaps.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(&message.bytes[message.length_at.unwrap()], b"6");
    }

    #[test]
    fn a_fill_must_lie_in_its_part() {
        let mut request = Request::get("/a?t=1", "h");
        request.headers = vec![("X-Token".into(), "abc".into())];
        let fill = |part, range| Fill { part, range, source: crate::carried::Source::Slot(0), form: false };
        assert!(request.validate_fill(&fill(Part::Path, 5..6)).is_ok());
        assert!(request.validate_fill(&fill(Part::Header("x-token".into()), 0..3)).is_ok());
        assert!(request.validate_fill(&fill(Part::Path, 5..7)).is_err());
        assert!(request.validate_fill(&fill(Part::Header("X-Other".into()), 0..0)).is_err());
        assert!(request.validate_fill(&fill(Part::Body, 0..1)).is_err());
        request.body = b"abc".to_vec();
        assert!(request.validate_fill(&fill(Part::Body, 0..1)).is_ok());
        request.chunk_bytes = std::num::NonZeroUsize::new(1);
        assert!(request.validate_fill(&fill(Part::Body, 0..1)).is_err());
    }
}
