use super::*;

/// A line of the common format, written `second` seconds into a minute.
fn common(client: &str, second: u32, request: &str, status: &str, length: &str) -> String {
    format!("{client} - - [10/Oct/2026:13:55:{second:02} +0000] \"{request}\" {status} {length}\n")
}

fn get(second: u32, path: &str) -> String {
    common("192.0.2.7", second, &format!("GET {path} HTTP/1.1"), "200", "5")
}

fn read_all(log: &str) -> Result<Recording, LogError> {
    from_access_log(log.as_bytes(), None)
}

fn only(log: &str) -> Step {
    let recording = read_all(log).unwrap();
    assert_eq!(recording.steps.len(), 1);
    recording.steps.into_iter().next().unwrap()
}

fn skipped(request: &str, status: &str) -> String {
    let log = format!("{}{}", get(0, "/"), common("192.0.2.7", 0, request, status, "5"));
    let recording = read_all(&log).unwrap();
    assert_eq!((recording.steps.len(), recording.skipped.len()), (1, 1), "{request} {status}");
    recording.skipped[0].0.clone()
}

#[test]
fn a_line_becomes_a_step() {
    let log = "2001:db8::7 - - [10/Oct/2026:13:55:36 +0200] \"GET /caf\\xc3\\xa9?q=a b#c HTTP/2.0\" 200 2326 \
        \"http://shop.example/\" \"Mozilla/5.0 (\\\"x\\\")\"\r\n";
    let headers = [("Referer", "http://shop.example/"), ("User-Agent", "Mozilla/5.0 (\"x\")")];
    let expected = Step {
        method: "GET".into(),
        path: "/caf%C3%A9?q=a%20b".into(),
        headers: headers.map(|(name, value)| (name.to_string(), value.to_string())).into(),
        status: Some(200),
        body_length: Some(2326),
        ..Step::default()
    };
    assert_eq!(only(log), expected);
}

#[test]
fn a_status_is_expected_again_unless_it_was_the_caches() {
    for (status, expected) in
        [("206", Some(206)), ("302", Some(302)), ("304", None), ("404", Some(404)), ("503", Some(503))]
    {
        let step = only(&common("192.0.2.7", 0, "GET / HTTP/1.1", status, "5"));
        assert_eq!((step.status, step.body_length), (expected, None), "{status}");
    }
    let step = only(&common("192.0.2.7", 0, "HEAD / HTTP/1.1", "200", "-"));
    assert_eq!((step.method.as_str(), step.body_length), ("HEAD", None));
    assert_eq!(only(&common("192.0.2.7", 0, "GET / HTTP/1.1", "200", "-")).body_length, Some(0));
}

#[test]
fn what_cannot_be_replayed_is_left_out_with_its_reason() {
    for request in ["POST /form HTTP/1.1", "DELETE /1 HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT a:443 HTTP/1.1"] {
        assert_eq!(skipped(request, "200"), "its body is not in the log");
    }
    for request in [
        "-",
        "",
        "GET",
        "GET /",
        "GET / HTP/1.1",
        "GET  HTTP/1.1",
        "G(T / HTTP/1.1",
        r"\x16\x03\x01",
        "GET x HTTP/1.1",
    ] {
        assert_eq!(skipped(request, "400"), "its request line is malformed", "{request}");
    }
    for status in ["499", "-", "000", "101", "600"] {
        assert_eq!(skipped("GET / HTTP/1.1", status), "no answer to it is in the log", "{status}");
    }
    assert_eq!(read_all(&format!("what?\n{}", get(0, "/"))).unwrap().skipped.len(), 1);
}

#[test]
fn a_whole_url_is_asked_for_by_its_path() {
    assert_eq!(only(&get(0, "http://shop.example/a?b")).path, "/a?b");
    assert_eq!(only(&get(0, "/a?u=http://shop.example/")).path, "/a?u=http://shop.example/");
}

