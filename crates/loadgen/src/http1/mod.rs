//! Reads one HTTP/1.1 response out of bytes that may be split anywhere.
//!
//! A response that arrives whole is parsed where it was received; only a head that arrives in pieces is copied.

mod chunked;
mod head;

use chunked::Chunked;
use head::Framing;

use crate::error::ProtocolError;

/// The longest head accepted, in bytes.
pub(crate) const HEAD_MAX_BYTES: usize = 64 * 1024;

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

/// A response on its way in; [`Response::restart`] readies it for the next one.
#[derive(Debug)]
pub(crate) struct Response {
    state: State,
    held: Vec<u8>,
    status: u16,
    keep_alive: bool,
}

impl Response {
    pub fn new() -> Response {
        Response { state: State::Head, held: Vec::new(), status: 0, keep_alive: false }
    }

    pub fn restart(&mut self) {
        self.state = State::Head;
        self.held.clear();
    }

    /// The final status; 0 before the head is complete.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the server lets the connection live on.
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// Bytes of an incomplete head that are kept.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Takes `input` in, giving the body's bytes to `body` as they come. `to_head` tells a HEAD request's answer.
    #[inline]
    pub fn feed(
        &mut self,
        input: &[u8],
        to_head: bool,
        mut body: impl FnMut(&[u8]),
    ) -> Result<Progress, ProtocolError> {
        if self.held.is_empty() {
            return self.advance(input, to_head, &mut body);
        }
        self.held.extend_from_slice(input);
        // A head cannot end without a line feed, so a slow drip is not parsed again at every byte.
        if !input.contains(&b'\n') && self.held.len() <= HEAD_MAX_BYTES {
            return Ok(Progress::More);
        }
        let held = std::mem::take(&mut self.held);
        self.advance(&held, to_head, &mut body)
    }

    /// The server has closed the connection: right only for a body that was to end so.
    pub fn close(&mut self) -> bool {
        let right = matches!(self.state, State::UntilClose | State::Done);
        self.state = State::Done;
        right
    }

    fn advance(
        &mut self,
        mut input: &[u8],
        to_head: bool,
        body: &mut impl FnMut(&[u8]),
    ) -> Result<Progress, ProtocolError> {
        if self.state == State::Head {
            match self.read_head(input, to_head)? {
                Some(used) => input = &input[used..],
                None => return Ok(Progress::More),
            }
        }
        let used = self.read_body(input, body)?;
        Ok(match self.state {
            State::Done => Progress::Done { surplus: input.len() - used },
            _ => Progress::More,
        })
    }

    /// Reads heads until a final one: interim (1xx) ones are passed over. `None` holds back what came so far.
    fn read_head(&mut self, input: &[u8], to_head: bool) -> Result<Option<usize>, ProtocolError> {
        let mut used = 0;
        loop {
            let Some((head, length)) = head::parse(&input[used..], to_head)? else {
                return self.hold(&input[used..]).map(|()| None);
            };
            used += length;
            if length > HEAD_MAX_BYTES {
                return Err(ProtocolError::HeadTooLong);
            }
            if head.status == 101 {
                return Err(ProtocolError::Upgrade);
            }
            if head.status >= 200 {
                self.status = head.status;
                self.keep_alive = head.keep_alive;
                self.state = match head.framing {
                    Framing::Length(left) => State::Length { left },
                    Framing::Chunked => State::Chunked(Chunked::START),
                    Framing::UntilClose => State::UntilClose,
                };
                return Ok(Some(used));
            }
        }
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), ProtocolError> {
        if bytes.len() > HEAD_MAX_BYTES {
            return Err(ProtocolError::HeadTooLong);
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    fn read_body(&mut self, input: &[u8], body: &mut impl FnMut(&[u8])) -> Result<usize, ProtocolError> {
        match &mut self.state {
            State::Head | State::Done => Ok(0),
            State::Length { left } => {
                let used = (*left).min(input.len() as u64) as usize;
                body(&input[..used]);
                *left -= used as u64;
                if *left == 0 {
                    self.state = State::Done;
                }
                Ok(used)
            }
            State::Chunked(chunked) => {
                let used = chunked.feed(input, body)?;
                if *chunked == Chunked::Done {
                    self.state = State::Done;
                }
                Ok(used)
            }
            State::UntilClose => {
                body(input);
                Ok(input.len())
            }
        }
    }
}

#[cfg(test)]
mod tests;
