//! The bodies of an entry: what was sent, and what came back.

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::Engine;

use super::entry::{Content, Leaf, PostData, Request};
use crate::headers::value;
use crate::skip::Skip;
use crate::target::push_encoded;

const FORM: &str = "application/x-www-form-urlencoded";

/// Stands where a byte could not be made text: what it was is lost.
const LOST: char = '\u{FFFD}';

/// The request's body; `headers` are those recorded.
///
/// A body that the exporter left out, or damaged by taking bytes for text, is a reason to leave the request out: a
/// replay would ask something else.
pub(super) fn sent(request: &Request, headers: &[(String, String)]) -> Result<Vec<u8>, Skip> {
    let was_sent = || request.body_size.number().is_some_and(|size| size > 0.0) || length(headers) > Some(0);
    let missing = || if was_sent() { Err(Skip::BodyMissing) } else { Ok(Vec::new()) };
    let Some(data) = &request.post_data else {
        return missing();
    };
    let text = match data.text.text() {
        Some(text) => text,
        None if data.text.is_there() => return Err(Skip::BodyDamaged),
        None => String::new(),
    };
    if !text.is_empty() {
        return whole(data, &text, length(headers));
    }
    let params = data.params.pairs();
    match (is_form(data), params.is_empty()) {
        (true, false) => Ok(form(&params)),
        (false, false) => Err(Skip::BodyMissing),
        (_, true) => missing(),
    }
}

/// The media type to send `request`'s body with.
pub(super) fn media_type(request: &Request) -> Option<String> {
    request.post_data.as_ref()?.mime_type.text().filter(|media_type| !media_type.is_empty())
}

fn is_form(data: &PostData) -> bool {
    data.mime_type.text().is_some_and(|media_type| essence(&media_type) == FORM)
}

/// Text that is as long as was said; where nothing was said, text without a sign of loss.
fn whole(data: &PostData, text: &str, said: Option<u64>) -> Result<Vec<u8>, Skip> {
    let encoded = is_base64(data.encoding);
    let body = if encoded { base64(text) } else { Some(without_upload_headers(text).as_bytes().to_vec()) };
    let body = body.ok_or(Skip::BodyDamaged)?;
    match said {
        Some(said) if said != body.len() as u64 => Err(Skip::BodyDamaged),
        None if !encoded && text.contains(LOST) => Err(Skip::BodyDamaged),
        _ => Ok(body),
    }
}

/// Firefox puts the headers of a form in front of its body. No form begins so by itself: its fields hold no bare line
/// breaks, and a multipart body begins with its boundary.
fn without_upload_headers(text: &str) -> &str {
    let begins = |name: &str| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if begins("content-type:") || begins("content-length:") {
        return text.split_once("\r\n\r\n").map_or(text, |(_, body)| body);
    }
    text
}

/// Source: URL Standard, section 5.2.
fn form(params: &[(String, String)]) -> Vec<u8> {
    let mut text = String::new();
    for (name, value) in params {
        if !text.is_empty() {
            text.push('&');
        }
        push_form_encoded(&mut text, name);
        text.push('=');
        push_form_encoded(&mut text, value);
    }
    text.into_bytes()
}

fn push_form_encoded(text: &mut String, part: &str) {
    for byte in part.bytes() {
        if byte == b' ' {
            text.push('+');
        } else {
            push_encoded(text, byte, byte.is_ascii_alphanumeric() || b"*-._".contains(&byte));
        }
    }
}

/// The answer's body, if these are the bytes that a server would send again to who accepts no content coding.
///
/// An exporter holds text, decoded from whatever the bytes were: ASCII and UTF-8 come back the same. The recorded
/// length, where there is one, has the last word: it notices text that was cut, or lost a byte order mark.
pub(super) fn answered(content: &Content, headers: &[(String, String)]) -> Option<Vec<u8>> {
    if value(headers, "content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return None;
    }
    let text = content.text.text()?;
    let body = if is_base64(content.encoding) {
        base64(&text)?
    } else if text.is_ascii() || (!text.contains(LOST) && is_utf_8(content, headers)) {
        text.into_bytes()
    } else {
        return None;
    };
    let size = content.size.number().filter(|size| *size >= 0.0);
    let said = length(headers).or(size.map(|size| size as u64));
    said.is_none_or(|said| said == body.len() as u64).then_some(body)
}

fn is_utf_8(content: &Content, headers: &[(String, String)]) -> bool {
    let media_type = value(headers, "content-type").map(str::to_string).or_else(|| content.mime_type.text());
    let media_type = media_type.unwrap_or_default().to_ascii_lowercase();
    let charset = media_type.split_once("charset=").map(|(_, charset)| charset.trim_start_matches(['"', ' ']));
    match charset {
        Some(charset) => charset.starts_with("utf-8") || charset.starts_with("utf8"),
        None => essence(&media_type).ends_with("json"), // Source: RFC 8259 section 8.1.
    }
}

/// Content-Length as a number.
pub(super) fn length(headers: &[(String, String)]) -> Option<u64> {
    value(headers, "content-length")?.parse().ok()
}

/// The media type without its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_base64(encoding: Leaf) -> bool {
    encoding.text().is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"))
}

