//! Files as real exporters and servers write them, read to the last detail.

use std::path::Path;

use recording::{open, Format, Recording, Step};

fn sample(name: &str) -> (Format, Recording) {
    open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name), None).unwrap()
}

/// Method and path, status, pause in milliseconds, and whether it is embedded.
fn told(steps: &[Step]) -> Vec<(String, Option<u16>, u64, bool)> {
    let told = steps.iter().map(|step| {
        (format!("{} {}", step.method, step.path), step.status, step.think_ns / 1_000_000, step.embedded)
    });
    told.collect()
}

fn expected(list: &[(&str, Option<u16>, u64, bool)]) -> Vec<(String, Option<u16>, u64, bool)> {
    list.iter()
        .map(|(request, status, pause_ms, embedded)| (request.to_string(), *status, *pause_ms, *embedded))
        .collect()
}

fn skipped(recording: &Recording) -> Vec<(&str, u64)> {
    recording.skipped.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
}

fn names(step: &Step) -> Vec<&str> {
    step.headers.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn firefox_puts_every_page_into_one() {
    let (format, recording) = sample("firefox.har");
    assert_eq!((format, recording.origin.as_deref()), (Format::Har, Some("http://localhost:8000")));
    let wanted = [
        ("GET /items/?page=2", None, 0, false),
        ("GET /static/style.css", Some(200), 0, true),
        ("POST /cart/add", Some(302), 4000, false),
        ("GET /cart/", Some(200), 2, false),
    ];
    assert_eq!(told(&recording.steps), expected(&wanted));
    assert_eq!(skipped(&recording), [("failed, blocked or never answered", 1)]);
    let page = ["User-Agent", "Accept", "Accept-Encoding", "Cookie", "Upgrade-Insecure-Requests", "Priority"];
    assert_eq!(names(&recording.steps[0]), page);
    assert_eq!(names(&recording.steps[2]), ["Accept", "Content-Type", "Origin", "Referer", "Cookie"]);
    assert_eq!(recording.steps[2].body, b"csrfmiddlewaretoken=9sGw&item=Tea+%26+milk+XL");
    let answers: Vec<_> = recording.steps.iter().map(|step| step.answer.as_deref()).collect();
    assert_eq!(answers, [None, Some(&b"body{margin:0}\n"[..]), Some(b""), None]);
    assert_eq!(recording.steps[1].body_length, Some(15));
}

#[test]
fn chromium_tells_what_a_request_was_for() {
    let (_, recording) = sample("chromium.har");
    assert_eq!(recording.origin.as_deref(), Some("https://shop.example"));
    let wanted = [
        ("GET /", Some(200), 0, false),
        ("GET /static/app.js", Some(200), 0, true),
        ("POST /api/search?limit=5", Some(200), 2483, false),
    ];
    assert_eq!(told(&recording.steps), expected(&wanted));
    let reasons = [
        ("neither http nor https (data:, ws:, a browser extension)", 2),
        ("sent to another server", 1),
        ("an event stream, which has no end", 1),
        ("answered by the browser itself, out of its cache or by a service worker", 1),
        ("failed, blocked or never answered", 1),
    ];
    assert_eq!(skipped(&recording), reasons);
    let page = ["accept", "accept-encoding", "sec-fetch-dest", "sec-fetch-mode", "user-agent"];
    assert_eq!(names(&recording.steps[0]), page);
    assert_eq!(names(&recording.steps[2]), ["content-type", "origin", "sec-fetch-dest"]);
    assert_eq!(recording.steps[2].body, br#"{"query":"tea"}"#);
    assert_eq!(recording.steps[0].answer.as_deref(), Some("<h1>Shop \u{2013} été".as_bytes()));
    assert_eq!(recording.steps[2].answer.as_deref(), Some(&b"[]"[..]));
}

#[test]
fn mitmproxy_knows_no_pages_and_damages_what_is_no_text() {
    let (_, recording) = sample("mitmproxy.har");
    let wanted = [("GET /api/items", Some(200), 0, false), ("PATCH /api/items/1", Some(200), 3000, false)];
    assert_eq!(told(&recording.steps), expected(&wanted));
    let reasons =
        [("a WebSocket", 1), ("failed, blocked or never answered", 1), ("its body is not whole in the file", 1)];
    assert_eq!(skipped(&recording), reasons);
    assert_eq!(names(&recording.steps[0]), ["User-Agent", "Authorization"]);
    assert_eq!(names(&recording.steps[1]), ["Content-Type", "If-Match"]);
    assert_eq!(recording.steps[1].body, "{\"name\": \"é\"}".as_bytes());
    let answers: Vec<_> = recording.steps.iter().map(|step| step.answer.as_deref()).collect();
    assert_eq!(answers, [Some(&b"[{\"id\": 1}]"[..]), Some(b"\xff\0")]);
}

#[test]
fn charles_lists_forms_as_parameters() {
    let (_, recording) = sample("charles.har");
    let wanted = [("POST /login?next=/a%20b%7Cc", Some(200), 0, false), ("GET /logo.png", Some(200), 0, true)];
    assert_eq!(told(&recording.steps), expected(&wanted));
    assert_eq!(skipped(&recording), [("its method cannot be replayed", 1)]);
    assert_eq!(names(&recording.steps[0]), ["User-Agent", "Content-Type", "Cookie"]);
    assert_eq!(recording.steps[0].body, b"user=guest&password=a%2Bb+%26+%C3%A9");
    let answers: Vec<_> = recording.steps.iter().map(|step| step.answer.as_deref()).collect();
    assert_eq!(answers, [Some("Welcome, ✓\n".as_bytes()), Some(b"\x89PNG")]);
}

#[test]
fn apache_logs_what_is_no_request_as_well() {
    let (format, recording) = sample("apache.log");
    assert_eq!((format, recording.origin.as_deref()), (Format::AccessLog, None));
    let wanted = [
        ("GET /items/?page=2", Some(200), 0, false),
        ("GET /static/style.css", Some(200), 0, true),
        ("GET /static/tea.png", None, 0, true),
        ("GET /cart/", Some(200), 4000, false),
        ("GET /caf%C3%A9/%22x%22", Some(404), 5000, false),
    ];
    assert_eq!(told(&recording.steps), expected(&wanted));
    assert_eq!(skipped(&recording), [("its request line is malformed", 1), ("its body is not in the log", 2)]);
    let lengths: Vec<_> = recording.steps.iter().map(|step| step.body_length).collect();
    assert_eq!(lengths, [Some(5120), Some(913), None, Some(1480), None]);
}

#[test]
fn nginx_logs_who_did_not_wait() {
    let (_, recording) = sample("nginx.log");
    let wanted = [
        ("HEAD /", Some(200), 0, false),
        ("GET /search?q=a%20b", Some(200), 2000, false),
        ("GET /a", Some(200), 1000, false),
    ];
    assert_eq!(told(&recording.steps), expected(&wanted));
    assert_eq!(skipped(&recording), [("its request line is malformed", 1), ("no answer to it is in the log", 1)]);
    assert_eq!(recording.steps[1].headers, [("User-Agent".to_string(), "x\"y".to_string())]);
}

#[test]
fn a_common_log_tells_neither_where_from_nor_with_what() {
    let (_, recording) = sample("common.log");
    let wanted = [("GET /apache_pb.gif", Some(200), 0, false), ("GET /", Some(200), 4000, false)];
    assert_eq!(told(&recording.steps), expected(&wanted));
    assert!(recording.steps.iter().all(|step| step.headers.is_empty()));
}
