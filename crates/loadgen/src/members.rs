//! The named strings of JSON and scripts: what `"name": "value"`, `name = 'value'` and an attribute `name="value"` say.

use crate::fields::resolved;
use crate::scan;

/// Longer names count by their ends.
const NAME_MAX_BYTES: usize = 100;

/// Most blanks between a name and what gives it a value.
const BLANKS_MAX: usize = 16;

/// A string as it stands in the text, escapes and all.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
}

/// The named strings of `text`, in order of their beginnings: name, and value without escapes.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn members_of(text: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    members(text).map(|member| (member.name.to_vec(), plain(member.value))).collect()
}

/// The named strings of `text`. A string may hold others, as an attribute holds JSON.
pub(crate) fn members(text: &[u8]) -> impl Iterator<Item = Member<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || loop {
        at += scan::first(&text[at..], |byte| matches!(byte, b':' | b'='))? + 1;
        let named = name_before(&text[..at - 1]);
        at += scan::blanks(&text[at..])?;
        let (quote @ (b'"' | b'\''), Some(name)) = (text[at], named) else {
            continue;
        };
        at += 1;
        // an opening quote closes any string of its kind before it, so no byte is looked at often
        if let Some(length) = string_length(&text[at..], quote) {
            return Some(Member { name, value: &text[at..at + length] });
        }
    })
}

/// `value` without the escapes of JSON and scripts, nor the character references of attributes.
/// Source: RFC 8259 section 7.
pub(crate) fn plain(value: &[u8]) -> Vec<u8> {
    let (value, mut bytes) = (resolved(value), Vec::with_capacity(value.len()));
    let mut rest = &value[..];
    while let Some(at) = scan::byte(b'\\', rest) {
        bytes.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let coded = coded(rest);
        let (character, length) = coded.unwrap_or((None, 1.min(rest.len())));
        match character {
            Some(character) => bytes.extend_from_slice(character.to_string().as_bytes()),
            None => bytes.extend_from_slice(&rest[..length]),
        }
        rest = &rest[length..];
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// The character that an escape names, if it names one by a letter or number, and the escape's length.
fn coded(escape: &[u8]) -> Option<(Option<char>, usize)> {
    let digits = match escape.first()? {
        b'u' => 4,
        b'x' => 2,
        b'n' => return Some((Some('\n'), 1)),
        b'r' => return Some((Some('\r'), 1)),
        b't' => return Some((Some('\t'), 1)),
        _ => return None,
    };
    let digits = escape.get(1..=digits)?;
    let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)), digits.len() + 1))
}

/// The name that ends `text`, in quotes or not.
fn name_before(text: &[u8]) -> Option<&[u8]> {
    let text = &text[text.len().saturating_sub(NAME_MAX_BYTES + BLANKS_MAX)..];
    let text = text.trim_ascii_end();
    let text = text.strip_suffix(b"\"").or(text.strip_suffix(b"'")).unwrap_or(text);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$-.".contains(byte);
    let length = text.iter().rev().take(NAME_MAX_BYTES).take_while(|byte| is_part(byte)).count();
    (length > 0).then(|| &text[text.len() - length..])
}

/// How long a string is, up to the `quote` that no backslash stands before.
fn string_length(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        at += scan::first(&text[at..], |byte| byte == quote || byte == b'\\')?;
        if text[at] == quote {
            return Some(at);
        }
        at = (at + 2).min(text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, String)> {
        let text_of = |bytes| String::from_utf8(bytes).unwrap();
        members_of(text.as_bytes()).into_iter().map(|(name, value)| (text_of(name), text_of(value))).collect()
    }

    #[test]
    fn a_string_is_found_however_it_is_named() {
        for text in [
            r#"{"user": {"id": 7}, "token": "abc"}"#,
            r#"{"token" :"abc","list":[1,"x"]}"#,
            "window.token = 'abc';",
            "let token='abc'",
            "({token: \"abc\"})",
            "if (x == 'y') token\n:\n'abc'",
        ] {
            let named: Vec<_> = values(text).into_iter().filter(|(name, _)| name.ends_with("token")).collect();
            assert_eq!(named.len(), 1, "{text}");
            assert_eq!(named[0].1, "abc", "{text}");
        }
    }

    #[test]
    fn an_attribute_may_hold_members_of_its_own() {
        let page = r#"<body hx-headers='{"X-CSRFToken": "abc"}' data-t="d&amp;e">"#;
        let expected = [("hx-headers", "{\"X-CSRFToken\": \"abc\"}"), ("X-CSRFToken", "abc"), ("data-t", "d&e")];
        assert_eq!(values(page), expected.map(|(name, value)| (name.to_string(), value.to_string())));
    }

    #[test]
    fn escapes_are_resolved() {
        let text = r#"{"t": "a\/b\u003D\"\\c\x26\n\ud800\u12"}"#;
        assert_eq!(values(text)[0].1, "a/b=\"\\c&\n\u{fffd}u12");
    }

    #[test]
    fn what_has_no_name_or_no_end_is_passed_over() {
        for text in ["", ":", "=", "t=", "t: \"abc", "[\"abc\"]", "t: abc", "== 'a'", "t='\\", "t: \"a\\\""] {
            assert_eq!(values(text), [], "{text}");
        }
    }

    #[test]
    fn any_text_is_read_in_one_pass() {
        for piece in
            ["a=", "a='", "a=\"", "a='b=\"", "a='\\", "\\'a=", "a=' b=\" ", ": ", "a ", "\"", "a:\\\"", "a='&'"]
        {
            let text = piece.repeat(100_000 / piece.len());
            let looked_at = scan::looked_at(|| drop(members_of(text.as_bytes())));
            assert!(looked_at < 8 * text.len(), "{piece}: {looked_at}");
        }
    }
}
