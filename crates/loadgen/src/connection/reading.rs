//! Reading an answer, and what follows from it for the request and for the stream.

use std::io::{ErrorKind, Read};

use super::sink::{BodySink, VisitorSink};
use super::{Connection, Context, Phase, Step};
use crate::clock;
use crate::error::ProtocolError;
use crate::http1::{Progress, RequestContext};
use crate::plan::Reuse;
use crate::record::{FailureStage, Outcome};

/// A Date may be this many seconds before its request, its own resolution included. A slow answer is not stale: some
/// servers stamp it with the moment at which they began on the request.
const STALE_S: u64 = 2;

/// A stream that never runs dry is left after this many reads, so that others, and the timeout, have their turn.
const READS_MAX: usize = 64;

impl Connection {
    /// Reads until the kernel has no more. A read that does not fill the buffer has drained an edge-triggered
    /// socket, so the extra read that would say so is saved; unless the peer has closed, which is still to be seen.
    #[inline]
    pub(super) fn read(&mut self, closed: bool, context: &mut Context) -> Step {
        for _ in 0..READS_MAX {
            let Some(stream) = &mut self.stream else {
                return Step::Waiting;
            };
            match stream.read(context.buffer) {
                Ok(0) => return self.stream_ended(context),
                Ok(count) => {
                    let drained = count < context.buffer.len() && !closed && stream.is_drained_by_short_read();
                    match self.take(count, context) {
                        Ok(Progress::Done { surplus: 0 }) => return self.answered(closed, context),
                        Ok(Progress::Done { surplus }) => {
                            context.stats.counters.surplus_bytes += surplus as u64;
                            return self.fail(FailureStage::Protocol, context);
                        }
                        Err(_) => return self.fail(FailureStage::Protocol, context),
                        Ok(Progress::More) if self.is_oversized(context) => {
                            self.disconnect(context);
                            return Step::Settled(Outcome::WrongBody { status: self.response.status() });
                        }
                        Ok(Progress::More)
                            if self.phase == Phase::AwaitingContinue && self.response.continued() =>
                        {
                            return self.send_body(context);
                        }
                        Ok(Progress::More) if drained => return Step::Waiting,
                        Ok(Progress::More) => {}
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Waiting,
                Err(_) => return self.stream_broken(FailureStage::Read, context),
            }
        }
        match self.stream.as_mut().map(|stream| stream.rearm(context.registry, self.token)) {
            Some(Err(_)) => self.fail(FailureStage::Read, context),
            _ => Step::Waiting,
        }
    }

    /// Takes in what has been read into the buffer.
    #[inline]
    fn take(&mut self, count: usize, context: &mut Context) -> Result<Progress, ProtocolError> {
        context.stats.counters.bytes_read += count as u64;
        self.answer_begun = true;
        let had_head = self.response.has_head();
        let line = &context.script.lines[self.target];
        let request = RequestContext { to_head: line.to_head, head_cache: &mut context.head_caches[self.target] };
        let mut body_sink = BodySink { body: &mut self.body, rule: &line.expectation.body };
        let input = &context.buffer[..count];
        let progress = match &mut self.visitor {
            None => self.response.feed(input, request, &mut body_sink),
            Some(visitor) => {
                let mut sink = VisitorSink { body_sink, visitor, script: context.script, line };
                self.response.feed(input, request, &mut sink)
            }
        };
        if !had_head && self.response.has_head() {
            let stale = self.response.date_s().is_some_and(|date_s| date_s + STALE_S < self.sent_s);
            context.stats.counters.stale_dates += u64::from(stale);
            context.stats.counters.cached_answers += u64::from(self.response.cached());
        }
        progress
    }

    /// The answer is complete. The connection stays only if both sides want it to and the request went out whole.
    #[inline]
    fn answered(&mut self, closed: bool, context: &mut Context) -> Step {
        self.answers += 1;
        let wanted = match context.script.reuse {
            Reuse::Always => true,
            Reuse::Never => false,
            Reuse::Times(most) => self.answers < most.get(),
        };
        if wanted && self.response.keep_alive() && !closed && self.phase == Phase::Reading {
            self.phase = Phase::Idle;
        } else {
            self.disconnect(context);
            self.closed_by_server = wanted;
        }
        if let Some(visitor) = &mut self.visitor {
            visitor.take_handouts(&context.script.lines[self.target]);
        }
        let (status, expectation) = (self.response.status(), &context.script.lines[self.target].expectation);
        let nonce_lost = self.visitor.as_mut().is_some_and(|visitor| visitor.misses_nonce(context.script));
        context.stats.counters.nonces_lost += u64::from(nonce_lost);
        Step::Settled(if !expectation.allows_status(status) {
            Outcome::WrongStatus { status }
        } else if nonce_lost || self.is_oversized(context) || !self.body.is_right(&expectation.body) {
            Outcome::WrongBody { status }
        } else {
            Outcome::Ok { status }
        })
    }

    /// Whether the body is longer than any right one.
    #[inline]
    fn is_oversized(&self, context: &Context) -> bool {
        self.body.length() > context.script.body_max_bytes
    }

    /// The server has closed the stream.
    fn stream_ended(&mut self, context: &mut Context) -> Step {
        if self.answer_begun && self.response.close() {
            return self.answered(true, context);
        }
        self.stream_broken(FailureStage::Read, context)
    }

    /// The stream broke. One that had carried an answer and said nothing to this request was most likely being
    /// closed for idleness as the request arrived: RFC 9112 section 9.3.1 lets an idempotent request be sent again.
    pub(super) fn stream_broken(&mut self, stage: FailureStage, context: &mut Context) -> Step {
        let idempotent = context.script.lines[self.target].idempotent;
        let again = self.answers > 0 && !self.answer_begun && !self.retried && idempotent;
        self.disconnect(context);
        self.closed_by_server = context.script.reuse != Reuse::Never;
        if !again {
            return Step::Settled(Outcome::Failed(stage));
        }
        self.retried = true;
        context.stats.counters.retried += 1;
        self.rewind(context);
        if let Some(visitor) = &mut self.visitor {
            visitor.start_over();
        }
        self.connect_ns = clock::now_ns();
        self.connect(context)
    }

    /// Nothing is owed to us: the server closes, or sends what nobody asked for. Either way the stream is spent.
    pub(super) fn read_while_idle(&mut self, context: &mut Context) -> Step {
        let Some(stream) = &mut self.stream else {
            return Step::Waiting;
        };
        match stream.read(context.buffer) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            other => {
                let surplus = other.unwrap_or(0) as u64;
                context.stats.counters.bytes_read += surplus;
                context.stats.counters.surplus_bytes += surplus;
                self.disconnect(context);
                self.closed_by_server = true;
            }
        }
        Step::Waiting
    }
}
