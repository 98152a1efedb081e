//! Service times: how long a request takes, drawn independently for each.

use std::str::FromStr;

use super::random::Random;

/// No request takes longer than an hour.
const LONGEST_NS: f64 = 3600e9;

/// A distribution of service times, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    /// Always the same.
    Constant { ns: f64 },
    /// Memoryless.
    Exponential { mean_ns: f64 },
    /// Mostly short, and long with a given probability.
    Bimodal { short_ns: f64, long_ns: f64, long_share: f64 },
    /// Heavy-tailed: P(X > x) = (least / x)^shape.
    Pareto { least_ns: f64, shape: f64 },
}

impl Default for Service {
    fn default() -> Service {
        Service::Constant { ns: 0.0 }
    }
}

impl Service {
    /// The next request's time, by inverting the distribution at a uniform draw.
    pub fn draw_ns(&self, random: &mut Random) -> u64 {
        let ns = match *self {
            Service::Constant { ns } => ns,
            Service::Exponential { mean_ns } => -random.uniform().ln() * mean_ns,
            Service::Bimodal { short_ns, long_ns, long_share } => {
                if random.uniform() <= long_share {
                    long_ns
                } else {
                    short_ns
                }
            }
            Service::Pareto { least_ns, shape } => least_ns * random.uniform().powf(-1.0 / shape),
        };
        ns.min(LONGEST_NS) as u64
    }
}

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Service, String> {
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let values: Vec<&str> = values.split(',').collect();
        match (name, &values[..]) {
            ("constant", [time]) => Ok(Service::Constant { ns: time_ns(time)? }),
            ("exponential", [mean]) => Ok(Service::Exponential { mean_ns: time_ns(mean)? }),
            ("bimodal", [short, long, share]) => Ok(Service::Bimodal {
                short_ns: time_ns(short)?,
                long_ns: time_ns(long)?,
                long_share: within(share, 0.0, 1.0)?,
            }),
            ("pareto", [least, shape]) => {
                Ok(Service::Pareto { least_ns: time_ns(least)?, shape: within(shape, 0.01, 1e6)? })
            }
            _ => {
                Err("write it like constant:1ms, exponential:1ms, bimodal:1ms,10ms,0.1 or pareto:1ms,2.5"
                    .to_string())
            }
        }
    }
}

/// "1ms", "20us", "1.5s" or "0", at most an hour.
fn time_ns(text: &str) -> Result<f64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit_ns = match text.get(digits.len()..) {
        Some("s") => 1e9,
        Some("ms") => 1e6,
        Some("us") => 1e3,
        Some("ns") => 1.0,
        Some("") if digits == "0" => 1.0,
        _ => return Err(format!("{text:?} is no time; write it like 1ms, 20us or 1.5s")),
    };
    Ok(within(digits, 0.0, LONGEST_NS / unit_ns)? * unit_ns)
}

/// Plain seconds, like "0.5", in nanoseconds.
pub fn seconds_ns(text: &str) -> Result<u64, String> {
    Ok((within(text, 0.0, LONGEST_NS / 1e9)? * 1e9) as u64)
}

fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("{text:?} is no number from {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn draws(text: &str) -> Vec<f64> {
        let (service, mut random) = (text.parse::<Service>().unwrap(), Random::new(42));
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| service.draw_ns(&mut random) as f64 / 1e6).collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    /// Mean and given quantiles in milliseconds, each within 2 %.
    fn assert_shape(text: &str, mean_ms: f64, quantiles: &[(f64, f64)]) {
        let draws = draws(text);
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        assert!((mean / mean_ms - 1.0).abs() < 0.02, "{text}: mean {mean}");
        for &(share, expected) in quantiles {
            let drawn = draws[(share * DRAWS as f64) as usize];
            assert!((drawn / expected - 1.0).abs() < 0.02, "{text}: {share} at {drawn}");
        }
    }

    #[test]
    fn constant_times_are_all_the_same() {
        let draws = draws("constant:1.5ms");
        assert_eq!((draws[0], draws[DRAWS - 1]), (1.5, 1.5));
    }

    #[test]
    fn exponential_times_have_their_mean_and_quantiles() {
        assert_shape("exponential:1ms", 1.0, &[(0.5, 0.5f64.ln().abs()), (0.99, 0.01f64.ln().abs())]);
    }

    #[test]
    fn bimodal_times_are_long_as_often_as_told() {
        assert_shape("bimodal:1ms,10ms,0.1", 1.9, &[(0.5, 1.0), (0.89, 1.0), (0.91, 10.0)]);
    }

    #[test]
    fn pareto_times_have_their_tail() {
        let tail = |share: f64| (1.0 - share).powf(-1.0 / 2.5);
        assert_shape("pareto:1ms,2.5", 2.5 / 1.5, &[(0.5, tail(0.5)), (0.9, tail(0.9)), (0.99, tail(0.99))]);
        assert!(draws("pareto:1ms,2.5")[0] >= 1.0);
    }

    #[test]
    fn equal_seeds_draw_equal_times_and_others_do_not() {
        let service = "exponential:1ms".parse::<Service>().unwrap();
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| service.draw_ns(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn even_the_heaviest_tail_ends() {
        let service = Service::Pareto { least_ns: 1e6, shape: 0.01 };
        let mut random = Random::new(0);
        assert!((0..1000).all(|_| service.draw_ns(&mut random) as f64 <= LONGEST_NS));
    }

    #[test]
    fn times_need_a_unit_and_shares_a_range() {
        for text in ["constant:1", "constant:-1ms", "constant:", "constant:1h", "bimodal:1ms,2ms", "pareto:1ms,0"] {
            assert!(text.parse::<Service>().is_err(), "{text}");
        }
        assert!("bimodal:1ms,10ms,1.5".parse::<Service>().is_err());
        assert!("constant:0".parse::<Service>().is_ok());
        assert!(seconds_ns("inf").is_err() && seconds_ns("nan").is_err());
    }
}
