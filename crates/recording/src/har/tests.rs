use super::*;

/// A file with these entries.
fn file(entries: &[String]) -> String {
    format!(r#"{{"log": {{"version": "1.2", "entries": [{}]}}}}"#, entries.join(","))
}

fn entry(url: &str, status: u16) -> String {
    format!(r#"{{"request": {{"method": "GET", "url": "{url}"}}, "response": {{"status": {status}}}}}"#)
}

fn read(json: &str) -> Result<Recording, HarError> {
    from_har(json.as_bytes(), None)
}

fn complaint(json: &str) -> String {
    read(json).unwrap_err().to_string()
}

#[test]
fn the_server_asked_most_is_kept_and_the_others_are_counted() {
    let urls = [
        "http://cdn.example/a",
        "http://shop.example:8000/b",
        "https://shop.example/",
        "http://shop.example:8000/c",
    ];
    let recording = read(&file(&urls.map(|url| entry(url, 200)))).unwrap();
    assert_eq!(recording.origin.as_deref(), Some("http://shop.example:8000"));
    assert_eq!(recording.steps.iter().map(|step| step.path.as_str()).collect::<Vec<_>>(), ["/b", "/c"]);
    assert_eq!(recording.skipped, [("sent to another server".to_string(), 2)]);
}

#[test]
fn of_servers_asked_equally_often_the_first_is_kept() {
    let urls = ["http://c.example/", "http://a.example/", "http://b.example/"];
    assert_eq!(read(&file(&urls.map(|url| entry(url, 200)))).unwrap().origin.as_deref(), Some("http://c.example"));
}

#[test]
fn what_failed_does_not_make_a_server_the_main_one() {
    let entries =
        [entry("http://ads.example/1", 0), entry("http://ads.example/2", 0), entry("http://shop.example/", 200)];
    let recording = read(&file(&entries)).unwrap();
    assert_eq!(recording.origin.as_deref(), Some("http://shop.example"));
    assert_eq!(recording.skipped, [("failed, blocked or never answered".to_string(), 2)]);
}

#[test]
fn an_odd_entry_costs_itself_only() {
    let entries = [entry("http://a/", 200), "17".into(), "null".into(), "{}".into(), r#""\ud800""#.into()];
    let recording = read(&file(&entries)).unwrap();
    assert_eq!((recording.steps.len(), recording.skipped), (1, vec![("not a readable entry".to_string(), 4)]));
}

#[test]
fn a_limit_keeps_the_first_steps() {
    let entries: Vec<_> = (0..5).map(|number| entry(&format!("http://a/{number}"), 200)).collect();
    let recording = from_har(file(&entries).as_bytes(), Some(2)).unwrap();
    assert_eq!(recording.steps.iter().map(|step| step.path.as_str()).collect::<Vec<_>>(), ["/0", "/1"]);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert!(read(&format!("\u{feff}{}", file(&[entry("http://a/", 200)]))).is_ok());
}

#[test]
fn json_that_is_no_har_file_is_refused_with_the_way_out() {
    for json in ["{}", r#"{"log": null}"#, r#"{"log": {}}"#, r#"{"log": {"entries": null}}"#] {
        assert!(complaint(json).contains("log.entries"), "{json}");
    }
    assert!(complaint(&file(&[])).contains("empty"));
    for json in [r#"{"log": {"entries": {}}}"#, r#"{"log": 1}"#, r#"{"log": {"entries": [}"#, "{", "{} {}", "[]]"] {
        assert!(complaint(json).contains("line 1"), "{json}: {}", complaint(json));
    }
}

#[test]
fn a_file_with_nothing_to_replay_says_what_stands_in_the_way_and_where() {
    let entries = [entry("chrome-extension://x/y", 200), entry("http://a/", 0), entry("http://a/", 0)];
    let complaint = complaint(&file(&entries));
    assert!(complaint.contains("none of its 3 entries"), "{complaint}");
    assert!(complaint.contains("failed, blocked") && complaint.contains("entry 2"), "{complaint}");
}

#[test]
fn more_entries_than_can_be_held_are_refused() {
    let mut json = r#"{"log": {"entries": [0"#.to_string();
    json.push_str(&",0".repeat(MAX_STEPS));
    json.push_str("]}}");
    assert!(matches!(read(&json), Err(HarError::TooMany)));
}

#[test]
fn endless_nesting_ends() {
    let deep = "[".repeat(4 << 20);
    assert!(matches!(read(&deep), Err(HarError::Syntax(_))));
    for front in [r#"{"log": "#, r#"{"x": "#, r#"{"log": {"entries": [{"request": "#] {
        assert!(matches!(read(&format!("{front}{}", &deep[..1 << 20])), Err(HarError::Syntax(_))), "{front}");
    }
    let closed = format!("{}{}", &deep[..100_000], "]".repeat(100_000));
    let entries = [entry("http://a/", 200), closed.clone(), format!(r#"{{"request": {closed}}}"#)];
    let recording = read(&file(&entries)).unwrap();
    assert_eq!((recording.steps.len(), recording.skipped[0].1), (1, 2));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut bytes = file(&[entry("http://a/X", 200)]).into_bytes();
    let place = bytes.iter().position(|&byte| byte == b'X').unwrap();
    bytes[place] = 0xff;
    assert!(matches!(from_har(&bytes, None), Err(HarError::Syntax(_))));
    assert!(matches!(from_har(b"\xff\xfe{\0}\0", None), Err(HarError::Syntax(_))));
}

#[test]
fn dates_and_numbers_out_of_range_are_no_pauses() {
    let dated = |date: &str, time: &str| {
        entry("http://a/", 200).replacen('{', &format!(r#"{{"startedDateTime": {date}, "time": {time}, "#), 1)
    };
    let entries = [
        dated(r#""0000-00-00T00:00:00Z""#, "1e999"),
        dated(r#""1700-01-01T00:00:00Z""#, "-5"),
        dated(r#""2200-01-01T00:00:00Z""#, "99999999999999999999"),
        dated(r#""2200-01-02T00:00:00Z""#, "{}"),
        dated("17", "null"),
    ];
    let recording = read(&file(&entries)).unwrap();
    let day = crate::THINK_MAX_NS;
    assert_eq!(recording.steps.iter().map(|step| step.think_ns).collect::<Vec<_>>(), [0, 0, day, 0, 0]);
}
