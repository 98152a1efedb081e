//! The event loop of one thread: one loop for every pacer, stop rule and transport.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Poll, Token};

use crate::books::{Books, Share};
use crate::clock::{self, MILLISECOND_NS};
use crate::connection::{Connection, Ground, Readiness, Step};
use crate::error::RunError;
use crate::monitor::Monitor;
use crate::pacer::Pacing;
use crate::plan::Plan;
use crate::record::{Outcome, Stage};
use crate::script::Script;
use crate::stop::Stop;
use crate::timeouts::Timeouts;
use crate::timer::{Timer, TIMER};

/// The loop wakes at least this often to see whether it was cancelled.
const WAKE_NS: u64 = 50 * MILLISECOND_NS;
/// A connection whose connecting failed rests this long, so that a dead server costs no core.
const REST_NS: u64 = 10 * MILLISECOND_NS;
/// How soon a full queue of a Unix socket is tried again.
const CROWDED_NS: u64 = MILLISECOND_NS;
/// An open loop wakes this long before its next request and spins: the kernel wakes a thread some 10 µs late.
const SPIN_NS: u64 = 50_000;
const BUFFER_BYTES: usize = 128 * 1024;
const EVENTS: usize = 128;

/// One thread's part of a plan.
pub(crate) struct Part<'a> {
    pub plan: &'a Plan,
    pub script: &'a Script,
    pub monitor: &'a Monitor,
    pub connections: usize,
    pub stop: Stop,
    pub pacing: Pacing,
    pub start_ns: u64,
}

pub(crate) struct Worker<'a> {
    part: Part<'a>,
    poll: Poll,
    timer: Timer,
    buffer: Box<[u8]>,
    connections: Vec<Connection>,
    books: Books<'a>,
    /// Connections nothing is due for.
    free: VecDeque<usize>,
    /// Connections that may go on later, in order of time.
    resting: VecDeque<(u64, usize)>,
    crowded: VecDeque<(u64, usize)>,
    timeouts: Timeouts,
    /// By connection: whether it stands in the timeout wheel.
    watched: Vec<bool>,
    next_target: usize,
}

impl<'a> Worker<'a> {
    pub fn new(part: Part<'a>) -> Result<Worker<'a>, RunError> {
        let poll = Poll::new().map_err(RunError::Poll)?;
        let opens_ns = part.start_ns + part.plan.warmup_ns;
        Ok(Worker {
            timer: Timer::new(poll.registry()).map_err(RunError::Poll)?,
            poll,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            connections: (0..part.connections).map(|index| Connection::new(Token(index))).collect(),
            books: Books::new(part.connections, part.stop, opens_ns, part.monitor),
            free: (0..part.connections).collect(),
            resting: VecDeque::new(),
            crowded: VecDeque::new(),
            timeouts: Timeouts::new(part.plan.timeout_ns, part.start_ns),
            watched: vec![false; part.connections],
            next_target: 0,
            part,
        })
    }

    /// Runs until the stop rule or somebody's cancelling ends it.
    pub fn run(mut self) -> Result<Share, RunError> {
        let mut events = Events::with_capacity(EVENTS);
        std::thread::sleep(Duration::from_nanos(self.part.start_ns.saturating_sub(clock::now_ns())));
        loop {
            let now_ns = clock::now_ns();
            self.books.keep_time(now_ns);
            self.wake_resting(now_ns);
            self.wake_crowded(now_ns);
            self.expire(now_ns);
            self.dispatch(now_ns);
            if self.books.is_over(now_ns) || self.part.monitor.is_cancelled() {
                return Ok(self.books.close(now_ns, self.part.pacing));
            }
            let patience = self.patience(now_ns);
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(RunError::Poll(error)),
                _ => events.iter().for_each(|event| self.react(event)),
            }
        }
    }

    #[inline]
    fn react(&mut self, event: &Event) {
        if event.token() == TIMER {
            return;
        }
        let readiness = Readiness {
            readable: event.is_readable() || event.is_error(),
            closed: event.is_read_closed() || event.is_error(),
        };
        let index = event.token().0;
        let step = self.with(index, |connection, ground| connection.ready(readiness, ground));
        if step == Step::Waiting {
            return;
        }
        let now_ns = clock::now_ns();
        match self.follow(index, step, now_ns) {
            Some(Outcome::Failed(Stage::Connect | Stage::Tls)) => self.rest(index, now_ns),
            Some(_) => self.offer(index, now_ns),
            None => {}
        }
    }

    /// Books what a step led to; an outcome once the connection is free again.
    #[inline]
    fn follow(&mut self, index: usize, step: Step, now_ns: u64) -> Option<Outcome> {
        match step {
            Step::Waiting => None,
            Step::Crowded => {
                self.crowded.push_back((now_ns + CROWDED_NS, index));
                None
            }
            Step::Settled(outcome) => {
                let ready_ns = self.connections[index].ready_ns();
                self.books.settle(index, outcome, ready_ns, now_ns).then_some(outcome)
            }
        }
    }

