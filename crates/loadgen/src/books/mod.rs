//! The books of one thread: which requests are under way, what became of the others, and when that counts.
//!
//! All times come in as arguments. The accounting identity is kept here and nowhere else.

use crate::host::Usage;
use crate::monitor::Monitor;
use crate::pacer::Pacing;
use crate::record::{ConnectionStats, Outcome, Pages, Tally, TargetReport, Times};
use crate::script::Script;
use crate::stop::Stop;
use crate::window::{Window, WindowEvent};

/// A request under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    /// When it was due.
    pub intended_ns: u64,
    /// When a connection took it.
    pub begun_ns: u64,
    /// Its line in the script.
    pub target: usize,
    /// It counts in the window; once that is closed: it is followed to its end.
    pub recorded: bool,
}

/// What one thread saw.
#[derive(Debug)]
pub(crate) struct ThreadReport {
    pub tally: Tally,
    /// By URL; empty when there is one only.
    pub targets: Vec<TargetReport>,
    pub connections: ConnectionStats,
    /// Requests settled by an answer, by connection.
    pub answers: Vec<u64>,
    pub opens_ns: u64,
    pub closes_ns: u64,
    /// Time spent with a request under way, summed over connections.
    pub engaged_ns: u64,
    /// Requests of an open loop that fell due while all connections were taken.
    pub pool_waits: u64,
    /// Time spent spinning until a request was due, and nothing else to do.
    pub spun_ns: u64,
    pub usage: Usage,
}

#[derive(Debug)]
pub(crate) struct Books<'a> {
    pub connections: ConnectionStats,
    /// What happened to connections in the window, once it is closed.
    recorded_connections: ConnectionStats,
    monitor: &'a Monitor,
    script: &'a Script,
    window: Window,
    tally: Tally,
    pages: Pages,
    /// By connection.
    in_flight: Vec<Option<InFlight>>,
    answers: Vec<u64>,
    /// Requests under way, and those of them that are recorded.
    busy: u64,
    pending: u64,
    engaged_ns: u64,
    pool_waits: u64,
    spun_ns: u64,
    /// Latest time that the books were kept to.
    latest_ns: u64,
    /// Requests that were due in the window and begun after it.
    begun_late: u64,
    open_loop: bool,
    /// Requests fall due by the clock, so that when they go out is worth a look.
    paced: bool,
}

