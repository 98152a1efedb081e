//! Compares a body with its fixed parts while it arrives: what is between them may be anything.
//!
//! Only bytes that may still begin a part are kept, so memory is bounded by a part and a piece.

use memchr::memmem;

#[derive(Debug, Default)]
pub(crate) struct PartsCheck {
    /// The part that is looked for next.
    next: usize,
    /// Bytes that no part has claimed yet.
    tail: Vec<u8>,
    differs: bool,
}

impl PartsCheck {
    pub fn restart(&mut self) {
        self.next = 0;
        self.tail.clear();
        self.differs = false;
    }

    /// Takes the next bytes of the body in; `parts` are at least two and the same at every call.
    pub fn feed<P: AsRef<[u8]>>(&mut self, parts: &[P], bytes: &[u8]) {
        if self.differs {
            return;
        }
        self.tail.extend_from_slice(bytes);
        self.take_first(parts);
        while self.next > 0 && self.next + 1 < parts.len() {
            let part = parts[self.next].as_ref();
            let Some(at) = memmem::find(&self.tail, part) else {
                return self.let_go(part.len().saturating_sub(1));
            };
            self.claim(at + part.len());
        }
        if let (true, Some(last)) = (self.next > 0, parts.last()) {
            self.let_go(last.as_ref().len());
        }
    }

    /// Whether the finished body has all parts, the last one at its end.
    pub fn is_right<P: AsRef<[u8]>>(&mut self, parts: &[P]) -> bool {
        self.feed(parts, b"");
        let ends = parts.last().is_some_and(|last| self.tail.ends_with(last.as_ref()));
        !self.differs && self.next + 1 == parts.len() && ends
    }

    /// The first part stands at the very beginning.
    fn take_first<P: AsRef<[u8]>>(&mut self, parts: &[P]) {
        let Some(first) = parts.first().map(AsRef::as_ref).filter(|_| self.next == 0) else {
            return;
        };
        let length = self.tail.len().min(first.len());
        if self.tail[..length] != first[..length] {
            self.differs = true;
        } else if length == first.len() {
            self.claim(length);
        }
    }

    fn claim(&mut self, length: usize) {
        self.tail.drain(..length);
        self.next += 1;
    }

    /// Forgets all but the last `keep` bytes.
    fn let_go(&mut self, keep: usize) {
        self.tail.drain(..self.tail.len().saturating_sub(keep));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In one piece, in two at every place, and byte by byte.
    fn right(parts: &[&str], body: &str) -> bool {
        let judge = |pieces: &[&[u8]]| {
            let mut check = PartsCheck::default();
            pieces.iter().for_each(|piece| check.feed(parts, piece));
            check.is_right(parts)
        };
        let body = body.as_bytes();
        let verdict = judge(&[body]);
        for middle in 0..=body.len() {
            assert_eq!(judge(&[&body[..middle], &body[middle..]]), verdict, "split at {middle}");
        }
        assert_eq!(judge(&body.chunks(1).collect::<Vec<_>>()), verdict);
        verdict
    }

    #[test]
    fn parts_must_come_in_order_with_anything_between() {
        let parts = ["<p>token=", "</p><b>", "</b>"];
        assert!(right(&parts, "<p>token=abc</p><b>now</b>"));
        assert!(right(&parts, "<p>token=</p><b></b>"));
        assert!(right(&parts, "<p>token=</p><b></b> </b>"));
        assert!(!right(&parts, "<p>token=abc</p><b>now</b> "));
        assert!(!right(&parts, " <p>token=abc</p><b>now</b>"));
        assert!(!right(&parts, "<p>token=abc</p>now</b>"));
        assert!(!right(&parts, "<p>token=abc</b></p><b>"));
        assert!(!right(&parts, "<p>tok"));
        assert!(!right(&parts, ""));
    }

    #[test]
    fn parts_do_not_overlap() {
        assert!(!right(&["aa", "aa"], "aaa"));
        assert!(right(&["aa", "aa"], "aaaa"));
        assert!(!right(&["", "ab", "b"], "ab"));
        assert!(right(&["", "ab", "b"], "xabb"));
    }

    #[test]
    fn empty_ends_leave_both_ends_open() {
        assert!(right(&["", "needle", ""], "hay needle hay"));
        assert!(!right(&["", "needle", ""], "hay nee dle hay"));
        assert!(right(&["", ""], "") && right(&["", ""], "anything"));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut check = PartsCheck::default();
        for _ in 0..1000 {
            check.feed(&["", "needle", ""], &[b'n'; 1000]);
            assert!(check.tail.len() <= 6);
        }
    }
}
