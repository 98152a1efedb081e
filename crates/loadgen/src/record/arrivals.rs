//! Whether requests went out at random moments, or evenly, as the pacer meant them to.

use serde::{Deserialize, Serialize};

use crate::clock::MILLISECOND_NS;

const CELLS: usize = 4096;

/// When requests went out, counted in cells of equal width that tile the window. As the window grows beyond the
/// cells, pairs of them are joined, so that memory is bounded and nothing needs to be known of the window's length.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Arrivals {
    width_ns: u64,
    cells: Vec<u64>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Arrivals { width_ns: MILLISECOND_NS / 16, cells: Vec::new() }
    }
}

impl Arrivals {
    /// A request went out so long after the window's opening.
    #[inline]
    pub fn record(&mut self, offset_ns: u64) {
        if self.cells.is_empty() {
            self.cells.resize(CELLS, 0);
        }
        while offset_ns / self.width_ns >= CELLS as u64 {
            self.widen();
        }
        self.cells[(offset_ns / self.width_ns) as usize] += 1;
    }

    pub fn merge(&mut self, other: &Arrivals) {
        let mut other = other.clone();
        if other.cells.is_empty() {
            return;
        }
        if self.cells.is_empty() {
            *self = other;
            return;
        }
        while self.width_ns < other.width_ns {
            self.widen();
        }
        while other.width_ns < self.width_ns {
            other.widen();
        }
        self.cells.iter_mut().zip(other.cells).for_each(|(sum, part)| *sum += part);
    }

    /// The distance D of Kolmogorov and Smirnov to the uniform distribution over `span_ns`, looked at where cells
    /// end: at most the true D. `None` without requests.
    ///
    /// Given their number, the moments of a Poisson process are uniform; those on a grid are more than that.
    /// Source: Cox & Lewis, "The Statistical Analysis of Series of Events", 1966, section 6.2.
    pub fn distance(&self, span_ns: u64) -> Option<f64> {
        let total: u64 = self.cells.iter().sum();
        if total == 0 || span_ns == 0 {
            return None;
        }
        let mut before = 0;
        let mut distance = 0.0_f64;
        for (index, count) in self.cells.iter().enumerate() {
            before += count;
            let end = ((index as u64 + 1) * self.width_ns) as f64 / span_ns as f64;
            distance = distance.max((end.min(1.0) - before as f64 / total as f64).abs());
        }
        Some(distance)
    }

    fn widen(&mut self) {
        for index in 0..CELLS / 2 {
            self.cells[index] = self.cells[2 * index] + self.cells[2 * index + 1];
        }
        self.cells[CELLS / 2..].fill(0);
        self.width_ns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SECOND_NS;

    fn of(moments: impl Iterator<Item = u64>) -> Arrivals {
        let mut arrivals = Arrivals::default();
        moments.for_each(|offset_ns| arrivals.record(offset_ns));
        arrivals
    }

    #[test]
    fn an_even_stream_is_next_to_uniform_however_long_it_lasts() {
        for seconds in [1, 10, 1000] {
            let span_ns = seconds * SECOND_NS;
            let arrivals = of((0..1000).map(|number| number * span_ns / 1000));
            assert!(arrivals.distance(span_ns).unwrap() <= 0.0011, "{seconds}");
        }
    }

    #[test]
    fn a_silent_quarter_shows_as_what_it_is() {
        let late = (0..1000).map(|number| SECOND_NS / 4 + number * SECOND_NS / 1000 * 3 / 4);
        let distance = of(late).distance(SECOND_NS).unwrap();
        assert!((distance - 0.25).abs() < 0.001, "{distance}");
    }

    #[test]
    fn threads_of_different_length_add_up() {
        let mut short = of((0..500).map(|number| number * SECOND_NS / 50_000));
        short.merge(&of((0..500).map(|number| number * SECOND_NS / 500)));
        short.merge(&Arrivals::default());
        let mut other = Arrivals::default();
        other.merge(&short);
        assert!((other.distance(SECOND_NS).unwrap() - 0.495).abs() < 0.005);
        assert_eq!(Arrivals::default().distance(SECOND_NS), None);
    }
}
