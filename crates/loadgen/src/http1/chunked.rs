//! The chunked transfer coding, decoded in place. Source: RFC 9112 section 7.1.

use super::HEAD_MAX_BYTES;
use crate::error::ProtocolError;

const TRAILERS_MAX_BYTES: u32 = HEAD_MAX_BYTES as u32;

/// Where in the coding the next byte belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chunked {
    /// In a size line; `digits` hexadecimal digits read so far.
    Size { size: u64, digits: u8 },
    /// In the blanks behind a size: an extension follows, or the line's end.
    Blank { size: u64 },
    /// In a chunk extension, which is ignored.
    Extension { size: u64 },
    /// After the carriage return of a size line.
    SizeEnd { size: u64 },
    /// In a chunk's data.
    Data { left: u64 },
    /// Before the carriage return that ends a chunk's data.
    DataReturn,
    /// Before the line feed that ends a chunk's data.
    DataFeed,
    /// In the trailer section; `line` bytes into a line, `seen` bytes in all.
    Trailer { line: u32, seen: u32 },
    /// After a carriage return in the trailer section.
    TrailerEnd { line: u32, seen: u32 },
    /// The body is over.
    Done,
}

impl Chunked {
    pub const START: Chunked = Chunked::Size { size: 0, digits: 0 };

    /// Decodes from the start of `input`, giving data to `body`; returns how many bytes belonged to the coding.
    pub fn feed(&mut self, input: &[u8], body: &mut impl FnMut(&[u8])) -> Result<usize, ProtocolError> {
        let mut used = 0;
        while used < input.len() && *self != Chunked::Done {
            if let Chunked::Data { left } = self {
                let length = (*left).min((input.len() - used) as u64) as usize;
                body(&input[used..used + length]);
                used += length;
                *left -= length as u64;
                if *left == 0 {
                    *self = Chunked::DataReturn;
                }
            } else {
                *self = self.step(input[used])?;
                used += 1;
            }
        }
        Ok(used)
    }

    /// Where one byte outside of chunk data leads.
    fn step(self, byte: u8) -> Result<Chunked, ProtocolError> {
        use Chunked::{Blank, Data, DataFeed, DataReturn, Done, Extension, Size, SizeEnd, Trailer, TrailerEnd};
        Ok(match (self, byte) {
            (Size { size, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if digits < 16 => {
                let digit = (byte as char).to_digit(16).unwrap_or_default();
                Size { size: size << 4 | u64::from(digit), digits: digits + 1 }
            }
            (Size { size, digits: 1.. } | Blank { size }, b' ' | b'\t') => Blank { size },
            (Size { size, digits: 1.. } | Blank { size }, b';') => Extension { size },
            (Size { size, digits: 1.. } | Blank { size } | Extension { size }, b'\r') => SizeEnd { size },
            (Extension { size }, other) if other == b'\t' || !other.is_ascii_control() => Extension { size },
            (SizeEnd { size: 0 }, b'\n') => Trailer { line: 0, seen: 0 },
            (SizeEnd { size }, b'\n') => Data { left: size },
            (DataReturn, b'\r') => DataFeed,
            (DataFeed, b'\n') => Chunked::START,
            (Trailer { seen: TRAILERS_MAX_BYTES.., .. }, _) => return Err(ProtocolError::HeadTooLong),
            (Trailer { line, seen }, b'\r') => TrailerEnd { line, seen: seen + 1 },
            (Trailer { line, seen }, other) if other != b'\n' => Trailer { line: line + 1, seen: seen + 1 },
            (TrailerEnd { line: 0, .. }, b'\n') => Done,
            (TrailerEnd { seen, .. }, b'\n') => Trailer { line: 0, seen: seen + 1 },
            _ => return Err(ProtocolError::Chunk),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<(Vec<u8>, Chunked, usize), ProtocolError> {
        let (mut state, mut body, mut used) = (Chunked::START, Vec::new(), 0);
        for piece in pieces {
            used += state.feed(piece, &mut |bytes| body.extend_from_slice(bytes))?;
        }
        Ok((body, state, used))
    }

    const WHOLE: &[u8] = b"5\r\nhello\r\n00c;x=\"y\"\r\n, world and \r\n1 \t\r\n!\r\n0 ; y\r\nX: 1\r\nY: 2\r\n\r\n";

    #[test]
    fn chunks_extensions_and_trailers_decode_wherever_they_are_split() {
        for middle in 0..=WHOLE.len() {
            let (body, state, used) = decode(&[&WHOLE[..middle], &WHOLE[middle..]]).unwrap();
            assert_eq!((body.as_slice(), state), (&b"hello, world and !"[..], Chunked::Done));
            assert_eq!(used, WHOLE.len());
        }
    }

    #[test]
    fn bytes_after_the_end_are_left_alone() {
        let (_, state, used) = decode(&[b"0\r\n\r\nHTTP"]).unwrap();
        assert_eq!((state, used), (Chunked::Done, 5));
    }

    #[test]
    fn malformed_chunks_are_refused() {
        let wrong: [&[u8]; 14] = [
            b"\r\n",
            b"g\r\n",
            b"-1\r\n",
            b"5\n",
            b"5 5\r\n",
            b"5 rubbish\r\n",
            b"5\trubbish;x\r\n",
            b"5x\r\n",
            b"5;x\0\r\n",
            b"1\r\nab",
            b"1\r\na\n",
            b";\r\n",
            b"12345678123456781\r\n",
            b"0\r\nX: 1\n\r\n",
        ];
        for input in wrong {
            assert!(decode(&[input]).is_err(), "{:?}", String::from_utf8_lossy(input));
        }
    }

    #[test]
    fn endless_trailers_are_refused() {
        let line = [b'x'; 1024];
        let mut state = Chunked::START;
        state.feed(b"0\r\n", &mut |_| {}).unwrap();
        assert!((0..=1024).any(|_| state.feed(&line, &mut |_| {}).is_err()));
    }
}
