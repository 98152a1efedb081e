import pytest

from stackrace.features.recordings.moments import iso_8601, log_time

SECOND_NS = 10**9


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000", 0),
        ("1969-12-31 23:59:59+00:00", -SECOND_NS),
        ("2023-03-29T16:58:59.303-07:00", 1_680_134_339_303_000_000),
        ("2023-03-29T23:58:59.303Z", 1_680_134_339_303_000_000),
        ("2023-03-30T01:58:59,3030000+0200", 1_680_134_339_303_000_000),
        ("2023-03-29T23:58:59.303000123456+00", 1_680_134_339_303_000_123),
        ("2000-02-29T12:00:00Z", 951_825_600_000_000_000),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
    ],
)
def test_dates_read_as_every_exporter_writes_them(text, expected_ns):
    assert iso_8601(text) == expected_ns


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "Invalid Date",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2023-00-01T00:00:00Z",
        "2023-13-01T00:00:00Z",
        "2023-01-00T00:00:00Z",
        "2023-04-31T00:00:00Z",
        "2023-01-01T24:00:00Z",
        "2023-01-01T00:60:00Z",
        "2023-01-01T00:00:61Z",
        "2023-01-01T00:00:00+24:00",
        "2023-01-01T00:00:00+01:",
        "2023-01-01T00:00:00Zulu",
        "2023-01-01",
        "+2023-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "２０２３-01-01T00:00:00Z",
    ],
)
def test_what_is_no_date_or_out_of_range_is_none(text):
    assert iso_8601(text) is None


def test_the_time_of_a_log_has_a_named_month():
    assert log_time(b"10/Oct/2000:13:55:36 -0700") == 971_211_336 * SECOND_NS
    assert log_time(b"01/jan/1970:00:00:00 +0000") == 0


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"10/Okt/2000:13:55:36 -0700",
        b"10/Oct/2000 13:55:36 -0700",
        b"10/Oct/2000:13:55:36",
        b"31/Feb/2000:13:55:36 +0000",
        b"10/Oct/2000:13:55:36 -0700 ",
        b"10/Oct/9999:13:55:36 -0700",
    ],
)
def test_other_times_of_a_log_are_none(text):
    assert log_time(text) is None
