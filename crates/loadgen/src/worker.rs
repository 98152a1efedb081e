//! The event loop of one thread: one loop for every pacer, stop rule and transport.

use std::io::ErrorKind;
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Poll, Token};

use crate::alarms::{Alarm, Alarms};
use crate::books::{Books, ThreadReport};
use crate::clock::{self, Calendar, MILLISECOND_NS, SECOND_NS};
use crate::connection::{Connection, Context, Step};
use crate::cursor::Cursor;
use crate::deadlines::Deadlines;
use crate::error::RunError;
use crate::http1::HeadCache;
use crate::monitor::Monitor;
use crate::nonce::Nonces;
use crate::pacer::Pacing;
use crate::plan::{Order, Plan};
use crate::record::{FailureStage, Outcome};
use crate::script::Script;
use crate::stop::Stop;
use crate::timer::{Oversleep, Timer, TIMER};
use crate::transport::TlsConnector;

mod opening;

/// The loop wakes at least this often to see whether it was cancelled.
const WAKE_NS: u64 = 50 * MILLISECOND_NS;
/// A connection whose connecting failed rests this long, so that a dead server costs no core.
const BACK_OFF_NS: u64 = 10 * MILLISECOND_NS;
/// How soon a full queue of a Unix socket is tried again.
const RECONNECT_NS: u64 = MILLISECOND_NS;
/// How long a body waits for the server to ask for it. RFC 9110 section 10.1.1 leaves it to the client; curl's time.
const CONTINUE_TIMEOUT_NS: u64 = SECOND_NS;
/// An open loop opens connections ahead for the requests of so much time.
const AHEAD_NS: u64 = MILLISECOND_NS;
/// Requests that a closed loop begins before it looks for answers.
const BEGUN_AT_ONCE: usize = 64;
const BUFFER_BYTES: usize = 128 * 1024;
const EVENTS: usize = 128;

/// One thread's part of a plan.
pub(crate) struct ThreadPlan<'a> {
    pub plan: &'a Plan,
    pub script: &'a Script,
    pub tls: Option<&'a TlsConnector>,
    pub monitor: &'a Monitor,
    /// The thread's number.
    pub index: usize,
    /// How many of the plan's connections are this thread's.
    pub connections: usize,
    /// This thread's part of the plan's stop rule.
    pub stop: Stop,
    pub pacing: Pacing,
    /// When the first request is due, CLOCK_MONOTONIC.
    pub start_ns: u64,
}

impl<'a> ThreadPlan<'a> {
    /// Empty books that begin at its start.
    fn books(&self) -> Books<'a> {
        let recorded_ns = self.start_ns + self.plan.warmup_ns;
        Books::new(self.connections, self.stop, recorded_ns, self.script, self.monitor)
            .following(self.plan.follow_ns)
    }

    fn deadlines(&self, limit_ns: u64) -> Deadlines {
        Deadlines::new(limit_ns, self.connections, self.start_ns)
    }
}

/// What the loop does until the kernel reports something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Sleeps until something is to be done.
    Sleep { until_ns: u64 },
    /// Sleeps until shortly before a request is due.
    Doze { until_ns: u64 },
    /// Asks again and again: a request is due any moment, or the plan says so.
    Spin,
}

pub(crate) struct Worker<'a> {
    thread: ThreadPlan<'a>,
    poll: Poll,
    timer: Timer,
    buffer: Box<[u8]>,
    connections: Vec<Connection>,
    books: Books<'a>,
    cursor: Cursor,
    /// Connections nothing is due for; those used last are used next, so that no more are opened than needed.
    free: Vec<usize>,
    /// The last time at which a request was due and no connection free.
    pool_exhausted_ns: u64,
    oversleep: Oversleep,
    alarms: Alarms,
    requests: Deadlines,
    openings: Option<Deadlines>,
    head_caches: Vec<HeadCache>,
    nonces: Nonces,
    calendar: Calendar,
    wall_s: u64,
}

