//! A number that no other request of the run has: an answer that repeats it was made for that request.

use crate::error::PlanError;
use crate::token::is_token;

/// The length of a nonce: a 64-bit number in hexadecimal.
pub(crate) const NONCE_BYTES: usize = 16;

/// Where a request carries its nonce. The answer must repeat it, in a header called `name` or in its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonce {
    /// The part of the request.
    pub place: NoncePlace,
    /// The name of the header or of the query parameter.
    pub name: String,
}

/// A part of the request that may carry a nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoncePlace {
    /// A header.
    Header,
    /// A parameter in the query.
    Query,
}

impl Nonce {
    pub(crate) fn validate(&self) -> Result<(), PlanError> {
        if is_token(&self.name) && !self.name.contains(['&', '#', '%', '+']) {
            return Ok(());
        }
        Err(PlanError::Request { part: "nonce name", text: self.name.clone() })
    }
}

/// The nonces of one thread: SplitMix64 maps the numbers of requests one to one, so none comes twice.
/// Source: Steele, Lea & Flood 2014.
#[derive(Debug)]
pub(crate) struct Nonces(u64);

impl Nonces {
    /// Threads start 2⁴⁸ numbers apart, runs at another place each.
    pub fn new(start_ns: u64, thread: usize) -> Nonces {
        Nonces(mix(start_ns).wrapping_add((thread as u64) << 48))
    }

    pub fn next(&mut self) -> [u8; NONCE_BYTES] {
        self.0 = self.0.wrapping_add(1);
        let number = mix(self.0);
        std::array::from_fn(|index| b"0123456789abcdef"[(number >> (60 - 4 * index)) as usize & 15])
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_nonce_comes_twice_on_any_thread() {
        let mut seen = HashSet::new();
        for thread in 0..4 {
            let mut nonces = Nonces::new(123, thread);
            assert!((0..10_000).all(|_| seen.insert(nonces.next())));
        }
        assert!(seen.iter().flatten().all(u8::is_ascii_hexdigit));
    }

    #[test]
    fn a_name_must_fit_its_place() {
        let nonce = |name: &str| Nonce { place: NoncePlace::Query, name: name.into() };
        assert!(nonce("X-Nonce").validate().is_ok());
        assert!(
            nonce("").validate().is_err() && nonce("a b").validate().is_err() && nonce("a&b").validate().is_err()
        );
    }
}
