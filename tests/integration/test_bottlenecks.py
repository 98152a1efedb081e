"""Races of apps that wait: where their time goes is seen from outside."""

import json
import sys
from collections import Counter

import pytest

from stackrace.stacks.services import services

APP = """
import os, threading, time
{before}

def app(environ, start_response):
{page}
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"page"]
"""
LOCK = "lock = threading.Lock()"
CONNECTIONS = """
import psycopg
own = threading.local()

def connection():
    if not hasattr(own, "made"):
        own.made = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    return own.made
"""
SLEEP = "    time.sleep(0.2)"
THREADS = "gunicorn:class=gthread,workers=1,threads={}"


def raced(brief, folder, *, before="", page, stack, beside="", clients=8):
    """The place where the time of a race of one stack went: that of most slices, as far as known."""
    (folder / "shop.py").write_text(APP.format(before=before, page=page))
    (folder / "race.toml").write_text(f"[app]\nservices = [{beside}]\n")
    words = f"run race.toml --wsgi shop:app --budget 20min -c {clients} --no-twin --stack {stack} --json".split()
    done = brief(*words, "--python", sys.executable, cwd=folder)
    assert done.returncode == 0, done.stderr
    slices = [one for launch in json.loads(done.stdout)["launches"] for one in launch["slices"]]
    found = [one["bottleneck"] for one in slices if one["bottleneck"] is not None]
    if not found:
        pytest.skip("others had the cores, so the figures do not decide")
    ((place, _),) = Counter((one["kind"], one["places"], one["unit"]) for one in found).most_common(1)
    return place


@pytest.mark.exhaustive
def test_threads_that_sleep_are_the_limit(brief, tmp_path):
    assert raced(brief, tmp_path, page=SLEEP, stack=THREADS.format(4)) == ("waiting", 4, "thread")


def test_a_master_that_waits_for_its_workers_is_no_lock(brief, tmp_path):
    found = raced(brief, tmp_path, page=SLEEP, stack="gunicorn:workers=2", clients=2)
    assert found == ("waiting", 2, "connection")


@pytest.mark.exhaustive
def test_a_lock_of_the_app_is_named(brief, tmp_path):
    page = "    with lock:\n        time.sleep(0.1)"
    found = raced(brief, tmp_path, before=LOCK, page=page, stack=THREADS.format(8))
    assert found == ("lock", 8, "connection")


@pytest.mark.exhaustive
def test_a_database_is_named(brief, tmp_path):
    if missing := services()["postgresql"].missing():
        pytest.skip(missing)
    page = "    connection().execute('select pg_sleep(0.5)')"
    stack, beside = THREADS.format(8), "'postgresql'"
    found = raced(brief, tmp_path, before=CONNECTIONS, page=page, stack=stack, beside=beside)
    assert found == ("database", 8, "connection")