    /// Gives a connection that has just become free the request that is due, if any.
    #[inline]
    fn offer(&mut self, index: usize, now_ns: u64) {
        match self.take(now_ns) {
            Some(intended_ns) => self.begin(index, intended_ns, now_ns),
            None => self.free.push_back(index),
        }
    }

    /// Gives free connections the requests that are due.
    fn dispatch(&mut self, now_ns: u64) {
        while !self.free.is_empty() {
            let Some(intended_ns) = self.take(now_ns) else {
                return;
            };
            if let Some(index) = self.free.pop_front() {
                self.begin(index, intended_ns, now_ns);
            }
        }
    }

    /// The intended time of the request that is due now, if the stop rule still allows one.
    #[inline]
    fn take(&mut self, now_ns: u64) -> Option<u64> {
        if !self.books.allows(now_ns) {
            return None;
        }
        self.part.pacing.take(now_ns)
    }

    #[inline]
    fn begin(&mut self, index: usize, intended_ns: u64, now_ns: u64) {
        self.books.begin(index, intended_ns, now_ns);
        let target = self.next_target;
        self.next_target = if target + 1 < self.part.script.lines.len() { target + 1 } else { 0 };
        if !self.watched[index] {
            self.watch(index, now_ns + self.part.plan.timeout_ns);
        }
        let step = self.with(index, |connection, ground| connection.begin(target, now_ns, ground));
        // What fails before the first wait would fail again at once.
        if step != Step::Waiting && self.follow(index, step, now_ns).is_some() {
            self.rest(index, now_ns);
        }
    }

    fn watch(&mut self, index: usize, expiry_ns: u64) {
        self.watched[index] = true;
        self.timeouts.insert(index as u32, expiry_ns);
    }

    fn rest(&mut self, index: usize, now_ns: u64) {
        self.resting.push_back((now_ns + REST_NS, index));
    }

    fn wake_resting(&mut self, now_ns: u64) {
        while let Some(index) = pop_due(&mut self.resting, now_ns) {
            self.offer(index, now_ns);
        }
    }

    fn wake_crowded(&mut self, now_ns: u64) {
        while let Some(index) = pop_due(&mut self.crowded, now_ns) {
            // It may have timed out meanwhile.
            if !self.connections[index].is_crowded() {
                continue;
            }
            let step = self.with(index, |connection, ground| connection.connect(ground));
            if self.follow(index, step, now_ns).is_some() {
                self.rest(index, now_ns);
            }
        }
    }

    /// Ends requests that have had their time.
    fn expire(&mut self, now_ns: u64) {
        if self.timeouts.next_ns().is_none_or(|next_ns| next_ns > now_ns) {
            return;
        }
        let mut up = Vec::new();
        self.timeouts.advance(now_ns, &mut up);
        for index in up.into_iter().map(|index| index as usize) {
            self.watched[index] = false;
            let Some(job) = self.books.job(index) else { continue };
            let expiry_ns = job.begun_ns + self.part.plan.timeout_ns;
            if expiry_ns > now_ns {
                self.watch(index, expiry_ns);
            } else if self.follow(index, Step::Settled(Outcome::TimedOut), now_ns).is_some() {
                self.with(index, |connection, ground| connection.abandon(ground));
                self.offer(index, now_ns);
            }
        }
    }

    /// How long the loop may sleep; for ever when the timer will wake it.
    ///
    /// Moments are absolute and mostly stay the same from turn to turn, so the timer is seldom set anew: cheaper
    /// than a timeout for every wait, and exact to the nanosecond where epoll's own counts in milliseconds.
    fn patience(&mut self, now_ns: u64) -> Option<Duration> {
        let front = |queue: &VecDeque<(u64, usize)>| queue.front().map(|&(wake_ns, _)| wake_ns);
        let due_ns = if self.free.is_empty() { None } else { self.part.pacing.next_ns() };
        let waits = [
            front(&self.resting),
            front(&self.crowded),
            self.timeouts.next_ns(),
            due_ns.map(|due_ns| due_ns.saturating_sub(SPIN_NS)),
        ];
        let latest_ns = self.books.next_ns().min((now_ns / WAKE_NS + 1) * WAKE_NS);
        let until_ns = waits.into_iter().flatten().fold(latest_ns, u64::min);
        if until_ns <= now_ns {
            return Some(Duration::ZERO);
        }
        self.timer.arm(until_ns).err().map(|_| Duration::from_nanos(until_ns - now_ns))
    }

    #[inline]
    fn with<T>(&mut self, index: usize, act: impl FnOnce(&mut Connection, &mut Ground) -> T) -> T {
        let mut ground = Ground {
            script: self.part.script,
            registry: self.poll.registry(),
            buffer: &mut self.buffer,
            wire: &mut self.books.wire,
        };
        act(&mut self.connections[index], &mut ground)
    }
}

/// The first of `queue` whose time has come.
fn pop_due(queue: &mut VecDeque<(u64, usize)>, now_ns: u64) -> Option<usize> {
    match queue.front() {
        Some(&(wake_ns, index)) if wake_ns <= now_ns => queue.pop_front().map(|_| index),
        _ => None,
    }
}
