"""The page of a running race: its events, and what a browser shows of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from types import SimpleNamespace

import pytest
from tests.chromium import CHROMIUM, Chromium
from tests.conftest import BRIEF
from tests.factories import make_race
from tests.features.web.serving import served, threads_of, watched
from tests.frozen import product
from tests.http_servers import APP
from tests.raced import ended_launches

from stackrace.base.numbers import number
from stackrace.features.regression import words as check_words
from stackrace.features.regression.model import gate_of
from stackrace.features.regression.ruling import gate_answer
from stackrace.features.tune.tuning_result import leading, tuned
from stackrace.features.web import live_page
from stackrace.measure.launch import Failure, FailureKind
from stackrace.race.results.race import Ending
from stackrace.stacks.stack import Side, side_of
from stackrace.store import open_store
from stackrace.store.lookup import Progress
from stackrace.store.race_lock import race_lock


@pytest.fixture(autouse=True)
def own_results(tmp_path, monkeypatch):
    """The locks of races are those of this test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def store_url(tmp_path, new_store):
    path = tmp_path / "races.sqlite3"
    path.write_bytes(new_store.read_bytes())
    return f"sqlite:///{path}"


def begun(**changes):
    """A race that has begun just now, with the launches of two blocks."""
    race = make_race(3, **{"blocks": 2, "budget_s": 600.0, **changes})
    return replace(race, ending=None, elapsed_s=0.0, started_at=datetime.now(UTC).isoformat(timespec="seconds"))


def told(store_url, race, *, until, monkeypatch):
    """Return the events of a race that this process holds; it ends after some pauses."""
    pauses = []

    def pause(_):
        pauses.append(1)
        if len(pauses) == until:
            with open_store(store_url) as store:
                store.end(race.id, Ending.BUDGET, 600.0)

    monkeypatch.setattr(live_page, "time", SimpleNamespace(sleep=pause, monotonic=time.monotonic))
    return [event for event in live_page.events(store_url, race.id) if not event.startswith(":")]


def of(name, events):
    return [event for event in events if event.startswith(f"event: {name}\n")]


def test_the_standing_comes_with_its_bars_and_then_the_end(store_url, monkeypatch):
    race = begun(blocks=8)
    with open_store(store_url) as store, race_lock(race.id, new=True):
        store.begin(race)
        events = told(store_url, race, until=3, monkeypatch=monkeypatch)
    (standing,) = of("standing", events)
    assert standing.count("<svg") >= len(race.stacks) and 'class="whisker"' in standing
    assert "After 7 blocks." in standing
    slices = sum(len(launch.slices) for launch in race.launches)
    assert f"data: Block 8: {slices} slices" in of("progress", events)[0]
    assert " left\n" in of("progress", events)[0]
    assert events[-1] == "event: end\ndata: over\n\n"


def test_before_the_first_block_there_is_no_standing(store_url, monkeypatch):
    race = replace(begun(), launches=())
    with open_store(store_url) as store, race_lock(race.id, new=True):
        store.begin(race)
        events = told(store_url, race, until=1, monkeypatch=monkeypatch)
    assert "No standing yet" in of("standing", events)[0]
    assert "Block 1: 0 slices" in of("progress", events)[0]


def shown_of(race, store_url, monkeypatch):
    """Return the text in place of a standing while ``race`` runs, and the number of drawings in it."""
    with open_store(store_url) as store, race_lock(race.id, new=True):
        store.begin(race)
        (shown,) = of("standing", told(store_url, race, until=1, monkeypatch=monkeypatch))
    return unescape(re.sub(r"<[^>]+>", "", shown)), shown.count("<svg")


def test_of_a_check_both_sides_and_each_change_with_limits_are_shown(store_url, monkeypatch):
    race = replace(product.race("check-failed"), ending=None)
    text, drawings = shown_of(race, store_url, monkeypatch)
    assert [note for note in check_words.side_notes(gate_of(race)) if note not in text] == []
    rulings = gate_answer(race).rulings
    assert [each for each in rulings if check_words.change(each) not in text] == []
    assert drawings >= len(rulings)


def test_of_a_check_whose_head_does_not_start_that_is_shown(store_url, monkeypatch):
    race = replace(product.race("check-failed"), ending=None)
    failure = Failure(kind=FailureKind.NOT_STARTED, message="it exited")
    launches = tuple(
        replace(each, failure=failure, slices=()) if side_of(each.stack) is Side.HEAD else each
        for each in race.launches
    )
    text, _ = shown_of(replace(race, launches=launches), store_url, monkeypatch)
    made = len(launches) // 2
    assert f"{made} of the head's {made} launches failed" in text


def test_of_a_tuning_its_line_and_the_best_configurations_are_shown(store_url, monkeypatch):
    race = replace(product.race("tuning"), ending=None)
    text, _ = shown_of(race, store_url, monkeypatch)
    assert f"{leading(race)}." in text
    best = tuned(race).responses[:5]
    assert [one for one in best if one.stack not in text or number(one.value) not in text] == []


def test_before_anything_is_known_of_a_tuning_its_page_says_so(store_url, monkeypatch):
    race = replace(product.race("tuning"), ending=None)
    launches = tuple(replace(each, slices=()) for each in race.launches)
    assert "Its result comes at the end." in shown_of(replace(race, launches=launches), store_url, monkeypatch)[0]


