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
}

impl Wire {
    pub fn connected(&mut self, took_ns: u64) {
        self.connect.record(took_ns);
        self.opened += 1;
        self.established += 1;
        self.established_peak = self.established_peak.max(self.established);
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
