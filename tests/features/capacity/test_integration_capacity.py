"""`stackrace capacity` against a real server on loopback; how fast that is decides nothing here."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.brief import of_the_stacks
from tests.features.capacity.brief import TRIALS, of_requests
from tests.http_servers import Hello, Server, serving

from stackrace.base.errors import InputError, RefusedError
from stackrace.features.capacity import trials as capacity_trials
from stackrace.features.capacity.verb import command
from stackrace.validity import registry
from stackrace.validity.declaration import Made


class Handler(Hello):
    def respond(self) -> None:
        self.answer(b"hello", 404 if self.path == "/missing" else 200)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in TRIALS:
        monkeypatch.setattr(capacity_trials, name, 0.05)
    monkeypatch.setattr(capacity_trials, "_loads", of_requests(capacity_trials._loads))
    # no trial is made again because of what else this machine does
    monkeypatch.setitem(registry.CHECKS, Made.RUN, of_the_stacks(registry.CHECKS[Made.RUN]))
    with serving(Server(Handler)) as server:
        yield server.url


def capacity(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "-c", "4", "--no-ceiling"])


def check_trials(found: dict, limit_s: float) -> None:
    """Every trial says what came of it, and has arrivals of its own."""
    seeds = []
    for trial in found["trials"]:
        ran = trial["run"]
        assert ran["load"]["poisson"] and ran["load"]["requests"] >= 1
        assert trial["kept"] is (not trial["missed_by"])
        assert not trial["kept"] or ran["latency"]["p50"] <= limit_s
        seeds.append(ran["load"]["seed"])
    assert len(set(seeds)) == len(seeds)
    missed = [trial["run"]["load"]["rate_per_s"] for trial in found["trials"] if not trial["kept"]]
    assert found["missed_at_per_s"] in (None, *missed)
    if found["capacity_per_s"] is not None and found["low_per_s"] is not None:
        assert found["low_per_s"] <= found["capacity_per_s"] <= found["high_per_s"]


def test_a_goal_that_is_easy_is_kept_and_every_trial_told(url: str, tmp_path: Path) -> None:
    done = capacity(url, "--p50", "1h", "--json", "--openmetrics", str(tmp_path / "metrics"))
    found = json.loads(done.stdout)
    families = text_string_to_metric_families((tmp_path / "metrics").read_text())
    scraped = {each.name: [sample.value for sample in each.samples] for each in families}
    known = [] if found["capacity_per_s"] is None else [pytest.approx(found["capacity_per_s"])]
    assert scraped["stackrace_capacity"] == known
    assert (found["schema"], found["urls"], found["goal"]) == ("capacity-1", [url], {"p50": 3600.0})
    check_trials(found, 3600.0)
    assert done.exit_code == (0 if found["capacity_per_s"] else 1)
    assert "The report: " in done.stderr


def test_a_goal_that_nobody_keeps_is_answered_with_no(url: str) -> None:
    done = capacity(url, "--p50", "1ns")
    assert done.exit_code == 1
    assert done.stdout.startswith("Not even ")
    assert "requests/s keep p50 ≤ 1 ns" in done.stdout
    assert "p50 was" in done.stdout
    assert "missed" in done.stdout and "kept" not in done.stdout


def test_without_right_answers_there_is_nothing_to_look_for(url: str) -> None:
    done = capacity(f"{url}missing", "--p50", "1s")
    assert isinstance(done.exception, RefusedError)
    assert "had a status other than 2xx" in done.exception.message
    assert done.stdout == ""


def test_where_nobody_listens_one_request_shows_it() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        done = capacity(f"http://127.0.0.1:{held.getsockname()[1]}/", "--p50", "1s")
    assert isinstance(done.exception, RefusedError)
    assert "there was no right answer: 1 failed at connecting: does the server listen" in done.exception.message


def test_without_a_goal_nothing_is_sent(url: str) -> None:
    done = capacity(url)
    assert isinstance(done.exception, InputError)
    assert "--p99 50ms" in done.exception.message
