use super::*;
use crate::check::Expectation;
use crate::clock::SECOND_NS;
use crate::pacer::Pacer;
use crate::plan::{Order, Plan, Target};
use crate::record::{FailureStage, BIN_NS};
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

fn close(books: Books, now_ns: u64) -> ThreadReport {
    let report = books.close(now_ns, Pacing::Closed);
    let counts = report.tally.counts;
    assert_eq!(counts.scheduled, counts.accounted(), "{counts:?}");
    report
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
    assert!(books.is_over(1100, None));
    let report = close(books, 1105);
    let counts = report.tally.counts;
    assert_eq!((counts.scheduled, counts.ok, counts.in_flight), (2, 1, 1));
    assert_eq!((report.opens_ns, report.closes_ns, report.engaged_ns), (1000, 1100, 199));
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
    assert!(books.settle(2, Outcome::Failed(FailureStage::Read), None, 1020));
    let report = close(books, 1100);
    let counts = report.tally.counts;
    assert_eq!((counts.scheduled, counts.ok, counts.errors()), (2, 1, 1));
    assert_eq!(report.engaged_ns, 30);
    assert_eq!(report.tally.latency.max().value_ns, 110);
    assert_eq!(report.answers, [0, 1, 0]);
}

#[test]
fn what_fails_while_it_is_begun_is_in_a_bin_although_the_loops_time_is_older() {
    let (script, monitor) = (script(), Monitor::default());
    let mut books = Books::new(1, Stop::Requests(1), 1000, &script, &monitor);
    let (loops_ns, failed_ns) = (1000 + BIN_NS - 5, 1000 + BIN_NS + 5);
    books.keep_time(loops_ns);
    books.begin(0, 0, loops_ns, loops_ns);
    books.settle(0, Outcome::Failed(FailureStage::Connect), None, failed_ns);
    assert!(books.is_over(loops_ns, None));
    let report = close(books, loops_ns);
    assert_eq!((report.closes_ns, report.engaged_ns), (failed_ns, 10));
    let bins = report.tally.series.into_bins();
    assert_eq!(bins.iter().map(|bin| bin.errors).collect::<Vec<_>>(), [0, 1]);
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
    assert!(!books.is_over(1001, None));
    books.settle(1, OK, None, 1002);
    assert!(books.is_over(1002, None));
    assert!(!books.settle(2, OK, None, 1050), "the window closed with its last request");
    let report = close(books, 1060);
    assert_eq!((report.tally.counts.scheduled, report.tally.counts.ok, report.closes_ns), (2, 2, 1002));
    assert_eq!(report.engaged_ns, 1 + 2 + 2);
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
    let mut pacing = pacer.pacing(1000, 0, 1, SECOND_NS);
    let mut books = Books::new(1, Stop::DurationNs(100), 1000, &script, &monitor);
    books.keep_time(1000);
    books.begin(0, 0, pacing.take(1005).unwrap(), 1005);
    let report = books.close(1100, pacing);
    let counts = report.tally.counts;
    assert_eq!((counts.scheduled, counts.in_flight, counts.unsent), (10, 1, 9));
    assert_eq!(report.tally.latency.censored_count(), 10);
    assert_eq!(report.tally.latency.max().value_ns, 100);
}

/// Constant arrivals, one connection, a server that answers at once but for a pause: every request that falls
/// due in the pause waits for its end, and all of that waiting shows. No time passes; all of it is arithmetic.
fn play_pause(pause_ns: std::ops::Range<u64>, until_ns: u64, timeout_ns: u64) -> ThreadReport {
    let (script, monitor) = (script(), Monitor::default());
    let mut pacing = Pacer::Constant { rate_per_s: 1000.0 }.pacing(0, 0, 1, SECOND_NS);
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
    let report = books.close(now_ns.max(until_ns), pacing);
    let counts = report.tally.counts;
    assert_eq!(counts.scheduled, counts.accounted());
    assert_eq!(counts.scheduled, until_ns / 1_000_000);
    report
}

const MS: u64 = 1_000_000;

