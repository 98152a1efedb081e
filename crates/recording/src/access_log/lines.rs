//! Splits a log into lines without ever holding more than one of them, or more of it than a server would write.

use std::io::{self, BufRead};

/// The longest line that is read; request line and headers of common servers end at 8 to 32 KiB, escapes quadruple.
pub const LINE_MAX_BYTES: usize = 128 * 1024;

/// The lines of a log one after the other.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// The number of the line read last, from 1.
    pub number: usize,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Lines<R> {
        Lines { input, line: Vec::new(), number: 0 }
    }

    /// The next line without its end; one that is too long comes as what it begins with. `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        loop {
            let block = match self.input.fill_buf() {
                Ok(block) => block,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if block.is_empty() && self.line.is_empty() {
                return Ok(None);
            }
            let feed = block.iter().position(|&byte| byte == b'\n');
            let (used, ends) = feed.map_or((block.len(), block.is_empty()), |at| (at + 1, true));
            let room = (LINE_MAX_BYTES + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(block.get(..used.min(room)).unwrap_or_default());
            self.input.consume(used);
            if ends {
                self.number += 1;
                return Ok(Some(trimmed(&self.line, self.number)));
            }
        }
    }
}

/// Without the line's end, blanks around it, and the byte order mark a text editor may have put before the first.
fn trimmed(line: &[u8], number: usize) -> &[u8] {
    let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    line.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn split(input: impl BufRead) -> Vec<String> {
        let (mut lines, mut found) = (Lines::new(input), Vec::new());
        while let Some(line) = lines.next().unwrap() {
            found.push(String::from_utf8_lossy(line).into_owned());
        }
        assert_eq!(found.len(), lines.number);
        found
    }

    #[test]
    fn lines_end_in_either_way_and_the_last_need_not_end() {
        let text = b"\xef\xbb\xbfa b\r\nc\n\n  \nd";
        assert_eq!(split(&text[..]), ["a b", "c", "", "", "d"]);
        assert_eq!(split(&b"a\n"[..]), ["a"]);
        assert!(split(&b""[..]).is_empty());
    }

    #[test]
    fn it_does_not_matter_how_the_bytes_arrive() {
        let text = b"one\r\ntwo\n\nthree";
        for capacity in 1..20 {
            assert_eq!(split(BufReader::with_capacity(capacity, &text[..])), split(&text[..]), "{capacity}");
        }
    }

    #[test]
    fn an_endless_line_is_not_held() {
        let text = [vec![b'x'; 3 * LINE_MAX_BYTES], b"\nnext".to_vec()].concat();
        let mut lines = Lines::new(BufReader::new(text.as_slice()));
        assert_eq!(lines.next().unwrap().unwrap().len(), LINE_MAX_BYTES + 1);
        assert!(lines.line.capacity() < 3 * LINE_MAX_BYTES);
        assert_eq!(lines.next().unwrap().unwrap(), b"next");
    }
}
