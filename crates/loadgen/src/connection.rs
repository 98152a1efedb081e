//! One connection: a state machine that carries one request at a time.
//!
//! ```text
//! Closed ──begin──▶ Connecting ──▶ Writing ──▶ Reading ──answer──▶ Idle ──begin──▶ Writing
//!    ▲                  │             │           │                  │
//!    └──────────────────┴─── any failure, or either side closes ────┘
//! ```
//!
//! It never waits and never reads the window's clock: it reports what became of the request, and the worker, who
//! knows the time, keeps the books.

use std::io::{ErrorKind, Read, Write};

use mio::{Registry, Token};

use crate::check::BodyCheck;
use crate::clock;
use crate::http1::{Progress, Response};
use crate::record::{Outcome, Stage, Wire};
use crate::script::{Line, Script};
use crate::transport::{OpenError, Opening, Stream};

/// A stream that never runs dry is left after this many reads, so that others, and the timeout, have their turn.
const READS_MAX: usize = 64;

/// What a connection needs from its thread while it moves.
pub(crate) struct Ground<'a> {
    pub script: &'a Script,
    pub registry: &'a Registry,
    pub buffer: &'a mut [u8],
    pub wire: &'a mut Wire,
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
    /// The request is settled.
    Settled(Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Crowded,
    Connecting,
    Writing,
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
    target: usize,
    written: usize,
    connect_ns: u64,
    ready_ns: Option<u64>,
    /// The current stream has carried an answer.
    proven: bool,
    /// The current request was sent a second time.
    retried: bool,
    /// Some of the current answer has arrived.
    heard: bool,
    /// The server ended a connection that was to be kept alive; the next one is a reconnect.
    lost: bool,
}

impl Connection {
    pub fn new(token: Token) -> Connection {
        Connection {
            token,
            phase: Phase::Closed,
            stream: None,
            response: Response::new(),
            body: BodyCheck::default(),
            target: 0,
            written: 0,
            connect_ns: 0,
            ready_ns: None,
            proven: false,
            retried: false,
            heard: false,
            lost: false,
        }
    }

    /// When the stream became ready for the current request, if it had to be opened for it.
    pub fn ready_ns(&self) -> Option<u64> {
        self.ready_ns
    }

    pub fn is_crowded(&self) -> bool {
        self.phase == Phase::Crowded
    }