#[test]
fn a_pause_shows_in_full_however_few_requests_were_under_way() {
    let report = play_pause(2_000 * MS..4_500 * MS, 10_000 * MS, 60_000 * MS);
    assert_eq!(report.tally.counts.ok, 10_000);
    let near = |seen_ns: u64, ms: f64| assert!((seen_ns as f64 / 1e6 - ms).abs() <= ms * 0.002, "{seen_ns} {ms}");
    // 2,500 of 10,000 requests waited, evenly from 2,500 ms down to 1 ms
    near(report.tally.latency.max().value_ns, 2_500.0);
    near(report.tally.latency.quantile(0.99).value_ns, 2_400.0);
    near(report.tally.latency.quantile(0.9).value_ns, 1_500.0);
    assert!(report.tally.latency.quantile(0.5).value_ns <= 1);
    assert!(!report.tally.latency.max().censored);
    // one request was under way all the time; the others waited for the connection, and that is lag
    near(report.tally.service.max().value_ns, 2_500.0);
    assert!(report.tally.service.quantile(0.99).value_ns <= 1);
    near(report.tally.lag.max().value_ns, 2_499.0);
}

#[test]
fn a_server_hung_for_good_leaves_lower_bounds_and_failures() {
    let report = play_pause(2_000 * MS..u64::MAX, 10_000 * MS, 60_000 * MS);
    let counts = report.tally.counts;
    assert_eq!((counts.ok, counts.in_flight, counts.unsent), (2_000, 1, 7_999));
    assert!(report.tally.latency.quantile(0.5).censored && report.tally.latency.quantile(0.99).censored);
    assert!(!report.tally.latency.quantile(0.1).censored);
    let report = play_pause(2_000 * MS..u64::MAX, 10_000 * MS, 500 * MS);
    assert_eq!((report.tally.counts.timed_out, report.tally.counts.in_flight), (15, 1));
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
    let report = close(books, 100);
    assert_eq!((report.tally.pages.count(), report.tally.pages.max().value_ns), (1, 40));
    assert_eq!((report.targets[0].counts.ok, report.targets[1].counts.ok), (2, 1));
    assert_eq!((report.targets[0].max_ns(), report.targets[1].max_ns()), (30, 20));
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
    let report = close(books, 100_000);
    assert_eq!((report.tally.counts.in_flight, report.tally.latency.censored_count()), (1, 0));
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
            if books.is_over(now_ns, None) {
                break;
            }
            let index = random(5) as usize;
            let outcome = match random(6) {
                0 | 1 => OK,
                2 => Outcome::WrongStatus { status: 500 },
                3 => Outcome::WrongBody { status: 200 },
                4 => Outcome::Failed(FailureStage::ALL[random(5) as usize]),
                _ => Outcome::TimedOut,
            };
            if books.in_flight(index).is_some() {
                books.settle(index, outcome, None, now_ns);
            } else if books.allows(now_ns) {
                books.begin(index, 0, now_ns - random(1000), now_ns);
            }
        }
        let report = close(books, now_ns);
        let counts = report.tally.counts;
        let bins = report.tally.series.into_bins();
        assert_eq!(bins.iter().map(|bin| bin.ok).sum::<u64>(), counts.ok);
        assert_eq!(bins.iter().map(|bin| bin.errors).sum::<u64>(), counts.errors());
        assert!(report.engaged_ns <= 5 * (report.closes_ns - report.opens_ns));
        if let Stop::Requests(requests) = stop {
            assert_eq!(counts.scheduled, requests);
        }
    }
}

#[test]
fn what_goes_out_by_the_clock_is_counted_from_when_it_did() {
    let (script, monitor) = (script(), Monitor::default());
    let distance = |paced: bool| {
        let mut books = Books::new(2, Stop::DurationNs(1_000_000_000), 0, &script, &monitor);
        if paced {
            books = books.of_open_loop(true);
        }
        books.keep_time(0);
        books.begin(0, 0, 0, 500_000_000);
        books.begin(1, 0, 400_000_000, 500_000_000);
        close(books, 1_000_000_000).tally.arrivals.distance(1_000_000_000)
    };
    assert_eq!(distance(false), None);
    assert!((distance(true).unwrap() - 0.5).abs() < 0.001);
}

