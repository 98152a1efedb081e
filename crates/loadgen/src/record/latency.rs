//! A latency distribution that knows which of its values are only lower bounds.
//!
//! A request that timed out, or was unfinished when the window closed, took *at least* its age. Such values are
//! kept twice: in the distribution at their age, and in a second one by themselves. A quantile is a lower bound
//! ("≥") when moving them all to infinity would move it.

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use hdrhistogram::Histogram;
use serde::{de, ser, Deserialize, Serialize};

use crate::error::HistogramError;

/// One hour; longer values count as this.
const HIGHEST_NS: u64 = 3600 * 1_000_000_000;
const DIGITS: u8 = 3;

/// Moving a quantile by less than this is the histogram's own resolution, not a bound.
const TOLERANCE: f64 = 0.01;

/// Values in nanoseconds to three digits, from 1 ns to 1 h.
#[derive(Debug, Clone)]
pub struct Latency {
    all: Histogram<u64>,
    /// Most distributions hold no lower bound, and a histogram is not small.
    at_least: Option<Box<Histogram<u64>>>,
}

/// A quantile in nanoseconds; `censored` when it is only a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// The value.
    pub value_ns: u64,
    /// Whether the true value may be larger.
    pub censored: bool,
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS).expect("constant bounds are valid")
}

impl Default for Latency {
    fn default() -> Self {
        Latency { all: empty(), at_least: None }
    }
}

impl Latency {
    #[inline]
    pub(crate) fn record(&mut self, value_ns: u64) {
        self.all.saturating_record(value_ns);
    }

    /// Records a value that is known only to be `value_ns` or more.
    pub(crate) fn record_at_least(&mut self, value_ns: u64) {
        self.all.saturating_record(value_ns);
        self.bounds().saturating_record(value_ns);
    }

    /// Records `count` values of nearly nothing.
    pub(crate) fn record_zeros(&mut self, count: u64) {
        self.all.saturating_record_n(0, count);
    }

    fn bounds(&mut self) -> &mut Histogram<u64> {
        self.at_least.get_or_insert_with(|| Box::new(empty()))
    }

    /// Adds another distribution.
    ///
    /// # Errors
    /// When `other` was decoded from an encoding with a wider range than the engine records.
    pub fn merge(&mut self, other: &Latency) -> Result<(), HistogramError> {
        self.all.add(&other.all)?;
        if let Some(bounds) = &other.at_least {
            self.bounds().add(&**bounds)?;
        }
        Ok(())
    }

    /// How many values there are, lower bounds included.
    pub fn count(&self) -> u64 {
        self.all.len()
    }

    /// How many of the values are lower bounds.
    pub fn censored_count(&self) -> u64 {
        self.at_least.as_ref().map_or(0, |bounds| bounds.len())
    }

    /// The mean in nanoseconds, 0 when empty; a lower bound if any value is.
    pub fn mean_ns(&self) -> f64 {
        self.all.mean()
    }

    /// The smallest value in nanoseconds, 0 when empty.
    pub fn min_ns(&self) -> u64 {
        self.all.min()
    }

    /// The largest value; censored when it is a lower bound, or when any lower bound may hide a larger one.
    pub fn max(&self) -> Quantile {
        Quantile { value_ns: self.all.max(), censored: self.censored_count() > 0 }
    }

    /// The smallest value that at least the fraction `q` (0 to 1) of all values do not exceed; 0 when empty.
    pub fn quantile(&self, q: f64) -> Quantile {
        let value_ns = self.all.value_at_quantile(q).min(self.all.max());
        Quantile { value_ns, censored: self.reaches_bounds(q, value_ns) }
    }