#[test]
fn a_pause_is_the_time_since_the_request_before() {
    let post = common("192.0.2.7", 20, "POST / HTTP/1.1", "200", "5");
    let log = [get(10, "/"), get(12, "/slow"), get(11, "/late"), post, get(25, "/"), get(25, "/")].concat();
    let pauses: Vec<_> = read_all(&log).unwrap().steps.iter().map(|step| step.think_ns / 1_000_000_000).collect();
    assert_eq!(pauses, [0, 2, 0, 13, 0]);
}

#[test]
fn a_log_that_spans_years_pauses_for_a_day_at_most() {
    let log = [get(0, "/"), get(0, "/").replace("2026", "2261"), get(0, "/").replace("2026", "1700")].concat();
    let pauses: Vec<_> = read_all(&log).unwrap().steps.iter().map(|step| step.think_ns).collect();
    assert_eq!(pauses, [0, THINK_MAX_NS, 0]);
}

#[test]
fn static_files_belong_to_their_clients_page() {
    let other = common("192.0.2.8", 0, "GET /x.css HTTP/1.1", "200", "5");
    let log =
        [get(0, "/early.css"), get(0, "/"), get(0, "/x.css"), get(0, "/x.js?v=1"), other, get(0, "/next")].concat();
    let embedded: Vec<_> = read_all(&log).unwrap().steps.iter().map(|step| step.embedded).collect();
    assert_eq!(embedded, [false, false, true, true, false, false]);
}

#[test]
fn the_referer_decides_where_it_is_logged() {
    let combined = |path: &str, referer: &str| get(0, path).replace('\n', &format!(" \"{referer}\" \"x\"\n"));
    let log = [
        combined("/", "-"),
        combined("/mine.css", "https://shop.example/"),
        combined("/another's.png", "https://shop.example/other"),
        combined("/font.woff2", "https://shop.example/mine.css"),
        combined("/icon.png", "-"),
    ];
    let embedded: Vec<_> = read_all(&log.concat()).unwrap().steps.iter().map(|step| step.embedded).collect();
    assert_eq!(embedded, [false, true, false, true, true]);
}

#[test]
fn headers_that_cannot_be_sent_are_dropped() {
    let log = get(0, "/").replace('\n', " \"http://a/\\r\\nX: y\" \"\\xff\"\n");
    assert!(only(&log).headers.is_empty());
}

#[test]
fn a_file_that_is_no_log_is_refused_with_the_line_and_the_way_out() {
    let complaint = |log: &str| read_all(log).unwrap_err().to_string();
    assert!(complaint("").contains("empty") && complaint("\r\n \n").contains("empty"));
    let refused = complaint("\n<html>\nGET / HTTP/1.1\n");
    assert!(refused.contains("line 2") && refused.contains("\"GET /path HTTP/1.1\" 200"), "{refused}");
    let post = common("192.0.2.7", 0, "POST / HTTP/1.1", "200", "5");
    let refused = complaint(&format!("what?\n{post}{post}"));
    assert!(refused.contains("its body is not in the log") && refused.contains("line 2"), "{refused}");
}

#[test]
fn reading_stops_at_the_limit_and_beyond_what_can_be_held() {
    struct Endless;
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let line = get(0, "/");
            let length = line.len().min(buffer.len());
            buffer[..length].copy_from_slice(&line.as_bytes()[..length]);
            Ok(length)
        }
    }
    let recording = from_access_log(std::io::BufReader::new(Endless), Some(3)).unwrap();
    assert_eq!(recording.steps.len(), 3);
    let refused = read(std::io::BufReader::new(Endless), usize::MAX, 5).unwrap_err();
    assert!(matches!(refused, LogError::TooMany { line: 6 }));
}

#[test]
fn hostile_lines_are_counted_and_not_held() {
    let long = format!("{}{}", "x".repeat(3 * LINE_MAX_BYTES), get(0, "/"));
    let binary = String::from_utf8_lossy(&[0, 255, 10, 34, 92, 10]).into_owned();
    let recording = read_all(&format!("{long}{binary}{}", get(0, "/"))).unwrap();
    assert_eq!((recording.steps.len(), recording.skipped[0].1), (1, 3));
}
