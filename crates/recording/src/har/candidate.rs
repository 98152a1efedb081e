//! One entry of a HAR file, judged by itself: a request that could be replayed, or why not.

use super::body;
use super::entry::{Content, Entry, Response};
use crate::headers::replayable;
use crate::skip::Skip;
use crate::step::Step;
use crate::target::{is_token, split, Address};
use crate::time::iso_8601;

/// What is known of a request that could be replayed.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    pub origin: String,
    pub path: String,
    pub method: String,
    /// As recorded.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub body_type: Option<String>,
    pub status: u16,
    pub answer_type: String,
    pub answer: Option<Vec<u8>>,
    pub answer_length: Option<u64>,
    pub resource_type: Option<String>,
    pub page: Option<String>,
    /// When it was sent, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// How long it took, in nanoseconds.
    pub took_ns: i64,
}

/// Judges one entry; `Err` tells why it is left out.
pub(super) fn candidate(json: &str) -> Result<Candidate, Skip> {
    let entry: Entry = serde_json::from_str(json).map_err(|_| Skip::Unreadable)?;
    let request = &entry.request;
    let (Some(method), Some(url)) = (request.method.text(), request.url.text()) else {
        return Err(Skip::Unreadable);
    };
    let (method, Address { origin, path }) = (checked(method)?, split(url.as_bytes()).ok_or(Skip::Scheme)?);
    let (response, status) = answer(&entry)?;
    let headers = request.headers.pairs();
    let content = response.content.as_ref();
    let answer_headers = response.headers.pairs();
    let answer_type = answer_type(content, &answer_headers);
    if entry.resource_type.text().as_deref() == Some("eventsource")
        || body::essence(&answer_type) == "text/event-stream"
    {
        return Err(Skip::EventStream);
    }
    let body = body::sent(request, &headers)?;
    // An answer to HEAD has no body, and that of 304 is the cache's.
    let has_body = method != "HEAD" && status != 304;
    let answer = content.filter(|_| has_body).and_then(|content| body::answered(content, &answer_headers));
    let answer_length = body::length(&answer_headers).or(answer.as_ref().map(|body| body.len() as u64));
    Ok(Candidate {
        origin,
        path,
        method,
        body,
        body_type: body::media_type(request),
        headers,
        status,
        answer_type,
        answer,
        answer_length: answer_length.filter(|_| has_body),
        resource_type: entry.resource_type.text(),
        page: entry.pageref.text(),
        started_ns: entry.started.text().and_then(|text| iso_8601(&text)),
        took_ns: entry.time.number().map_or(0, |time_ms| (time_ms.max(0.0) * 1e6) as i64),
    })
}

/// CONNECT is for proxies, and TRACE is no visitor's.
fn checked(method: String) -> Result<String, Skip> {
    if is_token(method.as_bytes()) && method != "CONNECT" && method != "TRACE" {
        return Ok(method);
    }
    Err(Skip::Method)
}

/// The answer, if a server gave one to the end.
fn answer<'e, 'a>(entry: &'e Entry<'a>) -> Result<(&'e Response<'a>, u16), Skip> {
    let response = entry.response.as_ref().ok_or(Skip::NoAnswer)?;
    let status = response.status.number().unwrap_or_default() as u16;
    if status == 101
        || entry.web_socket_messages.is_there()
        || entry.resource_type.text().as_deref() == Some("websocket")
    {
        return Err(Skip::WebSocket);
    }
    if entry.from_cache.is_there() || response.via_service_worker.is_true() {
        return Err(Skip::OwnAnswer);
    }
    let failed = response.error.text().is_some_and(|error| !error.is_empty());
    if failed || !(200..600).contains(&status) {
        return Err(Skip::NoAnswer);
    }
    Ok((response, status))
}

fn answer_type(content: Option<&Content>, headers: &[(String, String)]) -> String {
    let exported = content.and_then(|content| content.mime_type.text()).filter(|media_type| !media_type.is_empty());
    exported.or_else(|| crate::headers::value(headers, "content-type").map(str::to_string)).unwrap_or_default()
}

impl Candidate {
    /// When its answer was complete.
    pub fn ended_ns(&self) -> Option<i64> {
        self.started_ns.map(|started_ns| started_ns.saturating_add(self.took_ns))
    }

    /// The step to replay it, `think_ns` after the one before.
    pub fn into_step(self, think_ns: u64, embedded: bool) -> Step {
        let mut headers = replayable(&self.headers);
        let is_typed = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(media_type) = self.body_type.filter(|_| !self.body.is_empty() && !is_typed) {
            headers.extend(replayable(&[("Content-Type".into(), media_type)]));
        }
        Step {
            method: self.method,
            path: self.path,
            headers,
            body: self.body,
            status: Some(self.status).filter(|status| *status != 304),
            body_length: self.answer_length,
            answer: self.answer,
            think_ns,
            embedded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry that could be replayed, with `request`, `response` and `rest` added to it.
    fn judged(request: &str, response: &str, rest: &str) -> Result<Candidate, Skip> {
        candidate(&format!(
            r#"{{"request": {{"method": "GET", "url": "http://shop.example/"{request}}},
                "response": {{"status": 200{response}}}{rest}}}"#
        ))
    }

    fn skip(json: &str) -> Skip {
        candidate(json).unwrap_err()
    }