#[test]
fn an_old_unfinished_request_is_followed_to_its_end_and_counts_as_unfinished_all_the_same() {
    let (script, monitor) = (script(), Monitor::default());
    let mut books = Books::new(3, Stop::DurationNs(1000), 0, &script, &monitor).following(500);
    books.keep_time(0);
    books.begin(0, 0, 0, 0);
    for turn in 0..9 {
        books.begin(1, 0, 100 * turn, 100 * turn);
        assert!(books.settle(1, OK, None, 100 * turn + 50));
    }
    books.begin(1, 0, 990, 990);
    assert!(!books.is_over(999, None));
    books.keep_time(1000);
    assert!(!books.is_over(1000, None) && books.allows(1000), "load goes on for the old one's sake");
    books.begin(2, 0, 1010, 1010);
    assert!(books.settle(1, OK, None, 1040), "the young one was not waited for");
    assert!(books.settle(0, OK, None, 1200));
    assert!(books.is_over(1200, None));
    let report = close(books, 1200);
    let counts = report.tally.counts;
    assert_eq!((counts.scheduled, counts.ok, counts.in_flight), (11, 9, 2));
    assert_eq!((report.closes_ns, report.engaged_ns), (1000, 1000 + 450 + 10));
    let latency = &report.tally.latency;
    assert_eq!((latency.count(), latency.censored_count(), latency.max().value_ns), (10, 0, 1200));
    assert_eq!((report.tally.service.count(), report.tally.lag.count()), (10, 10));
}

#[test]
fn whoever_is_not_answered_while_followed_took_at_least_so_long() {
    let (script, monitor) = (script(), Monitor::default());
    let mut books = Books::new(2, Stop::DurationNs(1000), 0, &script, &monitor).following(500);
    books.keep_time(0);
    books.begin(0, 0, 0, 0);
    books.begin(1, 0, 100, 100);
    books.keep_time(1000);
    assert!(books.settle(1, Outcome::Failed(FailureStage::Read), None, 1300));
    assert!(!books.is_over(1499, None) && books.is_over(1500, None));
    let report = close(books, 1510);
    let latency = &report.tally.latency;
    assert_eq!((latency.count(), latency.censored_count()), (2, 2));
    assert_eq!((latency.min_ns(), latency.max().value_ns), (1200, 1500));
    assert_eq!((report.tally.counts.in_flight, report.tally.counts.errors()), (2, 0));
}

#[test]
fn an_answer_after_the_end_says_only_that_it_took_so_long() {
    let (script, monitor) = (script(), Monitor::default());
    for follow_ns in [0, 500] {
        let mut books = Books::new(1, Stop::DurationNs(1000), 0, &script, &monitor).following(follow_ns);
        books.keep_time(0);
        books.begin(0, 0, 100, 100);
        // the thread got no time before
        assert!(!books.settle(0, OK, None, 1700));
        let report = close(books, 1700);
        let latency = &report.tally.latency;
        assert_eq!((latency.count(), latency.censored_count()), (1, 1));
        assert_eq!((latency.min_ns(), report.tally.service.count()), (900 + follow_ns, 0));
        assert_eq!((report.tally.counts.ok, report.tally.counts.in_flight), (0, 1));
    }
}

#[test]
fn what_was_due_in_the_window_is_sent_and_followed_after_it() {
    let (script, monitor) = (script(), Monitor::default());
    let mut pacing = Pacer::Constant { rate_per_s: 1e7 }.pacing(0, 0, 1, SECOND_NS);
    let mut books = Books::new(1, Stop::DurationNs(500), 0, &script, &monitor).of_open_loop(true).following(1000);
    books.keep_time(0);
    books.begin(0, 0, pacing.take(0).unwrap(), 0);
    // the answer comes after the window; four more were due in it, and two of them are answered while followed
    assert!(books.settle(0, OK, None, 600));
    for end_ns in [700, 800] {
        assert!(!books.is_over(end_ns, pacing.next_ns()));
        books.begin(0, 0, pacing.take(end_ns).unwrap(), end_ns - 100);
        assert!(books.settle(0, OK, None, end_ns));
    }
    let report = books.close(1000, pacing);
    let counts = report.tally.counts;
    assert_eq!((counts.scheduled, counts.ok, counts.in_flight, counts.unsent), (5, 0, 1, 4));
    assert_eq!(counts.scheduled, counts.accounted());
    let latency = &report.tally.latency;
    assert_eq!((latency.count(), latency.censored_count()), (5, 2));
    assert_eq!(latency.max(), crate::record::Quantile { value_ns: 700, censored: true });
}
