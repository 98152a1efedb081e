//! Reads one HTTP/1.1 response out of bytes that may be split anywhere.
//!
//! A response that arrives whole is parsed where it was received; only a head that arrives in pieces is copied.

mod chunked;
mod date;
mod head;
mod head_cache;

use chunked::Chunked;
use head::{Framing, Head};

pub(crate) use head::Sink;
pub(crate) use head_cache::HeadCache;

use crate::error::ProtocolError;

/// The longest head taken, in bytes; trailers may be as long.
pub(crate) const HEAD_MAX_BYTES: usize = 1024 * 1024;

/// How far the bytes so far have led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All bytes belonged to the response, which is not complete.
    More,
    /// The response is complete; `surplus` bytes follow that nobody asked for.
    Done { surplus: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length { left: u64 },
    Chunked(Chunked),
    UntilClose,
    Done,
}

/// What is known of the request that a response answers.
pub(crate) struct RequestContext<'a> {
    /// It answers a HEAD request, and so has no body.
    pub to_head: bool,
    /// The head of the answer to the request before.
    pub head_cache: &'a mut HeadCache,
}

/// A response on its way in; [`Response::restart`] readies it for the next one.
#[derive(Debug)]
pub(crate) struct Response {
    state: State,
    held: Vec<u8>,
    head: Head,
    continued: bool,
}

const NO_HEAD: Head =
    Head { status: 0, framing: Framing::Length(0), keep_alive: false, date_s: None, cached: false };

impl Response {
    pub fn new() -> Response {
        Response { state: State::Head, held: Vec::new(), head: NO_HEAD, continued: false }
    }

    pub fn restart(&mut self) {
        self.state = State::Head;
        self.held.clear();
        self.continued = false;
    }

    /// The final status; 0 before the head is complete.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Whether the server lets the connection live on.
    pub fn keep_alive(&self) -> bool {
        self.head.keep_alive
    }

    /// The length of the whole body, where the head announces it.
    pub fn announced_bytes(&self) -> Option<u64> {
        match self.head.framing {
            Framing::Length(bytes) if self.has_head() => Some(bytes),
            _ => None,
        }
    }

    /// The Date, in seconds since 1970.
    pub fn date_s(&self) -> Option<u64> {
        self.head.date_s
    }

    /// Whether a cache says that it gave this answer.
    pub fn cached(&self) -> bool {
        self.head.cached
    }

    /// Whether the head is complete.
    #[inline]
    pub fn has_head(&self) -> bool {
        self.state != State::Head
    }

    /// Whether the server has asked for the request's body.
    pub fn continued(&self) -> bool {
        self.continued
    }

    /// Bytes of an incomplete head that are kept.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Takes `input` in, giving what matters to `sink` as it comes.
    #[inline]
    pub fn feed(
        &mut self,
        input: &[u8],
        mut request: RequestContext,
        sink: &mut impl Sink,
    ) -> Result<Progress, ProtocolError> {
        if self.held.is_empty() {
            return self.advance(input, &mut request, sink);
        }
        // the last bytes before may begin the empty line that ends a head
        let start = self.held.len().saturating_sub(3);
        self.held.extend_from_slice(input);
        // A head cannot end without an empty line, so a long one is not parsed again at every piece.
        if !has_empty_line(&self.held[start..]) && self.held.len() <= HEAD_MAX_BYTES {
            return Ok(Progress::More);
        }
        let held = std::mem::take(&mut self.held);
        self.advance(&held, &mut request, sink)
    }

    /// The server has closed the connection: right only for a body that was to end so.
    pub fn close(&mut self) -> bool {
        let right = matches!(self.state, State::UntilClose | State::Done);
        self.state = State::Done;
        right
    }

    #[inline]
    fn advance(
        &mut self,
        mut input: &[u8],
        request: &mut RequestContext,
        sink: &mut impl Sink,
    ) -> Result<Progress, ProtocolError> {
        if self.state == State::Head {
            match self.read_head(input, request, sink)? {
                Some(used) => input = &input[used..],
                None => return Ok(Progress::More),
            }
        }
        let used = self.read_body(input, sink)?;
        Ok(match self.state {
            State::Done => Progress::Done { surplus: input.len() - used },
            _ => Progress::More,
        })
    }

    /// Reads heads until a final one: interim (1xx) ones are passed over. `None` holds back what came so far.
    #[inline]
    fn read_head(
        &mut self,
        input: &[u8],
        request: &mut RequestContext,
        sink: &mut impl Sink,
    ) -> Result<Option<usize>, ProtocolError> {
        if !sink.listens() {
            if let Some((head, length)) = request.head_cache.recall(input) {
                self.take(head);
                return Ok(Some(length));
            }
        }
        let mut used = 0;
        loop {
            let rest = &input[used..];
            let Some((head, length)) = head::parse(rest, request.to_head, sink)? else {
                return self.hold(rest).map(|()| None);
            };
            used += length;
            if length > HEAD_MAX_BYTES {
                return Err(ProtocolError::HeadTooLong);
            }
            if head.status == 101 {
                return Err(ProtocolError::Upgrade);
            }
            if head.status >= 200 {
                request.head_cache.keep(&rest[..length], head);
                self.take(head);
                return Ok(Some(used));
            }
            self.continued |= head.status == 100;
        }
    }

    #[inline]
    fn take(&mut self, head: Head) {
        self.head = head;
        self.state = match head.framing {
            Framing::Length(left) => State::Length { left },
            Framing::Chunked => State::Chunked(Chunked::START),
            Framing::UntilClose => State::UntilClose,
        };
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), ProtocolError> {
        if bytes.len() > HEAD_MAX_BYTES {
            return Err(ProtocolError::HeadTooLong);
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    fn read_body(&mut self, input: &[u8], sink: &mut impl Sink) -> Result<usize, ProtocolError> {
        match &mut self.state {
            State::Head | State::Done => Ok(0),
            State::Length { left } => {
                let used = (*left).min(input.len() as u64) as usize;
                sink.body(&input[..used]);
                *left -= used as u64;
                if *left == 0 {
                    self.state = State::Done;
                }
                Ok(used)
            }
            State::Chunked(chunked) => {
                let used = chunked.feed(input, &mut |bytes| sink.body(bytes))?;
                if *chunked == Chunked::Done {
                    self.state = State::Done;
                }
                Ok(used)
            }
            State::UntilClose => {
                sink.body(input);
                Ok(input.len())
            }
        }
    }
}

/// Whether a line with nothing in it ends within `bytes`.
fn has_empty_line(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).any(|at| matches!(&bytes[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]))
}

#[cfg(test)]
mod tests;
