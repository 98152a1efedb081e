//! What happened to connections, as opposed to requests.

use super::Latency;

/// Counters of one thread's connections in the recorded window.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub bytes_read: u64,
    pub opened: u64,
    pub reconnects: u64,
    pub established: u64,
    pub established_peak: u64,
    pub connect: Latency,
    pub tls: Latency,
    /// Requests sent again because their connection was closed as they arrived.
    pub retried: u64,
    /// Answers whose Date was old, that came out of a cache, that lacked their request's nonce.
    pub stale_dates: u64,
    pub cached_answers: u64,
    pub nonces_lost: u64,
}

impl Wire {
    pub fn connected(&mut self, took_ns: u64) {
        self.connect.record(took_ns);
        self.opened += 1;
        self.established += 1;
        self.established_peak = self.established_peak.max(self.established);
    }

    pub fn secured(&mut self, took_ns: u64) {
        self.tls.record(took_ns);
    }

    pub fn disconnected(&mut self) {
        self.established -= 1;
    }

    /// The window opens: connections that stand count as opened, their connect times as warm-up's.
    pub fn open_window(&mut self) {
        *self = Wire {
            opened: self.established,
            established: self.established,
            established_peak: self.established,
            ..Wire::default()
        };
    }
}
