import json

import pytest

from stackrace.features.recordings.har import from_har
from stackrace.features.recordings.recorded_steps import MAX_STEPS, RecordingError


def file(*entries):
    """A file with these entries, written as JSON."""
    return f'{{"log": {{"version": "1.2", "entries": [{",".join(entries)}]}}}}'


def entry(url="http://a/", status=200, **fields):
    return json.dumps({"request": {"method": "GET", "url": url}, "response": {"status": status}} | fields)


def from_text(text):
    return from_har(text.encode())


def paths(recording):
    return [step.request.path for step in recording.steps]


def complaint(content):
    with pytest.raises(RecordingError) as caught:
        from_har(content if isinstance(content, bytes) else content.encode())
    return str(caught.value)


def test_the_server_asked_most_is_kept_and_the_others_are_counted():
    urls = [
        "http://cdn.example/a",
        "http://shop.example:8000/b",
        "https://shop.example/",
        "http://shop.example:8000/c",
    ]
    recording = from_text(file(*map(entry, urls)))
    assert (recording.origin, paths(recording)) == ("http://shop.example:8000", ["/b", "/c"])
    assert recording.skipped == {"sent to another server": 2}


def test_of_servers_asked_equally_often_the_first_is_kept():
    urls = ["http://c.example/", "http://a.example/", "http://b.example/"]
    assert from_text(file(*map(entry, urls))).origin == "http://c.example"


def test_what_failed_does_not_make_a_server_the_main_one():
    failed = [entry("http://ads.example/1", 0), entry("http://ads.example/2", 0)]
    recording = from_text(file(*failed, entry("http://shop.example/")))
    assert recording.origin == "http://shop.example"
    assert recording.skipped == {"failed, blocked or never answered": 2}


def test_an_odd_entry_costs_itself_only():
    recording = from_text(file(entry(), "17", "null", "{}", r'"\ud800"'))
    assert (len(recording.steps), recording.skipped) == (1, {"not a readable entry": 4})


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"log": null}',
        '{"log": {}}',
        '{"log": {"entries": null}}',
        '{"log": {"entries": {}}}',
        '{"log": 1}',
        '{"log": NaN}',
        "[]",
    ],
)
def test_json_that_is_no_har_file_is_refused_with_the_way_out(text):
    assert "log.entries" in complaint(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"log": {"entries": [}', "Expecting value"),
        ("{", "Expecting property name"),
        ("{} {}", "Extra data"),
        ("[]]", "Extra data"),
        ('{"a" 1}', "Expecting ':' delimiter"),
        ("{1: 2}", "Expecting property name"),
        ('{"log": {1: 2}}', "Expecting property name"),
        ('{"log": 1 2}', "Expecting ',' delimiter"),
        ('{"log": {"entries": [1 2]}}', "Expecting ',' delimiter"),
        ('{"log": {"entries": [{"a" 1}]}}', "Expecting ':' delimiter"),
        (r'{"a\uz', r"Invalid \uXXXX escape"),
        ('{"a\n', "Invalid control character"),
        ('{"a', "Unterminated string"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text, reason):
    refused = complaint(text)
    assert reason in refused
    assert "line 1" in refused


def test_no_entries_are_none():
    assert "empty" in complaint(file())


def test_a_file_with_nothing_to_replay_says_what_stands_in_the_way_and_where():
    refused = complaint(file(entry("chrome-extension://x/y"), entry(status=0), entry(status=0)))
    assert "none of its 3 entries" in refused
    assert "failed, blocked" in refused
    assert "entry 2" in refused


def test_more_entries_than_can_be_held_are_refused():
    assert "more than 1000000 entries" in complaint(file("0" + ",0" * MAX_STEPS))


@pytest.mark.parametrize("front", ["", '{"log": ', '{"x": ', '{"log": {"entries": [{"request": '])
@pytest.mark.parametrize("end", ["", "]" * 100_000 + "}]}}"])
def test_deep_nesting_is_an_error_of_its_own(front, end):
    assert "nested too deeply" in complaint(front + "[" * 100_000 + end)


def test_bytes_that_are_no_text_are_refused():
    assert "whole HAR" in complaint(file(entry("http://a/X")).encode().replace(b"X", b"\xff"))
    assert "whole HAR" in complaint(b"\xff\xfe{\0}\0")


def test_dates_and_numbers_out_of_range_are_no_pauses():
    entries = [
        '"0000-00-00T00:00:00Z", "time": 1e999',
        '"1700-01-01T00:00:00Z", "time": -5',
        '"2200-01-01T00:00:00Z", "time": 99999999999999999999',
        '"2200-01-02T00:00:00Z", "time": {}',
        '17, "time": null',
    ]
    dated = [entry().replace("{", f'{{"startedDateTime": {fields}, ', 1) for fields in entries]
    recording = from_text(file(*dated))
    assert [step.request.think_s for step in recording.steps] == [0, 0, 24 * 3600, 0, 0]
