//! What happened to connections, as opposed to requests.

use std::io;

use rustix::io::Errno;

use super::{Counters, Latency};

/// One thread's connections in the recorded window.
#[derive(Debug, Default)]
pub(crate) struct ConnectionStats {
    pub counters: Counters,
    /// Connections that stand now.
    pub established: u64,
    /// The most that stood at once.
    pub established_peak: u64,
    /// Times to connect, up to the TLS handshake.
    pub connect: Latency,
    /// Times of TLS handshakes.
    pub tls: Latency,
    /// They were opened before the run on purpose: their times belong to it.
    pub opened_first: bool,
}

impl ConnectionStats {
    pub fn connected(&mut self, took_ns: u64) {
        self.connect.record(took_ns);
        self.counters.connections_opened += 1;
        self.established += 1;
        self.established_peak = self.established_peak.max(self.established);
    }

    pub fn tls_established(&mut self, took_ns: u64) {
        self.tls.record(took_ns);
    }

    /// A connection could not be opened. Source: connect(2), EADDRNOTAVAIL; socket(2), EMFILE and ENFILE.
    pub fn refused(&mut self, error: &io::Error) {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::ADDRNOTAVAIL) => self.counters.ports_exhausted += 1,
            Some(Errno::MFILE | Errno::NFILE) => self.counters.files_exhausted += 1,
            _ => {}
        }
    }

    pub fn disconnected(&mut self) {
        self.established -= 1;
    }

    /// The window closes: returns what happened in it, and counts on for nobody.
    pub fn close_window(&mut self) -> ConnectionStats {
        let established = self.established;
        std::mem::replace(self, ConnectionStats { established, ..ConnectionStats::default() })
    }

    /// The window opens: connections that stand count as opened, their connect times as warm-up's.
    pub fn open_window(&mut self) {
        let before = std::mem::take(self);
        let (connect, tls) = if before.opened_first { (before.connect, before.tls) } else { Default::default() };
        *self = ConnectionStats {
            counters: Counters { connections_opened: before.established, ..Counters::default() },
            established: before.established,
            established_peak: before.established,
            connect,
            tls,
            opened_first: false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn want_of_ports_and_of_files_are_told_apart_from_refusals() {
        let mut stats = ConnectionStats::default();
        for errno in [Errno::ADDRNOTAVAIL, Errno::MFILE, Errno::NFILE, Errno::CONNREFUSED] {
            stats.refused(&io::Error::from(errno));
        }
        stats.refused(&io::Error::other("none of the kernel's"));
        assert_eq!((stats.counters.ports_exhausted, stats.counters.files_exhausted), (1, 2));
    }
}
