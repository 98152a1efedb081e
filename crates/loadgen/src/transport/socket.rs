//! The socket below, TCP or Unix-domain, without blocking, and where it connects to.

use std::io::{self, IoSlice, Read, Write};
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

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Starts to connect; a Unix socket is connected at once or not at all.
    pub fn connect(address: &Address) -> io::Result<Socket> {
        Ok(match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(*address)?;
                stream.set_nodelay(true)?;
                Socket::Tcp(stream)
            }
            Address::Unix(path) => Socket::Unix(UnixStream::connect(path)?),
        })
    }

    pub fn register(&mut self, interest: Interest, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(self.source(), token, interest)
    }

    pub fn reregister(&mut self, interest: Interest, registry: &Registry, token: Token) -> io::Result<()> {
        registry.reregister(self.source(), token, interest)
    }

    /// Whether the socket is connected by now; an error when it never will be.
    pub fn is_connected(&self) -> io::Result<bool> {
        let Socket::Tcp(stream) = self else {
            return Ok(true);
        };
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        match stream.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn source(&mut self) -> &mut dyn Source {
        match self {
            Socket::Tcp(stream) => stream,
            Socket::Unix(stream) => stream,
        }
    }
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        }
    }

    /// TLS hands over several records at once.
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write_vectored(slices),
            Socket::Unix(stream) => stream.write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
