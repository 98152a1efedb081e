//! A transport decides *how* bytes travel: over TCP or a Unix-domain socket, in plain or through TLS.
//!
//! A connection sees only [`Stream`]: bytes in, bytes out, and [`Stream::establish`], which is called until the
//! stream is ready for the request.

mod connector;
mod opening;
mod socket;
mod tls;
mod trust;

use std::io::{self, Read, Write};

use mio::{Interest, Registry, Token};

pub(crate) use connector::TlsConnector;
pub use connector::{Tls, TlsVersion};
pub(crate) use opening::{OpenError, Opening};
pub use socket::Address;
use socket::Socket;
use tls::TlsStream;

/// One byte stream to the server. What TLS needs stands apart, so that a plain stream stays as small as its socket.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(Socket),
    Tls(Box<TlsStream>),
}

impl Stream {
    /// Starts to connect and registers for edge-triggered readiness. [`Stream::establish`] is to be called at once.
    ///
    /// TCP reports the end of its handshake as writability. A Unix socket is connected at once, and would report
    /// writability each time its peer reads, so it asks for that only when a write was cut short; except under TLS,
    /// which writes on its own account.
    pub fn open(
        address: &Address,
        tls: Option<&TlsConnector>,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Stream> {
        let mut socket = Socket::connect(address)?;
        let reads_only = matches!(socket, Socket::Unix(_)) && tls.is_none();
        let interest = if reads_only { Interest::READABLE } else { Interest::READABLE | Interest::WRITABLE };
        socket.register(interest, registry, token)?;
        Ok(match tls {
            None => Stream::Plain(socket),
            Some(connector) => Stream::Tls(Box::new(TlsStream::new(socket, connector.clone()))),
        })
    }

    /// Goes on opening as far as the socket allows; called after [`Stream::open`], after [`Opening::Connected`], and
    /// on every readiness until [`Opening::Ready`].
    pub fn establish(&mut self) -> Result<Opening, OpenError> {
        match self {
            Stream::Plain(socket) => match socket.is_connected() {
                Ok(true) => Ok(Opening::Ready),
                Ok(false) => Ok(Opening::Pending),
                Err(error) => Err(OpenError::Connect(error)),
            },
            Stream::Tls(stream) => stream.establish(),
        }
    }

    /// Whether all that was written has gone to the kernel; sends what has not. False after a write that TLS took in
    /// but the socket did not: call again once it is writable.
    #[inline]
    pub fn flush_pending(&mut self) -> io::Result<bool> {
        match self {
            Stream::Plain(_) => Ok(true),
            Stream::Tls(stream) => stream.send(),
        }
    }

    /// Whether a read that does not fill its buffer has emptied the stream, so that readiness will be reported when
    /// there is more. TLS reads record by record: it is empty only when a read would block.
    #[inline]
    pub fn is_drained_by_short_read(&self) -> bool {
        matches!(self, Stream::Plain(_))
    }

    /// Has readiness reported again although the stream still has more to read: modifying a registration looks at
    /// the socket anew (epoll_ctl(2)). So whoever reads a stream that never runs dry can let others have their turn.
    /// Not after a read that filled its buffer: TLS may then hold bytes that no readiness tells of.
    pub fn rearm(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let socket = match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.socket(),
        };
        socket.reregister(Interest::READABLE | Interest::WRITABLE, registry, token)
    }

    /// Makes sure that readiness is reported once a write that was cut short can go on.
    pub fn await_writable(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Stream::Plain(socket @ Socket::Unix(_)) => {
                socket.reregister(Interest::READABLE | Interest::WRITABLE, registry, token)
            }
            Stream::Plain(Socket::Tcp(_)) | Stream::Tls(_) => Ok(()),
        }
    }
}

impl Read for Stream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_costs_a_plain_stream_no_more_than_a_pointer() {
        assert!(size_of::<Stream>() <= size_of::<Socket>() + size_of::<usize>());
    }
}