impl<'a> Worker<'a> {
    pub fn new(thread: ThreadPlan<'a>) -> Result<Worker<'a>, RunError> {
        let poll = Poll::new().map_err(RunError::Poll)?;
        let ThreadPlan { plan, script, connections, start_ns, .. } = thread;
        let personal = script.is_personal();
        let calendar = Calendar::now();
        let mut books = thread.books();
        if thread.pacing.is_open() {
            books = books.of_open_loop(plan.order == Order::Turn);
        }
        Ok(Worker {
            timer: Timer::new(poll.registry()).map_err(RunError::Poll)?,
            poll,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            connections: (0..connections).map(|index| Connection::new(Token(index), personal)).collect(),
            books,
            cursor: Cursor::new(script.order, script.lines.len(), connections),
            free: (0..connections).rev().collect(),
            pool_exhausted_ns: 0,
            oversleep: Oversleep::new(),
            alarms: Alarms::default(),
            requests: thread.deadlines(plan.timeout_ns),
            openings: plan.connect_timeout_ns.map(|limit_ns| thread.deadlines(limit_ns)),
            head_caches: script.lines.iter().map(|_| HeadCache::default()).collect(),
            nonces: Nonces::new(start_ns, thread.index),
            wall_s: calendar.wall_s(start_ns),
            calendar,
            thread,
        })
    }

    /// Runs until the stop rule or somebody's cancelling ends it.
    pub fn run(mut self) -> Result<ThreadReport, RunError> {
        let mut events = Events::with_capacity(EVENTS);
        if self.thread.pacing.is_open() {
            self.open_ahead();
        } else {
            std::thread::sleep(Duration::from_nanos(self.thread.start_ns.saturating_sub(clock::now_ns())));
        }
        let mut now_ns = clock::now_ns();
        loop {
            self.wall_s = self.calendar.wall_s(now_ns);
            self.books.keep_time(now_ns);
            self.run_alarms(now_ns);
            self.expire(now_ns);
            let more = self.dispatch(now_ns);
            if self.books.is_over(now_ns, self.thread.pacing.next_ns()) || self.thread.monitor.is_cancelled() {
                return Ok(self.books.close(now_ns, self.thread.pacing));
            }
            let wait = if more { Wait::Spin } else { self.wait(now_ns) };
            let timeout = self.poll_timeout(wait, now_ns);
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(RunError::Poll(error)),
                _ => events.iter().for_each(|event| self.react(event)),
            }
            let before_ns = std::mem::replace(&mut now_ns, clock::now_ns());
            match wait {
                Wait::Spin if events.is_empty() => self.books.spin(now_ns - before_ns),
                Wait::Doze { until_ns } if only_timer(&events) => {
                    self.oversleep.observe(now_ns.saturating_sub(until_ns));
                }
                _ => {}
            }
        }
    }

    /// Opens what an open loop will need in its first milliseconds. Opening one takes longer than the gap between
    /// requests at a high rate: a loop that began with none would open one after the other, each making the next late.
    fn open_ahead(&mut self) {
        let now_ns = clock::now_ns();
        let count = self.thread.pacing.expected(AHEAD_NS).min(self.free.len());
        for index in self.free.split_off(self.free.len() - count) {
            self.with_context(index, |connection, context| connection.open_ahead(now_ns, context));
            self.free.push(index);
        }
    }

