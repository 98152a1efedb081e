//! Tokens of HTTP: methods and the names of headers.

/// Whether `text` is a token. Source: RFC 9110 section 5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
