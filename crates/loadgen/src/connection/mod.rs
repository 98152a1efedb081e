//! One connection: a state machine that carries one request at a time.
//!
//! ```text
//! Closed ──begin──▶ Connecting ──▶ Securing ──▶ Writing ──▶ (Asking ──▶ Writing) ──▶ Reading ──answer──▶ Idle
//!    ▲                  │              │           │            │                       │                 │
//!    └──────────────────┴──────────────┴────── any failure, or either side closes ─────┘     begin ──▶ Writing
//! ```
//!
//! It never waits and never reads the window's clock: it reports what became of the request, and the worker, who
//! knows the time, keeps the books.

mod judge;
mod opening;
mod reading;

use std::io::{ErrorKind, Write};

use mio::{Registry, Token};

use crate::check::BodyCheck;
use crate::http1::{Memo, Response};
use crate::nonce::Nonces;
use crate::plan::Reuse;
use crate::record::{Outcome, Stage, Wire};
use crate::request::Message;
use crate::script::{Line, Script};
use crate::transport::{Stream, TlsConnector};
use crate::visitor::Visitor;

/// What a connection needs from its thread while it moves.
pub(crate) struct Ground<'a> {
    pub script: &'a Script,
    pub tls: Option<&'a TlsConnector>,
    pub registry: &'a Registry,
    pub buffer: &'a mut [u8],
    pub wire: &'a mut Wire,
    /// By line of the script.
    pub memos: &'a mut [Memo],
    pub nonces: &'a mut Nonces,
    /// The wall clock in seconds since 1970, as of the loop's last turn.
    pub wall_s: u64,
}

/// What the kernel reported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Readiness {
    pub readable: bool,
    /// The peer will send no more: what can be read now is all there is.
    pub closed: bool,
}

/// What came of moving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing to do before the next readiness.
    Waiting,
    /// The server's queue of a Unix socket is full: connect again a little later.
    Crowded,
    /// The head is out, and the body waits for the server to ask for it.
    Asking,
    /// The request is settled.
    Settled(Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Crowded,
    Connecting,
    Securing,
    Writing,
    Asking,
    Reading,
    Idle,
}

#[derive(Debug)]
pub(crate) struct Connection {
    token: Token,
    phase: Phase,
    stream: Option<Stream>,
    response: Response,
    body: BodyCheck,
    visitor: Option<Box<Visitor>>,
    target: usize,
    written: usize,
    connect_ns: u64,
    connected_ns: u64,
    ready_ns: Option<u64>,
    /// Answers that the current stream has carried.
    carried: u32,
    /// The stream is being opened ahead: no request waits for it yet.
    ahead: bool,
    /// The body of the current request waits for the server to ask for it.
    held_back: bool,
    /// When the current request was begun, by the wall clock in seconds since 1970.
    asked_s: u64,
    /// The current request was sent a second time.
    retried: bool,
    /// Some of the current answer has arrived.
    heard: bool,
    /// The server ended a connection that was to be kept alive; the next one is a reconnect.
    lost: bool,
}

impl Connection {
    pub fn new(token: Token, personal: bool) -> Connection {
        Connection {
            token,
            phase: Phase::Closed,
            stream: None,
            response: Response::new(),
            body: BodyCheck::default(),
            visitor: personal.then(Box::default),
            target: 0,
            written: 0,
            connect_ns: 0,
            connected_ns: 0,
            ready_ns: None,
            carried: 0,
            ahead: false,
            held_back: false,
            asked_s: 0,
            retried: false,
            heard: false,
            lost: false,
        }
    }

    /// When the stream became ready for the current request, if it had to be opened for it.
    #[inline]
    pub fn ready_ns(&self) -> Option<u64> {
        self.ready_ns
    }

    pub fn is_crowded(&self) -> bool {
        self.phase == Phase::Crowded
    }

    /// Since when a stream is being opened, TLS included.
    pub fn opening_since_ns(&self) -> Option<u64> {
        matches!(self.phase, Phase::Connecting | Phase::Securing | Phase::Crowded).then_some(self.connect_ns)
    }

    /// Whether a stream stands ready to be used again.
    pub fn is_open(&self) -> bool {
        self.stream.is_some() && self.opening_since_ns().is_none()
    }

    /// The next request is another visitor's.
    pub fn greet(&mut self) {
        if let Some(visitor) = &mut self.visitor {
            visitor.leave();
        }
    }

