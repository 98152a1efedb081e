//! What a connection knows of the visitor it stands for: cookies, and the nonce of the request under way.
//!
//! Only plans with cookies or nonces have visitors; all other requests are sent straight from the script.

use crate::cookies::Jar;
use crate::nonce::{Nonces, NONCE_BYTES};
use crate::parts::PartsCheck;
use crate::request::Message;
use crate::script::{Line, Script};

#[derive(Debug, Default)]
pub(crate) struct Visitor {
    jar: Jar,
    /// The request as it is sent.
    bytes: Vec<u8>,
    head_bytes: usize,
    nonce: [u8; NONCE_BYTES],
    echoed: bool,
    body: PartsCheck,
}

impl Visitor {
    /// Somebody else comes.
    pub fn reset(&mut self) {
        self.jar.clear();
    }

    /// Makes the bytes of the next request.
    pub fn prepare(&mut self, message: &Message, line: &Line, script: &Script, nonces: &mut Nonces) {
        self.bytes.clear();
        // the empty line that ends the head is put back after the cookies
        let fields_end = message.head_bytes - 2;
        self.bytes.extend_from_slice(&message.bytes[..fields_end]);
        if let Some(at) = message.nonce_at {
            self.nonce = nonces.next();
            self.bytes[at..at + NONCE_BYTES].copy_from_slice(&self.nonce);
            self.echoed = false;
            self.body.restart();
        }
        if script.cookies {
            self.jar.write(&line.path, &mut self.bytes);
        }
        self.bytes.extend_from_slice(b"\r\n");
        self.head_bytes = self.bytes.len();
        self.bytes.extend_from_slice(&message.bytes[message.head_bytes..]);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn head_bytes(&self) -> usize {
        self.head_bytes
    }

    /// The same request is sent again.
    pub fn start_over(&mut self) {
        self.echoed = false;
        self.body.restart();
    }

    /// Takes in a header field of the answer.
    pub fn field(&mut self, script: &Script, name: &str, value: &[u8]) {
        if script.cookies && name.eq_ignore_ascii_case("set-cookie") {
            self.jar.take(value);
        }
        if script.nonce.as_ref().is_some_and(|nonce| nonce.name.eq_ignore_ascii_case(name)) {
            self.echoed |= value == self.nonce;
        }
    }

    /// Takes in a piece of the answer's body.
    pub fn body(&mut self, script: &Script, bytes: &[u8]) {
        if script.nonce.is_some() && !self.echoed {
            self.body.feed(&[b"", &self.nonce[..], b""], bytes);
        }
    }

    /// Whether the answer lacks the nonce it should repeat.
    pub fn misses_nonce(&mut self, script: &Script) -> bool {
        script.nonce.is_some() && !self.echoed && !self.body.is_right(&[b"", &self.nonce[..], b""])
    }
}
