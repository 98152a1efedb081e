//! The server that does nothing: a fixed answer to every request, as cheaply as can be.
//!
//! What the engine reaches against it is the engine's own ceiling on this machine; a stack that comes near it was
//! not measured, the engine was. One thread, one readiness queue; the requests of one read are answered with one
//! write.

mod peer;
mod requests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use mio::{Events, Interest, Poll, Token, Waker};

use crate::host;
use peer::{Next, Peer};

/// As many connections as arrive while the thread is busy may queue up; the kernel caps it at
/// `net.core.somaxconn`, where the standard library asks for 128 only.
const BACKLOG: i32 = 65_535;
/// The body of every answer.
pub(crate) const BODY: &[u8] = b"Hello, World!";
const BUFFER_BYTES: usize = 64 * 1024;
const EVENTS: usize = 1024;

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// A null server in a thread of its own, for as long as this value lives.
#[derive(Debug)]
pub struct NullServer {
    address: SocketAddr,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl NullServer {
    /// Listens on a free port of 127.0.0.1, from a thread bound to `cores`; none leaves it free.
    ///
    /// # Errors
    /// When the machine refuses the port, the thread, the readiness queue or the cores.
    pub fn start(cores: &[usize]) -> io::Result<NullServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let (ready, started) = mpsc::sync_channel(1);
        let cores = cores.to_vec();
        let work = move || serve(poll, listener, &cores, &ready);
        let thread = thread::Builder::new().name("null-server".to_string()).spawn(work)?;
        let server = NullServer { address, waker, thread: Some(thread) };
        started.recv().map_err(io::Error::other)??;
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for NullServer {
    /// Closes every connection and waits for the thread's end.
    fn drop(&mut self) {
        // A thread that cannot be woken is left to itself rather than waited for in vain.
        if self.waker.wake().is_ok() {
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

/// The thread: reports whether it could begin, then serves until it is woken.
fn serve(poll: Poll, listener: TcpListener, cores: &[usize], ready: &SyncSender<io::Result<()>>) {
    let begun = host::pin(cores).map_err(io::Error::other).and_then(|()| Service::new(poll, listener));
    match begun {
        Ok(mut service) => {
            if ready.send(Ok(())).is_ok() {
                service.run();
            }
        }
        Err(error) => {
            let _ = ready.send(Err(error));
        }
    }
}

struct Service {
    poll: Poll,
    listener: mio::net::TcpListener,
    /// By token.
    peers: Vec<Option<Peer>>,
    vacant: Vec<usize>,
    /// Whether connections may be waiting that could not be accepted, for want of open files.
    short_of_files: bool,
    buffer: Box<[u8]>,
}

impl Service {
    fn new(poll: Poll, listener: TcpListener) -> io::Result<Service> {
        let mut listener = mio::net::TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Ok(Service { poll, listener, peers: Vec::new(), vacant: Vec::new(), short_of_files: false, buffer })
    }

    fn run(&mut self) {
        let mut events = Events::with_capacity(EVENTS);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
                Ok(()) => {}
            }
            for event in &events {
                match event.token() {
                    WAKER => return,
                    LISTENER => self.accept(),
                    token => self.answer(token.0, event.is_read_closed()),
                }
            }
        }
    }

    fn accept(&mut self) {
        self.short_of_files = false;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.add_peer(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The client has gone already.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.short_of_files = true;
                    return;
                }
            }
        }
    }

    /// A connection that cannot be served is closed by being dropped.
    fn add_peer(&mut self, mut stream: mio::net::TcpStream) {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.peers.push(None);
            self.peers.len() - 1
        });
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registered = self.poll.registry().register(&mut stream, Token(index), interest);
        if registered.and_then(|()| stream.set_nodelay(true)).is_ok() {
            self.peers[index] = Some(Peer::new(stream));
        } else {
            self.vacant.push(index);
        }
    }

    #[inline]
    fn answer(&mut self, index: usize, hung_up: bool) {
        let Some(Some(peer)) = self.peers.get_mut(index) else { return };
        if peer.serve(hung_up, &mut self.buffer) == Next::Open {
            return;
        }
        self.peers[index] = None;
        self.vacant.push(index);
        if self.short_of_files {
            self.accept();
        }
    }
}

#[cfg(test)]
mod tests;
