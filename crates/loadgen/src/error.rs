//! What can go wrong, one enum per operation: checking a plan, running it, reading a response.

use std::io;

use thiserror::Error;

/// A plan that cannot be run as it stands.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No target was given.
    #[error("the plan names no request; give at least one target")]
    NoTargets,
    /// No connections were asked for.
    #[error("the plan asks for 0 connections; ask for at least 1")]
    NoConnections,
    /// No threads, or more than there are connections to split.
    #[error("{threads} threads cannot share {connections} connections; use 1 to {connections} threads")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// Connections asked for.
        connections: usize,
    },
    /// A request would never be given any time.
    #[error("the timeout is 0; give every request some time to be answered")]
    NoTimeout,
    /// An open loop without a usable rate.
    #[error("{rate_per_s} requests per second is no rate; use a finite number above 0")]
    Rate {
        /// The rate asked for.
        rate_per_s: f64,
    },
    /// A body that is to be compared by parts has fewer than two.
    #[error(
        "a body with dynamic parts needs a fixed part on each side of them, even if it is empty; give two or more"
    )]
    Parts,
    /// A method, path or header that would break out of its line.
    #[error("{part} {text:?} cannot be part of a request; remove control characters and line breaks")]
    Request {
        /// Which part of the request.
        part: &'static str,
        /// Its text.
        text: String,
    },
    /// A place for what a visitor was given that is not in its request.
    #[error("bytes {range:?} are no place in that part of the request; give a range inside a path, header or measured body")]
    Fill {
        /// The bytes meant.
        range: std::ops::Range<usize>,
    },
    /// A server name that TLS could neither send nor look for.
    #[error("{0:?} is no host name and no IP address; give the name in the server's certificate, without port and brackets")]
    TlsName(String),
    /// Trusted certificates that cannot be read.
    #[error(
        "the certificates to trust cannot be read ({reason}); give PEM, with a BEGIN CERTIFICATE block for each"
    )]
    TlsAuthorities {
        /// What is wrong, and with which one.
        reason: String,
    },
    /// No version of TLS was given.
    #[error("the plan allows no version of TLS; allow 1.2, 1.3 or both")]
    TlsVersion,
}

/// A run that could not be started or carried on. Failures of requests are not errors: they are counted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The plan is wrong.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Connections would exceed the limit on open files.
    #[error("{needed} open files are needed but RLIMIT_NOFILE is {limit}; raise it with `ulimit -n {needed}`, or use fewer connections")]
    OpenFiles {
        /// Files needed, including those open already.
        needed: u64,
        /// The soft limit.
        limit: u64,
    },
    /// A thread may not run where it was told to.
    #[error("cannot run on cores {cores:?} ({source}); choose from those `nproc` and the cgroup allow")]
    Pin {
        /// The cores asked for.
        cores: Vec<usize>,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel's readiness queue failed.
    #[error("epoll failed ({0}); check RLIMIT_NOFILE and fs.epoll.max_user_watches")]
    Poll(#[source] io::Error),
    /// The null server could not be started.
    #[error("cannot start the null server that the engine's ceiling is measured against ({0})")]
    NullServer(#[source] io::Error),
    /// A thread could not be started.
    #[error("cannot start a thread ({0}); check RLIMIT_NPROC and the cgroup's pids.max")]
    Spawn(#[source] io::Error),
    /// The threads' distributions could not be merged.
    #[error(transparent)]
    Merge(#[from] HistogramError),
    /// A thread of the engine panicked.
    #[error("a thread of the load engine panicked; this is a bug in the engine, please report it")]
    Panic,
}

/// A request that got no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AskError {
    /// There was no connection, or it broke.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The head of the answer, or its trailers, are larger than a run takes.
    #[error("the head is larger than a run takes; have the application send fewer headers")]
    HeadTooLong,
    /// What came is no answer.
    #[error("{0}")]
    Answer(String),
}

impl From<ProtocolError> for AskError {
    fn from(error: ProtocolError) -> AskError {
        match error {
            ProtocolError::HeadTooLong => AskError::HeadTooLong,
            other => AskError::Answer(other.to_string()),
        }
    }
}

/// A recording that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The bytes are none, or of another version.
    #[error("these bytes are no recording of this version; let all machines have the same version")]
    Foreign,
    /// The bytes are damaged.
    #[error("the recording cannot be read or written ({0}); it may have been cut off")]
    Damaged(#[from] postcard::Error),
    /// There was nothing to join.
    #[error("there is no recording to join; give one at least")]
    None,
    /// The recordings are of different loads.
    #[error("the recordings are of different requests or loops; join only those of one load")]
    Strangers,
    /// Two histograms do not fit one another.
    #[error(transparent)]
    Merge(#[from] HistogramError),
}

/// Bytes that are no valid response; counted as failures of stage `protocol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum ProtocolError {
    #[error("its head is malformed ({0}); does the port speak HTTP?")]
    Head(httparse::Error),
    #[error("its head is larger than we take (1,000 fields, 1 MiB); have the application send fewer headers")]
    HeadTooLong,
    #[error("Content-Length is no number, or is given twice; fix what sets it")]
    ContentLength,
    #[error("a chunk of the body is malformed; fix what encodes it")]
    Chunk,
    #[error("the server switched protocols without being asked; use a target that answers over HTTP")]
    Upgrade,
}

/// A saved distribution that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// The bytes are no encoded histogram.
    #[error("these bytes are no HdrHistogram V2 encoding ({0}); pass what an engine result holds")]
    Decode(#[from] hdrhistogram::serialization::DeserializeError),
    /// The histogram could not be encoded.
    #[error("the histogram could not be encoded ({0}); it holds too many values")]
    Encode(#[from] hdrhistogram::serialization::V2SerializeError),
    /// Two histograms do not fit one another.
    #[error("the histograms do not fit one another ({0}); merge only those the engine recorded")]
    Merge(#[from] hdrhistogram::errors::AdditionError),
}
