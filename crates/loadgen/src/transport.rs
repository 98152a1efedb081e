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

/// TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// Name.
    pub name: String,
}

#[derive(Debug)]
pub(crate) struct TlsConnector();

impl TlsConnector {
    pub fn new(_: &Tls) -> Result<TlsConnector, crate::error::PlanError> {
        Ok(TlsConnector())
    }
}

/// How far opening has come.
#[derive(Debug)]
pub(crate) enum Opening {
    Pending,
    #[allow(dead_code)]
    Connected,
    Ready,
}

#[derive(Debug)]
pub(crate) enum OpenError {
    Connect(#[allow(dead_code)] io::Error),
    #[allow(dead_code)]
    Tls(io::Error),
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
    pub fn open(
        address: &Address,
        _tls: Option<&TlsConnector>,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Stream> {
        let (mut stream, interest) = match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(*address)?;
                stream.set_nodelay(true)?;
                (Stream::Tcp(stream), Interest::READABLE | Interest::WRITABLE)
            }
            Address::Unix(path) => (Stream::Unix(UnixStream::connect(path)?), Interest::READABLE),
        };
        registry.register(stream.source(), token, interest)?;
        Ok(stream)
    }

    /// Whether the stream is ready for the request; an error when it never will be.
    pub fn establish(&mut self) -> Result<Opening, OpenError> {
        match self {
            Stream::Unix(_) => Ok(Opening::Ready),
            Stream::Tcp(stream) => {
                if let Some(error) = stream.take_error().map_err(OpenError::Connect)? {
                    return Err(OpenError::Connect(error));
                }
                match stream.peer_addr() {
                    Ok(_) => Ok(Opening::Ready),
                    Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(Opening::Pending),
                    Err(error) => Err(OpenError::Connect(error)),
                }
            }
        }
    }

    pub fn flush_pending(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    pub fn is_drained_by_short_read(&self) -> bool {
        true
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