@pytest.mark.parametrize("gone", ["ended", "killed", "unknown"])
def test_a_race_that_is_over_has_one_event(store_url, gone):
    race = begun()
    with open_store(store_url) as store:
        if gone != "unknown":
            store.begin(replace(race, ending=Ending.BUDGET if gone == "ended" else None))
        with race_lock(race.id, new=True):
            pass
    assert list(live_page.events(store_url, race.id)) == ["event: end\ndata: over\n\n"]


def test_the_time_left_is_at_most_what_the_budget_leaves(monkeypatch):
    progress = Progress(ending=None, blocks=1, slices=9, spent_s=150.0)
    clock = iter((1000.0, 1020.0, 2000.0))
    monkeypatch.setattr(live_page, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    watch = live_page._Watch(begun())
    assert watch.words(progress) == "Block 2: 9 slices · 2 min 30 s · at most 7 min 30 s left"
    assert watch.words(progress) == "Block 2: 9 slices · 2 min 50 s · at most 7 min 10 s left"
    # the next block has taken longer than the viewer could know
    assert watch.words(replace(progress, spent_s=300.0)) == "Block 2: 9 slices · 5 min · at most 5 min left"


def test_a_race_that_was_not_resumed_has_run_since_it_began():
    hours = (datetime.now(UTC) - timedelta(hours=3)).isoformat()
    progress = Progress(ending=None, blocks=1, slices=9, spent_s=150.0)
    assert " · 3 h · " in live_page._Watch(replace(begun(), started_at=hours)).words(progress)
    assert " · 2 min 30 s · " in live_page._Watch(replace(begun(), started_at=hours, resumed=1)).words(progress)


def test_of_runs_the_time_left_follows_from_earlier_ones():
    race = replace(begun(), repeats=4, budget_s=0.0)
    progress = Progress(ending=None, blocks=1, slices=9, spent_s=100.0)
    runs = 4 * len(race.stacks) * len(race.loads)
    said = live_page._Watch(race).words(progress)
    assert said == f"Block 2 of 4: 9/{runs} runs · 1 min 40 s · about 5 min left"


BARS, LIMITS, TIME = "#standing .drawing", "#standing line.whisker", "#progress"


def moving(browser, *parts):
    """Remember how ``parts`` of the page are drawn; return what waits until all of them are drawn otherwise."""
    drawn = [f"[...document.querySelectorAll('{part}')].map(each => each.outerHTML).join()" for part in parts]
    browser.run(f"window.before = [{', '.join(drawn)}]")
    moved = " && ".join(f"{each} != window.before[{place}]" for place, each in enumerate(drawn))
    return lambda: browser.until(moved)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_limits_move_as_soon_as_a_block_is_stored(store_url, tmp_path):
    whole = begun(levels=(20,), blocks=8)
    early, late = (tuple(each for each in whole.launches if (each.block < 6) == first) for first in (True, False))
    with open_store(store_url) as store, race_lock(whole.id, new=True):
        store.begin(replace(whole, launches=early))
        with served(store_url) as site, Chromium(tmp_path) as browser:
            browser.open(f"{site.address}races/{whole.id}/")
            browser.until("document.querySelector('#standing line.whisker')")
            wait = moving(browser, BARS, LIMITS, TIME)
            for launch in late:
                store.add_launch(whole.id, launch)
                for one in launch.slices:
                    store.add_slice(launch.id, one)
            wait()
            browser.until("document.querySelector('#standing').innerText.includes('After 7 blocks.')")
            store.end(whole.id, Ending.BUDGET, 600.0)
            browser.until("document.querySelector('header#result h1')")
            assert browser.complaints == []


@pytest.fixture
def raced(store_url, tmp_path, temporary):
    """A real race of two stacks in many runs; it is killed at the end of the test, if it still runs."""
    (tmp_path / "tiny.py").write_text(APP)
    asked = ["--wsgi", "tiny:app", "--python", sys.executable, "-c", "1", "--requests", "20", "--repeats", "1000"]
    stacks = ["--no-twin", "--stack", "waitress", "--stack", "gunicorn:class=gthread"]
    with subprocess.Popen(
        [*BRIEF, "run", *asked, *stacks, "--store", store_url],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        while not (found := ended_launches(store_url)):
            assert process.poll() is None
            time.sleep(0.05)
        yield process, next(iter(found))
        if process.poll() is None:
            process.send_signal(signal.SIGINT)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_page_of_a_real_race_moves_and_becomes_its_report(raced, store_url, tmp_path):
    process, race_id = raced
    with served(store_url) as site, Chromium(tmp_path) as browser:
        browser.open(site.address)
        assert browser.run("document.querySelector('.state').textContent") == "running"
        browser.run("document.querySelector('.races a').click()")
        browser.until("document.querySelector('#standing .board')")
        moving(browser, BARS, TIME)()
        assert " left" in browser.run("document.querySelector('#progress').textContent")
        process.send_signal(signal.SIGINT)
        browser.until("document.querySelector('header#result h1') && !document.querySelector('#progress')")
        assert browser.run("location.pathname") == f"/races/{race_id}/"
        assert "interrupted" in browser.run("document.body.innerText")
        assert browser.complaints == []


def test_when_the_browser_goes_away_the_stream_ends_without_a_word(store_url):
    race = begun()
    with open_store(store_url) as store, race_lock(race.id, new=True):
        store.begin(race)
        with served(store_url) as site:
            quiet = threads_of(site.pid)
            with watched(site, race.id):
                assert threads_of(site.pid) > quiet
            while threads_of(site.pid) > quiet:
                time.sleep(0.05)
