//! What the server knows: when every request arrived, and how long it took until its answer departed.
//!
//! Times are kept one by one and not in a histogram: the truth has no resolution of its own.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Beyond this many requests stamps are counted and not kept.
const STAMPS_MAX: usize = 1 << 25;
/// Room from the start, so that memory is not moved while requests wait.
const STAMPS: usize = 1 << 20;

/// Stamps in nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug)]
pub struct Ledger {
    arrivals_ns: Vec<u64>,
    /// Departure − arrival, in the order of departure.
    services_ns: Vec<u64>,
    last_departure_ns: u64,
    unrecorded: u64,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger {
            arrivals_ns: Vec::with_capacity(STAMPS),
            services_ns: Vec::with_capacity(STAMPS),
            last_departure_ns: 0,
            unrecorded: 0,
        }
    }
}

impl Ledger {
    /// A request has arrived.
    pub fn arrive(&mut self, arrived_ns: u64) {
        if self.arrivals_ns.len() < STAMPS_MAX {
            self.arrivals_ns.push(arrived_ns);
        } else {
            self.unrecorded += 1;
        }
    }

    /// Its answer departs.
    pub fn depart(&mut self, arrived_ns: u64, departed_ns: u64) {
        self.last_departure_ns = departed_ns;
        if self.services_ns.len() < STAMPS_MAX {
            self.services_ns.push(departed_ns.saturating_sub(arrived_ns));
        }
    }

    /// JSON, times in seconds. `count` is of answers; `unrecorded` requests are in nothing else.
    pub fn truth(&self) -> String {
        let mut sorted = self.services_ns.clone();
        sorted.sort_unstable();
        let quantile = |q: f64| seconds(quantile_ns(&sorted, q));
        let mean_ns = sorted.iter().sum::<u64>() as f64 / sorted.len().max(1) as f64;
        format!(
            concat!(
                r#"{{"count": {}, "mean": {:.9}, "p50": {:.9}, "p90": {:.9}, "p99": {:.9}, "p999": {:.9}, "#,
                r#""max": {:.9}, "arrived": {}, "unanswered": {}, "unrecorded": {}, "#,
                r#""first_arrival": {:.9}, "last_departure": {:.9}}}"#
            ),
            sorted.len(),
            mean_ns * 1e-9,
            quantile(0.5),
            quantile(0.9),
            quantile(0.99),
            quantile(0.999),
            quantile(1.0),
            self.arrivals_ns.len(),
            self.arrivals_ns.len() - sorted.len(),
            self.unrecorded,
            seconds(self.arrivals_ns.first().copied().unwrap_or(0)),
            seconds(self.last_departure_ns),
        )
    }

    /// Arrivals in the order they came: u64, little endian, nanoseconds.
    pub fn write_arrivals(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for stamp_ns in &self.arrivals_ns {
            file.write_all(&stamp_ns.to_le_bytes())?;
        }
        file.flush()
    }
}

/// The smallest value that at least the fraction `q` of all do not exceed, as the engine defines it; 0 of none.
fn quantile_ns(sorted: &[u64], q: f64) -> u64 {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let sorted: Vec<u64> = (1..=1000).collect();
        assert_eq!([0.0, 0.5, 0.99, 0.999, 1.0].map(|q| quantile_ns(&sorted, q)), [1, 500, 990, 999, 1000]);
        assert_eq!(quantile_ns(&[], 0.5), 0);
    }

    #[test]
    fn the_truth_counts_what_was_answered_and_what_was_not() {
        let mut ledger = Ledger::default();
        ledger.arrive(1_000_000_000);
        ledger.arrive(1_000_000_000);
        ledger.depart(1_000_000_000, 1_002_000_000);
        let truth = ledger.truth();
        assert!(truth.starts_with(r#"{"count": 1, "mean": 0.002000000, "p50": 0.002000000"#), "{truth}");
        assert!(truth.contains(r#""arrived": 2, "unanswered": 1, "unrecorded": 0"#), "{truth}");
        assert!(truth.contains(r#""first_arrival": 1.000000000, "last_departure": 1.002000000"#), "{truth}");
    }

    #[test]
    fn an_empty_ledger_is_all_zeros() {
        assert!(Ledger::default().truth().contains(r#""count": 0, "mean": 0.000000000"#));
    }
}
