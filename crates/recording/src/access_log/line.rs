//! One line of an access log, in the common or the combined format.
//!
//! `client identity user [time] "request line" status bytes "referer" "user agent"`; the last two are the combined
//! format's, and whatever follows is of no interest. Sources: Apache mod_log_config; nginx ngx_http_log_module.

use std::net::IpAddr;

use crate::time::log_time;

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub client: &'a [u8],
    /// In nanoseconds since 1970, whole seconds.
    pub time_ns: i64,
    pub request: Vec<u8>,
    /// 0 if there was none.
    pub status: u16,
    /// The answer's body; "-" is none.
    pub body_length: u64,
    pub referer: Option<Vec<u8>>,
    pub user_agent: Option<Vec<u8>>,
}

/// Reads a line without its end; `None` if it is of neither format.
pub(super) fn line(text: &[u8]) -> Option<Line<'_>> {
    let (before, time_ns, after) = around_time(text)?;
    let (request, rest) = quoted(after.strip_prefix(b" ")?)?;
    let (status, rest) = word(rest.strip_prefix(b" ")?);
    let (length, rest) = word(rest.strip_prefix(b" ")?);
    let (referer, rest) = optional(rest);
    let (user_agent, _) = optional(rest);
    Some(Line {
        client: client(before)?,
        time_ns,
        request,
        status: number(status).and_then(|status| u16::try_from(status).ok())?,
        body_length: number(length)?,
        referer,
        user_agent,
    })
}

/// Splits at the time. A user name may hold spaces and brackets, so the first brackets that hold a time count.
fn around_time(text: &[u8]) -> Option<(&[u8], i64, &[u8])> {
    const LENGTH: usize = "10/Oct/2000:13:55:36 -0700".len();
    let starts = text.windows(2).enumerate().filter(|(_, pair)| pair == b" [").map(|(start, _)| start);
    starts.into_iter().find_map(|start| {
        let time = text.get(start + 2..start + 2 + LENGTH)?;
        let after = text.get(start + 2 + LENGTH..)?.strip_prefix(b"]")?;
        Some((text.get(..start)?, log_time(time)?, after))
    })
}

/// The first word; the second where the first names a virtual host, as in Debian's `vhost_combined`.
fn client(before: &[u8]) -> Option<&[u8]> {
    let mut words = before.split(|&byte| byte == b' ');
    let (first, second, third) = (words.next()?, words.next()?, words.next()?);
    let is_address = |word: &[u8]| std::str::from_utf8(word).is_ok_and(|word| word.parse::<IpAddr>().is_ok());
    let client = if is_address(second) && !third.is_empty() { second } else { first };
    (!client.is_empty()).then_some(client)
}

/// Up to the next space, and the rest from there.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, b""))
}

fn number(word: &[u8]) -> Option<u64> {
    if word == b"-" {
        return Some(0);
    }
    let digits = std::str::from_utf8(word).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// A quoted field after a space; `None` for "-" or if there is none.
fn optional(text: &[u8]) -> (Option<Vec<u8>>, &[u8]) {
    match text.strip_prefix(b" ").and_then(quoted) {
        Some((value, rest)) => (Some(value).filter(|value| value != b"-"), rest),
        None => (None, b""),
    }
}

/// Takes a quoted field off the front and undoes its escapes.
///
/// Apache writes `\"`, `\\`, `\n` and the like, and `\xhh`; nginx writes `\xHH` only. Source: Apache's
/// `ap_escape_logitem`, nginx's `escape=default`.
fn quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut value = Vec::new();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((value, rest)),
            b'\\' => rest = unescape(rest, &mut value)?,
            _ => value.push(byte),
        }
    }
}

