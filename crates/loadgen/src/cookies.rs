//! The cookies one visitor was given. Source: RFC 6265 section 5, for a single origin: domains are not compared,
//! and cookies marked secure or for scripts only are sent like any other.

const COOKIES_MAX: usize = 50;
const COOKIE_MAX_BYTES: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Jar {
    cookies: Vec<Cookie>,
}

#[derive(Debug)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
}

impl Jar {
    /// Forgets everything: the next visitor comes.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Takes in one Set-Cookie header; what is malformed, too long or one too many is passed over.
    pub fn take(&mut self, header: &[u8]) {
        let mut parts = header.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let Some((name, value)) = parts.next().and_then(|pair| split(pair, b'=')) else {
            return;
        };
        if name.is_empty() || header.len() > COOKIE_MAX_BYTES || header.iter().any(u8::is_ascii_control) {
            return;
        }
        let (mut path, mut gone) = (&b"/"[..], false);
        for part in parts {
            let (key, value) = split(part, b'=').unwrap_or((part, b""));
            if key.eq_ignore_ascii_case(b"path") && value.starts_with(b"/") {
                path = value;
            } else if key.eq_ignore_ascii_case(b"max-age") {
                gone = value == b"0" || value.starts_with(b"-");
            } else if key.eq_ignore_ascii_case(b"expires") {
                // how applications delete a cookie; other dates lie beyond any run
                gone |= value.windows(4).any(|year| year == b"1970");
            }
        }
        self.cookies.retain(|cookie| cookie.name != name || cookie.path != path);
        if !gone && self.cookies.len() < COOKIES_MAX {
            self.cookies.push(Cookie { name: name.to_vec(), value: value.to_vec(), path: path.to_vec() });
        }
    }

    /// The value of the cookie called `name` that belongs to a request of `path`.
    pub fn value(&self, name: &[u8], path: &[u8]) -> Option<&[u8]> {
        let belongs = |cookie: &&Cookie| cookie.name == name && cookie.belongs_to(path);
        self.cookies.iter().rev().find(belongs).map(|cookie| cookie.value.as_slice())
    }

    /// Adds the Cookie header line for a request of `path`, if any cookie belongs to it.
    pub fn write(&self, path: &[u8], bytes: &mut Vec<u8>) {
        let mut first = true;
        for cookie in self.cookies.iter().filter(|cookie| cookie.belongs_to(path)) {
            bytes.extend_from_slice(if first { b"Cookie: " } else { b"; " });
            bytes.extend_from_slice(&cookie.name);
            bytes.push(b'=');
            bytes.extend_from_slice(&cookie.value);
            first = false;
        }
        if !first {
            bytes.extend_from_slice(b"\r\n");
        }
    }
}

impl Cookie {
    /// Source: RFC 6265 section 5.1.4.
    fn belongs_to(&self, path: &[u8]) -> bool {
        let path = path.split(|&byte| byte == b'?').next().unwrap_or_default();
        path.strip_prefix(self.path.as_slice())
            .is_some_and(|rest| rest.is_empty() || self.path.ends_with(b"/") || rest.starts_with(b"/"))
    }
}

fn split(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let middle = text.iter().position(|&byte| byte == separator)?;
    Some((text[..middle].trim_ascii(), text[middle + 1..].trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(jar: &Jar, path: &str) -> String {
        let mut bytes = Vec::new();
        jar.write(path.as_bytes(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn cookies_are_sent_back_replaced_and_deleted() {
        let mut jar = Jar::default();
        assert_eq!(sent(&jar, "/"), "");
        jar.take(b"csrftoken=abc; expires=Sat, 20 Nov 2027 00:00:00 GMT; Max-Age=31449600; Path=/; SameSite=Lax");
        jar.take(b"sessionid=\"x=y\"; HttpOnly; Path=/");
        assert_eq!(sent(&jar, "/a?b"), "Cookie: csrftoken=abc; sessionid=\"x=y\"\r\n");
        jar.take(b"csrftoken=def");
        jar.take(b"sessionid=\"\"; expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/");
        assert_eq!(sent(&jar, "/"), "Cookie: csrftoken=def\r\n");
        jar.take(b"csrftoken=; Max-Age=0");
        assert_eq!(sent(&jar, "/"), "");
    }

    #[test]
    fn a_cookie_belongs_to_its_path() {
        let mut jar = Jar::default();
        jar.take(b"a=1; Path=/admin");
        assert_eq!(sent(&jar, "/admin"), "Cookie: a=1\r\n");
        assert_eq!(sent(&jar, "/admin/x?y"), "Cookie: a=1\r\n");
        assert_eq!(sent(&jar, "/administrator") + &sent(&jar, "/"), "");
    }

    #[test]
    fn what_is_no_cookie_or_too_much_is_passed_over() {
        let mut jar = Jar::default();
        for header in [&b""[..], b"novalue", b"=1", b"a=1\r\nX: y", &[b'a'; 5000]] {
            jar.take(header);
        }
        assert_eq!(sent(&jar, "/"), "");
        (0..200).for_each(|number| jar.take(format!("c{number}=1").as_bytes()));
        assert_eq!(sent(&jar, "/").matches("=1").count(), COOKIES_MAX);
    }
}
