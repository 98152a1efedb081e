//! The command line of the known-delay server.

use std::path::PathBuf;
use std::str::FromStr;

use crate::server::{seconds_ns, Behaviour, Service, Stall};

pub const USAGE: &str =
    "usage: known_delay [--core N] [--delay DELAY] [--seed N] [--stall AFTER,FOR] [--hang] [--arrivals FILE]
  --core N           run on this core, which is burnt while a client is connected
  --delay DELAY      constant:1ms, exponential:MEAN, bimodal:SHORT,LONG,SHARE_OF_LONG or pareto:LEAST,SHAPE
                     (default constant:0)
  --seed N           equal seeds draw equal delays (default 0)
  --stall AFTER,FOR  from AFTER seconds after the first request no answer departs for FOR seconds, or 'ever'
  --hang             never answer: --stall 0,ever
  --arrivals FILE    at the end, write when requests arrived: CLOCK_MONOTONIC nanoseconds, u64, little endian";

/// What the command line says.
#[derive(Debug, Default)]
pub struct Options {
    pub core: Option<usize>,
    pub behaviour: Behaviour,
    pub arrivals: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments; an error names the one that is wrong.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(name) = arguments.next() {
            if name == "--hang" {
                options.behaviour.stall = Stall::hang();
                continue;
            }
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value, or is not known"))?;
            options.set(&name, &value).map_err(|error| format!("{name} {value}: {error}"))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "--core" => self.core = Some(number(value)?),
            "--seed" => self.behaviour.seed = number(value)?,
            "--delay" => self.behaviour.service = value.parse::<Service>()?,
            "--stall" => self.behaviour.stall = stall(value)?,
            "--arrivals" => self.arrivals = Some(PathBuf::from(value)),
            _ => return Err("there is no such option".to_string()),
        }
        Ok(())
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "must be a whole number".to_string())
}

fn stall(text: &str) -> Result<Stall, String> {
    let (after, length) = text.split_once(',').ok_or("write it like 2,0.5 or 2,ever")?;
    let length_ns = if length == "ever" { None } else { Some(seconds_ns(length)?) };
    Ok(Stall::new(seconds_ns(after)?, length_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_string))
    }

    #[test]
    fn all_that_is_said_is_heard() {
        let options = parse("--core 1 --delay constant:2ms --seed 7 --stall 1.5,ever --arrivals /tmp/x").unwrap();
        assert_eq!(options.core, Some(1));
        assert_eq!(options.behaviour.service, Service::Constant { ns: 2e6 });
        assert_eq!(options.behaviour.seed, 7);
        assert_eq!(options.behaviour.stall, Stall::new(1_500_000_000, None));
        assert_eq!(options.arrivals, Some(PathBuf::from("/tmp/x")));
        assert_eq!(parse("--hang").unwrap().behaviour.stall, Stall::new(0, None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for line in ["--core", "--core x", "--what 1", "--stall 1", "--stall 1,never", "--delay slow:1ms"] {
            let error = parse(line).unwrap_err();
            assert!(error.starts_with(line.split(' ').next().unwrap()), "{error}");
        }
    }
}
