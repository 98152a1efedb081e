//! A small latency sketch for one bin of the time series: 64 buckets per octave, values within 0.8 %.

const BITS: u32 = 6;
const OCTAVES: usize = 42;
const BUCKETS: usize = (OCTAVES - BITS as usize + 1) << BITS;

/// Counts by bucket; cleared when drained, so one serves all bins of a thread.
#[derive(Debug)]
pub(crate) struct Sketch {
    counts: Box<[u32; BUCKETS]>,
    count: u32,
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch { counts: Box::new([0; BUCKETS]), count: 0 }
    }
}

impl Sketch {
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.counts[bucket(value_ns)] += 1;
        self.count += 1;
    }

    /// The non-empty buckets, leaving the sketch empty.
    pub fn drain(&mut self) -> Vec<(u16, u32)> {
        if self.count == 0 {
            return Vec::new();
        }
        let filled = (0..BUCKETS).filter(|&index| self.counts[index] > 0);
        let drained = filled.map(|index| (index as u16, self.counts[index])).collect();
        self.counts.fill(0);
        self.count = 0;
        drained
    }
}

/// The quantile `q` of drained buckets in ascending order, in nanoseconds; 0 when there are none.
pub(crate) fn quantile(buckets: &[(u16, u32)], q: f64) -> u64 {
    let total: u64 = buckets.iter().map(|&(_, count)| u64::from(count)).sum();
    let rank = ((q * total as f64).ceil() as u64).max(1);
    let mut cumulative = 0;
    for &(index, count) in buckets {
        cumulative += u64::from(count);
        if cumulative >= rank {
            return middle(usize::from(index));
        }
    }
    0
}

/// Adds the buckets of `other` to `buckets`; both stay in ascending order.
pub(crate) fn merge(buckets: &mut Vec<(u16, u32)>, other: &[(u16, u32)]) {
    for &(index, count) in other {
        match buckets.binary_search_by_key(&index, |&(index, _)| index) {
            Ok(position) => buckets[position].1 += count,
            Err(position) => buckets.insert(position, (index, count)),
        }
    }
}

#[inline]
fn bucket(value_ns: u64) -> usize {
    if value_ns < 1 << BITS {
        return value_ns as usize;
    }
    let shift = 63 - value_ns.leading_zeros() - BITS;
    (((shift as usize) << BITS) + (value_ns >> shift) as usize).min(BUCKETS - 1)
}

fn middle(index: usize) -> u64 {
    if index < 1 << BITS {
        return index as u64;
    }
    let shift = (index >> BITS) as u32 - 1;
    let low = (index as u64 - (u64::from(shift) << BITS)) << shift;
    low + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_represents_its_values_within_a_percent() {
        let mut value = 1u64;
        while value < 3600 * 1_000_000_000 {
            let seen = middle(bucket(value)) as f64;
            assert!((seen - value as f64).abs() <= value as f64 * 0.008, "{value}");
            value += value / 7 + 1;
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_ascend_with_their_values() {
        let values: Vec<usize> = (0..5000u64).map(bucket).collect();
        assert!(values.is_sorted());
        assert!(values.windows(2).all(|pair| pair[1] - pair[0] <= 1));
    }

    #[test]
    fn draining_empties_and_merging_adds() {
        let mut sketch = Sketch::default();
        (1..=100).for_each(|value| sketch.record(value * 1000));
        let mut first = sketch.drain();
        assert!(sketch.drain().is_empty());
        assert!((quantile(&first, 0.5) as f64 - 50_000.0).abs() < 500.0);
        (901..=1000).for_each(|value| sketch.record(value * 1000));
        merge(&mut first, &sketch.drain());
        assert!((quantile(&first, 0.99) as f64 - 998_000.0).abs() < 9_000.0);
        assert!(first.is_sorted());
        assert_eq!(quantile(&[], 0.5), 0);
    }
}
