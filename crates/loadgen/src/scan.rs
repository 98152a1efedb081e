//! Searches in what servers send. Under test they count the bytes they look at, so that "in one pass" is counted, not
//! timed.

use memchr::{memchr, memmem};

#[cfg(any(test, feature = "fuzzing"))]
thread_local! {
    static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Where `wanted` stands first.
pub(crate) fn byte(wanted: u8, text: &[u8]) -> Option<usize> {
    counted(text, memchr(wanted, text))
}

/// Where the bytes `wanted` stand first.
pub(crate) fn sequence(wanted: &[u8], text: &[u8]) -> Option<usize> {
    counted(text, memmem::find(text, wanted))
}

/// Where the first byte stands that is `wanted`.
pub(crate) fn first(text: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    counted(text, text.iter().position(|&byte| wanted(byte)))
}

/// Where the first byte stands that is not blank.
pub(crate) fn blanks(text: &[u8]) -> Option<usize> {
    first(text, |byte| !byte.is_ascii_whitespace())
}

/// How many bytes `act` looks at.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn looked_at(act: impl FnOnce()) -> usize {
    let before = LOOKED_AT.get();
    act();
    LOOKED_AT.get() - before
}

#[inline]
fn counted(_text: &[u8], place: Option<usize>) -> Option<usize> {
    #[cfg(any(test, feature = "fuzzing"))]
    LOOKED_AT.set(LOOKED_AT.get() + place.map_or(_text.len(), |place| place + 1));
    place
}
