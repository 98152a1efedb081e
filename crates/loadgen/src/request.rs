//! A request, and the bytes it is sent as: rendered once per run, never in the hot path.

use crate::error::PlanError;

/// One HTTP/1.1 request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path with its query, starting with a slash.
    pub path: String,
    /// The Host header.
    pub host: String,
    /// Further headers. One called Host, User-Agent or Accept replaces what is sent by default.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// A GET of `path`.
    pub fn get(path: &str, host: &str) -> Request {
        Request {
            method: "GET".into(),
            path: path.into(),
            host: host.into(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), PlanError> {
        let wrong = |part, text: &str| Err(PlanError::Request { part, text: text.into() });
        if self.method.is_empty() || !self.method.bytes().all(is_token) {
            return wrong("method", &self.method);
        }
        if !self.path.starts_with(['/', '*']) || !self.path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return wrong("path", &self.path);
        }
        if !is_value(&self.host) {
            return wrong("host", &self.host);
        }
        for (name, value) in &self.headers {
            if name.is_empty() || !name.bytes().all(is_token) {
                return wrong("header name", name);
            }
            if !is_value(value) {
                return wrong("header value", value);
            }
        }
        Ok(())
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Whether sending it twice does what sending it once does. Source: RFC 9110 section 9.2.2.
    pub(crate) fn is_idempotent(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
    }

    pub(crate) fn render(&self, keep_alive: bool) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let defaults = [("Host", self.host.as_str()), ("User-Agent", "stackrace"), ("Accept", "*/*")];
        for (name, value) in defaults {
            if !self.has(name) {
                text += &format!("{name}: {value}\r\n");
            }
        }
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        let expects_body = matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        if (expects_body || !self.body.is_empty()) && !self.has("Content-Length") {
            text += &format!("Content-Length: {}\r\n", self.body.len());
        }
        if !keep_alive && !self.has("Connection") {
            text += "Connection: close\r\n";
        }
        text += "\r\n";
        [text.as_bytes(), &self.body].concat()
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
    }
}

/// Source: RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_get_is_as_short_as_it_can_be() {
        assert_eq!(
            Request::get("/a?b", "example.org").render(true),
            b"GET /a?b HTTP/1.1\r\nHost: example.org\r\nUser-Agent: stackrace\r\nAccept: */*\r\n\r\n"
        );
    }

    #[test]
    fn closing_is_asked_for_and_a_body_is_measured() {
        let mut request = Request::get("/", "h");
        request.method = "POST".into();
        request.headers = vec![("host".into(), "other".into()), ("X".into(), "y".into())];
        request.body = b"1=2".to_vec();
        assert_eq!(
            String::from_utf8(request.render(false)).unwrap(),
            "POST / HTTP/1.1\r\nUser-Agent: stackrace\r\nAccept: */*\r\nhost: other\r\nX: y\r\n\
             Content-Length: 3\r\nConnection: close\r\n\r\n1=2"
        );
        assert!(!request.is_idempotent());
    }

    #[test]
    fn nothing_can_break_out_of_its_line() {
        let fine = Request::get("/", "h");
        assert!(fine.validate().is_ok());
        assert!(Request { path: "/a b".into(), ..fine.clone() }.validate().is_err());
        assert!(Request { path: "a".into(), ..fine.clone() }.validate().is_err());
        assert!(Request { host: "h\r\nX: y".into(), ..fine.clone() }.validate().is_err());
        assert!(Request { method: "G T".into(), ..fine.clone() }.validate().is_err());
        let header = |name: &str, value: &str| vec![(name.to_string(), value.to_string())];
        assert!(Request { headers: header("A:", "b"), ..fine.clone() }.validate().is_err());
        assert!(Request { headers: header("A", "b\nc"), ..fine.clone() }.validate().is_err());
        assert!(Request { headers: header("A", "b\tc"), ..fine }.validate().is_ok());
    }
}
