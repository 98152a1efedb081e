//! One connection: a state machine that carries one request at a time.
//!
//! ```text
//! Closed ──begin──▶ Connecting ──▶ Handshaking ──▶ Writing ──▶ Reading ──answer──▶ Idle ──begin──▶ Writing
//!    ▲                  │               │            │ ▲          │                  │
//!    └──────────────────┴───────────────┴────────────┴─│──────────┴──────────────────┘  any failure, or either
//!                                           AwaitingContinue                            side closes
//! ```
//!
//! Connecting is put off while the server's backlog is full (`BacklogFull`). A body may wait for the server's
//! "100 Continue" in the middle of Writing (`AwaitingContinue`).
//!
//! It never waits and never reads the window's clock: it reports what became of the request, and the worker, who
//! knows the time, keeps the books.

mod opening;
mod reading;
mod sink;

use std::io::{ErrorKind, Write};

use mio::event::Event;
use mio::{Registry, Token};

use crate::check::BodyCheck;
use crate::http1::{HeadCache, Response};
use crate::nonce::Nonces;
use crate::plan::Reuse;
use crate::record::{ConnectionStats, FailureStage, Outcome};
use crate::request::Message;
use crate::script::{Line, Script};
use crate::transport::{Stream, TlsConnector};
use crate::visitor::Visitor;

/// What a connection needs from its thread while it moves.
pub(crate) struct Context<'a> {
    pub script: &'a Script,
    /// `None` where requests go out in the clear.
    pub tls: Option<&'a TlsConnector>,
    pub registry: &'a Registry,
    /// What is read lands here; its content means nothing between two calls.
    pub buffer: &'a mut [u8],
    pub stats: &'a mut ConnectionStats,
    /// By line of the script.
    pub head_caches: &'a mut [HeadCache],
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

impl From<&Event> for Readiness {
    fn from(event: &Event) -> Readiness {
        Readiness {
            readable: event.is_readable() || event.is_error(),
            closed: event.is_read_closed() || event.is_error(),
        }
    }
}

