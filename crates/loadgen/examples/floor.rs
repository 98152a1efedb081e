//! The floor: what a request costs when nothing is done but to send it and to receive its answer.
//!
//! N keep-alive connections, fixed bytes, one `send`, one `recv` and a share of an `epoll_wait` per request. Answers
//! are not parsed, only counted and weighed: all must be as long as the first. No clock is read per request; a timer
//! in the same epoll ends the run. No generator that learns of readiness from epoll can be cheaper.
//!
//!     floor 127.0.0.1:8080 64 3 1
//!
//! loads with 64 connections for 3 seconds on core 1 and prints `{"requests", "seconds", "user_s", "sys_s",
//! "connecting_s"}`: CPU of the whole process, of which `connecting_s` went before the first request.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::thread::{sched_setaffinity, CpuSet};
use rustix::time::{
    clock_gettime, timerfd_create, timerfd_settime, ClockId, Itimerspec, TimerfdClockId, TimerfdFlags,
    TimerfdTimerFlags, Timespec,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const EVENTS: usize = 128;
const BUFFER_BYTES: usize = 16 * 1024;
const TIMER: u64 = u64::MAX;
const USAGE: &str = "usage: floor ADDRESS CONNECTIONS SECONDS CORE, like: floor 127.0.0.1:8080 64 3 1";

struct Options {
    address: SocketAddr,
    connections: usize,
    seconds: u32,
    core: usize,
}

fn main() -> Outcome<()> {
    let options = options().map_err(|error| format!("{error}\n{USAGE}"))?;
    pin(options.core)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let connections = connect(&options, &epoll)?;
    let timer = timer(options.seconds, &epoll)?;
    let connecting_s = cpu_s();
    let begun = Instant::now();
    let requests = play(&epoll, &connections)?;
    let seconds = begun.elapsed().as_secs_f64();
    drop(timer);
    let (total_s, user_share) = (cpu_s(), user_share()?);
    let (user_s, sys_s) = (total_s * user_share, total_s * (1.0 - user_share));
    println!(
        r#"{{"requests": {requests}, "seconds": {seconds:.6}, "user_s": {user_s:.6}, "sys_s": {sys_s:.6}, "connecting_s": {connecting_s:.6}}}"#
    );
    Ok(())
}

fn options() -> Outcome<Options> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, seconds, core] = &arguments[..] else {
        return Err(format!("{} arguments instead of 4", arguments.len()).into());
    };
    Ok(Options {
        address: address.parse().map_err(|_| format!("ADDRESS {address:?} is no address with a port"))?,
        connections: connections.parse().map_err(|_| format!("CONNECTIONS {connections:?} is no number"))?,
        seconds: seconds.parse().map_err(|_| format!("SECONDS {seconds:?} is no whole number"))?,
        core: core.parse().map_err(|_| format!("CORE {core:?} is no number"))?,
    })
}

fn pin(core: usize) -> Outcome<()> {
    if core >= CpuSet::MAX_CPU {
        return Err(format!("there is no core {core}").into());
    }
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set).map_err(|error| format!("cannot run on core {core}: {error}"))?)
}

/// Edge-triggered: a level-triggered queue looks at every socket once more after its answer was taken.
fn connect(options: &Options, epoll: &OwnedFd) -> Outcome<Vec<OwnedFd>> {
    let mut connections = Vec::with_capacity(options.connections);
    for index in 0..options.connections {
        let stream = TcpStream::connect(options.address).map_err(|error| format!("connection {index}: {error}"))?;
        stream.set_nodelay(true)?;
        let connection = OwnedFd::from(stream);
        epoll::add(epoll, &connection, EventData::new_u64(index as u64), EventFlags::IN | EventFlags::ET)?;
        connections.push(connection);
    }
    Ok(connections)
}

fn timer(seconds: u32, epoll: &OwnedFd) -> Outcome<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let once = Itimerspec { it_interval: zero, it_value: Timespec { tv_sec: seconds.max(1).into(), tv_nsec: 0 } };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
    epoll::add(epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
    Ok(timer)
}

/// Returns the number of answers once the timer goes off.
fn play(epoll: &OwnedFd, connections: &[OwnedFd]) -> Outcome<u64> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let silent = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
    let mut events = [silent; EVENTS];
    let (mut answers, mut length) = (0, 0);
    for connection in connections {
        send(connection)?;
    }
    loop {
        let count = match epoll::wait(epoll, &mut events, None) {
            Ok(count) => count,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        for event in &events[..count] {
            let data = event.data;
            let Some(connection) = connections.get(data.u64() as usize) else {
                return Ok(answers);
            };
            let (received, _) = rustix::net::recv(connection, &mut buffer[..], RecvFlags::DONTWAIT)?;
            if received != length {
                length = first_length(answers, received, length)?;
            }
            answers += 1;
            send(connection)?;
        }
    }
}

#[inline]
fn send(connection: &OwnedFd) -> Outcome<()> {
    let sent = rustix::net::send(connection, REQUEST, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
    if sent != REQUEST.len() {
        return Err("a request could not be sent at once".into());
    }
    Ok(())
}

/// Without parsing, an answer is whole when it is as long as the first.
#[cold]
fn first_length(answers: u64, received: usize, length: usize) -> Outcome<usize> {
    if answers == 0 && received > 0 {
        return Ok(received);
    }
    Err(format!("after {answers} answers of {length} bytes came one of {received}; the floor needs equal ones")
        .into())
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The part of the CPU time that was not the kernel's. Source: proc_pid_stat(5), fields 14 and 15.
fn user_share() -> Outcome<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let mut ticks = fields.split_ascii_whitespace().skip(11).map_while(|field| field.parse::<f64>().ok());
    match (ticks.next(), ticks.next()) {
        (Some(user), Some(sys)) if user + sys > 0.0 => Ok(user / (user + sys)),
        _ => Ok(0.0),
    }
}
