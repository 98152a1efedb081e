//! The named fields of a page: what `<input name=… value=…>` and `<meta name=… content=…>` say.
//! Source: HTML Standard, section 13.2.5 (tokenization), as far as start tags need it.

use crate::scan;

/// The longest character reference that is looked for; `&#x10FFFF;` is no longer.
const REFERENCE_MAX_BYTES: usize = 16;

/// A field as it stands in the page, character references and all.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
    pub hidden: bool,
}

/// The fields of `page`, in order: name, value, and whether a browser sends it unseen (hidden inputs and `<meta>`).
pub fn fields_of(page: &[u8]) -> Vec<(Vec<u8>, Vec<u8>, bool)> {
    fields(page).map(|field| (field.name.to_vec(), resolved(field.value), field.hidden)).collect()
}

/// The fields of `page`, in order, as they stand there.
pub(crate) fn fields(page: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut rest = page;
    std::iter::from_fn(move || loop {
        rest = &rest[scan::byte(b'<', rest)? + 1..];
        if rest.starts_with(b"!--") {
            rest = &rest[scan::sequence(b"-->", rest)?..];
        }
        let (tag, after) = rest.split_at_checked(5)?;
        let (is_input, is_meta) = (tag.eq_ignore_ascii_case(b"input"), tag[..4].eq_ignore_ascii_case(b"meta"));
        let attributes = if is_input { after } else { &rest[4..] };
        if (is_input || is_meta) && attributes.first().is_some_and(|&byte| is_blank(byte) || byte == b'/') {
            let (field, after) = field(attributes, is_meta)?;
            rest = after;
            if field.is_some() {
                return field;
            }
        }
    })
}

/// The field that a tag's attributes make, if it has a name, and what comes after the tag. `None` where the tag never
/// ends: then nothing after it is a tag either.
fn field(mut rest: &[u8], is_meta: bool) -> Option<(Option<Field<'_>>, &[u8])> {
    let (mut name, mut value, mut hidden) = (None, &b""[..], is_meta);
    let holds_value: &[u8] = if is_meta { b"content" } else { b"value" };
    while let Some((key, content, after)) = attribute(rest) {
        rest = after;
        if key.eq_ignore_ascii_case(b"name") {
            name = name.or(Some(content));
        } else if key.eq_ignore_ascii_case(holds_value) {
            value = content;
        } else if key.eq_ignore_ascii_case(b"type") {
            hidden |= content.eq_ignore_ascii_case(b"hidden");
        }
    }
    if rest[scan::first(rest, is_no_gap)?] != b'>' {
        return None;
    }
    Some((name.filter(|name| !name.is_empty()).map(|name| Field { name, value, hidden }), rest))
}

