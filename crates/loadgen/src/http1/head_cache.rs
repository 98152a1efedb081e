//! The head of the last answer to the same request. Servers repeat their heads byte for byte, but for a Date that
//! changes once a second: comparing is many times cheaper than parsing, and equal bytes parse equally.

use super::head::Head;

/// The longest head that is remembered: there is one for each request of the script and each thread.
const CACHED_MAX_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(crate) struct HeadCache {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl HeadCache {
    /// The head that `input` begins with, and its length, if it is the remembered one.
    #[inline]
    pub fn recall(&self, input: &[u8]) -> Option<(Head, usize)> {
        let head = self.head?;
        input.starts_with(&self.bytes).then_some((head, self.bytes.len()))
    }

    /// Remembers a parsed head, if it is not too long for that.
    pub fn keep(&mut self, bytes: &[u8], head: Head) {
        self.head = None;
        self.bytes.clear();
        if bytes.len() > CACHED_MAX_BYTES {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        self.head = Some(head);
    }
}
