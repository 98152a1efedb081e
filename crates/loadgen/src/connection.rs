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

use std::io::{ErrorKind, Read, Write};

use mio::{Registry, Token};

use crate::check::{BodyCheck, BodyRule};
use crate::clock;
use crate::error::ProtocolError;
use crate::http1::{Against, Memo, Progress, Response, Sink};
use crate::nonce::Nonces;
use crate::plan::Reuse;
use crate::record::{Outcome, Stage, Wire};
use crate::request::Message;
use crate::script::{Line, Script};
use crate::transport::{OpenError, Opening, Stream, TlsConnector};
use crate::visitor::Visitor;

/// A Date may be this many seconds behind, its own resolution included.
const STALE_S: u64 = 2;

/// A stream that never runs dry is left after this many reads, so that others, and the timeout, have their turn.
const READS_MAX: usize = 64;

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

    /// Opens a stream for the current request.
    pub fn connect(&mut self, ground: &mut Ground) -> Step {
        match Stream::open(&ground.script.address, ground.tls, ground.registry, self.token) {
            Ok(stream) => {
                self.stream = Some(stream);
                self.phase = Phase::Connecting;
                match self.open(ground) {
                    Step::Waiting if self.phase == Phase::Writing => self.write(ground),
                    step => step,
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.phase = Phase::Crowded;
                Step::Crowded
            }
            Err(_) => self.fail(Stage::Connect, ground),
        }
    }

    /// Opens a stream before there is a request for it. Failing says nothing yet: the request will.
    pub fn open_ahead(&mut self, now_ns: u64, ground: &mut Ground) {
        if let Ok(stream) = Stream::open(&ground.script.address, ground.tls, ground.registry, self.token) {
            self.stream = Some(stream);
            self.phase = Phase::Connecting;
            self.connect_ns = now_ns;
            self.ahead = true;
            self.open(ground);
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

    /// Goes on opening; the phase is Writing once that is done.
    fn open(&mut self, ground: &mut Ground) -> Step {
        loop {
            let Some(stream) = &mut self.stream else {
                return Step::Waiting;
            };
            match stream.establish() {
                Ok(Opening::Pending) => return Step::Waiting,
                Ok(Opening::Connected) => self.connected(ground),
                Ok(Opening::Ready) => {
                    if self.phase == Phase::Connecting {
                        self.connected(ground);
                    } else {
                        let now_ns = clock::now_ns();
                        ground.wire.secured(now_ns - self.connected_ns);
                        self.ready_ns = Some(now_ns);
                    }
                    self.phase = if std::mem::take(&mut self.ahead) { Phase::Idle } else { Phase::Writing };
                    return Step::Waiting;
                }
                Err(OpenError::Connect(_)) => return self.fail(Stage::Connect, ground),
                Err(OpenError::Tls(_)) => return self.fail(Stage::Tls, ground),
            }
        }
    }

    fn connected(&mut self, ground: &mut Ground) {
        self.connected_ns = clock::now_ns();
        ground.wire.connected(self.connected_ns - self.connect_ns);
        ground.wire.reconnects += u64::from(std::mem::take(&mut self.lost));
        self.ready_ns = Some(self.connected_ns);
        self.carried = 0;
        self.phase = Phase::Securing;
    }

    /// Makes ready to send the current request from its first byte.
    #[inline]
    fn rewind(&mut self, ground: &Ground) {
        self.response.restart();
        self.body.restart();
        self.written = 0;
        self.heard = false;
        self.held_back = ground.script.lines[self.target].waits_for_continue;
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
                stream.write(&bytes[self.written..end]).map(|count| self.written += count)
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

    /// Reads until the kernel has no more. A read that does not fill the buffer has drained an edge-triggered
    /// socket, so the extra read that would say so is saved; unless the peer has closed, which is still to be seen.
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
                    match self.take(count, ground) {
                        Ok(Progress::Done { surplus: 0 }) => return self.answered(closed, ground),
                        Ok(Progress::Done { .. }) | Err(_) => return self.fail(Stage::Protocol, ground),
                        Ok(Progress::More) if self.is_oversized(ground) => {
                            self.disconnect(ground);
                            return Step::Settled(Outcome::WrongBody { status: self.response.status() });
                        }
                        Ok(Progress::More) if self.phase == Phase::Asking && self.response.continued() => {
                            return self.stop_asking(ground);
                        }
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

    /// Takes in what has been read into the buffer.
    #[inline]
    fn take(&mut self, count: usize, ground: &mut Ground) -> Result<Progress, ProtocolError> {
        ground.wire.bytes_read += count as u64;
        self.heard = true;
        let had_head = self.response.has_head();
        let line = &ground.script.lines[self.target];
        let against = Against { to_head: line.to_head, memo: &mut ground.memos[self.target] };
        let mut judge = Judge { body: &mut self.body, rule: &line.expectation.body };
        let input = &ground.buffer[..count];
        let progress = match &mut self.visitor {
            None => self.response.feed(input, against, &mut judge),
            Some(visitor) => {
                let mut sink = VisitorsJudge { judge, visitor, script: ground.script };
                self.response.feed(input, against, &mut sink)
            }
        };
        if !had_head && self.response.has_head() {
            let stale = self.response.date_s().is_some_and(|date_s| date_s + STALE_S < ground.wall_s);
            ground.wire.stale_dates += u64::from(stale);
            ground.wire.cached_answers += u64::from(self.response.cached());
        }
        progress
    }

    /// The answer is complete. The connection stays only if both sides want it to and the request went out whole.
    #[inline]
    fn answered(&mut self, closed: bool, ground: &mut Ground) -> Step {
        self.carried += 1;
        let wanted = match ground.script.reuse {
            Reuse::Always => true,
            Reuse::Never => false,
            Reuse::Times(most) => self.carried < most.get(),
        };
        if wanted && self.response.keep_alive() && !closed && self.phase == Phase::Reading {
            self.phase = Phase::Idle;
        } else {
            self.disconnect(ground);
            self.lost = wanted;
        }
        let (status, expectation) = (self.response.status(), &ground.script.lines[self.target].expectation);
        let nonce_lost = self.visitor.as_mut().is_some_and(|visitor| visitor.misses_nonce(ground.script));
        ground.wire.nonces_lost += u64::from(nonce_lost);
        Step::Settled(if !expectation.allows_status(status) {
            Outcome::WrongStatus { status }
        } else if nonce_lost || self.is_oversized(ground) || !self.body.is_right(&expectation.body) {
            Outcome::WrongBody { status }
        } else {
            Outcome::Ok { status }
        })
    }

    /// Whether the body is longer than any right one.
    #[inline]
    fn is_oversized(&self, ground: &Ground) -> bool {
        self.body.length() > ground.script.body_max_bytes
    }

    /// The server has closed the stream.
    fn ended(&mut self, ground: &mut Ground) -> Step {
        if self.heard && self.response.close() {
            return self.answered(true, ground);
        }
        self.broken(Stage::Read, ground)
    }

    /// The stream broke. One that had carried an answer and said nothing to this request was most likely being
    /// closed for idleness as the request arrived: RFC 9112 section 9.3.1 lets an idempotent request be sent again.
    fn broken(&mut self, stage: Stage, ground: &mut Ground) -> Step {
        let idempotent = ground.script.lines[self.target].idempotent;
        let again = self.carried > 0 && !self.heard && !self.retried && idempotent;
        self.disconnect(ground);
        self.lost = ground.script.reuse != Reuse::Never;
        if !again {
            return Step::Settled(Outcome::Failed(stage));
        }
        self.retried = true;
        ground.wire.retried += 1;
        self.rewind(ground);
        if let Some(visitor) = &mut self.visitor {
            visitor.start_over();
        }
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

/// Holds a body against its rule.
struct Judge<'a> {
    body: &'a mut BodyCheck,
    rule: &'a BodyRule,
}

impl Sink for Judge<'_> {
    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.body.feed(self.rule, bytes);
    }
}

/// The same for an answer that tells its visitor something.
struct VisitorsJudge<'a> {
    judge: Judge<'a>,
    visitor: &'a mut Visitor,
    script: &'a Script,
}

impl Sink for VisitorsJudge<'_> {
    fn listens(&self) -> bool {
        true
    }

    fn field(&mut self, name: &str, value: &[u8]) {
        self.visitor.field(self.script, name, value);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.judge.body(bytes);
        self.visitor.body(self.script, bytes);
    }
}