    #[test]
    fn the_least_that_can_be_replayed_is_a_method_a_url_and_a_status() {
        let found = judged("", "", "").unwrap();
        assert_eq!((found.origin.as_str(), found.path.as_str()), ("http://shop.example", "/"));
        let step = found.into_step(0, false);
        assert_eq!(step, Step { method: "GET".into(), path: "/".into(), status: Some(200), ..Step::default() });
    }

    #[test]
    fn an_entry_that_is_none_is_unreadable() {
        for json in
            ["1", "null", "{}", r#"{"request": 1}"#, r#"{"request": {}}"#, r#"{"request": {"method": "GET"}}"#]
        {
            assert_eq!(skip(json), Skip::Unreadable, "{json}");
        }
        let deep = format!(r#"{{"request": {}{}}}"#, "[".repeat(1000), "]".repeat(1000));
        assert_eq!(skip(&deep), Skip::Unreadable);
    }

    #[test]
    fn what_no_server_answered_is_left_out_with_its_reason() {
        let request =
            |method: &str, url: &str| format!(r#"{{"request": {{"method": "{method}", "url": "{url}"}}}}"#);
        assert_eq!(skip(&request("GET", "http://shop.example/")), Skip::NoAnswer);
        assert_eq!(skip(&request("GET", "data:text/plain,x")), Skip::Scheme);
        assert_eq!(skip(&request("GET", "wss://shop.example/")), Skip::Scheme);
        assert_eq!(skip(&request("CONNECT", "http://shop.example:443")), Skip::Method);
        assert_eq!(skip(&request("GET /", "http://shop.example/")), Skip::Method);
        for status in ["0", "-1", "null", "\"\"", "199", "600", "1e300", "70000", "{}"] {
            let json = format!(
                r#"{{"request": {{"method": "GET", "url": "http://a/"}}, "response": {{"status": {status}}}}}"#
            );
            assert_eq!(skip(&json), Skip::NoAnswer, "{status}");
        }
        assert_eq!(judged("", r#", "_error": "net::ERR_ABORTED""#, "").unwrap_err(), Skip::NoAnswer);
        assert!(judged("", r#", "_error": null"#, "").is_ok() && judged("", r#", "_error": """#, "").is_ok());
    }

    #[test]
    fn what_cannot_be_replayed_as_one_request_is_left_out() {
        assert_eq!(judged("", "", r#", "_webSocketMessages": []"#).unwrap_err(), Skip::WebSocket);
        assert_eq!(judged("", "", r#", "_resourceType": "websocket""#).unwrap_err(), Skip::WebSocket);
        assert_eq!(judged("", "", r#", "_fromCache": "disk""#).unwrap_err(), Skip::OwnAnswer);
        assert_eq!(judged("", r#", "_fetchedViaServiceWorker": true"#, "").unwrap_err(), Skip::OwnAnswer);
        assert_eq!(judged("", "", r#", "_resourceType": "eventsource""#).unwrap_err(), Skip::EventStream);
        let stream = r#", "content": {"mimeType": "text/event-stream; charset=utf-8"}"#;
        assert_eq!(judged("", stream, "").unwrap_err(), Skip::EventStream);
        assert_eq!(judged(r#", "bodySize": 3"#, "", "").unwrap_err(), Skip::BodyMissing);
    }

    #[test]
    fn a_status_may_be_a_string_and_times_anything() {
        let json =
            r#"{"request": {"method": "GET", "url": "http://a/"}, "response": {"status": "404"}, "time": TIME}"#;
        for (time, took_ns) in
            [("1.5", 1_500_000), ("-1", 0), ("null", 0), ("\"2\"", 2_000_000), ("1e300", i64::MAX)]
        {
            let found = candidate(&json.replace("TIME", time)).unwrap();
            assert_eq!((found.status, found.took_ns), (404, took_ns), "{time}");
        }
    }

    #[test]
    fn a_304_expects_nothing_and_has_no_answer_of_its_own() {
        let json = r#"{"request": {"method": "GET", "url": "http://a/", "headers": [{"name": "If-None-Match", "value": "x"}]},
            "response": {"status": 304, "content": {"text": "cached", "size": 6}}}"#;
        let step = candidate(json).unwrap().into_step(0, false);
        assert_eq!(step, Step { method: "GET".into(), path: "/".into(), ..Step::default() });
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let json = r#"{"request": {"method": "HEAD", "url": "http://a/"},
            "response": {"status": 200, "headers": [{"name": "Content-Length", "value": "9"}], "content": {"text": ""}}}"#;
        let step = candidate(json).unwrap().into_step(0, false);
        assert_eq!((step.body_length, step.answer), (None, None));
    }

    #[test]
    fn a_body_is_sent_with_its_media_type() {
        let post = r#", "postData": {"mimeType": "text/plain", "text": "x"}"#;
        let step = judged(post, "", "").unwrap().into_step(0, false);
        assert_eq!(step.headers, [("Content-Type".into(), "text/plain".into())]);
        let typed = format!(r#"{post}, "headers": [{{"name": "content-type", "value": "text/csv"}}]"#);
        let step = judged(&typed, "", "").unwrap().into_step(0, false);
        assert_eq!(step.headers, [("content-type".into(), "text/csv".into())]);
    }
}
