//! What a right answer looks like, and the running comparison of one answer with it.

use std::sync::Arc;

use crate::parts::PartsCheck;

/// What is expected of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expectation {
    /// The status; `None` accepts any 2xx.
    pub status: Option<u16>,
    /// The body.
    pub body: BodyRule,
}

/// What is expected of an answer's body, after framing is removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BodyRule {
    /// Nothing.
    #[default]
    Any,
    /// This many bytes, whatever they are.
    Length(u64),
    /// Exactly these bytes.
    Exact(Arc<[u8]>),
    /// It starts with the first of these at least two parts, ends with the last, and has the others between them in
    /// their order.
    Parts(Arc<[Vec<u8>]>),
}

impl Expectation {
    #[inline]
    pub(crate) fn allows_status(&self, status: u16) -> bool {
        match self.status {
            Some(expected) => status == expected,
            None => (200..300).contains(&status),
        }
    }
}

/// How far the comparison of a body has come. Every byte is compared as it arrives.
#[derive(Debug, Default)]
pub(crate) struct BodyCheck {
    length: u64,
    differs: bool,
    parts: Option<Box<PartsCheck>>,
}

impl BodyCheck {
    #[inline]
    pub fn restart(&mut self) {
        self.length = 0;
        self.differs = false;
        if let Some(parts) = &mut self.parts {
            parts.restart();
        }
    }

    #[inline]
    pub fn feed(&mut self, rule: &BodyRule, bytes: &[u8]) {
        match rule {
            BodyRule::Exact(expected) => {
                let start = self.length.min(expected.len() as u64) as usize;
                self.differs |= !expected[start..].starts_with(bytes);
            }
            BodyRule::Parts(parts) => self.parts.get_or_insert_default().feed(parts, bytes),
            BodyRule::Any | BodyRule::Length(_) => {}
        }
        self.length += bytes.len() as u64;
    }

    /// How many bytes have come.
    #[inline]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether the finished body is the expected one.
    #[inline]
    pub fn is_right(&mut self, rule: &BodyRule) -> bool {
        match rule {
            BodyRule::Any => true,
            BodyRule::Length(length) => self.length == *length,
            BodyRule::Exact(expected) => !self.differs && self.length == expected.len() as u64,
            BodyRule::Parts(parts) => self.parts.get_or_insert_default().is_right(parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(rule: &BodyRule, pieces: &[&[u8]]) -> bool {
        let mut check = BodyCheck::default();
        pieces.iter().for_each(|piece| check.feed(rule, piece));
        check.is_right(rule)
    }

    #[test]
    fn an_exact_body_may_come_in_pieces_but_must_be_whole() {
        let rule = BodyRule::Exact(Arc::from(&b"hello"[..]));
        assert!(right(&rule, &[b"hello"]));
        assert!(right(&rule, &[b"h", b"", b"ell", b"o"]));
        assert!(!right(&rule, &[b"hell"]));
        assert!(!right(&rule, &[b"hello", b"!"]));
        assert!(!right(&rule, &[b"hello!"]));
        assert!(!right(&rule, &[b"jello"]));
        assert!(!right(&rule, &[b"hel", b"p!"]));
        assert!(!right(&rule, &[]));
    }

    #[test]
    fn fixed_parts_may_have_anything_between_them() {
        let rule = BodyRule::Parts([b"a".to_vec(), b"z".to_vec()].into());
        assert!(right(&rule, &[b"a-", b"-z"]) && right(&rule, &[b"az"]));
        assert!(!right(&rule, &[b"a-"]) && !right(&rule, &[]));
    }

    #[test]
    fn a_length_counts_bytes_only() {
        assert!(right(&BodyRule::Length(3), &[b"a", b"bc"]));
        assert!(!right(&BodyRule::Length(3), &[b"ab"]));
        assert!(right(&BodyRule::Any, &[b"ab"]));
    }

    #[test]
    fn any_2xx_is_right_unless_one_status_is_expected() {
        assert!(Expectation::default().allows_status(204));
        assert!(!Expectation::default().allows_status(304));
        let found = Expectation { status: Some(302), body: BodyRule::Any };
        assert!(found.allows_status(302) && !found.allows_status(200));
    }
}
