//! Which recorded request headers can be sent again.

use crate::target::is_token;

/// Owned by the recorded connection, or set anew by whoever sends. Source: RFC 9110 section 7.6.1; RFC 7838 section 5
/// for Alt-Used, RFC 9113 section 8.2.2 for Proxy-Connection and HTTP2-Settings.
const OF_THE_CONNECTION: [&str; 13] = [
    "alt-used",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Owned by the browser's cache, which a new visitor does not have. If-Match and If-Unmodified-Since are not among
/// them: with these an application guards what it writes. Source: RFC 9110 section 13.1.
const OF_THE_CACHE: [&str; 3] = ["if-modified-since", "if-none-match", "if-range"];

/// The headers to replay, in their order.
///
/// Dropped are those of the connection and those that Connection names, conditions set by a cache, the pseudo-headers
/// of HTTP/2 (they start with a colon), and any that could not be a header at all.
pub(crate) fn replayable(recorded: &[(String, String)]) -> Vec<(String, String)> {
    let named = connection_options(recorded);
    let keeps = |name: &str, value: &str| {
        let name = name.to_ascii_lowercase();
        is_token(name.as_bytes())
            && is_value(value)
            && !OF_THE_CONNECTION.contains(&name.as_str())
            && !OF_THE_CACHE.contains(&name.as_str())
            && !named.contains(&name)
    };
    let kept = recorded.iter().map(|(name, value)| (name.as_str(), value.trim()));
    kept.filter(|(name, value)| keeps(name, value)).map(|(name, value)| (name.into(), value.into())).collect()
}

fn connection_options(recorded: &[(String, String)]) -> Vec<String> {
    let values = recorded.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    values.flat_map(|(_, value)| value.split(',')).map(|option| option.trim().to_ascii_lowercase()).collect()
}

/// Whether `text` stays in its line. Source: RFC 9110 section 5.5.
pub(crate) fn is_value(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t')
}

/// The value of the first header called `name`, which is in lower case.
pub(crate) fn value<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(headers: &[(&str, &str)]) -> Vec<String> {
        let recorded: Vec<_> = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        replayable(&recorded).into_iter().map(|(name, value)| format!("{name}: {value}")).collect()
    }

    #[test]
    fn headers_of_the_connection_go() {
        let recorded = [
            (":authority", "shop.example"),
            ("Host", "shop.example"),
            ("Accept", " text/html "),
            ("CONNECTION", "Keep-Alive, X-Hop"),
            ("Keep-Alive", "timeout=5"),
            ("x-hop", "1"),
            ("Content-Length", "3"),
            ("Transfer-Encoding", "chunked"),
            ("TE", "trailers"),
            ("Upgrade", "websocket"),
            ("Proxy-Connection", "keep-alive"),
            ("Expect", "100-continue"),
            ("Accept-Encoding", "gzip, br"),
            ("Cookie", "a=b"),
            ("Upgrade-Insecure-Requests", "1"),
        ];
        assert_eq!(
            kept(&recorded),
            ["Accept: text/html", "Accept-Encoding: gzip, br", "Cookie: a=b", "Upgrade-Insecure-Requests: 1"]
        );
    }

    #[test]
    fn conditions_of_a_cache_go_and_those_of_a_writer_stay() {
        let recorded =
            [("If-None-Match", "\"x\""), ("if-modified-since", "x"), ("If-Range", "x"), ("If-Match", "\"y\"")];
        assert_eq!(kept(&recorded), ["If-Match: \"y\""]);
    }

    #[test]
    fn what_could_not_be_a_header_goes() {
        let recorded =
            [("", "x"), ("a b", "x"), ("a:", "x"), ("ü", "x"), ("x", "a\r\nb"), ("y", "a\0"), ("z", "a\tü")];
        assert_eq!(kept(&recorded), ["z: a\tü"]);
    }
}
