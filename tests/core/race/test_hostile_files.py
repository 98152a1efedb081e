"""Race files that mean harm: an error that names what is wrong, soon, whatever they hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackrace.base.errors import SpecError, StackError, StackraceError
from stackrace.race.request.race_file import read_race_file
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

SPECS = {entry.spec.name: entry.spec for entry in catalogue()}
BOTH = frozenset({Interface.WSGI, Interface.ASGI})

DIGITS = "9" * 5_000


FILES = {
    "a long number": (f"[load]\nconcurrency = [{DIGITS}]", "number that is too long, in line 2"),
    "a long number in a key": (f'[load]\nrequests = {{ "{DIGITS}" = 5 }}', "load.requests"),
    "a long number as text": (f'[race]\nbudget = "{DIGITS}s"', "line 2: race.budget"),
    "deep arrays": ("a = " + "[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "deep tables": ("a = " + "{a=" * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
    "a long number in hexadecimal": (f"[race]\n\nseed = 0x{'f' * 5_000}", "number that is too long, in line 3"),
    "a large seed": (f"[race]\nseed = {2**64}", "line 2: race.seed: must be at most 18446744073709551615"),
    "deep keys": (".".join("a" * 100_000) + " = 1", "nested too deeply"),
    "deep keys in quotes": ("[" + ".".join(['"a b"'] * 100_000) + "]", "nested too deeply"),
    "deep keys in a table": ("x = { " + " . ".join("a" * 100_000) + " = 1 }", "nested too deeply"),
    "a long file": ("#" * (1 << 20) + "\n", "more than 1 MiB"),
    "an endless number": ("[load]\ntimeout = inf", "load.timeout: is too large"),
    "a header of two lines": ('[workload]\nheaders = { "X-A" = "b\\r\\nX-C: d" }', "line break"),
    "a header with a name of two lines": ('[workload]\nheaders = { "X-A\\nX" = "b" }', "is no header's name"),
    "a header without a name": ('[workload]\nheaders = { "" = "b" }', "is no header's name"),
    "a header with NUL": ('[workload]\nheaders = { "X-A" = "b\\u0000" }', "NUL"),
    "a host of two lines": ('[workload]\nhost = "a\\r\\nX-C: d"', "is no host"),
    "an app with NUL": ('[app]\nwsgi = "a:b\\u0000"', "NUL"),
}


@pytest.mark.parametrize("case", FILES)
def test_what_is_wrong_is_named(read, case):
    text, complaint = FILES[case]
    with pytest.raises(SpecError, match=complaint):
        read(text)


def test_a_device_or_a_pipe_is_no_race_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (Path("/dev/zero"), pipe):
        with pytest.raises(SpecError, match="is a pipe or a device"):
            read_race_file(path, lambda stack: None)


def test_a_byte_order_mark_is_passed_over(read):
    with pytest.raises(SpecError, match=r"line 2: load\.concurrency\.0: must be at least 1"):
        read("\ufeff[load]\nconcurrency = [0]")


@pytest.mark.parametrize("value", [DIGITS, "-" + DIGITS, "٣" * 5_000, "0" * 5_000])
def test_a_setting_of_thousands_of_digits_is_out_of_range(value: str) -> None:
    with pytest.raises(StackError, match="a number from 1 to"):
        parse_stack(f"gunicorn:workers={value}", SPECS, BOTH)


KEYS = st.sampled_from(
    ["app", "load", "race", "workload", "workloads", "wsgi", "django", "env", "static", "prepare", "services",
     "urls", "headers", "host", "session", "concurrency", "requests", "duration", "timeout", "budget", "stacks",
     "cores", "memory", "repeats", "check", "difference", "x"]
)  # fmt: skip
LEAVES = st.one_of(
    st.text(max_size=20).map(lambda text: '"' + "".join(f"\\U{ord(each):08x}" for each in text) + '"'),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["true", "1979-05-27", DIGITS, "0x1", "''", '"5s"', '"\\u0000"', "1e999", "[]", "{}"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda each: f"[{', '.join(each)}]"),
        st.dictionaries(KEYS, inner, max_size=3).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables=st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=4), max_size=4))
def test_any_file_is_read_or_refused(read, tables):
    lines = [
        f"[{name}]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())
        for name, keys in tables.items()
    ]
    try:
        read("\n".join(lines))
    except StackraceError as error:
        assert error.message


@given(st.text(max_size=40) | st.from_regex(r"[a-z]{1,8}([:/+=,][a-z0-9_]{0,9}){0,5}"))
def test_any_stack_is_parsed_or_refused(text: str) -> None:
    try:
        parse_stack(text, SPECS, BOTH)
    except StackraceError as error:
        assert error.message
