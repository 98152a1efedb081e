//! The event loop of one thread: one loop for every pacer, stop rule and transport.

use std::io::ErrorKind;
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Poll, Token};

use crate::alarms::{Alarm, Alarms};
use crate::books::{Books, Share};
use crate::clock::{self, Calendar, MILLISECOND_NS, SECOND_NS};
use crate::connection::{Connection, Ground, Readiness, Step};
use crate::course::Course;
use crate::error::RunError;
use crate::http1::Memo;
use crate::monitor::Monitor;
use crate::nonce::Nonces;
use crate::pacer::Pacing;
use crate::plan::{Order, Plan};
use crate::record::{Outcome, Stage};
use crate::script::Script;
use crate::stop::Stop;
use crate::timer::{Oversleep, Timer, TIMER};
use crate::transport::TlsConnector;
use crate::watch::Watch;

/// The loop wakes at least this often to see whether it was cancelled.
const WAKE_NS: u64 = 50 * MILLISECOND_NS;
/// A connection whose connecting failed rests this long, so that a dead server costs no core.
const REST_NS: u64 = 10 * MILLISECOND_NS;
/// How soon a full queue of a Unix socket is tried again.
const CROWDED_NS: u64 = MILLISECOND_NS;
/// How long a body waits for the server to ask for it. RFC 9110 section 10.1.1 leaves it to the client; curl's time.
const ASK_NS: u64 = SECOND_NS;
/// An open loop opens connections ahead for the requests of so much time.
const AHEAD_NS: u64 = MILLISECOND_NS;
const BUFFER_BYTES: usize = 128 * 1024;
const EVENTS: usize = 128;

/// One thread's part of a plan.
pub(crate) struct Part<'a> {
    pub plan: &'a Plan,
    pub script: &'a Script,
    pub tls: Option<&'a TlsConnector>,
    pub monitor: &'a Monitor,
    /// The thread's number.
    pub thread: usize,
    pub connections: usize,
    pub stop: Stop,
    pub pacing: Pacing,
    pub start_ns: u64,
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
    part: Part<'a>,
    poll: Poll,
    timer: Timer,
    buffer: Box<[u8]>,
    connections: Vec<Connection>,
    books: Books<'a>,
    course: Course,
    /// Connections nothing is due for; those used last are used next, so that no more are opened than needed.
    free: Vec<usize>,
    /// The last time at which a request was due and no connection free.
    starved_ns: u64,
    oversleep: Oversleep,
    alarms: Alarms,
    requests: Watch,
    openings: Option<Watch>,
    memos: Vec<Memo>,
    nonces: Nonces,
    calendar: Calendar,
    wall_s: u64,
}

