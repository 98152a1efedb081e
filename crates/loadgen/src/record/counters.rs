//! What is counted in the recorded window, beside the requests' own fates.

use serde::{Deserialize, Serialize};

/// Declares the counters once: the struct, its sum and its names.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of one thread, or of a whole run: they are sums.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            /// Each counter by its name.
            pub fn by_name(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }

            pub(crate) fn add(&mut self, other: &Counters) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

counters! {
    /// Bytes received.
    bytes_read,
    /// Bytes sent: heads and bodies of requests, before encryption.
    bytes_written,
    /// Connections that stood at the window's opening, and those opened since.
    connections_opened,
    /// Connections the server ended although they were to be kept alive, and that were opened again.
    reconnects,
    /// Requests sent a second time because their connection was closed as they arrived; counted once.
    retried,
    /// Requests of an open loop that fell due while all connections were taken.
    pool_waits,
    /// Answers without the nonce of their request.
    nonces_lost,
    /// Answers whose Date was more than two seconds old.
    stale_dates,
    /// Answers that say a cache gave them.
    cached_answers,
    /// Bytes received that belong to no answer: sent beyond its end, or while nothing was asked.
    surplus_bytes,
    /// Connections that could not be opened for want of a local port (EADDRNOTAVAIL).
    ports_exhausted,
    /// Connections that could not be opened for want of a file descriptor (EMFILE, ENFILE).
    files_exhausted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_have_their_names() {
        let mut sum = Counters { retried: 2, ..Counters::default() };
        sum.add(&Counters { retried: 3, bytes_read: 7, ..Counters::default() });
        let named: Vec<_> = sum.by_name().filter(|&(_, count)| count > 0).collect();
        assert_eq!(named, [("bytes_read", 7), ("retried", 5)]);
    }
}
