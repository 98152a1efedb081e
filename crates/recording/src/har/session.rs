//! From requests to a session: their order, the pauses between them, and what belongs to which page.

use std::collections::HashSet;

use super::candidate::Candidate;
use super::role::{role, Role};
use crate::step::{Step, THINK_MAX_NS};

/// The steps of a session.
///
/// A part of a page is embedded, and without a pause, once its page has been seen. Everything else comes as long after
/// all before it were complete as it did when it was recorded. What has no readable date stays behind its neighbour.
pub(super) fn steps(candidates: Vec<Candidate>) -> Vec<Step> {
    let mut pages_seen = HashSet::new();
    let mut complete_ns: Option<i64> = None;
    let mut steps = Vec::with_capacity(candidates.len());
    for candidate in in_order(candidates) {
        let role = role(&candidate);
        if role == Role::Page {
            pages_seen.insert(candidate.page.clone());
        }
        let embedded = role == Role::Part && pages_seen.contains(&candidate.page);
        let pause_ns = if embedded { 0 } else { pause_ns(complete_ns, candidate.started_ns) };
        complete_ns = complete_ns.max(candidate.ended_ns());
        steps.push(candidate.into_step(pause_ns, embedded));
    }
    steps
}

fn in_order(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut latest_ns = i64::MIN;
    let dated = candidates.into_iter().map(|candidate| {
        latest_ns = candidate.started_ns.unwrap_or(latest_ns);
        (latest_ns, candidate)
    });
    let mut dated: Vec<_> = dated.collect();
    dated.sort_by_key(|(started_ns, _)| *started_ns);
    dated.into_iter().map(|(_, candidate)| candidate).collect()
}

fn pause_ns(complete_ns: Option<i64>, started_ns: Option<i64>) -> u64 {
    match (complete_ns, started_ns) {
        (Some(complete_ns), Some(started_ns)) => {
            u64::try_from(started_ns.saturating_sub(complete_ns)).unwrap_or(0).min(THINK_MAX_NS)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request for `path`, started after and taking so many seconds.
    fn at(path: &str, answer_type: &str, started_s: i64, took_s: i64) -> Candidate {
        Candidate {
            path: path.into(),
            method: "GET".into(),
            status: 200,
            answer_type: answer_type.into(),
            started_ns: Some(started_s * 1_000_000_000),
            took_ns: took_s.saturating_mul(1_000_000_000),
            ..Candidate::default()
        }
    }

    /// Path, pause in seconds, and whether it is embedded.
    fn told(candidates: Vec<Candidate>) -> Vec<(String, u64, bool)> {
        steps(candidates)
            .into_iter()
            .map(|step| (step.path, step.think_ns / 1_000_000_000, step.embedded))
            .collect()
    }

    fn expected(list: &[(&str, u64, bool)]) -> Vec<(String, u64, bool)> {
        list.iter().map(|(path, pause, embedded)| (path.to_string(), *pause, *embedded)).collect()
    }

    #[test]
    fn a_pause_runs_from_the_end_of_all_before() {
        let session = vec![
            at("/", "text/html", 100, 1),
            at("/slow.png", "image/png", 101, 9),
            at("/fast.css", "text/css", 101, 1),
            at("/next", "text/html", 113, 1),
            at("/api", "application/json", 113, 1),
            at("/api?later", "application/json", 120, 1),
        ];
        let wanted = [
            ("/", 0, false),
            ("/slow.png", 0, true),
            ("/fast.css", 0, true),
            ("/next", 3, false),
            ("/api", 0, false),
            ("/api?later", 6, false),
        ];
        assert_eq!(told(session), expected(&wanted));
    }

    #[test]
    fn requests_come_in_the_order_they_were_started_in() {
        let undated = Candidate { started_ns: None, ..at("/b?undated", "text/css", 0, 0) };
        let session = vec![
            at("/c", "text/html", 30, 0),
            at("/b", "text/html", 20, 0),
            undated,
            at("/a", "text/html", 10, 0),
            at("/b?same", "text/html", 20, 0),
        ];
        let paths: Vec<_> = steps(session).into_iter().map(|step| step.path).collect();
        assert_eq!(paths, ["/a", "/b", "/b?undated", "/b?same", "/c"]);
    }

    #[test]
    fn a_part_without_its_page_stands_alone() {
        let on = |page: &str, candidate: Candidate| Candidate { page: Some(page.into()), ..candidate };
        let session = vec![
            at("/early.css", "text/css", 1, 0),
            on("page_1", at("/", "text/html", 2, 0)),
            on("page_2", at("/other.css", "text/css", 3, 0)),
            on("page_1", at("/late.css", "text/css", 4, 0)),
            at("/early.js", "text/javascript", 5, 0),
        ];
        let embedded: Vec<_> = steps(session).into_iter().map(|step| step.embedded).collect();
        assert_eq!(embedded, [false, false, false, true, false]);
    }

    #[test]
    fn pauses_are_neither_negative_nor_endless() {
        let session = vec![
            at("/", "text/html", -9_000_000_000, 1),
            at("/a", "text/html", 9_000_000_000, i64::MAX),
            at("/b", "text/html", 9_000_000_001, 0),
        ];
        assert_eq!(told(session), expected(&[("/", 0, false), ("/a", 24 * 3600, false), ("/b", 0, false)]));
        let undated =
            vec![Candidate { started_ns: None, ..at("/", "text/html", 0, 0) }, at("/a", "text/html", 99, 0)];
        assert_eq!(told(undated), expected(&[("/", 0, false), ("/a", 0, false)]));
    }
}