/// The next attribute of a tag, with its value or nothing, and what follows; `None` at the tag's end.
fn attribute(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let text = &text[scan::first(text, is_no_gap)?..];
    if text[0] == b'>' {
        return None;
    }
    // a name may begin with "=", and no other character ends before the first
    let ends_name = |byte| is_blank(byte) || matches!(byte, b'=' | b'>' | b'/');
    let (key, rest) = text.split_at(1 + scan::first(&text[1..], ends_name)?);
    let after = &rest[scan::blanks(rest)?..];
    let Some(value) = after.strip_prefix(b"=") else {
        return Some((key, b"", rest));
    };
    let value = &value[scan::blanks(value)?..];
    match value[0] {
        quote @ (b'"' | b'\'') => {
            let length = scan::byte(quote, &value[1..])?;
            Some((key, &value[1..=length], &value[length + 2..]))
        }
        _ => {
            let length = scan::first(value, |byte| is_blank(byte) || byte == b'>')?;
            Some((key, &value[..length], &value[length..]))
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Whether a byte is no part of what stands between attributes.
fn is_no_gap(byte: u8) -> bool {
    !is_blank(byte) && byte != b'/'
}

/// `text` with the character references that templates write resolved; any other stays as it is.
pub(crate) fn resolved(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(at) = scan::byte(b'&', rest) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let end = scan::byte(b';', &rest[..rest.len().min(REFERENCE_MAX_BYTES)]);
        let referred = end.and_then(|end| Some((character(&rest[1..end])?, end)));
        let (bytes, length) = referred.map_or(("&".into(), 1), |(character, end)| (character.to_string(), end + 1));
        plain.extend_from_slice(bytes.as_bytes());
        rest = &rest[length..];
    }
    plain.extend_from_slice(rest);
    plain
}

fn character(reference: &[u8]) -> Option<char> {
    let number = match reference {
        b"amp" => return Some('&'),
        b"lt" => return Some('<'),
        b"gt" => return Some('>'),
        b"quot" => return Some('"'),
        b"apos" => return Some('\''),
        [b'#', b'x' | b'X', digits @ ..] => u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?,
        [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok()?,
        _ => return None,
    };
    char::from_u32(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(page: &str, name: &str, nth: usize) -> Option<String> {
        let named = fields_of(page.as_bytes()).into_iter().filter(|field| field.0 == name.as_bytes());
        named.map(|field| String::from_utf8(field.1).unwrap()).nth(nth)
    }

    #[test]
    fn a_field_is_found_however_its_tag_is_written() {
        for page in [
            r#"<input type="hidden" name="t" value="abc">"#,
            r#"<INPUT VALUE='abc' NAME='t' TYPE=hidden />"#,
            r#"<p><input name=t value=abc>"#,
            "<input\n\tname = \"t\"\n\tvalue = \"abc\"\n>",
            r#"<meta name="t" content="abc">"#,
            r#"a < b <input data-x=">" name="t" value="abc" disabled/>"#,
            r#"<!-- <input name="t" value="old"> --><input name="t" value="abc">"#,
        ] {
            assert_eq!(value(page, "t", 0).as_deref(), Some("abc"), "{page}");
            assert_eq!(value(page, "t", 1), None);
            assert_eq!(value(page, "other", 0), None);
        }
    }

    #[test]
    fn of_several_the_nth_is_meant() {
        let page = r#"<input name="t" value="1"><input name="u" value="2"><meta name="t" content="3">"#;
        assert_eq!(value(page, "t", 1).as_deref(), Some("3"));
        let hidden: Vec<bool> = fields_of(page.as_bytes()).iter().map(|(_, _, hidden)| *hidden).collect();
        assert_eq!(hidden, [false, false, true]);
    }

    #[test]
    fn character_references_are_resolved() {
        let page = r#"<input name=t value="a&amp;b&#61;&#x3D;&quot;&unknown;&">"#;
        assert_eq!(value(page, "t", 0).as_deref(), Some("a&b==\"&unknown;&"));
    }

    #[test]
    fn any_page_is_read_in_one_pass() {
        for (once, piece) in [
            ("", "<input"),
            ("", "<input "),
            ("", "<input/a=x"),
            ("", "<input a='"),
            ("", "<input name=t>"),
            ("", "<!--"),
            ("", "<!-->"),
            ("<input ", "a "),
            ("<input ", "= "),
            ("<input a", " "),
            ("<input a=", " "),
            ("<input ", "////"),
        ] {
            let bytes = if piece == "<input" { 2_000_000 } else { 100_000 };
            let page = once.to_string() + &piece.repeat(bytes / piece.len());
            for end in ["", ">", "'>"] {
                let page = page.clone() + end;
                let looked_at = scan::looked_at(|| drop(fields_of(page.as_bytes())));
                assert!(looked_at < 4 * page.len(), "{once}{piece}…{end}: {looked_at}");
            }
        }
    }

    #[test]
    fn any_value_is_resolved_in_one_pass() {
        for piece in ["&", "&#", "&#x", "&amp", "&amp;", "&#1;"] {
            let page = format!("<input name=t value='{}'>", piece.repeat(100_000 / piece.len()));
            let looked_at = scan::looked_at(|| drop(fields_of(page.as_bytes())));
            assert!(looked_at < 20 * page.len(), "{piece}: {looked_at}");
        }
    }

    #[test]
    fn what_is_cut_off_or_no_field_is_passed_over() {
        for page in
            ["<input", "<input name=t value=\"abc", "<inputs name=t value=a>", "<input value=a>", "<", "<!--"]
        {
            assert_eq!(value(page, "t", 0), None, "{page}");
        }
    }
}
