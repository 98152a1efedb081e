//! What must hold of reading a response, and the values in its body, whatever the bytes are; called by crates/fuzz, and
//! by a test for every file of its corpus.

use crate::carried::{take, Handout, Place};
use crate::fields::fields_of;
use crate::http1::{HeadCache, Progress, RequestContext, Response, Sink, HEAD_MAX_BYTES};
use crate::members::members_of;
use crate::scan;

/// Bit of the first byte: the response answers a HEAD.
const TO_HEAD: u8 = 1;

/// Bit of the first byte: the connection closes behind the bytes.
const CLOSES: u8 = 2;

/// Reads the same bytes at once, once more with the head remembered, and in pieces, and asserts that nobody could tell
/// the difference.
///
/// The first byte of `data` holds [`TO_HEAD`], [`CLOSES`] and, in its upper half, how many of the bytes after it are
/// the sizes of pieces less one, used over and over; the rest is what a server sends.
///
/// # Panics
/// The two differ, more bytes were used than given, or more were kept than a head may have.
pub fn response(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    let (sizes, bytes) = rest.split_at(usize::from(first >> 4).min(rest.len()));
    let (to_head, closes) = (first & TO_HEAD != 0, first & CLOSES != 0);
    let mut head_cache = HeadCache::default();
    let at_once = read(std::iter::once(bytes), to_head, closes, &mut head_cache);
    let again = read(std::iter::once(bytes), to_head, closes, &mut head_cache);
    assert_eq!(at_once, again, "it matters that the head is remembered");
    let in_pieces = read(Pieces { bytes, sizes, turn: 0 }, to_head, closes, &mut HeadCache::default());
    assert_eq!(at_once, in_pieces, "it matters how the bytes arrive");
    assert!(at_once.used <= bytes.len() && at_once.body.len() <= at_once.used, "more bytes than were given");
}

/// So many times each byte of a body may be looked at: as what begins a value, as part of values in each kind of quotes,
/// and behind each of 16 characters that may begin a reference.
const LOOKS: usize = 80;

/// Values of a body that are taken out once more, by name and number.
const TAKEN_AGAIN: usize = 8;

/// Reads the named values of a body, and asserts that this takes one pass, that a cut body gives nothing else, that
/// what stands before does not matter, and that each value is found again by its name and number.
///
/// # Panics
/// One of these does not hold.
pub fn fields(data: &[u8]) {
    let looks = scan::looked_at(|| {
        fields_of(data);
        members_of(data);
    });
    assert!(looks <= LOOKS * data.len(), "{looks} looks at {} bytes", data.len());
    let cut = &data[..data.len() / 2];
    let (fields, members) = (fields_of(data), members_of(data));
    assert!(fields.starts_with(&fields_of(cut)), "a cut page has other fields");
    let mut rest = members.iter();
    assert!(members_of(cut).iter().all(|member| rest.any(|other| other == member)), "a cut text has other members");
    let behind = fields_of(&[b"<input type=hidden name=n value=v>", data].concat());
    assert!(
        behind[0] == (b"n".to_vec(), b"v".to_vec(), true) && behind[1..] == fields,
        "what stands before matters"
    );
    assert!(members_of(&[b"n='v';", data].concat()).ends_with(&members), "what stands before matters");
    let fields = fields.into_iter().map(|(name, value, _)| (name, value)).collect::<Vec<_>>();
    taken_again(data, Place::Field, &fields);
    taken_again(data, Place::Member, &members);
}

fn taken_again(body: &[u8], place: Place, values: &[(Vec<u8>, Vec<u8>)]) {
    for (index, (name, value)) in values.iter().enumerate().take(TAKEN_AGAIN) {
        let Ok(text) = String::from_utf8(name.clone()) else { continue };
        let nth = values[..index].iter().filter(|(other, _)| other == name).count();
        let mut taken = Vec::new();
        take(body, &[Handout { place, name: text, nth, slot: 7 }], |slot, value| taken.push((slot, value)));
        assert_eq!(taken, [(7, value.clone())]);
    }
}

/// What the engine would make of a response.
#[derive(Debug, PartialEq, Eq)]
struct Reading {
    end: End,
    status: u16,
    keep_alive: bool,
    date_s: Option<u64>,
    body: Vec<u8>,
    /// Bytes that belonged to the response, if it is complete.
    used: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Complete,
    /// The head is incomplete, or wrong: a wrong one is noticed at the next line feed only.
    NoHead,
    BodyIncomplete,
    BodyWrong,
}

/// Keeps a body, and is deaf to header fields.
struct Body(Vec<u8>);

impl Sink for Body {
    fn body(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

fn read<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    to_head: bool,
    closes: bool,
    head_cache: &mut HeadCache,
) -> Reading {
    let (mut response, mut body, mut given) = (Response::new(), Body(Vec::new()), 0);
    let mut progress = Ok(Progress::More);
    for piece in pieces {
        given += piece.len();
        progress = response.feed(piece, RequestContext { to_head, head_cache: &mut *head_cache }, &mut body);
        assert!(response.held_bytes() <= HEAD_MAX_BYTES + piece.len(), "too much is kept");
        match progress {
            Ok(Progress::More) => {}
            Ok(Progress::Done { surplus }) => {
                assert!(surplus <= piece.len(), "more surplus than was given");
                given -= surplus;
                break;
            }
            Err(_) => break,
        }
    }
    let end = match progress {
        Ok(Progress::Done { .. }) => End::Complete,
        _ if response.status() == 0 => End::NoHead,
        Err(_) => End::BodyWrong,
        Ok(Progress::More) if closes && response.close() => End::Complete,
        Ok(Progress::More) => End::BodyIncomplete,
    };
    let body = body.0;
    let used = if end == End::Complete { given } else { body.len() };
    Reading {
        end,
        status: response.status(),
        keep_alive: response.keep_alive(),
        date_s: response.date_s(),
        body,
        used,
    }
}

/// Cuts bytes into pieces.
struct Pieces<'a> {
    bytes: &'a [u8],
    sizes: &'a [u8],
    turn: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.bytes.is_empty() {
            return None;
        }
        let size = self.sizes.get(self.turn % self.sizes.len().max(1)).map_or(1, |&size| usize::from(size) + 1);
        let (piece, rest) = self.bytes.split_at(size.min(self.bytes.len()));
        (self.bytes, self.turn) = (rest, self.turn + 1);
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    fn corpus(target: &str, check: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
        let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty());
        files.iter().for_each(|file| check(&std::fs::read(file).unwrap()));
    }

    #[test]
    fn every_file_of_the_corpus_reads_the_same_however_it_arrives() {
        corpus("response", super::response);
    }

    #[test]
    fn every_body_of_the_corpus_is_read_in_one_pass() {
        corpus("fields", super::fields);
    }

    #[test]
    fn an_endless_head_is_not_kept() {
        for line in [&b"HTTP/1.1 200 OK\r\nX: y"[..], b"HTTP/1.1 200 OK\r\nX: y\r\n", b"x"] {
            let endless = [b"\x12\xff", line, &b"z".repeat(100_000)].concat();
            super::response(&endless);
        }
    }
}
