//! A transport decides *how* bytes travel: TCP or a Unix-domain socket.
//!
//! A connection sees only [`Stream`]: bytes in, bytes out, and [`Stream::establish`], which is called on every
//! readiness until it says yes. TLS fits in as one more variant whose handshake advances there.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};

/// Where the server listens; independent of what the Host header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP socket.
    Tcp(SocketAddr),
    /// A Unix-domain stream socket.
    Unix(PathBuf),
}

/// One byte stream to the server.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Starts to connect and registers for edge-triggered readiness; true when it is established already.
    ///
    /// TCP reports the end of its handshake as writability. A Unix socket is connected at once, and would report
    /// writability each time its peer reads, so it asks for that only when a write was cut short.
    pub fn open(address: &Address, registry: &Registry, token: Token) -> io::Result<(Stream, bool)> {
        let (mut stream, interest, established) = match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(*address)?;
                stream.set_nodelay(true)?;
                (Stream::Tcp(stream), Interest::READABLE | Interest::WRITABLE, false)
            }
            Address::Unix(path) => (Stream::Unix(UnixStream::connect(path)?), Interest::READABLE, true),
        };
        registry.register(stream.source(), token, interest)?;
        Ok((stream, established))
    }

    /// Whether the stream is ready for the request; an error when it never will be.
    pub fn establish(&mut self) -> io::Result<bool> {
        match self {
            Stream::Unix(_) => Ok(true),
            Stream::Tcp(stream) => {
                if let Some(error) = stream.take_error()? {
                    return Err(error);
                }
                match stream.peer_addr() {
                    Ok(_) => Ok(true),
                    Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Makes sure that readiness is reported once a write that was cut short can go on.
    pub fn await_writable(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Stream::Tcp(_) => Ok(()),
            Stream::Unix(stream) => registry.reregister(stream, token, Interest::READABLE | Interest::WRITABLE),
        }
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            Stream::Tcp(stream) => stream,
            Stream::Unix(stream) => stream,
        }
    }
}

impl Read for Stream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