    #[inline]
    fn react(&mut self, event: &Event) {
        if event.token() == TIMER {
            return;
        }
        let index = event.token().0;
        let step = self.with_context(index, |connection, context| connection.ready(event.into(), context));
        if step == Step::Waiting {
            return;
        }
        let now_ns = clock::now_ns();
        match self.record_step(index, step, now_ns) {
            Some(Outcome::Failed(FailureStage::Connect | FailureStage::Tls)) => self.back_off(index, now_ns),
            Some(_) => self.assign(index, now_ns),
            None => {}
        }
        // What falls due between two answers is not kept waiting for the rest of the answers.
        if self.thread.pacing.next_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            self.dispatch(now_ns);
        }
    }

    /// Books what a step led to; an outcome once the connection is free again.
    #[inline]
    fn record_step(&mut self, index: usize, step: Step, now_ns: u64) -> Option<Outcome> {
        match step {
            Step::Waiting => None,
            Step::BacklogFull => {
                self.alarms.set(now_ns + RECONNECT_NS, index, Alarm::Reconnect);
                None
            }
            Step::AwaitingContinue => {
                self.alarms.set(now_ns + CONTINUE_TIMEOUT_NS, index, Alarm::ContinueTimeout);
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
    fn assign(&mut self, index: usize, now_ns: u64) {
        if let Some(line) = self.cursor.midway(index) {
            return self.continue_session(index, line, now_ns);
        }
        match self.take_due(now_ns) {
            Some(intended_ns) => {
                if intended_ns <= self.pool_exhausted_ns && self.thread.pacing.is_open() {
                    self.books.wait_for_pool();
                }
                self.begin(index, intended_ns, now_ns);
            }
            None => self.free.push(index),
        }
    }

    /// Goes on with the session on connection `index`, after the pause before its next line.
    fn continue_session(&mut self, index: usize, line: usize, now_ns: u64) {
        let think_ns = self.thread.script.lines[line].think_ns;
        if think_ns > 0 {
            self.alarms.set(now_ns + think_ns, index, Alarm::Think);
        } else if self.books.allows(now_ns) {
            self.begin(index, now_ns, now_ns);
        }
    }

    /// Gives free connections the requests that are due; returns whether more are, which wait until those are heard
    /// that were sent: opening thousands of connections takes seconds, in which nobody would read an answer.
    fn dispatch(&mut self, mut now_ns: u64) -> bool {
        let mut begun = 0;
        while let Some(&index) = self.free.last() {
            if begun == BEGUN_AT_ONCE && !self.thread.pacing.is_open() {
                return self.books.allows(now_ns);
            }
            let Some(intended_ns) = self.take_due(now_ns) else {
                return false;
            };
            begun += 1;
            self.free.pop();
            if self.thread.pacing.is_open() {
                // sending takes time, and the requests after the first are that much later
                now_ns = clock::now_ns();
            }
            self.begin(index, intended_ns, now_ns);
        }
        if self.thread.pacing.next_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            self.pool_exhausted_ns = now_ns;
        }
        false
    }

    /// The intended time of the request that is due now, if the stop rule still allows one.
    #[inline]
    fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        if !self.books.allows(now_ns) {
            return None;
        }
        self.thread.pacing.take(now_ns)
    }

    #[inline]
    fn begin(&mut self, index: usize, intended_ns: u64, now_ns: u64) {
        if self.cursor.is_beginning(index) {
            self.connections[index].start_visitor();
        }
        let target = self.cursor.advance(index);
        self.books.begin(index, target, intended_ns, now_ns);
        self.requests.watch(index, now_ns);
        if let Some(openings) = self.openings.as_mut().filter(|_| !self.connections[index].is_open()) {
            openings.watch(index, now_ns);
        }
        let step = self.with_context(index, |connection, context| connection.begin(target, now_ns, context));
        self.conclude(index, step);
    }

    fn back_off(&mut self, index: usize, now_ns: u64) {
        self.alarms.set(now_ns + BACK_OFF_NS, index, Alarm::BackOff);
    }

    /// Has those go on whose time has come.
    fn run_alarms(&mut self, now_ns: u64) {
        while let Some((at_ns, index, alarm)) = self.alarms.take(now_ns) {
            match alarm {
                Alarm::BackOff => self.assign(index, now_ns),
                Alarm::Think if self.books.allows(now_ns) => self.begin(index, at_ns, now_ns),
                Alarm::Think => {}
                // It may have timed out meanwhile.
                Alarm::Reconnect if self.connections[index].is_backlog_full() => {
                    let step = self.with_context(index, |connection, context| connection.connect(context));
                    self.conclude(index, step);
                }
                Alarm::Reconnect => {}
                // The request that asked may be over, and another one waiting.
                Alarm::ContinueTimeout
                    if self
                        .books
                        .in_flight(index)
                        .is_some_and(|request| request.begun_ns + CONTINUE_TIMEOUT_NS <= at_ns) =>
                {
                    let step = self.with_context(index, |connection, context| connection.send_body(context));
                    self.conclude(index, step);
                }
                Alarm::ContinueTimeout => {}
            }
        }
    }

    /// Books a step that was not the kernel's to report: what fails before the first wait would fail again at once.
    #[inline]
    fn conclude(&mut self, index: usize, step: Step) {
        if step == Step::Waiting {
            return;
        }
        let now_ns = clock::now_ns();
        if self.record_step(index, step, now_ns).is_some() {
            self.back_off(index, now_ns);
        }
    }

    /// Ends requests, and openings of connections, that have had their time.
    fn expire(&mut self, now_ns: u64) {
        while let Some(index) =
            self.requests.expired(now_ns, |index| self.books.in_flight(index).map(|request| request.begun_ns))
        {
            self.give_up(index, Outcome::TimedOut, now_ns);
        }
        while let Some(index) = self.stuck_opening(now_ns) {
            self.give_up(index, Outcome::ConnectTimedOut, now_ns);
        }
    }

    fn stuck_opening(&mut self, now_ns: u64) -> Option<usize> {
        let connections = &self.connections;
        self.openings.as_mut()?.expired(now_ns, |index| connections[index].opening_since_ns())
    }

    fn give_up(&mut self, index: usize, outcome: Outcome, now_ns: u64) {
        if self.record_step(index, Step::Settled(outcome), now_ns).is_some() {
            self.with_context(index, |connection, context| connection.abandon(context));
            self.assign(index, now_ns);
        }
    }

    /// What to do until the kernel reports something.
    #[inline]
    fn wait(&self, now_ns: u64) -> Wait {
        let waits =
            [self.alarms.next_ns(), self.requests.next_ns(), self.openings.as_ref().and_then(Deadlines::next_ns)];
        let latest_ns = self.books.next_ns().min((now_ns / WAKE_NS + 1) * WAKE_NS);
        let until_ns = waits.into_iter().flatten().fold(latest_ns, u64::min);
        let due_ns = if self.free.is_empty() { None } else { self.thread.pacing.next_ns() };
        if self.thread.plan.spin {
            return Wait::Spin;
        }
        match due_ns.map(|due_ns| due_ns.saturating_sub(self.oversleep.margin_ns())) {
            Some(awake_ns) if awake_ns <= now_ns => Wait::Spin,
            Some(awake_ns) if awake_ns < until_ns => Wait::Doze { until_ns: awake_ns },
            _ => Wait::Sleep { until_ns },
        }
    }

    /// How long the poll may take; for ever when the timer will end it.
    ///
    /// Moments are absolute and mostly stay the same from turn to turn, so the timer is seldom set anew: cheaper
    /// than a timeout for every wait, and exact to the nanosecond where epoll's own counts in milliseconds.
    #[inline]
    fn poll_timeout(&mut self, wait: Wait, now_ns: u64) -> Option<Duration> {
        match wait {
            Wait::Sleep { until_ns } | Wait::Doze { until_ns } if until_ns > now_ns => {
                self.timer.arm(until_ns).err().map(|_| Duration::from_nanos(until_ns - now_ns))
            }
            _ => Some(Duration::ZERO),
        }
    }

    #[inline]
    fn with_context<T>(&mut self, index: usize, act: impl FnOnce(&mut Connection, &mut Context) -> T) -> T {
        let mut context = Context {
            script: self.thread.script,
            tls: self.thread.tls,
            registry: self.poll.registry(),
            buffer: &mut self.buffer,
            stats: &mut self.books.connections,
            head_caches: &mut self.head_caches,
            nonces: &mut self.nonces,
            wall_s: self.wall_s,
        };
        act(&mut self.connections[index], &mut context)
    }
}

/// Whether nothing but the timer ended a sleep.
fn only_timer(events: &Events) -> bool {
    events.iter().all(|event| event.token() == TIMER)
}