    /// Starts on the request number `target` of the script.
    #[inline]
    pub fn begin(&mut self, target: usize, now_ns: u64, ground: &mut Ground) -> Step {
        self.target = target;
        self.retried = false;
        self.ready_ns = None;
        self.rewind(ground);
        if let Some(visitor) = &mut self.visitor {
            let line = &ground.script.lines[target];
            visitor.prepare(message(line, ground.script, self.carried), line, ground.script, ground.nonces);
        }
        if std::mem::take(&mut self.ahead) {
            // it goes out once the stream is open
            Step::Waiting
        } else if self.stream.is_some() {
            self.phase = Phase::Writing;
            self.write(ground)
        } else {
            self.connect_ns = now_ns;
            self.connect(ground)
        }
    }

    /// Goes on as far as the kernel's report allows.
    #[inline]
    pub fn ready(&mut self, readiness: Readiness, ground: &mut Ground) -> Step {
        if matches!(self.phase, Phase::Connecting | Phase::Securing) {
            let step = self.open(ground);
            if step != Step::Waiting || self.phase != Phase::Writing {
                return step;
            }
        }
        if self.phase == Phase::Writing {
            let before = self.retried;
            let step = self.write(ground);
            // what was reported of a stream says nothing of the one that took its place
            if step != Step::Waiting || self.retried != before {
                return step;
            }
        }
        match self.phase {
            Phase::Reading | Phase::Writing | Phase::Asking if readiness.readable => {
                self.read(readiness.closed, ground)
            }
            Phase::Idle if readiness.readable => self.look_while_idle(ground),
            _ => Step::Waiting,
        }
    }

    /// Gives the current request up.
    pub fn abandon(&mut self, ground: &mut Ground) {
        self.disconnect(ground);
    }

    /// The server has not asked for the body for long enough: it is sent unasked.
    pub fn stop_asking(&mut self, ground: &mut Ground) -> Step {
        if self.phase != Phase::Asking {
            return Step::Waiting;
        }
        self.held_back = false;
        self.phase = Phase::Writing;
        self.write(ground)
    }

    /// Makes ready to send the current request from its first byte.
    #[inline]
    fn rewind(&mut self, ground: &Ground) {
        self.response.restart();
        self.body.restart();
        self.written = 0;
        self.heard = false;
        self.held_back = ground.script.lines[self.target].waits_for_continue;
        self.asked_s = ground.wall_s;
    }

    #[inline]
    fn write(&mut self, ground: &mut Ground) -> Step {
        let Some(stream) = &mut self.stream else {
            return Step::Waiting;
        };
        let (bytes, head_bytes) = match &self.visitor {
            Some(visitor) => (visitor.bytes(), visitor.head_bytes()),
            None => {
                let message = message(&ground.script.lines[self.target], ground.script, self.carried);
                (message.bytes.as_slice(), message.head_bytes)
            }
        };
        let end = if self.held_back { head_bytes } else { bytes.len() };
        loop {
            let moved = if self.written < end {
                stream.write(&bytes[self.written..end]).map(|count| {
                    self.written += count;
                    ground.wire.counters.bytes_written += count as u64;
                })
            } else {
                match stream.flush_pending() {
                    Ok(true) => break,
                    Ok(false) => Err(ErrorKind::WouldBlock.into()),
                    Err(error) => Err(error),
                }
            };
            match moved {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return match stream.await_writable(ground.registry, self.token) {
                        Ok(()) => Step::Waiting,
                        Err(_) => self.fail(Stage::Write, ground),
                    };
                }
                Err(_) => return self.broken(Stage::Write, ground),
            }
        }
        if self.held_back {
            self.phase = Phase::Asking;
            return Step::Asking;
        }
        self.phase = Phase::Reading;
        Step::Waiting
    }

    fn fail(&mut self, stage: Stage, ground: &mut Ground) -> Step {
        self.disconnect(ground);
        Step::Settled(Outcome::Failed(stage))
    }

    fn disconnect(&mut self, ground: &mut Ground) {
        let established = !matches!(self.phase, Phase::Closed | Phase::Crowded | Phase::Connecting);
        if self.stream.take().is_some() && established {
            ground.wire.disconnected();
        }
        self.carried = 0;
        self.ahead = false;
        self.phase = Phase::Closed;
    }
}

/// The message to send as the next one on a stream that has carried so many answers.
#[inline]
fn message<'a>(line: &'a Line, script: &Script, carried: u32) -> &'a Message {
    match (&line.last_message, script.reuse) {
        (Some(last), Reuse::Times(most)) if carried + 1 >= most.get() => last,
        _ => &line.message,
    }
}