impl<'a> Worker<'a> {
    pub fn new(part: Part<'a>) -> Result<Worker<'a>, RunError> {
        let poll = Poll::new().map_err(RunError::Poll)?;
        let Part { plan, script, connections, start_ns, .. } = part;
        let personal = script.is_personal();
        let calendar = Calendar::now();
        let mut books = Books::new(connections, part.stop, start_ns + plan.warmup_ns, script, part.monitor)
            .following(plan.follow_ns);
        if part.pacing.is_open() {
            books = books.of_open_loop(plan.order == Order::Turn);
        }
        Ok(Worker {
            timer: Timer::new(poll.registry()).map_err(RunError::Poll)?,
            poll,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            connections: (0..connections).map(|index| Connection::new(Token(index), personal)).collect(),
            books,
            course: Course::new(script.order, script.lines.len(), connections),
            free: (0..connections).rev().collect(),
            starved_ns: 0,
            oversleep: Oversleep::new(),
            alarms: Alarms::default(),
            requests: Watch::new(plan.timeout_ns, connections, start_ns),
            openings: plan.connect_timeout_ns.map(|limit_ns| Watch::new(limit_ns, connections, start_ns)),
            memos: script.lines.iter().map(|_| Memo::default()).collect(),
            nonces: Nonces::new(start_ns, part.thread),
            wall_s: calendar.wall_s(start_ns),
            calendar,
            part,
        })
    }

    /// Runs until the stop rule or somebody's cancelling ends it.
    pub fn run(mut self) -> Result<Share, RunError> {
        let mut events = Events::with_capacity(EVENTS);
        if self.part.pacing.is_open() {
            self.open_ahead();
        } else {
            std::thread::sleep(Duration::from_nanos(self.part.start_ns.saturating_sub(clock::now_ns())));
        }
        let mut now_ns = clock::now_ns();
        loop {
            self.wall_s = self.calendar.wall_s(now_ns);
            self.books.keep_time(now_ns);
            self.ring(now_ns);
            self.expire(now_ns);
            self.dispatch(now_ns);
            if self.books.is_over(now_ns, self.part.pacing.next_ns()) || self.part.monitor.is_cancelled() {
                return Ok(self.books.close(now_ns, self.part.pacing));
            }
            let wait = self.wait(now_ns);
            let patience = self.patience(wait, now_ns);
            match self.poll.poll(&mut events, patience) {
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
        let count = self.part.pacing.expected(AHEAD_NS).min(self.free.len());
        for index in self.free.split_off(self.free.len() - count) {
            self.with(index, |connection, ground| connection.open_ahead(now_ns, ground));
            self.free.push(index);
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
        // What falls due between two answers is not kept waiting for the rest of the answers.
        if self.part.pacing.next_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            self.dispatch(now_ns);
        }
    }

    /// Books what a step led to; an outcome once the connection is free again.
    #[inline]
    fn follow(&mut self, index: usize, step: Step, now_ns: u64) -> Option<Outcome> {
        match step {
            Step::Waiting => None,
            Step::Crowded => {
                self.alarms.set(now_ns + CROWDED_NS, index, Alarm::Reconnect);
                None
            }
            Step::Asking => {
                self.alarms.set(now_ns + ASK_NS, index, Alarm::Ask);
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
        if let Some(line) = self.course.midway(index) {
            return self.go_on(index, line, now_ns);
        }
        match self.take(now_ns) {
            Some(intended_ns) => {
                if intended_ns <= self.starved_ns && self.part.pacing.is_open() {
                    self.books.wait_for_pool();
                }
                self.begin(index, intended_ns, now_ns);
            }
            None => self.free.push(index),
        }
    }

    /// Goes on with the session on connection `index`, after the pause before its next line.
    fn go_on(&mut self, index: usize, line: usize, now_ns: u64) {
        let think_ns = self.part.script.lines[line].think_ns;
        if think_ns > 0 {
            self.alarms.set(now_ns + think_ns, index, Alarm::Think);
        } else if self.books.allows(now_ns) {
            self.begin(index, now_ns, now_ns);
        }
    }

    /// Gives free connections the requests that are due.
    fn dispatch(&mut self, mut now_ns: u64) {
        while let Some(&index) = self.free.last() {
            let Some(intended_ns) = self.take(now_ns) else {
                return;
            };
            self.free.pop();
            if self.part.pacing.is_open() {
                // sending takes time, and the requests after the first are that much later
                now_ns = clock::now_ns();
            }
            self.begin(index, intended_ns, now_ns);
        }
        if self.part.pacing.next_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            self.starved_ns = now_ns;
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
        if self.course.is_beginning(index) {
            self.connections[index].greet();
        }
        let target = self.course.advance(index);
        self.books.begin(index, target, intended_ns, now_ns);
        self.requests.over(index, now_ns);
        if let Some(openings) = self.openings.as_mut().filter(|_| !self.connections[index].is_open()) {
            openings.over(index, now_ns);
        }
        let step = self.with(index, |connection, ground| connection.begin(target, now_ns, ground));
        self.conclude(index, step);
    }

    fn rest(&mut self, index: usize, now_ns: u64) {
        self.alarms.set(now_ns + REST_NS, index, Alarm::Rest);
    }

    /// Has those go on whose time has come.
    fn ring(&mut self, now_ns: u64) {
        while let Some((at_ns, index, alarm)) = self.alarms.take(now_ns) {
            match alarm {
                Alarm::Rest => self.offer(index, now_ns),
                Alarm::Think if self.books.allows(now_ns) => self.begin(index, at_ns, now_ns),
                Alarm::Think => {}
                // It may have timed out meanwhile.
                Alarm::Reconnect if self.connections[index].is_crowded() => {
                    let step = self.with(index, |connection, ground| connection.connect(ground));
                    self.conclude(index, step);
                }
                Alarm::Reconnect => {}
                // The request that asked may be over, and another one waiting.
                Alarm::Ask if self.books.job(index).is_some_and(|job| job.begun_ns + ASK_NS <= at_ns) => {
                    let step = self.with(index, |connection, ground| connection.stop_asking(ground));
                    self.conclude(index, step);
                }
                Alarm::Ask => {}
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
        if self.follow(index, step, now_ns).is_some() {
            self.rest(index, now_ns);
        }
    }

    /// Ends requests, and openings of connections, that have had their time.
    fn expire(&mut self, now_ns: u64) {
        while let Some(index) = self.requests.expired(now_ns, |index| self.books.job(index).map(|job| job.begun_ns))
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
        if self.follow(index, Step::Settled(outcome), now_ns).is_some() {
            self.with(index, |connection, ground| connection.abandon(ground));
            self.offer(index, now_ns);
        }
    }

    /// What to do until the kernel reports something.
    #[inline]
    fn wait(&self, now_ns: u64) -> Wait {
        let waits =
            [self.alarms.next_ns(), self.requests.next_ns(), self.openings.as_ref().and_then(Watch::next_ns)];
        let latest_ns = self.books.next_ns().min((now_ns / WAKE_NS + 1) * WAKE_NS);
        let until_ns = waits.into_iter().flatten().fold(latest_ns, u64::min);
        let due_ns = if self.free.is_empty() { None } else { self.part.pacing.next_ns() };
        if self.part.plan.spin {
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
    fn patience(&mut self, wait: Wait, now_ns: u64) -> Option<Duration> {
        match wait {
            Wait::Sleep { until_ns } | Wait::Doze { until_ns } if until_ns > now_ns => {
                self.timer.arm(until_ns).err().map(|_| Duration::from_nanos(until_ns - now_ns))
            }
            _ => Some(Duration::ZERO),
        }
    }

    #[inline]
    fn with<T>(&mut self, index: usize, act: impl FnOnce(&mut Connection, &mut Ground) -> T) -> T {
        let mut ground = Ground {
            script: self.part.script,
            tls: self.part.tls,
            registry: self.poll.registry(),
            buffer: &mut self.buffer,
            wire: &mut self.books.wire,
            memos: &mut self.memos,
            nonces: &mut self.nonces,
            wall_s: self.wall_s,
        };
        act(&mut self.connections[index], &mut ground)
    }
}

/// Whether nothing but the timer ended a sleep.
fn only_timer(events: &Events) -> bool {
    events.iter().all(|event| event.token() == TIMER)
}