    /// The non-empty buckets in ascending order: highest value in nanoseconds, and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.all.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
    }

    /// The same without the lower bounds: what is known to have taken so long and no longer.
    pub fn known_buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets().filter_map(|(value_ns, count)| {
            let bounds = self.at_least.as_ref().map_or(0, |bounds| bounds.count_at(value_ns));
            let known = count.saturating_sub(bounds);
            (known > 0).then_some((value_ns, known))
        })
    }

    /// Whether `q` moves when every lower bound is taken as infinite.
    fn reaches_bounds(&self, q: f64, value_ns: u64) -> bool {
        let Some(bounds) = &self.at_least else {
            return false;
        };
        let rank = (q * self.all.len() as f64).ceil() as u64;
        let limit_ns = (value_ns as f64 * (1.0 + TOLERANCE)) as u64;
        let known = self.all.count_between(0, limit_ns) - bounds.count_between(0, limit_ns);
        known < rank
    }

    /// HdrHistogram V2 bytes; lower bounds, if any, follow as a second such histogram that other readers ignore.
    ///
    /// # Errors
    /// When a histogram cannot be encoded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, HistogramError> {
        let mut bytes = Vec::new();
        let mut serializer = V2Serializer::new();
        serializer.serialize(&self.all, &mut bytes)?;
        if let Some(bounds) = &self.at_least {
            serializer.serialize(bounds, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// The same, with a range that ends at the largest value.
    fn narrow(&self) -> Result<Latency, HistogramError> {
        let at_least = self.at_least.as_deref().map(narrow).transpose()?.map(Box::new);
        Ok(Latency { all: narrow(&self.all)?, at_least })
    }

    /// Reads what [`Latency::to_bytes`] wrote, or any single HdrHistogram V2 encoding.
    ///
    /// # Errors
    /// When the bytes are neither, or hold values the engine cannot have recorded.
    pub fn from_bytes(bytes: &[u8]) -> Result<Latency, HistogramError> {
        let read = Latency::decode(bytes)?;
        if is_wide(&read.all) && read.at_least.as_deref().is_none_or(is_wide) {
            return Ok(read);
        }
        let mut latency = Latency::default();
        latency.merge(&read)?;
        Ok(latency)
    }

    /// Reads the same, in the range it was written with: it can be added to others, but not others to it.
    fn decode(mut bytes: &[u8]) -> Result<Latency, HistogramError> {
        let mut deserializer = Deserializer::new();
        let all = deserializer.deserialize(&mut bytes)?;
        let at_least = match bytes {
            [] => None,
            _ => Some(Box::new(deserializer.deserialize(&mut bytes)?)),
        };
        Ok(Latency { all, at_least })
    }
}

fn narrow(wide: &Histogram<u64>) -> Result<Histogram<u64>, HistogramError> {
    let highest = wide.max().max(2); // the least that a histogram may end with
    let mut narrow = Histogram::new_with_bounds(1, highest, DIGITS).expect("these bounds are valid");
    narrow.add(wide)?;
    Ok(narrow)
}

fn is_wide(read: &Histogram<u64>) -> bool {
    (read.low(), read.high(), read.sigfig()) == (1, HIGHEST_NS, DIGITS)
}

/// As part of a recording, which is to be added to others: whoever reads it needs no room for values it has not.
impl Serialize for Latency {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.narrow().and_then(|narrow| narrow.to_bytes());
        serializer.serialize_bytes(&bytes.map_err(ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Latency, D::Error> {
        Latency::decode(<&[u8]>::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(known: &[u64], at_least: &[u64]) -> Latency {
        let mut latency = Latency::default();
        known.iter().for_each(|&value| latency.record(value));
        at_least.iter().for_each(|&value| latency.record_at_least(value));
        latency
    }

    #[test]
    fn what_is_known_leaves_out_lower_bounds() {
        let latency = latency(&[500, 500, 900], &[500, 700]);
        assert_eq!(latency.buckets().collect::<Vec<_>>(), [(500, 3), (700, 1), (900, 1)]);
        assert_eq!(latency.known_buckets().collect::<Vec<_>>(), [(500, 2), (900, 1)]);
    }

    #[test]
    fn quantiles_of_known_values_are_exact() {
        let values: Vec<u64> = (1..=1000).collect();
        let latency = latency(&values, &[]);
        assert_eq!(latency.quantile(0.5), Quantile { value_ns: 500, censored: false });
        assert_eq!(latency.quantile(0.999), Quantile { value_ns: 999, censored: false });
        assert_eq!(latency.max(), Quantile { value_ns: 1000, censored: false });
    }

    #[test]
    fn a_quantile_that_reaches_a_lower_bound_is_one() {
        let mut known = vec![1_000u64; 985];
        known.resize(995, 9_000);
        let latency = latency(&known, &[5_000; 5]);
        assert!(!latency.quantile(0.5).censored && !latency.quantile(0.98).censored);
        assert!(latency.quantile(0.99).censored, "five of the values at 5 µs may be larger");
        assert!(latency.quantile(0.999).censored);
        assert!(latency.max().censored);
    }

    #[test]
    fn lower_bounds_beyond_a_quantile_leave_it_alone() {
        let latency = latency(&[1_000; 999], &[1_000_000]);
        assert_eq!(latency.quantile(0.99), Quantile { value_ns: 1_000, censored: false });
    }

    #[test]
    fn only_lower_bounds_censor_everything() {
        let latency = latency(&[], &[2_000; 100]);
        assert!(latency.quantile(0.01).censored && latency.quantile(0.5).censored);
    }

    #[test]
    fn bytes_carry_the_lower_bounds_along() {
        let before = latency(&[1_000; 10], &[5_000; 90]);
        let after = Latency::from_bytes(&before.to_bytes().unwrap()).unwrap();
        assert_eq!((after.count(), after.censored_count()), (100, 90));
        assert_eq!(after.quantile(0.5), before.quantile(0.5));
        let mut twice = after.clone();
        twice.merge(&before).unwrap();
        assert_eq!((twice.count(), twice.censored_count()), (200, 180));
        assert!(Latency::from_bytes(b"rubbish").is_err() && Latency::from_bytes(b"").is_err());
    }

    #[test]
    fn an_empty_distribution_is_all_zeros() {
        let latency = Latency::default();
        assert_eq!((latency.quantile(0.99).value_ns, latency.max().value_ns, latency.min_ns()), (0, 0, 0));
        assert_eq!(latency.mean_ns(), 0.0);
    }
}
