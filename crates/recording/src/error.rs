//! What can go wrong, one enum per operation: reading a HAR file, an access log, a file that may be either.

use std::io;

use thiserror::Error;

use crate::read::HAR_MAX_BYTES;
use crate::step::MAX_STEPS;

/// A HAR file that cannot be replayed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HarError {
    /// Not JSON, or not the shape of a HAR file; tells line and column.
    #[error("it is not a whole HAR 1.2 file ({0}); export the session again")]
    Syntax(#[from] serde_json::Error),
    /// JSON without `log.entries`.
    #[error("it is JSON without a list log.entries; export the session as HAR 1.2")]
    NoEntries,
    /// More entries than can be held.
    #[error("it has more than {MAX_STEPS} entries; record a shorter session")]
    TooMany,
    /// Nothing was recorded.
    #[error(
        "its list log.entries is empty; reload the page while the network panel or the proxy records, then export"
    )]
    Empty,
    /// Nothing of what was recorded can be replayed.
    #[error("none of its {entries} entries can be replayed, most often as: {reason}; the first is entry {entry}; record plain http or https pages")]
    Nothing {
        /// Entries in the file.
        entries: usize,
        /// The reason met most often.
        reason: &'static str,
        /// The first entry left out for that reason, counted from 1.
        entry: usize,
    },
}

/// An access log that cannot be replayed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The log could not be read to its end.
    #[error("it cannot be read ({0}); check the file and the disk it is on")]
    Read(#[from] io::Error),
    /// Nothing but blank lines.
    #[error("it is empty; give a HAR file, or an access log with requests in it")]
    Empty,
    /// No line is one of an access log.
    #[error(
        "line {line} is not of the common or combined log format, nor is any after it; write lines like: \
         192.0.2.7 - - [10/Oct/2026:13:55:36 +0000] \"GET /path HTTP/1.1\" 200 2326"
    )]
    NotALog {
        /// The first line that is not blank, counted from 1.
        line: usize,
    },
    /// There are requests, but none that can be replayed.
    #[error("none of its requests can be replayed, most often as: {reason}; the first is in line {line}; give a log with GET requests")]
    Nothing {
        /// The reason met most often.
        reason: &'static str,
        /// The first line left out for that reason, counted from 1.
        line: usize,
    },
    /// More requests than can be held.
    #[error("line {line} holds the request after the {MAX_STEPS}th, and no more can be replayed; limit their number, or cut the log")]
    TooMany {
        /// The line, counted from 1.
        line: usize,
    },
}

/// A file that cannot be replayed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be read.
    #[error("it cannot be read ({0}); give a HAR file or an access log")]
    Io(#[from] io::Error),
    /// A compressed file.
    #[error("it is compressed with gzip; unpack it first with gunzip")]
    Compressed,
    /// More than can be held at once.
    #[error("it is a HAR file of more than {} MiB; record a shorter session, or without answers' bodies", HAR_MAX_BYTES >> 20)]
    TooLong,
    /// It begins as a HAR file does.
    #[error(transparent)]
    Har(#[from] HarError),
    /// It does not.
    #[error(transparent)]
    Log(#[from] LogError),
}
