//! Reads recorded web sessions into requests to replay: HAR 1.2 files of browsers and proxies, and the access logs
//! of web servers in the common or combined format.
//!
//! What was recorded is rarely what can be sent: connections have headers of their own, a browser asks other servers
//! as well, bodies are missing. [`read`] keeps what can be replayed as [`Step`]s and counts, with a reason, what it
//! left out. The bytes come from anywhere, so everything a step holds can be sent as it stands: its method is a
//! token, its path origin-form, its headers cannot break out of their lines.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod access_log;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod har;
mod headers;
mod read;
mod skip;
mod step;
mod target;
mod time;

pub use access_log::{from_access_log, LINE_MAX_BYTES};
pub use error::{HarError, LogError, ReadError};
pub use har::from_har;
pub use read::{open, read, Format, HAR_MAX_BYTES};
pub use step::{Recording, Step, MAX_STEPS, THINK_MAX_NS};
