//! A load engine for HTTP/1.1 that accounts for every request it scheduled.
//!
//! A [`Plan`] says everything beforehand: a [`Pacer`] decides *when* a request is due, a [`Stop`] rule *until* when,
//! an [`Address`] *how* bytes travel. [`run`] plays it and returns a [`Report`]. Requests that fail are data, not
//! errors: `scheduled = ok + non2xx + Σ failed + timed_out + in_flight + unsent` holds for every run.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod alarms;
mod ask;
mod books;
mod carried;
mod ceiling;
mod check;
mod clock;
mod connection;
mod cookies;
mod cursor;
mod deadlines;
mod engine;
mod error;
mod fields;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod gate;
mod host;
mod http1;
mod members;
mod monitor;
mod nonce;
mod null_server;
mod pacer;
mod parts;
mod plan;
mod record;
mod recording;
mod report;
mod request;
mod scan;
mod script;
mod stop;
mod timer;
mod timer_wheel;
mod token;
mod transport;
mod visitor;
mod window;
mod worker;

pub use ask::{ask, Answer};
pub use carried::{Fill, Handout, Part, Place, Source};
pub use ceiling::Ceiling;
pub use check::{BodyRule, Expectation};
pub use clock::{MILLISECOND_NS, SECOND_NS};
pub use engine::{record, run};
pub use error::{AskError, HistogramError, PlanError, RecordingError, RunError};
pub use fields::fields_of;
pub use monitor::{Monitor, Snapshot};
pub use nonce::{Nonce, NoncePlace};
pub use null_server::NullServer;
pub use pacer::Pacer;
pub use plan::{Order, OtherThreads, Plan, Reuse, Target, BODY_MAX_BYTES};
pub use record::{Bin, Counters, Counts, FailureStage, Latency, Quantile, TargetReport, BIN_NS};
pub use recording::Recording;
pub use report::Report;
pub use request::Request;
pub use stop::Stop;
pub use transport::{Address, Tls, TlsVersion};
