//! Moments as recordings write them, in nanoseconds since 1970; the years 1678 to 2261 fit.

const SECOND_NS: i64 = 1_000_000_000;
const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

/// Reads `2026-10-10T13:55:36.123+02:00`; any number of decimals, `Z` or no offset for UTC. Source: ISO 8601.
pub(crate) fn iso_8601(text: &str) -> Option<i64> {
    let mut rest = Cursor(text.trim().as_bytes());
    let year = rest.digits(4)?;
    rest.one_of(b"-")?;
    let month = rest.digits(2)?;
    rest.one_of(b"-")?;
    let day = rest.digits(2)?;
    rest.one_of(b"Tt ")?;
    let clock = rest.clock()?;
    let fraction = rest.fraction();
    let offset = if rest.0.is_empty() || rest.one_of(b"Zz").is_some() { 0 } else { rest.offset()? };
    if !rest.0.is_empty() {
        return None;
    }
    moment(year, month, day, clock, offset)?.checked_add(fraction)
}

/// Reads `10/Oct/2026:13:55:36 +0200`. Source: Apache mod_log_config, `%t`; nginx, `$time_local`.
pub(crate) fn log_time(text: &[u8]) -> Option<i64> {
    let mut rest = Cursor(text);
    let day = rest.digits(2)?;
    rest.one_of(b"/")?;
    let month = rest.month()?;
    rest.one_of(b"/")?;
    let year = rest.digits(4)?;
    rest.one_of(b":")?;
    let clock = rest.clock()?;
    rest.one_of(b" ")?;
    let offset = rest.offset()?;
    rest.0.is_empty().then(|| moment(year, month, day, clock, offset))?
}

fn moment(year: i64, month: i64, day: i64, clock_s: i64, offset_s: i64) -> Option<i64> {
    let days = days_since_1970(year, month, day)?;
    (days * 86_400 + clock_s - offset_s).checked_mul(SECOND_NS)
}

/// Days of the Gregorian calendar, counted in years that begin in March, so that a leap day is a year's last.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// What is left to read; every method takes from its front.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn one_of(&mut self, choice: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        choice.contains(&first).then(|| self.0 = rest)?;
        Some(first)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits
            .iter()
            .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))?;
        self.0 = rest;
        Some(number)
    }

    /// Seconds since midnight; 60 is a leap second.
    fn clock(&mut self) -> Option<i64> {
        let hour = self.digits(2)?;
        self.one_of(b":")?;
        let minute = self.digits(2)?;
        self.one_of(b":")?;
        let second = self.digits(2)?;
        (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
    }

    /// Nanoseconds of the decimals, if there are any; beyond nanoseconds they are cut.
    fn fraction(&mut self) -> i64 {
        if self.one_of(b".,").is_none() {
            return 0;
        }
        let (mut fraction_ns, mut unit) = (0, SECOND_NS / 10);
        while let Some(digit) = self.digits(1) {
            fraction_ns += digit * unit;
            unit /= 10;
        }
        fraction_ns
    }

    /// Seconds east of UTC, from `+02:00`, `+0200` or `+02`.
    fn offset(&mut self) -> Option<i64> {
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours = self.digits(2)?;
        let minutes = match self.one_of(b":") {
            Some(_) => self.digits(2)?,
            None => self.digits(2).unwrap_or(0),
        };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
    }

    fn month(&mut self) -> Option<i64> {
        let (name, rest) = self.0.split_at_checked(3)?;
        let number = MONTHS.iter().zip(1..).find(|(month, _)| name.eq_ignore_ascii_case(month))?.1;
        self.0 = rest;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_read_as_every_exporter_writes_them() {
        for (text, expected_ns) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.000", 0),
            ("1969-12-31 23:59:59+00:00", -SECOND_NS),
            ("2023-03-29T16:58:59.303-07:00", 1_680_134_339_303_000_000),
            ("2023-03-29T23:58:59.303Z", 1_680_134_339_303_000_000),
            ("2023-03-30T01:58:59,3030000+0200", 1_680_134_339_303_000_000),
            ("2023-03-29T23:58:59.303000123456+00", 1_680_134_339_303_000_123),
            ("2000-02-29T12:00:00Z", 951_825_600_000_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
        ] {
            assert_eq!(iso_8601(text), Some(expected_ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_or_out_of_range_is_none() {
        for text in [
            "",
            "now",
            "Invalid Date",
            "2023-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2023-00-01T00:00:00Z",
            "2023-13-01T00:00:00Z",
            "2023-01-00T00:00:00Z",
            "2023-04-31T00:00:00Z",
            "2023-01-01T24:00:00Z",
            "2023-01-01T00:60:00Z",
            "2023-01-01T00:00:61Z",
            "2023-01-01T00:00:00+24:00",
            "2023-01-01T00:00:00+01:",
            "2023-01-01T00:00:00Zulu",
            "2023-01-01",
            "+2023-01-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "２０２３-01-01T00:00:00Z",
        ] {
            assert_eq!(iso_8601(text), None, "{text}");
        }
    }

    #[test]
    fn the_time_of_a_log_has_a_named_month() {
        assert_eq!(log_time(b"10/Oct/2000:13:55:36 -0700"), Some(971_211_336 * SECOND_NS));
        assert_eq!(log_time(b"01/jan/1970:00:00:00 +0000"), Some(0));
        for text in [
            &b""[..],
            b"10/Okt/2000:13:55:36 -0700",
            b"10/Oct/2000 13:55:36 -0700",
            b"10/Oct/2000:13:55:36",
            b"31/Feb/2000:13:55:36 +0000",
            b"10/Oct/2000:13:55:36 -0700 ",
            b"10/Oct/9999:13:55:36 -0700",
        ] {
            assert_eq!(log_time(text), None, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn days_go_up_by_one_through_every_month() {
        let mut expected = days_since_1970(1890, 1, 1).unwrap();
        for year in 1890..2110 {
            for (month, day) in (1..=12).flat_map(|month| (1..=31).map(move |day| (month, day))) {
                if let Some(days) = days_since_1970(year, month, day) {
                    assert_eq!(days, expected, "{year}-{month}-{day}");
                    expected += 1;
                }
            }
        }
    }
}
