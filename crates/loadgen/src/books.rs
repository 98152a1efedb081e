//! The books of one thread: which requests are under way, what became of the others, and when that counts.
//!
//! All times come in as arguments. The accounting identity is kept here and nowhere else.

use crate::host::Usage;
use crate::monitor::Monitor;
use crate::pacer::Pacing;
use crate::record::{Outcome, Pages, Tally, TargetReport, Times, Wire};
use crate::script::Script;
use crate::stop::Stop;
use crate::window::{Mark, Window};

/// A request under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub intended_ns: u64,
    pub begun_ns: u64,
    /// Its line in the script.
    pub target: usize,
    pub recorded: bool,
}

/// What one thread saw.
#[derive(Debug)]
pub(crate) struct Share {
    pub tally: Tally,
    /// By URL; empty when there is one only.
    pub targets: Vec<TargetReport>,
    pub wire: Wire,
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
    pub wire: Wire,
    monitor: &'a Monitor,
    script: &'a Script,
    window: Window,
    tally: Tally,
    pages: Pages,
    /// By connection.
    jobs: Vec<Option<Job>>,
    answers: Vec<u64>,
    /// Requests under way, and those of them that are recorded.
    busy: u64,
    pending: u64,
    engaged_ns: u64,
    pool_waits: u64,
    spun_ns: u64,
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
            wire: Wire::default(),
            monitor,
            script,
            window: Window::new(stop, opens_ns),
            tally: Tally::new(script.urls.len()),
            pages: Pages::new(if script.has_pages { connections } else { 0 }),
            jobs: vec![None; connections],
            answers: vec![0; connections],
            busy: 0,
            pending: 0,
            engaged_ns: 0,
            pool_waits: 0,
            spun_ns: 0,
        }
    }

    /// The request connection `index` is busy with.
    pub fn job(&self, index: usize) -> Option<Job> {
        self.jobs[index]
    }

    /// Whether the stop rule allows another request.
    #[inline]
    pub fn allows(&self, now_ns: u64) -> bool {
        now_ns < self.window.closes_ns && !self.window.is_spent()
    }

    /// The earliest moment at which the window wants to be looked at.
    pub fn next_ns(&self) -> u64 {
        self.window.next_ns()
    }

    pub fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.window.closes_ns || self.is_finished()
    }

    /// Opens the window and closes bins of the series as time passes their marks.
    #[inline]
    pub fn keep_time(&mut self, now_ns: u64) {
        while let Some(mark) = self.window.pass(now_ns) {
            match mark {
                Mark::Open => self.open(),
                Mark::Bin => self.close_bin(),
            }
        }
    }

    /// Connection `index` takes a request on: line `target` of the script.
    #[inline]
    pub fn begin(&mut self, index: usize, target: usize, intended_ns: u64, now_ns: u64) {
        let recorded = self.window.is_open() && self.window.spend();
        let line = &self.script.lines[target];
        if recorded {
            self.tally.schedule(line.url);
            self.pending += 1;
        }
        self.pages.begin(index, line.embedded, intended_ns);
        self.busy += 1;
        self.jobs[index] = Some(Job { intended_ns, begun_ns: now_ns, target, recorded });
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

    /// Books an outcome; false when it came after the window closed, where its request counts as unfinished.
    /// `ready_ns` tells when the connection was open, if it had to be opened for this request.
    #[inline]
    pub fn settle(&mut self, index: usize, outcome: Outcome, ready_ns: Option<u64>, now_ns: u64) -> bool {
        self.keep_time(now_ns);
        if now_ns >= self.window.closes_ns {
            return false;
        }
        let Some(job) = self.jobs[index].take() else {
            return false;
        };
        self.busy -= 1;
        if self.window.is_open() {
            self.engaged_ns += now_ns - job.begun_ns.max(self.window.opens_ns);
        }
        let line = &self.script.lines[job.target];
        let right = matches!(outcome, Outcome::Ok { .. });
        if let Some(page_ns) = self.pages.settle(index, right, line.ends_page, now_ns) {
            self.tally.pages.record(page_ns);
        }
        if job.recorded {
            let times = Times {
                latency_ns: now_ns - job.intended_ns,
                service_ns: now_ns - ready_ns.unwrap_or(job.begun_ns),
                lag_ns: job.begun_ns - job.intended_ns,
            };
            self.answers[index] += u64::from(outcome.is_answer());
            self.tally.settle(outcome, line.url, times);
            self.pending -= 1;
            if self.is_finished() {
                self.window.shut(now_ns);
            }
        }
        true
    }

    /// Closes the books: what is unfinished is censored, what was due and never sent is counted.
    pub fn close(mut self, now_ns: u64, pacing: Pacing) -> Share {
        let usage = self.window.close(now_ns);
        self.tally.sum_up();
        let usual_ns = self.usual_ns(&pacing);
        self.censor(usual_ns);
        self.count_unsent(pacing);
        if self.window.has_partial_bin() {
            self.close_bin();
        }
        Share {
            targets: self.tally.target_reports(),
            tally: self.tally,
            wire: self.wire,
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
        self.window.is_spent() && self.pending == 0
    }

    /// Requests under way as the window opens belong to it from then on: whoever finishes in the window counts in
    /// it, so that throughput is not short of a round of requests.
    fn open(&mut self) {
        self.wire.open_window();
        for job in self.jobs.iter_mut().flatten() {
            job.recorded = self.window.spend();
            if job.recorded {
                self.tally.schedule(self.script.lines[job.target].url);
                self.pending += 1;
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
    fn usual_ns(&self, pacing: &Pacing) -> u64 {
        if pacing.is_open() {
            0
        } else {
            self.tally.latency.quantile(0.99).value_ns
        }
    }

    /// Counts what is unfinished; requests older than `usual_ns` enter the latencies as lower bounds.
    fn censor(&mut self, usual_ns: u64) {
        let (opens_ns, closes_ns) = (self.window.opens_ns, self.window.closes_ns);
        for job in self.jobs.iter().flatten() {
            self.engaged_ns += closes_ns.saturating_sub(job.begun_ns.max(opens_ns));
            if job.recorded {
                let age_ns = closes_ns.saturating_sub(job.intended_ns);
                self.tally.leave(self.script.lines[job.target].url, age_ns);
                if age_ns >= usual_ns {
                    self.tally.bound(age_ns);
                }
            }
        }
    }

    /// A cancelled run of n requests leaves the rest of n; an open loop what was due and found nobody free.
    fn count_unsent(&mut self, mut pacing: Pacing) {
        let mut unsent = self.window.unspent();
        let bounded_by_time = self.window.is_open() && unsent == 0 && !self.window.is_spent();
        while let Some(intended_ns) = bounded_by_time.then(|| pacing.take_unsent(self.window.closes_ns)).flatten() {
            unsent += 1;
            self.tally.bound(self.window.closes_ns - intended_ns);
        }
        self.tally.counts.unsent += unsent;
        self.tally.counts.scheduled += unsent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Expectation;
    use crate::pacer::Pacer;
    use crate::plan::{Order, Plan, Target};
    use crate::record::Stage;
    use crate::request::Request;
    use crate::transport::Address;

    const OK: Outcome = Outcome::Ok { status: 200 };

    /// One page with a style sheet.
    fn script() -> Script {
        let target =
            |path, embedded| Target { embedded, ..Target::new(Request::get(path, "h"), Expectation::default()) };
        let targets = vec![target("/", false), target("/a.css", true)];
        let plan = Plan::closed(Address::Unix("/".into()), targets, 1, Stop::Requests(1));
        Script::new(&Plan { order: Order::Session, ..plan })
    }

    fn close(books: Books, now_ns: u64) -> Share {
        let share = books.close(now_ns, Pacing::Closed);
        let counts = share.tally.counts;
        assert_eq!(counts.scheduled, counts.accounted(), "{counts:?}");
        share
    }

    #[test]
    fn an_answer_at_the_deadline_is_too_late_and_one_before_it_is_not() {
        let (script, monitor) = (script(), Monitor::default());
        let mut books = Books::new(2, Stop::DurationNs(100), 1000, &script, &monitor);
        books.keep_time(1000);
        books.begin(0, 0, 1000, 1000);
        books.begin(1, 0, 1000, 1000);
        assert!(books.settle(0, OK, None, 1099));
        assert!(!books.settle(1, OK, None, 1100));
        assert!(books.is_over(1100));
        let share = close(books, 1105);
        let counts = share.tally.counts;
        assert_eq!((counts.scheduled, counts.ok, counts.in_flight), (2, 1, 1));
        assert_eq!((share.opens_ns, share.closes_ns, share.engaged_ns), (1000, 1100, 199));
    }

    #[test]
    fn whoever_finishes_in_the_window_counts_in_it_whenever_he_began() {
        let (script, monitor) = (script(), Monitor::default());
        let mut books = Books::new(3, Stop::DurationNs(100), 1000, &script, &monitor);
        for index in 0..3 {
            books.begin(index, 0, 900, 900);
        }
        assert!(books.settle(0, OK, None, 999));
        assert!(books.settle(1, OK, None, 1010));
        assert!(books.settle(2, Outcome::Failed(Stage::Read), None, 1020));
        let share = close(books, 1100);
        let counts = share.tally.counts;
        assert_eq!((counts.scheduled, counts.ok, counts.errors()), (2, 1, 1));
        assert_eq!(share.engaged_ns, 30);
        assert_eq!(share.tally.latency.max().value_ns, 110);
        assert_eq!(share.answers, [0, 1, 0]);
    }

    #[test]
    fn a_number_of_requests_is_exact_although_more_were_under_way() {
        let (script, monitor) = (script(), Monitor::default());
        let mut books = Books::new(3, Stop::Requests(2), 1000, &script, &monitor);
        for index in 0..3 {
            books.begin(index, 0, 900, 900);
        }
        books.keep_time(1000);
        assert!(!books.allows(1000));
        books.settle(0, OK, None, 1001);
        assert!(!books.is_over(1001));
        books.settle(1, OK, None, 1002);
        assert!(books.is_over(1002));
        assert!(!books.settle(2, OK, None, 1050), "the window closed with its last request");
        let share = close(books, 1060);
        assert_eq!((share.tally.counts.scheduled, share.tally.counts.ok, share.closes_ns), (2, 2, 1002));
        assert_eq!(share.engaged_ns, 1 + 2 + 2);
    }

    #[test]
    fn cancelling_leaves_the_rest_of_a_number_unsent() {
        let (script, monitor) = (script(), Monitor::default());
        let mut books = Books::new(2, Stop::Requests(10), 1000, &script, &monitor);
        books.keep_time(1000);
        books.begin(0, 0, 1000, 1000);
        books.begin(1, 0, 1000, 1000);
        books.settle(0, Outcome::TimedOut, None, 1040);
        let counts = close(books, 1050).tally.counts;
        assert_eq!((counts.scheduled, counts.timed_out, counts.in_flight, counts.unsent), (10, 1, 1, 8));
    }

    #[test]
    fn an_open_loop_counts_what_found_nobody_free() {
        let (script, monitor) = (script(), Monitor::default());
        let pacer = Pacer::Constant { rate_per_s: 1e8 };
        let mut pacing = pacer.pacing(1000, 0, 1);
        let mut books = Books::new(1, Stop::DurationNs(100), 1000, &script, &monitor);
        books.keep_time(1000);
        books.begin(0, 0, pacing.take(1005).unwrap(), 1005);
        let share = books.close(1100, pacing);
        let counts = share.tally.counts;
        assert_eq!((counts.scheduled, counts.in_flight, counts.unsent), (10, 1, 9));
        assert_eq!(share.tally.latency.censored_count(), 10);
        assert_eq!(share.tally.latency.max().value_ns, 100);
    }

    /// Constant arrivals, one connection, a server that answers at once but for a pause: every request that falls
    /// due in the pause waits for its end, and all of that waiting shows. No time passes; all of it is arithmetic.
    fn play_pause(pause_ns: std::ops::Range<u64>, until_ns: u64, timeout_ns: u64) -> Share {
        let (script, monitor) = (script(), Monitor::default());
        let mut pacing = Pacer::Constant { rate_per_s: 1000.0 }.pacing(0, 0, 1);
        let mut books = Books::new(1, Stop::DurationNs(until_ns), 0, &script, &monitor);
        let mut now_ns = 0;
        while let Some(due_ns) = pacing.next_ns().filter(|&due_ns| due_ns < until_ns) {
            now_ns = due_ns.max(now_ns);
            books.keep_time(now_ns);
            if !books.allows(now_ns) {
                break;
            }
            let intended_ns = pacing.take(now_ns).unwrap();
            books.begin(0, 0, intended_ns, now_ns);
            let stalled = pause_ns.contains(&now_ns);
            let answer_ns = if stalled { pause_ns.end } else { now_ns };
            let (outcome, end_ns) = if answer_ns - now_ns > timeout_ns {
                (Outcome::TimedOut, now_ns + timeout_ns)
            } else {
                (OK, answer_ns)
            };
            if end_ns >= until_ns {
                now_ns = until_ns;
                break;
            }
            books.settle(0, outcome, None, end_ns);
            now_ns = end_ns;
        }
        let share = books.close(now_ns.max(until_ns), pacing);
        let counts = share.tally.counts;
        assert_eq!(counts.scheduled, counts.accounted());
        assert_eq!(counts.scheduled, until_ns / 1_000_000);
        share
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn a_pause_shows_in_full_however_few_requests_were_under_way() {
        let share = play_pause(2_000 * MS..4_500 * MS, 10_000 * MS, 60_000 * MS);
        assert_eq!(share.tally.counts.ok, 10_000);
        let near =
            |seen_ns: u64, ms: f64| assert!((seen_ns as f64 / 1e6 - ms).abs() <= ms * 0.002, "{seen_ns} {ms}");
        // 2,500 of 10,000 requests waited, evenly from 2,500 ms down to 1 ms
        near(share.tally.latency.max().value_ns, 2_500.0);
        near(share.tally.latency.quantile(0.99).value_ns, 2_400.0);
        near(share.tally.latency.quantile(0.9).value_ns, 1_500.0);
        assert!(share.tally.latency.quantile(0.5).value_ns <= 1);
        assert!(!share.tally.latency.max().censored);
        // one request was under way all the time; the others waited for the connection, and that is lag
        near(share.tally.service.max().value_ns, 2_500.0);
        assert!(share.tally.service.quantile(0.99).value_ns <= 1);
        near(share.tally.lag.max().value_ns, 2_499.0);
    }

    #[test]
    fn a_server_hung_for_good_leaves_lower_bounds_and_failures() {
        let share = play_pause(2_000 * MS..u64::MAX, 10_000 * MS, 60_000 * MS);
        let counts = share.tally.counts;
        assert_eq!((counts.ok, counts.in_flight, counts.unsent), (2_000, 1, 7_999));
        assert!(share.tally.latency.quantile(0.5).censored && share.tally.latency.quantile(0.99).censored);
        assert!(!share.tally.latency.quantile(0.1).censored);
        let share = play_pause(2_000 * MS..u64::MAX, 10_000 * MS, 500 * MS);
        assert_eq!((share.tally.counts.timed_out, share.tally.counts.in_flight), (15, 1));
    }

    #[test]
    fn a_page_lasts_until_its_last_part_and_urls_are_counted_apart() {
        let (script, monitor) = (script(), Monitor::default());
        let mut books = Books::new(1, Stop::Requests(3), 0, &script, &monitor);
        books.keep_time(0);
        for (target, start_ns, end_ns) in [(0, 10, 30), (1, 30, 50), (0, 60, 90)] {
            books.begin(0, target, start_ns, start_ns);
            books.settle(0, OK, None, end_ns);
        }
        let share = close(books, 100);
        assert_eq!((share.tally.pages.count(), share.tally.pages.max().value_ns), (1, 40));
        assert_eq!((share.targets[0].counts.ok, share.targets[1].counts.ok), (2, 1));
        assert_eq!((share.targets[0].max_ns(), share.targets[1].max_ns()), (30, 20));
    }

    #[test]
    fn young_unfinished_requests_do_not_blur_the_quantiles() {
        let (script, monitor) = (script(), Monitor::default());
        let mut books = Books::new(2, Stop::DurationNs(100_000), 0, &script, &monitor);
        books.keep_time(0);
        for turn in 0..100 {
            books.begin(0, 0, turn * 900, turn * 900);
            books.settle(0, OK, None, turn * 900 + 500);
        }
        books.begin(0, 0, 99_900, 99_900);
        let share = close(books, 100_000);
        assert_eq!((share.tally.counts.in_flight, share.tally.latency.censored_count()), (1, 0));
    }

    /// Any order of any events at any times: the identity holds, and bins hold exactly what was counted.
    #[test]
    fn the_identity_holds_for_any_history() {
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        let mut random = move |limit: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % limit
        };
        for _ in 0..300 {
            let (script, monitor) = (script(), Monitor::default());
            let stop =
                if random(2) == 0 { Stop::Requests(random(60)) } else { Stop::DurationNs(random(2_000_000_000)) };
            let mut books = Books::new(5, stop, 1_000_000_000, &script, &monitor);
            let mut now_ns = 900_000_000;
            for _ in 0..random(300) {
                now_ns += random(20_000_000);
                books.keep_time(now_ns);
                if books.is_over(now_ns) {
                    break;
                }
                let index = random(5) as usize;
                let outcome = match random(6) {
                    0 | 1 => OK,
                    2 => Outcome::WrongStatus { status: 500 },
                    3 => Outcome::WrongBody { status: 200 },
                    4 => Outcome::Failed(Stage::ALL[random(5) as usize]),
                    _ => Outcome::TimedOut,
                };
                if books.job(index).is_some() {
                    books.settle(index, outcome, None, now_ns);
                } else if books.allows(now_ns) {
                    books.begin(index, 0, now_ns - random(1000), now_ns);
                }
            }
            let share = close(books, now_ns);
            let counts = share.tally.counts;
            let bins = share.tally.series.into_bins();
            assert_eq!(bins.iter().map(|bin| bin.ok).sum::<u64>(), counts.ok);
            assert_eq!(bins.iter().map(|bin| bin.errors).sum::<u64>(), counts.errors());
            assert!(share.engaged_ns <= 5 * (share.closes_ns - share.opens_ns));
            if let Stop::Requests(requests) = stop {
                assert_eq!(counts.scheduled, requests);
            }
        }
    }
}
