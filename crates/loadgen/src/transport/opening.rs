//! How a stream is opened, and why it may not be.

use std::io;

/// How far opening has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Nothing to do before the next readiness.
    Pending,
    /// The socket is connected, and the TLS handshake comes next: said once, never for a plain stream, and before
    /// anything was done for the handshake, so that the two can be timed apart. Establish again at once: no
    /// readiness will be reported, since nothing was sent.
    Connected,
    /// The request may be sent.
    Ready,
}

/// Why a stream could not be opened.
#[derive(Debug)]
#[allow(dead_code, reason = "failures are counted by stage; their causes are for whoever debugs one")]
pub(crate) enum OpenError {
    /// The socket could not be connected.
    Connect(io::Error),
    /// The socket was connected, but the TLS handshake failed.
    Tls(io::Error),
}
