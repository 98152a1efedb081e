//! The Date header. Source: RFC 9110 section 5.6.7 (IMF-fixdate; the obsolete forms are taken for none).

const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Seconds since 1970; `None` for anything that is not like `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn parse(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    if text.len() != 29 || &text[3..5] != b", " || &text[25..] != b" GMT" {
        return None;
    }
    let number = |from: usize, to: usize| {
        text[from..to]
            .iter()
            .try_fold(0u64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
    };
    let month = MONTHS.iter().position(|name| *name == &text[8..11])? as u64 + 1;
    let (day, year) = (number(5, 7)?, number(12, 16)?);
    let (hour, minute, second) = (number(17, 19)?, number(20, 22)?, number(23, 25)?);
    if year < 1970 || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that leap days end them.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    (365 * year + leaps + (153 * month + 2) / 5 + day - 1) - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn dates_are_seconds_since_1970() {
        assert_eq!(parse(b"Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse(b"Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse(b" Thu, 29 Feb 2024 23:59:60 GMT "), Some(1_709_251_200));
        assert_eq!(parse(b"Fri, 31 Dec 9999 23:59:59 GMT"), Some(253_402_300_799));
    }

    #[test]
    fn anything_else_is_no_date() {
        let wrong: [&[u8]; 6] = [
            b"",
            b"Sunday, 06-Nov-94 08:49:37 GMT",
            b"Sun, 06 Nov 1969 08:49:37 GMT",
            b"Sun, 00 Nov 1994 08:49:37 GMT",
            b"Sun, 06 Xyz 1994 08:49:37 GMT",
            b"Sun, 06 Nov 19 4 08:49:37 GMT",
        ];
        assert!(wrong.iter().all(|text| parse(text).is_none()));
    }
}
