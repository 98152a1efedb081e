//! TLS over a socket that never blocks: the handshake, then plain bytes in and out.
//!
//! Readiness is edge-triggered, so everything here goes on until the socket would block. Buffers are bounded: what
//! waits to go out by [`PENDING_MAX_BYTES`], what came in by a record and one read of the socket, which is read
//! again only once all plain bytes have been handed out.

use std::io::{self, ErrorKind, Read, Write};

use rustls::ClientConnection;

use super::connector::TlsConnector;
use super::opening::{OpenError, Opening};
use super::socket::Socket;

/// This much of a request is encrypted ahead of the socket: four records of full size.
const PENDING_MAX_BYTES: usize = 64 * 1024;
/// After the handshake this much may come in without a single plain byte: session tickets and the like, or a part of
/// a record of at most 18 KiB. Nobody needs more, and one who never stopped would hold the thread for ever.
const BARREN_MAX_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(crate) struct TlsStream {
    socket: Socket,
    connector: TlsConnector,
    state: State,
    /// Came in since the last plain byte.
    barren_bytes: usize,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the whole stream stands in a box")]
enum State {
    Connecting,
    Connected,
    /// The handshake has begun.
    Session(ClientConnection),
}

impl TlsStream {
    pub fn new(socket: Socket, connector: TlsConnector) -> TlsStream {
        TlsStream { socket, connector, state: State::Connecting, barren_bytes: 0 }
    }

    /// As [`super::Stream::establish`]. The session is made only once the socket is connected: drawing its keys
    /// takes time, and that is the handshake's.
    pub fn establish(&mut self) -> Result<Opening, OpenError> {
        match self.state {
            State::Connecting => {
                let connected = self.socket.is_connected().map_err(OpenError::Connect)?;
                if connected {
                    self.state = State::Connected;
                }
                return Ok(if connected { Opening::Connected } else { Opening::Pending });
            }
            State::Connected => {
                let mut session = self.connector.session().map_err(OpenError::Tls)?;
                session.set_buffer_limit(Some(PENDING_MAX_BYTES));
                self.state = State::Session(session);
            }
            State::Session(_) => {}
        }
        match self.shake_hands() {
            Ok(()) => Ok(Opening::Ready),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Opening::Pending),
            Err(error) => Err(OpenError::Tls(error)),
        }
    }

    fn shake_hands(&mut self) -> io::Result<()> {
        self.send()?;
        while self.session()?.0.is_handshaking() {
            match self.receive() {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends what waits to go out; whether all of it went.
    pub fn send(&mut self) -> io::Result<bool> {
        let (session, socket) = self.session()?;
        while session.wants_write() {
            match session.write_tls(socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(true)
    }

    /// Takes in what one read of the socket gives, 0 bytes at its end, and sends what TLS has to say to it.
    fn receive(&mut self) -> io::Result<usize> {
        let (session, socket) = self.session()?;
        let count = session.read_tls(socket)?;
        let understood = session.process_new_packets();
        // A failure leaves an alert that tells the server why. A socket that cannot send shows at the next read.
        let _ = self.send();
        understood.map(|_| count).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    pub fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    #[inline]
    fn session(&mut self) -> io::Result<(&mut ClientConnection, &mut Socket)> {
        match &mut self.state {
            State::Session(session) => Ok((session, &mut self.socket)),
            State::Connecting | State::Connected => Err(ErrorKind::NotConnected.into()),
        }
    }
}

impl Read for TlsStream {
    /// All plain bytes at hand, as many as fit; those of at least one more record if there are none.
    ///
    /// A stream that ends without close_notify ends all the same. RFC 8446 section 6.1 wants that notice, so that
    /// nobody can cut an answer short; but many servers never send it, and HTTP's own framing still finds an answer
    /// that is cut short, unless it ends with the connection.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session()?.0.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                other => {
                    self.barren_bytes = 0;
                    return other;
                }
            }
            self.barren_bytes += self.receive()?;
            if self.barren_bytes > BARREN_MAX_BYTES {
                return Err(io::Error::new(ErrorKind::InvalidData, "too much TLS without any content"));
            }
        }
    }
}

impl Write for TlsStream {
    /// Takes in a part of `bytes` and sends what the socket accepts of it; would block while an earlier part waits.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.send()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let count = self.session()?.0.writer().write(bytes)?;
        // Nothing is in the way, so a session that takes nothing has used up its keys (RFC 8446 section 5.5).
        if count == 0 && !bytes.is_empty() {
            return Err(ErrorKind::WriteZero.into());
        }
        self.send()?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for TlsStream {
    /// Says close_notify, as RFC 8446 section 6.1 demands: servers book its absence as an error. It is not waited
    /// for, and not said within a request that is cut short.
    fn drop(&mut self) {
        let Ok((session, socket)) = self.session() else {
            return;
        };
        if !session.is_handshaking() && !session.wants_write() {
            session.send_close_notify();
            let _ = session.write_tls(socket);
        }
    }
}
