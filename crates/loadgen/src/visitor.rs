//! What a connection knows of the visitor it stands for: cookies, what its pages gave it for later requests, and the
//! nonce of the request under way.
//!
//! Only plans with one of these have visitors; all other requests are sent straight from the script.

use std::ops::Range;

use crate::carried::{form_encode, take, Fill, Source};
use crate::cookies::Jar;
use crate::nonce::{Nonces, NONCE_BYTES};
use crate::parts::PartsCheck;
use crate::request::Message;
use crate::script::{Line, Script};

/// The longest page in which fields are looked for; no more of it is kept.
const PAGE_MAX_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Visitor {
    jar: Jar,
    given: Given,
    /// The body of the answer, where something of it is wanted.
    page: Vec<u8>,
    /// The body of the request, filled in.
    sent_body: Vec<u8>,
    /// The request as it is sent.
    bytes: Vec<u8>,
    head_bytes: usize,
    nonce: [u8; NONCE_BYTES],
    echoed: bool,
    body: PartsCheck,
}

/// Values that pages gave, by slot; empty where none was given.
#[derive(Debug, Default)]
struct Given(Vec<Vec<u8>>);

impl Given {
    fn keep(&mut self, slot: usize, value: Vec<u8>) {
        if self.0.len() <= slot {
            self.0.resize(slot + 1, Vec::new());
        }
        self.0[slot] = value;
    }

    fn value(&self, slot: usize) -> Option<&[u8]> {
        self.0.get(slot).map(Vec::as_slice).filter(|value| !value.is_empty())
    }
}

impl Visitor {
    /// Somebody else comes.
    pub fn reset(&mut self) {
        self.jar.clear();
        self.given.0.clear();
    }

    /// Makes the bytes of the next request.
    pub fn prepare(&mut self, message: &Message, line: &Line, script: &Script, nonces: &mut Nonces) {
        self.page.clear();
        self.bytes.clear();
        let mut body = std::mem::take(&mut self.sent_body);
        body.clear();
        self.fill(message.head_bytes..message.bytes.len(), message, line, &mut body);
        let mut head = std::mem::take(&mut self.bytes);
        // the empty line that ends the head is put back after the cookies
        let fields_end = message.head_bytes - 2;
        let nonce_at = message.nonce_at.unwrap_or(fields_end);
        self.fill_measured(0..nonce_at, message, line, body.len(), &mut head);
        if message.nonce_at.is_some() {
            self.nonce = nonces.next();
            head.extend_from_slice(&self.nonce);
            self.echoed = false;
            self.body.restart();
            self.fill_measured(nonce_at + NONCE_BYTES..fields_end, message, line, body.len(), &mut head);
        }
        if script.cookies {
            self.jar.write(&line.path, &mut head);
        }
        head.extend_from_slice(b"\r\n");
        self.head_bytes = head.len();
        head.extend_from_slice(&body);
        (self.bytes, self.sent_body) = (head, body);
    }

    /// Appends a stretch of the head, its Content-Length that of the body that is sent.
    fn fill_measured(
        &self,
        range: Range<usize>,
        message: &Message,
        line: &Line,
        body_bytes: usize,
        bytes: &mut Vec<u8>,
    ) {
        match &message.length_at {
            Some(length) if range.start <= length.start && length.end <= range.end && !line.fills.is_empty() => {
                self.fill(range.start..length.start, message, line, bytes);
                bytes.extend_from_slice(body_bytes.to_string().as_bytes());
                self.fill(length.end..range.end, message, line, bytes);
            }
            _ => self.fill(range, message, line, bytes),
        }
    }

    /// Appends a stretch of the message with what the visitor was given in its places.
    fn fill(&self, range: Range<usize>, message: &Message, line: &Line, bytes: &mut Vec<u8>) {
        let mut at = range.start;
        for (gap, index) in message.gaps.iter().filter(|(gap, _)| range.start <= gap.start && gap.end <= range.end)
        {
            let fill = &line.fills[*index];
            if let Some(value) = self.value_for(fill, line) {
                bytes.extend_from_slice(&message.bytes[at..gap.start]);
                if fill.form {
                    form_encode(value, bytes);
                } else {
                    bytes.extend_from_slice(value);
                }
                at = gap.end;
            }
        }
        bytes.extend_from_slice(&message.bytes[at..range.end]);
    }

    /// What stands in a place; `None` where nothing was given, or what would break out of its line.
    fn value_for(&self, fill: &Fill, line: &Line) -> Option<&[u8]> {
        let value = match &fill.source {
            Source::Slot(slot) => self.given.value(*slot),
            Source::Cookie(name) => self.jar.value(name.as_bytes(), &line.path),
        };
        value.filter(|value| fill.form || !value.iter().any(u8::is_ascii_control))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn head_bytes(&self) -> usize {
        self.head_bytes
    }

    /// The same request is sent again.
    pub fn start_over(&mut self) {
        self.page.clear();
        self.echoed = false;
        self.body.restart();
    }

    /// Takes in a header field of the answer.
    pub fn field(&mut self, script: &Script, name: &str, value: &[u8]) {
        if script.cookies && name.eq_ignore_ascii_case("set-cookie") {
            self.jar.take(value);
        }
        if script.nonce.as_ref().is_some_and(|nonce| nonce.name.eq_ignore_ascii_case(name)) {
            self.echoed |= value == self.nonce;
        }
    }

    /// Takes in a piece of the answer's body.
    pub fn body(&mut self, script: &Script, line: &Line, bytes: &[u8]) {
        if !line.handouts.is_empty() {
            let room = PAGE_MAX_BYTES - self.page.len();
            self.page.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        if script.nonce.is_some() && !self.echoed {
            self.body.feed(&[b"", &self.nonce[..], b""], bytes);
        }
    }

    /// The answer is complete: keeps what of it is wanted later. What a page lacks stays as it was before.
    pub fn take_handouts(&mut self, line: &Line) {
        take(&self.page, &line.handouts, |slot, value| self.given.keep(slot, value));
    }

    /// Whether the answer lacks the nonce it should repeat.
    pub fn misses_nonce(&mut self, script: &Script) -> bool {
        script.nonce.is_some() && !self.echoed && !self.body.is_right(&[b"", &self.nonce[..], b""])
    }
}