/// Undoes the escape whose backslash was just read. One that nobody writes stands for itself.
fn unescape<'a>(text: &'a [u8], value: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (&kind, rest) = text.split_first()?;
    let meant = match kind {
        b'"' | b'\\' => kind,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'r' => b'\r',
        b'x' => {
            if let Some(byte) = rest.get(..2).and_then(hexadecimal) {
                value.push(byte);
                return rest.get(2..);
            }
            value.push(b'\\');
            kind
        }
        _ => {
            value.push(b'\\');
            kind
        }
    };
    value.push(meant);
    Some(rest)
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0u8, |byte, &digit| Some(byte << 4 | char::from(digit).to_digit(16)? as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_NS: i64 = 971_211_336_000_000_000;

    fn expected<'a>(client: &'a str, request: &str, status: u16, body_length: u64) -> Line<'a> {
        Line {
            client: client.as_bytes(),
            time_ns: TIME_NS,
            request: request.into(),
            status,
            body_length,
            referer: None,
            user_agent: None,
        }
    }

    #[test]
    fn the_common_format_is_read() {
        let text = b"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif HTTP/1.0\" 200 2326";
        assert_eq!(line(text).unwrap(), expected("127.0.0.1", "GET /apache_pb.gif HTTP/1.0", 200, 2326));
        let text = b"2001:db8::7 - - [10/Oct/2000:13:55:36 -0700] \"HEAD / HTTP/2.0\" 304 -";
        assert_eq!(line(text).unwrap(), expected("2001:db8::7", "HEAD / HTTP/2.0", 304, 0));
    }

    #[test]
    fn the_combined_format_adds_where_from_and_with_what() {
        let text = b"client.example - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5 \
            \"http://shop.example/a?b\" \"Mozilla/5.0 (X11; \\\"x\\\")\" \"203.0.113.9\" 0.004";
        let found = line(text).unwrap();
        assert_eq!(found.referer.as_deref(), Some(&b"http://shop.example/a?b"[..]));
        assert_eq!(found.user_agent.as_deref(), Some(&b"Mozilla/5.0 (X11; \"x\")"[..]));
        let text = b"client.example - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5 \"-\" \"-\"";
        assert_eq!(line(text).unwrap(), expected("client.example", "GET / HTTP/1.1", 200, 5));
    }

    #[test]
    fn a_user_name_may_hold_anything() {
        let text = b"192.0.2.7 - J. [10/Oct/x] Doe [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5";
        assert_eq!(line(text).unwrap(), expected("192.0.2.7", "GET / HTTP/1.1", 200, 5));
        let text = b"192.0.2.7 - \"\" [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5";
        assert_eq!(line(text).unwrap(), expected("192.0.2.7", "GET / HTTP/1.1", 200, 5));
    }

    #[test]
    fn a_virtual_host_in_front_is_not_the_client() {
        for host in ["shop.example:80", "shop.example"] {
            let text = format!("{host} 192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5");
            assert_eq!(line(text.as_bytes()).unwrap(), expected("192.0.2.7", "GET / HTTP/1.1", 200, 5));
        }
    }

    #[test]
    fn escapes_of_both_servers_are_undone() {
        for (written, meant) in [
            (&br#"GET /\"a\\b\t\n\r\b\v HTTP/1.1"#[..], &b"GET /\"a\\b\t\n\r\x08\x0b HTTP/1.1"[..]),
            (br"GET /caf\xc3\xa9 HTTP/1.1", b"GET /caf\xc3\xa9 HTTP/1.1"),
            (br"\x16\x03\x01", b"\x16\x03\x01"),
            (br"GET /\x22\x5C HTTP/1.1", b"GET /\"\\ HTTP/1.1"),
            (br"GET /\xg0\q HTTP/1.1", br"GET /\xg0\q HTTP/1.1"),
            (b"", b""),
        ] {
            let text = [b"\"", written, b"\" rest"].concat();
            assert_eq!(quoted(&text), Some((meant.to_vec(), &b" rest"[..])));
        }
        for text in [&b""[..], b"\"", b"\"a", b"\"\\", b"\"\\\"", b"\"\\x", b"\"\\x4", b"a\""] {
            assert_eq!(quoted(text), None, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn other_lines_are_none() {
        for text in [
            "",
            "#Version: 1.0",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700]",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] GET / HTTP/1.1 200 5",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\"",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" ok 5",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 70000 5",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 +5",
            "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 99999999999999999999",
            "192.0.2.7 - - [yesterday] \"GET / HTTP/1.1\" 200 5",
            " [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5",
            "192.0.2.7 [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5",
        ] {
            assert_eq!(line(text.as_bytes()), None, "{text}");
        }
    }
}