/// What came of moving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing to do before the next readiness.
    Waiting,
    /// The backlog of the server's Unix socket is full: connect again a little later.
    BacklogFull,
    /// The head is out, and the body waits for the server to ask for it.
    AwaitingContinue,
    /// The request is settled.
    Settled(Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    BacklogFull,
    Connecting,
    Handshaking,
    Writing,
    AwaitingContinue,
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
    /// Its line in the script.
    target: usize,
    /// Bytes of the current request that were sent.
    written: usize,
    /// When the opening of the stream began.
    connect_ns: u64,
    /// When its socket was connected.
    connected_ns: u64,
    /// When it was ready for the current request, if it had to be opened for it.
    ready_ns: Option<u64>,
    /// Answers that the current stream has carried.
    answers: u32,
    /// The stream is being opened ahead: no request waits for it yet.
    opened_ahead: bool,
    /// The body of the current request waits for the server to ask for it.
    held_back: bool,
    /// When the current request was begun, by the wall clock in seconds since 1970.
    sent_s: u64,
    /// The current request was sent a second time.
    retried: bool,
    /// Some of the current answer has arrived.
    answer_begun: bool,
    /// The server ended a connection that was to be kept alive; the next one is a reconnect.
    closed_by_server: bool,
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
            answers: 0,
            opened_ahead: false,
            held_back: false,
            sent_s: 0,
            retried: false,
            answer_begun: false,
            closed_by_server: false,
        }
    }

    /// When the stream became ready for the current request, if it had to be opened for it.
    #[inline]
    pub fn ready_ns(&self) -> Option<u64> {
        self.ready_ns
    }

    pub fn is_backlog_full(&self) -> bool {
        self.phase == Phase::BacklogFull
    }

    /// Since when a stream is being opened, TLS included.
    pub fn opening_since_ns(&self) -> Option<u64> {
        matches!(self.phase, Phase::Connecting | Phase::Handshaking | Phase::BacklogFull).then_some(self.connect_ns)
    }

    /// Whether a stream stands ready to be used again.
    pub fn is_open(&self) -> bool {
        self.stream.is_some() && self.opening_since_ns().is_none()
    }

    /// The next request is another visitor's.
    pub fn start_visitor(&mut self) {
        if let Some(visitor) = &mut self.visitor {
            visitor.reset();
        }
    }

    /// Starts on the request number `target` of the script.
    #[inline]
    pub fn begin(&mut self, target: usize, now_ns: u64, context: &mut Context) -> Step {
        self.target = target;
        self.retried = false;
        self.ready_ns = None;
        self.rewind(context);
        if let Some(visitor) = &mut self.visitor {
            let line = &context.script.lines[target];
            visitor.prepare(message(line, context.script, self.answers), line, context.script, context.nonces);
        }
        if std::mem::take(&mut self.opened_ahead) {
            // it goes out once the stream is open
            Step::Waiting
        } else if self.stream.is_some() {
            self.phase = Phase::Writing;
            self.write(context)
        } else {
            self.connect_ns = now_ns;
            self.connect(context)
        }
    }

    /// Goes on as far as the kernel's report allows.
    #[inline]
    pub fn ready(&mut self, readiness: Readiness, context: &mut Context) -> Step {
        if matches!(self.phase, Phase::Connecting | Phase::Handshaking) {
            let step = self.open(context);
            if step != Step::Waiting || self.phase != Phase::Writing {
                return step;
            }
        }
        if self.phase == Phase::Writing {
            let before = self.retried;
            let step = self.write(context);
            // what was reported of a stream says nothing of the one that took its place
            if step != Step::Waiting || self.retried != before {
                return step;
            }
        }
        match self.phase {
            Phase::Reading | Phase::Writing | Phase::AwaitingContinue if readiness.readable => {
                self.read(readiness.closed, context)
            }
            Phase::Idle if readiness.readable => self.read_while_idle(context),
            _ => Step::Waiting,
        }
    }

    /// Gives the current request up.
    pub fn abandon(&mut self, context: &mut Context) {
        self.disconnect(context);
    }

    /// The server has not asked for the body for long enough: it is sent unasked.
    pub fn send_body(&mut self, context: &mut Context) -> Step {
        if self.phase != Phase::AwaitingContinue {
            return Step::Waiting;
        }
        self.held_back = false;
        self.phase = Phase::Writing;
        self.write(context)
    }

    /// Makes ready to send the current request from its first byte.
    #[inline]
    fn rewind(&mut self, context: &Context) {
        self.response.restart();
        self.body.restart();
        self.written = 0;
        self.answer_begun = false;
        self.held_back = context.script.lines[self.target].waits_for_continue;
        self.sent_s = context.wall_s;
    }

    #[inline]
    fn write(&mut self, context: &mut Context) -> Step {
        let Some(stream) = &mut self.stream else {
            return Step::Waiting;
        };
        let (bytes, head_bytes) = match &self.visitor {
            Some(visitor) => (visitor.bytes(), visitor.head_bytes()),
            None => {
                let message = message(&context.script.lines[self.target], context.script, self.answers);
                (message.bytes.as_slice(), message.head_bytes)
            }
        };
        let end = if self.held_back { head_bytes } else { bytes.len() };
        loop {
            let moved = if self.written < end {
                stream.write(&bytes[self.written..end]).map(|count| {
                    self.written += count;
                    context.stats.counters.bytes_written += count as u64;
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
                    return match stream.await_writable(context.registry, self.token) {
                        Ok(()) => Step::Waiting,
                        Err(_) => self.fail(FailureStage::Write, context),
                    };
                }
                Err(_) => return self.stream_broken(FailureStage::Write, context),
            }
        }
        if self.held_back {
            self.phase = Phase::AwaitingContinue;
            return Step::AwaitingContinue;
        }
        self.phase = Phase::Reading;
        Step::Waiting
    }

    fn fail(&mut self, stage: FailureStage, context: &mut Context) -> Step {
        self.disconnect(context);
        Step::Settled(Outcome::Failed(stage))
    }

    fn disconnect(&mut self, context: &mut Context) {
        let established = !matches!(self.phase, Phase::Closed | Phase::BacklogFull | Phase::Connecting);
        if self.stream.take().is_some() && established {
            context.stats.disconnected();
        }
        self.answers = 0;
        self.opened_ahead = false;
        self.phase = Phase::Closed;
    }
}

/// The message to send as the next one on a stream that has carried so many answers.
#[inline]
fn message<'a>(line: &'a Line, script: &Script, answers: u32) -> &'a Message {
    match (&line.last_message, script.reuse) {
        (Some(last), Reuse::Times(most)) if answers + 1 >= most.get() => last,
        _ => &line.message,
    }
}
