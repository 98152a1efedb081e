//! The known-delay server: takes a known time for every request and stamps what it really took.
//!
//! A load engine is held to it: what the engine reports must be what the server's own clock says. It prints its
//! address, serves on the core it is given (which it burns, to be exact), and when it is ended by SIGTERM prints as
//! JSON how long its requests took between the return of the read that completed them and the write of the answer.
//! `GET /__truth` answers with the same.
//!
//!     known_delay --core 0 --delay exponential:1ms --stall 2,0.5

#![forbid(unsafe_code)]

mod options;
mod server;

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use rustix::process::{set_parent_process_death_signal, Signal};
use rustix::thread::{sched_setaffinity, CpuSet};
use signal_hook::consts::{SIGINT, SIGTERM};

use options::Options;
use server::Server;

fn main() -> Result<(), Box<dyn Error>> {
    let options =
        Options::parse(std::env::args().skip(1)).map_err(|error| format!("{error}\n{}", options::USAGE))?;
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, ended.clone())?;
    }
    // Whoever started it may be killed; it then ends, too.
    set_parent_process_death_signal(Some(Signal::TERM))?;
    pin(options.core)?;
    let server = Server::bind(options.behaviour)?;
    println!("{}", server.address()?);
    let ledger = server.run(&ended)?;
    if let Some(path) = options.arrivals {
        ledger.write_arrivals(&path).map_err(|error| format!("--arrivals {}: {error}", path.display()))?;
    }
    println!("{}", ledger.truth());
    Ok(())
}

fn pin(core: Option<usize>) -> Result<(), Box<dyn Error>> {
    let Some(core) = core else { return Ok(()) };
    if core >= CpuSet::MAX_CPU {
        return Err(format!("--core {core}: there is no such core").into());
    }
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set).map_err(|error| format!("--core {core}: {error}"))?)
}
