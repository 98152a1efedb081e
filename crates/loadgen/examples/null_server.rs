//! The null server by itself, to hold any generator to it: prints its address and serves until its input ends.
//!
//!     null_server 0

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, Read};

fn main() -> Result<(), Box<dyn Error>> {
    let cores = std::env::args().skip(1).map(|core| core.parse()).collect::<Result<Vec<usize>, _>>();
    let cores = cores.map_err(|_| "usage: null_server [CORE]..., like: null_server 0")?;
    let server = loadgen::NullServer::start(&cores)?;
    println!("{}", server.address());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