/// Decodes with or without padding and line breaks. Source: RFC 4648 section 4, RFC 2045 section 6.8.
fn base64(text: &str) -> Option<Vec<u8>> {
    const CONFIG: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let symbols: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    GeneralPurpose::new(&STANDARD, CONFIG).decode(symbols).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    fn body(request: &str, recorded: &[(&str, &str)]) -> Result<String, Skip> {
        let request: Request = serde_json::from_str(request).unwrap();
        sent(&request, &headers(recorded)).map(|body| String::from_utf8(body).unwrap())
    }

    fn answer(content: &str, recorded: &[(&str, &str)]) -> Option<Vec<u8>> {
        answered(&serde_json::from_str(content).unwrap(), &headers(recorded))
    }

    #[test]
    fn text_is_the_body_and_params_stand_in_for_it() {
        assert_eq!(body(r#"{"postData": {"text": "{\"ä\": 1}"}}"#, &[]).unwrap(), "{\"ä\": 1}");
        let both = r#"{"postData": {"mimeType": "application/x-www-form-urlencoded; charset=UTF-8", "text": "a=1",
            "params": [{"name": "b", "value": "2"}]}}"#;
        assert_eq!(body(both, &[("content-length", "3")]).unwrap(), "a=1");
        let form = r#"{"postData": {"mimeType": "Application/X-WWW-form-urlencoded", "text": "",
            "params": [{"name": "a b", "value": "ü&="}, {"name": "c", "value": "*-._~"}]}}"#;
        assert_eq!(body(form, &[]).unwrap(), "a+b=%C3%BC%26%3D&c=*-._%7E");
    }

    #[test]
    fn base64_is_decoded_however_it_is_broken() {
        for text in ["aGVsbG8=", "aGVsbG8", "aGVs\\r\\nbG8="] {
            let request = format!(r#"{{"postData": {{"text": "{text}", "encoding": "base64"}}}}"#);
            assert_eq!(body(&request, &[]).unwrap(), "hello");
        }
        assert_eq!(body(r#"{"postData": {"text": "a!", "encoding": "base64"}}"#, &[]), Err(Skip::BodyDamaged));
    }

    #[test]
    fn nothing_sent_is_an_empty_body() {
        for request in ["{}", r#"{"postData": null}"#, r#"{"postData": {}, "bodySize": 0}"#, r#"{"bodySize": -1}"#]
        {
            assert_eq!(body(request, &[]).unwrap(), "", "{request}");
        }
    }

    #[test]
    fn a_body_that_was_left_out_is_missed() {
        let upload = r#"{"postData": {"mimeType": "multipart/form-data; boundary=x",
            "params": [{"name": "f", "value": "", "fileName": "a.png"}]}}"#;
        assert_eq!(body(upload, &[]), Err(Skip::BodyMissing));
        assert_eq!(body(r#"{"bodySize": 7}"#, &[]), Err(Skip::BodyMissing));
        assert_eq!(body(r#"{"postData": {"text": ""}}"#, &[("Content-Length", "7")]), Err(Skip::BodyMissing));
    }

    #[test]
    fn a_body_that_was_damaged_is_noticed() {
        assert_eq!(body(r#"{"postData": {"text": "\ufffdPNG"}}"#, &[]), Err(Skip::BodyDamaged));
        assert_eq!(body(r#"{"postData": {"text": "\ud800"}}"#, &[]), Err(Skip::BodyDamaged));
        assert_eq!(body(r#"{"postData": {"text": ["x"]}}"#, &[]), Err(Skip::BodyDamaged));
        assert_eq!(body(r#"{"postData": {"text": "abc"}}"#, &[("content-length", "4")]), Err(Skip::BodyDamaged));
        assert_eq!(body(r#"{"postData": {"text": "\ufffd"}}"#, &[("content-length", "3")]).unwrap(), "\u{fffd}");
    }

    #[test]
    fn headers_in_front_of_a_form_are_no_part_of_it() {
        let request = r#"{"postData": {"mimeType": "multipart/form-data; boundary=x",
            "text": "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 7\r\n\r\n--x--\r\n"}}"#;
        assert_eq!(body(request, &[("content-length", "7")]).unwrap(), "--x--\r\n");
        assert_eq!(body(r#"{"postData": {"text": "content-type: x"}}"#, &[]).unwrap(), "content-type: x");
    }

    #[test]
    fn an_answer_is_given_where_its_bytes_are_certain() {
        assert_eq!(answer(r#"{"text": "ok"}"#, &[]).unwrap(), b"ok");
        assert_eq!(answer(r#"{"text": "/wA=", "encoding": "base64"}"#, &[]).unwrap(), b"\xff\0");
        assert_eq!(
            answer(r#"{"text": "é"}"#, &[("Content-Type", "text/html; charset=\"UTF-8\"")]).unwrap(),
            b"\xc3\xa9"
        );
        assert_eq!(answer(r#"{"text": "é", "mimeType": "application/json"}"#, &[]).unwrap(), b"\xc3\xa9");
        assert_eq!(answer(r#"{"text": "ok", "size": 2}"#, &[("content-encoding", "identity")]).unwrap(), b"ok");
        assert_eq!(answer(r#"{"text": "ok", "size": -1}"#, &[("content-length", "2")]).unwrap(), b"ok");
    }

    #[test]
    fn an_uncertain_answer_is_none() {
        for (content, recorded) in [
            (r#"{}"#, &[][..]),
            (r#"{"text": "ok"}"#, &[("Content-Encoding", "gzip")]),
            (r#"{"text": "é"}"#, &[]),
            (r#"{"text": "é"}"#, &[("Content-Type", "text/html; charset=iso-8859-1")]),
            (r#"{"text": "\ufffd"}"#, &[("Content-Type", "text/html; charset=utf-8")]),
            (r#"{"text": "ok", "size": 3}"#, &[]),
            (r#"{"text": "ok", "size": 2}"#, &[("Content-Length", "5")]),
            (r#"{"text": "?", "encoding": "base64"}"#, &[]),
            (r#"{"text": "\ud83d"}"#, &[]),
        ] {
            assert_eq!(answer(content, recorded), None, "{content} {recorded:?}");
        }
    }
}
