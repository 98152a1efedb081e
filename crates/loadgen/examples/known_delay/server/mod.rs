//! One thread that reads, waits exactly as long as told, and answers.
//!
//! While a client is connected it never sleeps: between two answers it asks epoll without patience. So a request is
//! stamped within a microsecond or so of its arrival, and no answer waits for a timer. Answers that are due together
//! depart one by one, and between any two of them the sockets are looked at again.

mod client;
mod due;
mod ledger;
mod random;
mod service;
mod stall;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{clock_gettime, ClockId, Timespec};

use client::{Client, Request};
use due::{Agenda, Answer};
pub use ledger::Ledger;
use random::Random;
pub use service::{seconds_ns, Service};
pub use stall::Stall;

const BACKLOG: i32 = 65_535;
const LISTENER: u64 = u64::MAX;
const EVENTS: usize = 64;
/// How soon the end is noticed while nobody is connected.
const IDLE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
const NO_PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// What the server does to its clients.
#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    /// How long each request takes.
    pub service: Service,
    /// Equal seeds draw equal times.
    pub seed: u64,
    /// When nothing is answered.
    pub stall: Stall,
}

/// A server that listens on a free port of 127.0.0.1.
pub struct Server {
    epoll: OwnedFd,
    listener: TcpListener,
    service: Service,
    random: Random,
    stall: Stall,
    /// By the index that epoll and the agenda know them by.
    clients: Vec<Option<Client>>,
    vacant: Vec<usize>,
    /// How many clients there have been; tells an answer whether its client is still the same.
    welcomed: u64,
    agenda: Agenda,
    ledger: Ledger,
}

impl Server {
    /// Listens; nothing is answered before [`Server::run`].
    pub fn bind(behaviour: Behaviour) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Server {
            epoll,
            listener,
            service: behaviour.service,
            random: Random::new(behaviour.seed),
            stall: behaviour.stall,
            clients: Vec::new(),
            vacant: Vec::new(),
            welcomed: 0,
            agenda: Agenda::default(),
            ledger: Ledger::default(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `ended` is true; returns what it stamped.
    pub fn run(mut self, ended: &AtomicBool) -> io::Result<Ledger> {
        let silent = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [silent; EVENTS];
        while !ended.load(Ordering::Relaxed) {
            let patience = if self.clients.len() == self.vacant.len() { &IDLE } else { &NO_PATIENCE };
            let count = match epoll::wait(&self.epoll, &mut events, Some(patience)) {
                Ok(count) => count,
                Err(Errno::INTR) => 0,
                Err(error) => return Err(error.into()),
            };
            for event in events.iter().take(count) {
                let data = event.data;
                match data.u64() {
                    LISTENER => self.accept(),
                    index => self.read(index as usize),
                }
            }
            if let Some(answer) = self.agenda.take_due(now_ns()) {
                self.answer(answer);
            }
        }
        Ok(self.ledger)
    }

    /// Level-triggered: whoever could not be accepted now is tried again at the next turn.
    fn accept(&mut self) {
        let Ok((stream, _)) = self.listener.accept() else { return };
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.clients.push(None);
            self.clients.len() - 1
        });
        let data = EventData::new_u64(index as u64);
        let ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        match ready.and_then(|()| Ok(epoll::add(&self.epoll, &stream, data, EventFlags::IN)?)) {
            Ok(()) => {
                self.welcomed += 1;
                self.clients[index] = Some(Client::new(stream, self.welcomed));
            }
            Err(_) => self.vacant.push(index),
        }
    }

    fn read(&mut self, index: usize) {
        let Some(Some(client)) = self.clients.get_mut(index) else { return };
        match client.read(now_ns) {
            Ok(()) => self.take_request(index),
            Err(_) => self.dismiss(index),
        }
    }

    /// Puts the client's next request on the agenda, if it is complete and none is before it.
    fn take_request(&mut self, index: usize) {
        let Some(Some(client)) = self.clients.get_mut(index) else { return };
        match client.next_request() {
            Ok(Some(Request::Work { arrived_ns })) => {
                let number = client.number;
                self.ledger.arrive(arrived_ns);
                self.stall.begin(arrived_ns);
                let due_ns = arrived_ns + self.service.draw_ns(&mut self.random);
                self.agenda.add(Answer { due_ns: self.stall.shift(due_ns), client: index, number, arrived_ns });
            }
            Ok(Some(Request::Truth)) => {
                let truth = self.ledger.truth();
                self.settle(index, |client| client.tell(&truth));
            }
            Ok(None) => {}
            Err(_) => self.dismiss(index),
        }
    }

    /// Stamps the departure right before the write.
    fn answer(&mut self, answer: Answer) {
        match self.clients.get(answer.client) {
            Some(Some(client)) if client.number == answer.number => {}
            _ => return,
        }
        self.ledger.depart(answer.arrived_ns, now_ns());
        self.settle(answer.client, Client::answer);
    }

    fn settle(&mut self, index: usize, write: impl FnOnce(&mut Client) -> io::Result<bool>) {
        let Some(Some(client)) = self.clients.get_mut(index) else { return };
        match write(client) {
            Ok(true) => self.take_request(index),
            Ok(false) | Err(_) => self.dismiss(index),
        }
    }

    /// Closing a socket takes it out of epoll, too.
    fn dismiss(&mut self, index: usize) {
        if self.clients.get_mut(index).and_then(Option::take).is_some() {
            self.vacant.push(index);
        }
    }
}

/// CLOCK_MONOTONIC in nanoseconds, as the engine and Python's `time.monotonic_ns()` count it.
fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests;
