//! URLs taken apart, and request targets made fit for a request line.

/// Where an http or https URL points to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Scheme, host and port in lower case, without a default port. Source: RFC 6454 section 4.
    pub origin: String,
    /// Path and query.
    pub path: String,
}

/// Takes an absolute http or https URL apart; `None` for anything else. A user name and a fragment are dropped.
pub(crate) fn split(url: &[u8]) -> Option<Address> {
    let colon = url.iter().position(|&byte| byte == b':')?;
    let (scheme, rest) = url.split_at_checked(colon)?;
    let scheme = std::str::from_utf8(scheme).ok()?.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let rest = rest.strip_prefix(b"://")?;
    let end = rest.iter().position(|byte| b"/?#\\".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let (host, port) = host_and_port(authority, default_port)?;
    let port = if port == default_port { String::new() } else { format!(":{port}") };
    Some(Address { origin: format!("{scheme}://{host}{port}"), path: origin_form(path) })
}

fn host_and_port(authority: &[u8], default_port: u16) -> Option<(String, u16)> {
    let authority = std::str::from_utf8(authority).ok()?;
    let server = authority.rsplit('@').next()?;
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (server, ""),
    };
    let port = if port.is_empty() { default_port } else { decimal_port(port)? };
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let fits = match inner {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        }
    };
    fits.then(|| (host.to_ascii_lowercase(), port))
}

fn decimal_port(digits: &str) -> Option<u16> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Path and query as they may stand in a request line: a slash in front, no fragment, the rest percent-encoded.
///
/// Escapes already there are kept. Source: RFC 9112 section 3.2.1; RFC 3986 sections 3.3 and 3.4.
pub(crate) fn origin_form(target: &[u8]) -> String {
    let target = target.split(|&byte| byte == b'#').next().unwrap_or_default();
    let mut path = String::with_capacity(target.len() + 1);
    if target.first() != Some(&b'/') {
        path.push('/');
    }
    for &byte in target {
        push_encoded(&mut path, byte, is_allowed(byte));
    }
    path
}

/// Appends `byte` as it is, or as `%XX`.
pub(crate) fn push_encoded(text: &mut String, byte: u8, as_it_is: bool) {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    if as_it_is {
        text.push(char::from(byte));
        return;
    }
    text.push('%');
    text.extend(DIGITS.get(usize::from(byte >> 4)));
    text.extend(DIGITS.get(usize::from(byte & 15)));
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/%:@!$&'()*+,;=-._~?".contains(&byte)
}

/// Whether `text` is a token, as methods and header names are. Source: RFC 9110 section 5.6.2.
pub(crate) fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(url: &str) -> Option<(String, String)> {
        split(url.as_bytes()).map(|address| (address.origin, address.path))
    }

    #[test]
    fn a_url_is_an_origin_and_a_path() {
        for (url, origin, path) in [
            ("http://shop.example", "http://shop.example", "/"),
            ("HTTP://Shop.Example:80/A?b=C#d", "http://shop.example", "/A?b=C"),
            ("https://shop.example:443?q", "https://shop.example", "/?q"),
            ("https://shop.example:8443/", "https://shop.example:8443", "/"),
            ("http://me:secret@shop.example:8000/x", "http://shop.example:8000", "/x"),
            ("http://[2001:DB8::7]:8000/x", "http://[2001:db8::7]:8000", "/x"),
            ("http://[::1]/", "http://[::1]", "/"),
            ("http://127.0.0.1:/", "http://127.0.0.1", "/"),
        ] {
            assert_eq!(parts(url), Some((origin.into(), path.into())), "{url}");
        }
    }

    #[test]
    fn what_is_no_web_address_has_no_parts() {
        for url in [
            "",
            "/",
            "data:text/plain,x",
            "ws://shop.example/",
            "chrome-extension://abc/x.js",
            "http:/shop.example",
            "http://",
            "http:///x",
            "http://shop.example:x/",
            "http://shop.example:+80/",
            "http://shop.example:65536/",
            "http://a b/",
            "http://a\r\nb/",
            "http://[zz]/",
            "http://[::1/",
            "http://shöp.example/",
        ] {
            assert_eq!(parts(url), None, "{url}");
        }
    }

    #[test]
    fn a_path_may_hold_what_a_request_line_may() {
        for (target, path) in [
            (&b""[..], "/"),
            (b"?a=b", "/?a=b"),
            (b"/a b?c=d e", "/a%20b?c=d%20e"),
            (b"/%7Euser/%zz", "/%7Euser/%zz"),
            (b"/caf\xc3\xa9", "/caf%C3%A9"),
            (b"/\xff\x00\r\n\"<>\\^`{|}[]", "/%FF%00%0D%0A%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D"),
            (b"//twice", "//twice"),
            (b"#only", "/"),
        ] {
            assert_eq!(origin_form(target), path);
        }
    }
}