impl<'a> Books<'a> {
    pub fn new(
        connections: usize,
        stop: Stop,
        opens_ns: u64,
        script: &'a Script,
        monitor: &'a Monitor,
    ) -> Books<'a> {
        Books {
            connections: ConnectionStats::default(),
            recorded_connections: ConnectionStats::default(),
            monitor,
            script,
            window: Window::new(stop, opens_ns),
            tally: Tally::new(script.urls.len()),
            pages: Pages::new(if script.has_pages { connections } else { 0 }),
            in_flight: vec![None; connections],
            answers: vec![0; connections],
            busy: 0,
            pending: 0,
            engaged_ns: 0,
            pool_waits: 0,
            spun_ns: 0,
            latest_ns: 0,
            begun_late: 0,
            open_loop: false,
            paced: false,
        }
    }

    /// The same for an open loop; `paced` tells whether each request falls due by the clock, not each visitor.
    pub fn of_open_loop(self, paced: bool) -> Books<'a> {
        Books { open_loop: true, paced, ..self }
    }

    /// The same; load goes on for up to `follow_ns` after the window has closed.
    pub fn following(self, follow_ns: u64) -> Books<'a> {
        Books { window: self.window.following(follow_ns), ..self }
    }

    /// The request connection `index` is busy with.
    pub fn in_flight(&self, index: usize) -> Option<InFlight> {
        self.in_flight[index]
    }

    /// Whether the stop rule allows another request.
    #[inline]
    pub fn allows(&self, now_ns: u64) -> bool {
        now_ns < self.window.ends_ns() && !self.window.is_exhausted()
    }

    /// The earliest moment at which the window wants to be looked at.
    pub fn next_ns(&self) -> u64 {
        self.window.next_ns()
    }

    /// Whether the run is over, if the next request of an open loop is due at `due_ns`.
    pub fn is_over(&self, now_ns: u64, due_ns: Option<u64>) -> bool {
        if !self.window.is_closed() {
            return self.is_finished();
        }
        let follows = self.pending > 0 || due_ns.is_some_and(|due_ns| due_ns < self.window.closes_ns);
        now_ns >= self.window.ends_ns() || !follows
    }

    /// Opens the window and closes bins of the series as time passes their marks.
    #[inline]
    pub fn keep_time(&mut self, now_ns: u64) {
        self.latest_ns = self.latest_ns.max(now_ns);
        while let Some(event) = self.window.pass(now_ns) {
            match event {
                WindowEvent::Open => self.open(),
                WindowEvent::Bin => self.close_bin(),
                WindowEvent::Close => self.shut(),
            }
        }
    }

    /// Connection `index` takes a request on: line `target` of the script.
    #[inline]
    pub fn begin(&mut self, index: usize, target: usize, intended_ns: u64, now_ns: u64) {
        let mut recorded = self.window.is_open() && self.window.schedule();
        let line = &self.script.lines[target];
        if self.open_loop && self.window.is_closed() && intended_ns < self.window.closes_ns {
            self.begun_late += 1;
            self.pending += 1;
            recorded = true;
        } else if recorded {
            self.tally.schedule(line.url);
            if self.paced {
                self.tally.arrivals.record(now_ns.saturating_sub(self.window.opens_ns));
            }
            self.pending += 1;
        }
        self.pages.begin(index, line.embedded, intended_ns);
        self.busy += 1;
        self.in_flight[index] = Some(InFlight { intended_ns, begun_ns: now_ns, target, recorded });
    }

    /// A request fell due while all connections were taken.
    pub fn wait_for_pool(&mut self) {
        self.pool_waits += u64::from(self.window.is_open());
    }

    /// The loop had nothing to do and kept asking.
    #[inline]
    pub fn spin(&mut self, spun_ns: u64) {
        self.spun_ns += if self.window.is_open() { spun_ns } else { 0 };
    }

    /// Books an outcome; false when it came too late for anything, and no other request is to be begun.
    /// `ready_ns` tells when the connection was open, if it had to be opened for this request.
    #[inline]
    pub fn settle(&mut self, index: usize, outcome: Outcome, ready_ns: Option<u64>, now_ns: u64) -> bool {
        self.keep_time(now_ns);
        let Some(request) = self.in_flight[index].take() else {
            return false;
        };
        self.busy -= 1;
        let line = &self.script.lines[request.target];
        let times = Times {
            latency_ns: now_ns - request.intended_ns,
            service_ns: now_ns - ready_ns.unwrap_or(request.begun_ns),
            lag_ns: request.begun_ns - request.intended_ns,
        };
        if self.window.is_closed() {
            let ends_ns = self.window.ends_ns();
            if request.recorded {
                self.pending -= 1;
                if now_ns < ends_ns {
                    self.tally.follow(outcome, line.url, times);
                } else {
                    self.tally.bound(Some(line.url), ends_ns.saturating_sub(request.intended_ns));
                }
            }
            return now_ns < ends_ns;
        }
        if self.window.is_open() {
            self.engaged_ns += now_ns - request.begun_ns.max(self.window.opens_ns);
        }
        let right = matches!(outcome, Outcome::Ok { .. });
        if let Some(page_ns) = self.pages.settle(index, right, line.ends_page, now_ns) {
            self.tally.pages.record(page_ns);
        }
        if request.recorded {
            self.answers[index] += u64::from(outcome.is_answer());
            self.tally.settle(outcome, line.url, times);
            self.pending -= 1;
            if self.is_finished() {
                self.window.shut(now_ns);
            }
        }
        true
    }

    /// Closes the books: what nobody has answered is a lower bound, what was due and never sent is counted.
    ///
    /// Not before what they hold: a request that fails while it is begun has a later time than the loop that began it.
    pub fn close(mut self, now_ns: u64, pacing: Pacing) -> ThreadReport {
        let now_ns = now_ns.max(self.latest_ns);
        self.window.shut(now_ns);
        self.keep_time(now_ns);
        let until_ns = now_ns.min(self.window.ends_ns());
        for request in self.in_flight.iter().flatten().filter(|request| request.recorded) {
            let age_ns = until_ns.saturating_sub(request.intended_ns);
            self.tally.bound(Some(self.script.lines[request.target].url), age_ns);
        }
        self.count_unsent(pacing, until_ns);
        let usage = self.window.sum_up();
        ThreadReport {
            targets: self.tally.target_reports(),
            tally: self.tally,
            connections: self.recorded_connections,
            answers: self.answers,
            opens_ns: self.window.opens_ns,
            closes_ns: self.window.closes_ns,
            engaged_ns: self.engaged_ns,
            pool_waits: self.pool_waits,
            spun_ns: self.spun_ns,
            usage,
        }
    }

    /// All requests of a bounded number are settled.
    fn is_finished(&self) -> bool {
        self.window.is_exhausted() && self.pending == 0
    }

    /// Requests under way as the window opens belong to it from then on: whoever finishes in the window counts in
    /// it, so that throughput is not short of a round of requests.
    fn open(&mut self) {
        self.connections.open_window();
        for request in self.in_flight.iter_mut().flatten() {
            request.recorded = self.window.schedule();
            if request.recorded {
                self.tally.schedule(self.script.lines[request.target].url);
                self.pending += 1;
            }
        }
    }

    /// The window closes: its requests still under way are unfinished. From now on `recorded` and `pending` speak of
    /// those that are followed to their end.
    fn shut(&mut self) {
        if self.window.has_partial_bin() {
            self.close_bin();
        }
        self.recorded_connections = self.connections.close_window();
        self.tally.sum_up();
        let usual_ns = self.usual_ns();
        let (opens_ns, closes_ns) = (self.window.opens_ns, self.window.closes_ns);
        self.pending = 0;
        for request in self.in_flight.iter_mut().flatten() {
            self.engaged_ns += closes_ns.saturating_sub(request.begun_ns.max(opens_ns));
            if request.recorded {
                self.tally.leave(self.script.lines[request.target].url);
                request.recorded = closes_ns.saturating_sub(request.intended_ns) >= usual_ns;
                self.pending += u64::from(request.recorded);
            }
        }
    }

    fn close_bin(&mut self) {
        let (ok, errors) = self.tally.series.close_bin(self.busy);
        self.monitor.add(ok, errors);
    }

    /// Unfinished requests enter the latencies from this age on. In an open loop all do: they fell due whatever
    /// the server did. Each connection of a closed loop always has one, and those younger than most finished ones
    /// say nothing that these do not: they would only blur the quantiles of every healthy run.
    fn usual_ns(&self) -> u64 {
        if self.open_loop {
            0
        } else {
            self.tally.latency.quantile(0.99).value_ns
        }
    }

    /// A cancelled run of n requests leaves the rest of n; an open loop what was due and found nobody free.
    fn count_unsent(&mut self, mut pacing: Pacing, until_ns: u64) {
        let mut unsent = self.window.unscheduled() + self.begun_late;
        let bounded_by_time =
            self.window.is_closed() && self.window.unscheduled() == 0 && !self.window.is_exhausted();
        while let Some(intended_ns) = bounded_by_time.then(|| pacing.take_unsent(self.window.closes_ns)).flatten() {
            unsent += 1;
            self.tally.bound(None, until_ns - intended_ns);
        }
        self.tally.counts.unsent += unsent;
        self.tally.counts.scheduled += unsent;
    }
}

#[cfg(test)]
mod tests;
