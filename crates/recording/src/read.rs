//! Tells a HAR file from an access log, and reads either.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::access_log::from_access_log;
use crate::error::ReadError;
use crate::har::from_har;
use crate::step::Recording;

/// The longest HAR file that is read: all of it is held at once.
pub const HAR_MAX_BYTES: u64 = 1 << 30;

/// How much of a file is looked at to tell what it is.
const HEAD_BYTES: u64 = 64 * 1024;

/// What a recording was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A HAR file: one visitor's session.
    Har,
    /// An access log: what all visitors asked for.
    AccessLog,
}

/// Reads the file at `path`, which may be a pipe: it is opened and read once. See [`read`].
///
/// # Errors
/// As [`read`], and if there is no such file.
pub fn open(path: &Path, limit: Option<usize>) -> Result<(Format, Recording), ReadError> {
    read(BufReader::with_capacity(HEAD_BYTES as usize, File::open(path)?), limit)
}

/// Reads a HAR file or an access log into its first `limit` steps.
///
/// What begins with `{`, after a byte order mark and blanks, is a HAR file; everything else is an access log.
///
/// # Errors
/// The input cannot be read, or is neither.
pub fn read(mut input: impl BufRead, limit: Option<usize>) -> Result<(Format, Recording), ReadError> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    if head.starts_with(b"\x1f\x8b") {
        return Err(ReadError::Compressed);
    }
    if !begins_as_json(&head) {
        let recording = from_access_log(head.chain(input), limit)?;
        return Ok((Format::AccessLog, recording));
    }
    let bytes = whole(head, input, HAR_MAX_BYTES)?;
    Ok((Format::Har, from_har(&bytes, limit)?))
}

fn begins_as_json(head: &[u8]) -> bool {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start().starts_with(b"{")
}

fn whole(mut head: Vec<u8>, input: impl BufRead, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    input.take((max_bytes + 1).saturating_sub(head.len() as u64)).read_to_end(&mut head)?;
    if head.len() as u64 > max_bytes {
        return Err(ReadError::TooLong);
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    use crate::error::{HarError, LogError};

    const HAR: &[u8] = br#"{"log": {"entries": [{"request": {"method": "GET", "url": "http://a/"},
        "response": {"status": 200}}]}}"#;
    const LOG: &[u8] = b"192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5\n";

    #[test]
    fn the_first_byte_that_is_not_blank_tells_them_apart() {
        for front in ["", "\n \t", "\u{feff}", "\u{feff}\r\n"] {
            let format = |bytes: &[u8]| read(&[front.as_bytes(), bytes].concat()[..], None).unwrap().0;
            assert_eq!((format(HAR), format(LOG)), (Format::Har, Format::AccessLog), "{front:?}");
        }
    }

    #[test]
    fn what_is_longer_than_its_head_is_read_to_the_end() {
        let log = LOG.repeat(5000);
        let (_, recording) = read(BufReader::with_capacity(7, log.as_slice()), None).unwrap();
        assert_eq!(recording.steps.len(), 5000);
        let har = [HAR, &b" ".repeat(100_000)].concat();
        assert_eq!(read(har.as_slice(), None).unwrap().1.steps.len(), 1);
    }

    #[test]
    fn what_is_neither_is_refused_as_what_it_seems_to_be() {
        assert!(matches!(read(&b""[..], None), Err(ReadError::Log(LogError::Empty))));
        assert!(matches!(read(&b"{}"[..], None), Err(ReadError::Har(HarError::NoEntries))));
        assert!(matches!(read(&b"\x1f\x8b\x08"[..], None), Err(ReadError::Compressed)));
        assert!(matches!(read(&b"[1]"[..], None), Err(ReadError::Log(LogError::NotALog { line: 1 }))));
    }

    #[test]
    fn a_file_beyond_all_bounds_is_not_held() {
        let endless = || BufReader::new(io::repeat(b' '));
        assert!(matches!(whole(b"{".to_vec(), endless(), 1000), Err(ReadError::TooLong)));
        assert!(matches!(whole(b"{ }".to_vec(), endless(), 2), Err(ReadError::TooLong)));
        assert_eq!(whole(b"{".to_vec(), &b"}"[..], 2).unwrap(), b"{}");
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_of_reading() {
        assert!(matches!(open(Path::new("/nowhere/at all"), None), Err(ReadError::Io(_))));
        assert!(matches!(open(Path::new("/"), None), Err(ReadError::Io(_))));
    }
}
