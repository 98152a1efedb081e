//! What a run saw, recorded per thread without locks and merged at the end.

mod arrivals;
mod connections;
mod counters;
mod counts;
mod latency;
mod pages;
mod series;
mod sketch;
mod tally;
mod target;

pub use counters::Counters;
pub use counts::{Counts, FailureStage};
pub use latency::{Latency, Quantile};
pub use series::{Bin, BIN_NS};
pub use target::TargetReport;

pub(crate) use arrivals::Arrivals;
pub(crate) use connections::ConnectionStats;
pub(crate) use counts::Outcome;
pub(crate) use pages::Pages;
pub(crate) use series::merge as merge_bins;
pub(crate) use tally::{Tally, Times};
