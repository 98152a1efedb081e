"""What `stackrace load` refuses before anything is sent, naming the flag and the way out."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from click.testing import CliRunner

from stackrace.base.errors import InputError
from stackrace.cli.load.command import command

URL = "http://127.0.0.1:9/"

CONTRADICTIONS = {
    "nothing to load": ([], "--session"),
    "two ends": ([URL, "-n", "5", "-d", "5s"], "-d/--duration or -n/--requests, not both"),
    "less than a request": ([URL, "-n", "0.5"], "-n/--requests"),
    "random without a rate": ([URL, "--poisson"], "--poisson needs --rate"),
    "a seed without chance": ([URL, "--rate", "5", "--seed", "0"], "--seed needs --poisson"),
    "a mask over nothing": ([URL, "--mask", "x"], "--mask needs --expect-body"),
    "chunks of nothing": ([URL, "--chunked"], "--chunked needs --data"),
    "asking to send nothing": ([URL, "--expect-continue"], "--expect-continue needs --data"),
    "pauses of nobody": ([URL, "--think", "1s"], "--think needs --session"),
    "closed twice": ([URL, "--close", "--requests-per-connection", "5"], "--close or --requests-per-connection"),
    "trust and no trust": (["https://127.0.0.1:9/", "--insecure", "--cacert", "a.pem"], "--insecure or --cacert"),
    "TLS of plain http": ([URL, "--insecure"], "--insecure is for https only"),
    "a version of plain http": ([URL, "--tls", "1.3"], "--tls is for https only"),
    "certificates of plain http": ([URL, "--cacert", "a.pem"], "--cacert is for https only"),
    "a recording with a method": (["--session", "a.har", "--method", "PUT"], "--session or --method"),
    "a recording with a body": (["--session", "a.har", "--data", "x"], "--session or --data"),
    "a recording with a status": (["--session", "a.har", "--expect-status", "200"], "--session or --expect-status"),
    "a recording of two servers": ([URL, URL, "--session", "a.har"], "one URL"),
    "one body for two pages": ([URL, URL, "--expect-body", "a"], "--expect-body describes one answer"),
    "a text of HEAD": ([URL, "--expect-text", "a", "--method", "head"], "--expect-text with --method HEAD"),
    "a text and a body": ([URL, "--expect-text", "a", "--expect-body", "a"], "--expect-text or --expect-body"),
    "no text": ([URL, "--expect-text", ""], "--expect-text is empty"),
    "a body of HEAD": ([URL, "--expect-body", "a", "--method", "head"], "HEAD"),
    "two servers": ([URL, "http://127.0.0.1:10/"], "different servers"),
    "http and https": (["http://127.0.0.1:9/", "https://127.0.0.1:9/"], "different servers"),
    "two names of one server": ([URL, "http://localhost:9/"], "--host"),
    "another machine": (["http://192.0.2.1/"], "--target-is-mine"),
    "no URL": (["127.0.0.1:8000"], "did you mean http://127.0.0.1:8000/?"),
    "no header": ([URL, "-H", "nonsense"], "--header"),
    "a second Host": ([URL, "-H", "host: a"], "--host"),
    "a body that is not there": ([URL, "--data", "@absent"], "--data: absent cannot be read"),
    "a right body that is not there": ([URL, "--expect-body", "absent"], "--expect-body: absent cannot be read"),
    "certificates that are not there": (["https://127.0.0.1:9/", "--cacert", "absent"], "--cacert absent"),
    "nowhere to write": ([URL, "--hdr", "absent/a.hgrm"], "--hdr"),
}

USAGE = {
    "no rate": ([URL, "--rate", "0"], "--rate"),
    "a rate that is none": ([URL, "--rate", "fast"], "200/s"),
    "no connections": ([URL, "-c", "0"], "--concurrency"),
    "no requests per connection": ([URL, "--requests-per-connection", "0"], "--requests-per-connection"),
    "no time": ([URL, "--timeout", "0"], "--timeout"),
    "no version of TLS": ([URL, "--tls", "1.0"], "--tls"),
    "no place for a nonce": ([URL, "--nonce", "body:x"], "header:X-Nonce"),
    "no name for a nonce": ([URL, "--nonce", "header:"], "header:X-Nonce"),
    "no pause": ([URL, "--session", "a", "--think", "long"], "none, recorded"),
    "chunks that swallow the URL": (["--data", "x", "--chunked", URL], "--chunked"),
    "no status": ([URL, "--expect-status", "99"], "--expect-status"),
    "no threads": ([URL, "--threads", "0"], "--threads"),
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictions_are_refused_with_the_flags_names(case: str) -> None:
    arguments, way_out = CONTRADICTIONS[case]
    done = CliRunner().invoke(command, [*arguments, "--no-ceiling"])
    assert isinstance(done.exception, InputError), done.output
    assert way_out in done.exception.message
    assert done.stdout == ""


@pytest.mark.parametrize("case", USAGE)
def test_values_that_are_none_are_refused_with_an_example(case: str) -> None:
    arguments, way_out = USAGE[case]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 2
    assert way_out in done.stderr


def test_a_mask_that_matches_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "body").write_text("hello")
    done = CliRunner().invoke(command, [URL, "--expect-body", "body", "--mask", r"\d+"])
    assert isinstance(done.exception, InputError)
    assert r"--mask '\\d+' matches nothing" in done.exception.message


def test_more_connections_than_ports_are_refused(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = CliRunner().invoke(command, [URL, "-c", "70000"])
    assert isinstance(done.exception, InputError)
    assert "--concurrency: " in done.exception.message
    assert ("ip_local_port_range" if hard > 80_000 else "nofile") in done.exception.message


def test_spinning_on_the_servers_core_is_refused() -> None:
    threads = len(os.sched_getaffinity(0))
    done = CliRunner().invoke(command, [URL, "--spin", "--threads", str(threads), "--no-ceiling"])
    assert isinstance(done.exception, InputError)
    assert "--spin" in done.exception.message


def test_the_schema_is_printed_without_a_url() -> None:
    done = CliRunner().invoke(command, ["--schema"])
    assert '"const": "load-1"' in done.output
