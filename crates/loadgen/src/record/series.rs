//! The run in 100 ms bins: what finished, what went wrong, what was still under way.

use serde::{Deserialize, Serialize};

use super::sketch::{self, Sketch};
use crate::clock::MILLISECOND_NS;

/// The width of a bin.
pub const BIN_NS: u64 = 100 * MILLISECOND_NS;

/// One bin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Right answers.
    pub ok: u64,
    /// Requests answered wrongly or not at all.
    pub errors: u64,
    /// Requests under way at the bin's end.
    pub in_flight: u64,
    buckets: Vec<(u16, u32)>,
}

impl Bin {
    /// The quantile `q` (0 to 1) of right answers' latencies in nanoseconds, within 0.8 %; 0 when there are none.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        sketch::quantile(&self.buckets, q)
    }
}

/// Bins on their way; a bin is closed when time moves past it.
#[derive(Debug, Default)]
pub(crate) struct Series {
    bins: Vec<Bin>,
    sketch: Sketch,
    ok: u64,
    errors: u64,
}

impl Series {
    #[inline]
    pub fn ok(&mut self, latency_ns: u64) {
        self.ok += 1;
        self.sketch.record(latency_ns);
    }

    pub fn error(&mut self) {
        self.errors += 1;
    }

    /// Closes the current bin; returns its (ok, errors).
    pub fn close_bin(&mut self, in_flight: u64) -> (u64, u64) {
        let (ok, errors) = (std::mem::take(&mut self.ok), std::mem::take(&mut self.errors));
        self.bins.push(Bin { ok, errors, in_flight, buckets: self.sketch.drain() });
        (ok, errors)
    }

    pub fn into_bins(self) -> Vec<Bin> {
        self.bins
    }
}

/// Adds another thread's bins; a thread that ended earlier has nothing under way in the later ones.
pub(crate) fn merge(bins: &mut Vec<Bin>, other: Vec<Bin>) {
    for (index, from) in other.into_iter().enumerate() {
        let Some(bin) = bins.get_mut(index) else {
            bins.push(from);
            continue;
        };
        bin.ok += from.ok;
        bin.errors += from.errors;
        bin.in_flight += from.in_flight;
        sketch::merge(&mut bin.buckets, &from.buckets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_threads_add_up() {
        let (mut one, mut two) = (Series::default(), Series::default());
        one.ok(1000);
        one.error();
        assert_eq!(one.close_bin(3), (1, 1));
        two.ok(3000);
        two.close_bin(1);
        two.close_bin(2);
        let mut bins = one.into_bins();
        merge(&mut bins, two.into_bins());
        assert_eq!((bins[0].ok, bins[0].errors, bins[0].in_flight), (2, 1, 4));
        assert_eq!((bins[1].ok, bins[1].in_flight), (0, 2));
        assert!(bins[0].quantile_ns(0.99) > 2_900);
    }
}