    /// Starts on the request number `target` of the script.
    #[inline]
    pub fn begin(&mut self, target: usize, now_ns: u64, ground: &mut Ground) -> Step {
        self.target = target;
        self.retried = false;
        self.ready_ns = None;
        self.rewind();
        if self.stream.is_some() {
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
        if self.phase == Phase::Connecting {
            if let Some(step) = self.establish(ground) {
                return step;
            }
        }
        if self.phase == Phase::Writing {
            let retried = self.retried;
            let step = self.write(ground);
            // What was reported says nothing of a stream that was opened meanwhile.
            if step != Step::Waiting || self.retried != retried {
                return step;
            }
        }
        match self.phase {
            Phase::Reading | Phase::Writing if readiness.readable => self.read(readiness.closed, ground),
            Phase::Idle if readiness.readable => self.look_while_idle(ground),
            _ => Step::Waiting,
        }
    }

    /// Opens a stream for the current request.
    pub fn connect(&mut self, ground: &mut Ground) -> Step {
        let Script { address, tls, .. } = ground.script;
        match Stream::open(address, tls.as_ref(), ground.registry, self.token) {
            Ok(stream) => {
                self.stream = Some(stream);
                self.phase = Phase::Connecting;
                match self.establish(ground) {
                    Some(step) => step,
                    None => self.write(ground),
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.phase = Phase::Crowded;
                Step::Crowded
            }
            Err(_) => self.fail(Stage::Connect, ground),
        }
    }

    /// Gives the current request up.
    pub fn abandon(&mut self, ground: &mut Ground) {
        self.disconnect(ground);
    }

    /// Goes on opening the stream; `None` once the request can be written.
    fn establish(&mut self, ground: &mut Ground) -> Option<Step> {
        while let Some(stream) = &mut self.stream {
            match stream.establish() {
                Ok(Opening::Pending) => break,
                Ok(Opening::Connected) => {}
                Ok(Opening::Ready) => {
                    self.established(ground);
                    return None;
                }
                Err(OpenError::Connect(_)) => return Some(self.fail(Stage::Connect, ground)),
                Err(OpenError::Tls(_)) => return Some(self.fail(Stage::Tls, ground)),
            }
        }
        Some(Step::Waiting)
    }

    fn established(&mut self, ground: &mut Ground) {
        let now_ns = clock::now_ns();
        ground.wire.connected(now_ns - self.connect_ns);
        ground.wire.reconnects += u64::from(std::mem::take(&mut self.lost));
        self.ready_ns = Some(now_ns);
        self.proven = false;
        self.phase = Phase::Writing;
    }

    /// Makes ready to send the current request from its first byte.
    #[inline]
    fn rewind(&mut self) {
        self.response.restart();
        self.body = BodyCheck::default();
        self.written = 0;
        self.heard = false;
    }

    #[inline]
    fn write(&mut self, ground: &mut Ground) -> Step {
        let Some(stream) = &mut self.stream else {
            return Step::Waiting;
        };
        let bytes = &ground.script.lines[self.target].bytes;
        while self.written < bytes.len() {
            match stream.write(&bytes[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.await_writable(ground),
                Err(_) => return self.broken(Stage::Write, ground),
            }
        }
        match stream.flush_pending() {
            Ok(true) => {
                self.phase = Phase::Reading;
                Step::Waiting
            }
            Ok(false) => self.await_writable(ground),
            Err(_) => self.broken(Stage::Write, ground),
        }
    }

    fn await_writable(&mut self, ground: &mut Ground) -> Step {
        match self.stream.as_mut().map(|stream| stream.await_writable(ground.registry, self.token)) {
            Some(Err(_)) => self.fail(Stage::Write, ground),
            _ => Step::Waiting,
        }
    }

    /// Reads until the kernel has no more. A read that does not fill the buffer has drained an edge-triggered
    /// plain socket, so the extra read that would say so is saved; unless the peer has closed, which is still to be
    /// seen.
    #[inline]
    fn read(&mut self, closed: bool, ground: &mut Ground) -> Step {
        for _ in 0..READS_MAX {
            let Some(stream) = &mut self.stream else {
                return Step::Waiting;
            };
            match stream.read(ground.buffer) {
                Ok(0) => return self.ended(ground),
                Ok(count) => {
                    let drained = count < ground.buffer.len() && !closed && stream.is_drained_by_short_read();
                    ground.wire.bytes_read += count as u64;
                    self.heard = true;
                    let Line { to_head, expectation, .. } = &ground.script.lines[self.target];
                    let body = &mut self.body;
                    let input = &ground.buffer[..count];
                    match self.response.feed(input, *to_head, |bytes| body.feed(&expectation.body, bytes)) {
                        Ok(Progress::Done { surplus: 0 }) => return self.answered(closed, ground),
                        Ok(Progress::Done { .. }) | Err(_) => return self.fail(Stage::Protocol, ground),
                        Ok(Progress::More) if drained => return Step::Waiting,
                        Ok(Progress::More) => {}
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Waiting,
                Err(_) => return self.broken(Stage::Read, ground),
            }
        }
        match self.stream.as_mut().map(|stream| stream.rearm(ground.registry, self.token)) {
            Some(Err(_)) => self.fail(Stage::Read, ground),
            _ => Step::Waiting,
        }
    }

    /// The answer is complete. The connection stays only if both sides want it to and the request went out whole.
    #[inline]
    fn answered(&mut self, closed: bool, ground: &mut Ground) -> Step {
        let keep_alive = ground.script.keep_alive;
        if keep_alive && self.response.keep_alive() && !closed && self.phase == Phase::Reading {
            self.phase = Phase::Idle;
            self.proven = true;
        } else {
            self.disconnect(ground);
            self.lost = keep_alive;
        }
        let (status, expectation) = (self.response.status(), &ground.script.lines[self.target].expectation);
        Step::Settled(if !expectation.allows_status(status) {
            Outcome::WrongStatus { status }
        } else if !self.body.is_right(&expectation.body) {
            Outcome::WrongBody { status }
        } else {
            Outcome::Ok { status }
        })
    }

    /// The server has closed the stream.
    fn ended(&mut self, ground: &mut Ground) -> Step {
        if self.heard && self.response.close() {
            return self.answered(true, ground);
        }
        self.broken(Stage::Read, ground)
    }

    /// The stream broke. One that had proven itself and said nothing to this request was most likely being closed
    /// for idleness as the request arrived: RFC 9112 section 9.3.1 lets an idempotent request be sent again.
    fn broken(&mut self, stage: Stage, ground: &mut Ground) -> Step {
        let again = self.proven && !self.heard && !self.retried && ground.script.lines[self.target].idempotent;
        self.disconnect(ground);
        self.lost = ground.script.keep_alive;
        if !again {
            return Step::Settled(Outcome::Failed(stage));
        }
        self.retried = true;
        self.rewind();
        self.connect_ns = clock::now_ns();
        self.connect(ground)
    }

    /// Nothing is owed to us: the server closes, or sends what nobody asked for. Either way the stream is spent.
    fn look_while_idle(&mut self, ground: &mut Ground) -> Step {
        let Some(stream) = &mut self.stream else {
            return Step::Waiting;
        };
        match stream.read(ground.buffer) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            _ => {
                self.disconnect(ground);
                self.lost = true;
            }
        }
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
        self.phase = Phase::Closed;
    }
}
