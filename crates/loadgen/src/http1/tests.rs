use super::*;

impl Sink for Vec<u8> {
    fn body(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

fn read(pieces: &[&[u8]], to_head: bool) -> Result<(u16, Vec<u8>, Progress, Response), ProtocolError> {
    let (mut response, mut body, mut progress) = (Response::new(), Vec::new(), Progress::More);
    let mut head_cache = HeadCache::default();
    for piece in pieces {
        let request = RequestContext { to_head, head_cache: &mut head_cache };
        progress = response.feed(piece, request, &mut body)?;
    }
    Ok((response.status(), body, progress, response))
}

const DONE: Progress = Progress::Done { surplus: 0 };

const ANSWERS: [(&[u8], u16, &[u8]); 5] = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, b"hello"),
    (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, b""),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
    (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, b"x"),
    (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n\r\n",
        200,
        b"abc",
    ),
];

#[test]
fn an_answer_reads_the_same_wherever_it_is_split() {
    for (bytes, status, expected) in ANSWERS {
        for middle in 0..=bytes.len() {
            let (seen, body, progress, _) = read(&[&bytes[..middle], &bytes[middle..]], false).unwrap();
            let last = if middle == bytes.len() { Progress::Done { surplus: 0 } } else { progress };
            assert_eq!((seen, body.as_slice(), last), (status, expected, DONE), "split at {middle}");
        }
    }
}

#[test]
fn an_answer_reads_the_same_byte_by_byte() {
    for (bytes, status, expected) in ANSWERS {
        let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
        let (seen, body, progress, _) = read(&pieces, false).unwrap();
        assert_eq!((seen, body.as_slice(), progress), (status, expected, DONE));
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    let (_, body, progress, response) = read(&[b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"], true).unwrap();
    assert_eq!((body.len(), progress), (0, DONE));
    assert!(response.keep_alive());
}

#[test]
fn bytes_beyond_the_answer_are_surplus() {
    let (_, body, progress, _) = read(&[b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxyz"], false).unwrap();
    assert_eq!((body.as_slice(), progress), (&b"x"[..], Progress::Done { surplus: 2 }));
}

#[test]
fn a_body_until_close_ends_with_the_connection() {
    let (_, body, progress, mut response) = read(&[b"HTTP/1.1 200 OK\r\n\r\nab", b"cd"], false).unwrap();
    assert_eq!((body.as_slice(), progress), (&b"abcd"[..], Progress::More));
    assert!(!response.keep_alive());
    assert!(response.close());
}

#[test]
fn closing_within_a_head_or_a_sized_body_is_wrong() {
    for bytes in [&b"HTTP/1.1 200"[..], b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"] {
        assert!(!read(&[bytes], false).unwrap().3.close());
    }
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    assert!(!read(&[chunked], false).unwrap().3.close());
}

#[test]
fn a_remembered_head_reads_like_a_parsed_one() {
    let mut head_cache = HeadCache::default();
    let mut read_one = |bytes: &[u8]| {
        let (mut response, mut body) = (Response::new(), Vec::new());
        let request = RequestContext { to_head: false, head_cache: &mut head_cache };
        let progress = response.feed(bytes, request, &mut body).unwrap();
        (response.status(), response.keep_alive(), response.date_s(), body, progress)
    };
    for bytes in [
        &b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\nContent-Length: 2\r\n\r\nab"[..],
        b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:02 GMT\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:02 GMT\r\nContent-Length: 2\r\n\r\na",
        b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:02 GMT\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let parsed = read_one(bytes);
        assert_eq!(parsed, read_one(bytes));
    }
}

#[test]
fn being_told_to_continue_is_seen() {
    let (.., progress, response) = read(&[b"HTTP/1.1 100 Continue\r\n\r\n"], false).unwrap();
    assert!(response.continued() && progress == Progress::More);
    assert!(!read(&[b"HTTP/1.1 103 Early Hints\r\n\r\n"], false).unwrap().3.continued());
}

#[test]
fn what_is_not_http_is_refused() {
    assert!(matches!(read(&[b"SSH-2.0-OpenSSH\r\n"], false), Err(ProtocolError::Head(_))));
    assert!(matches!(read(&[b"HTTP/1.1 101 Switching\r\n\r\n"], false), Err(ProtocolError::Upgrade)));
}

#[test]
fn a_head_without_end_is_refused() {
    let line = format!("X: {}\r\n", "y".repeat(1000));
    let mut pieces: Vec<&[u8]> = vec![b"HTTP/1.1 200 OK\r\n"];
    pieces.extend(std::iter::repeat_n(line.as_bytes(), 1100));
    assert!(matches!(read(&pieces, false), Err(ProtocolError::HeadTooLong)));
    let long = "y".repeat(HEAD_MAX_BYTES + 1);
    let pieces = [&b"HTTP/1.1 200 OK\r\nX: "[..], long.as_bytes()];
    assert!(matches!(read(&pieces, false), Err(ProtocolError::HeadTooLong)));
}

/// Arbitrary bytes, arbitrarily split, end in an answer or an error: never in a panic, and splits do not matter.
#[test]
fn damaged_answers_are_judged_alike_however_they_are_split() {
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut random = move |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % limit as u64) as usize
    };
    for round in 0..20_000 {
        let mut bytes = ANSWERS[round % ANSWERS.len()].0.to_vec();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            bytes[at] = random(256) as u8;
        }
        let (first, second) = (random(bytes.len()), random(bytes.len()));
        let (low, high) = (first.min(second), first.max(second));
        let whole = summary(&[&bytes]);
        assert_eq!(whole, summary(&[&bytes[..low], &bytes[low..high], &bytes[high..]]), "{bytes:?}");
    }
}

/// The complete answer a reader makes of the pieces, if any: it stops at the first error or end, as a connection
/// does. When an error is noticed may depend on the split; that there is no answer may not.
fn summary(pieces: &[&[u8]]) -> Option<(u16, Vec<u8>)> {
    let (mut response, mut body, mut head_cache) = (Response::new(), Vec::new(), HeadCache::default());
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        let request = RequestContext { to_head: false, head_cache: &mut head_cache };
        match response.feed(piece, request, &mut body).ok()? {
            Progress::Done { .. } => return Some((response.status(), body)),
            Progress::More => {}
        }
    }
    None
}
