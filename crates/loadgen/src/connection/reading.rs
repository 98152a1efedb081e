//! Reading an answer, and what follows from it for the request and for the stream.

use std::io::{ErrorKind, Read};

use super::judge::{Judge, VisitorsJudge};
use super::{Connection, Ground, Phase, Step};
use crate::clock;
use crate::error::ProtocolError;
use crate::http1::{Against, Progress};
use crate::plan::Reuse;
use crate::record::{Outcome, Stage};

/// A Date may be this many seconds before its request, its own resolution included. A slow answer is not stale: some
/// servers stamp it with the moment at which they began on the request.
const STALE_S: u64 = 2;

/// A stream that never runs dry is left after this many reads, so that others, and the timeout, have their turn.
const READS_MAX: usize = 64;

impl Connection {
    /// Reads until the kernel has no more. A read that does not fill the buffer has drained an edge-triggered
    /// socket, so the extra read that would say so is saved; unless the peer has closed, which is still to be seen.
    #[inline]
    pub(super) fn read(&mut self, closed: bool, ground: &mut Ground) -> Step {
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
                        Ok(Progress::Done { surplus }) => {
                            ground.wire.counters.surplus_bytes += surplus as u64;
                            return self.fail(Stage::Protocol, ground);
                        }
                        Err(_) => return self.fail(Stage::Protocol, ground),
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
        ground.wire.counters.bytes_read += count as u64;
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
            let stale = self.response.date_s().is_some_and(|date_s| date_s + STALE_S < self.asked_s);
            ground.wire.counters.stale_dates += u64::from(stale);
            ground.wire.counters.cached_answers += u64::from(self.response.cached());
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
        ground.wire.counters.nonces_lost += u64::from(nonce_lost);
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
    pub(super) fn broken(&mut self, stage: Stage, ground: &mut Ground) -> Step {
        let idempotent = ground.script.lines[self.target].idempotent;
        let again = self.carried > 0 && !self.heard && !self.retried && idempotent;
        self.disconnect(ground);
        self.lost = ground.script.reuse != Reuse::Never;
        if !again {
            return Step::Settled(Outcome::Failed(stage));
        }
        self.retried = true;
        ground.wire.counters.retried += 1;
        self.rewind(ground);
        if let Some(visitor) = &mut self.visitor {
            visitor.start_over();
        }
        self.connect_ns = clock::now_ns();
        self.connect(ground)
    }

    /// Nothing is owed to us: the server closes, or sends what nobody asked for. Either way the stream is spent.
    pub(super) fn look_while_idle(&mut self, ground: &mut Ground) -> Step {
        let Some(stream) = &mut self.stream else {
            return Step::Waiting;
        };
        match stream.read(ground.buffer) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            other => {
                let surplus = other.unwrap_or(0) as u64;
                ground.wire.counters.bytes_read += surplus;
                ground.wire.counters.surplus_bytes += surplus;
                self.disconnect(ground);
                self.lost = true;
            }
        }
        Step::Waiting
    }
}
