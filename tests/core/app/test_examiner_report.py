"""What is heard of a crawl while it goes on, and what is kept of one that was cut."""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.examine import _watched
from stackrace.app.examiner_report import examination_of
from stackrace.base.errors import AppError
from stackrace.base.process import OverdueError
from stackrace.measure.workload import PageTime, Request
from stackrace.stacks.setting import Interface

APP = App(
    name="shop",
    root=Path("/srv/shop"),
    entry=entry_of(EntryKind.DJANGO, "shop.settings"),
    python=Path("/srv/venv/bin/python"),
)
REPLY = {
    "status": 200,
    "headers": [["A", "b"]],
    "body": "aGVsbG8=",
    "body_bytes": 5,
    "endless": False,
    "traceback": "",
}
REPORT = {
    "python": {
        "version": "3.11.2",
        "python": "/srv/venv/bin/python3",
        "base": "/usr/bin/python3.11",
        "site_packages": ["/srv/venv/lib"],
        "distributions": {"Django": "5.2"},
    },
    "django": None,
    "host": "127.0.0.1",
    "loading": [18.0, 4.0],
    "exchanges": [
        {
            "path": "/b",
            "via": "/a",
            "added": [["X", "y"]],
            "first": REPLY,
            "second": REPLY | {"body": None},
            "wall_s": 0.14,
            "cpu_s": 0.12,
        }
    ],
    "failure": "",
}
DJANGO = {
    "allowed_hosts": ["*"],
    "static_url": "/static/",
    "static_root": "/srv/static",
    "collected": "/srv/static",
    "media_url": "/media/",
    "media_root": "/srv/media",
    "sends_static": False,
    "https_header": "",
    "routes": [],
}


def finish(text, **options):
    return examination_of(text, APP, (Request(path="/a", headers=(("C", "d"),)),), Interface.WSGI, **options)


def failure(text, **options):
    with pytest.raises(AppError) as raised:
        finish(text, **options)
    return raised.value


def test_a_finished_report_becomes_an_examination():
    found = finish(f"stage importing it\n{json.dumps(REPORT)}\n")
    (exchange,) = found.exchanges
    assert (found.python.python, found.python.site_packages) == (APP.python, (Path("/srv/venv/lib"),))
    assert exchange.request == Request(path="/b", headers=(("X", "y"), ("C", "d")))
    assert (exchange.via, exchange.added) == ("/a", ("X",))
    assert (exchange.first.body, exchange.first.header("a"), exchange.second) == (b"hello", "b", exchange.first)
    assert found.loading == PageTime(wall_s=18.0, cpu_s=4.0)


@pytest.mark.parametrize(("url", "served"), [("/static/", True), ("https://cdn.example.com/", False)])
def test_djangos_static_files_are_mapped_unless_another_site_has_them(url, served):
    report = REPORT | {"django": DJANGO | {"static_url": url}}
    assert finish(json.dumps(report)).static == ({url: Path("/srv/static")} if served else {})


def test_a_hang_tells_where():
    error = failure('stage importing it\nTimeout (0:00:05)!\n  File "shop/wsgi.py", line 3\n', status=None)
    assert "importing it did not end in time; this is where it was" in error.message
    assert "shop/wsgi.py" in error.detail


def test_an_interpreter_that_is_none_is_named_with_the_key():
    error = failure("", log="usage: pip", status=1)
    assert "starting its interpreter died (1); is /srv/venv/bin/python Python 3?" in error.message
    assert "[app] python" in error.message


def test_a_silent_death_shows_what_was_printed():
    error = failure("stage importing it\n", log="libfoo: cannot open\n", status=-11)
    assert error.message == "shop.settings: importing it died (-11)"
    assert error.detail == "libfoo: cannot open"


def test_an_app_that_exits_without_a_word_is_quoted_from_its_log():
    report = json.dumps(REPORT | {"failure": "Traceback …\nSystemExit: 1\n"})
    error = failure("stage importing it\n" + report, log="ready\nERROR: SECRET_KEY must be set\n")
    assert "importing it failed: SystemExit: 1: ERROR: SECRET_KEY must be set; " in error.message
    assert "[app] env" in error.message


@pytest.mark.parametrize("last", ["SystemExit: no site is configured", "ValueError: 1"])
def test_the_log_is_not_quoted_where_the_error_says_why(last):
    error = failure("stage importing it\n" + json.dumps(REPORT | {"failure": f"{last}\n"}), log="ready\n")
    assert error.message.endswith(f"importing it failed: {last}")


@pytest.mark.parametrize(
    ("missing", "hint"), [("shop", "imports start from /srv/shop"), ("celery", "not installed for /srv/venv")]
)
def test_a_missing_module_says_whose_fault_it_is(missing, hint):
    text = f"Traceback …\nModuleNotFoundError: No module named '{missing}'\n"
    error = failure("stage loading its settings\n" + json.dumps(REPORT | {"failure": text}))
    assert error.message.startswith("shop.settings: loading its settings failed: ModuleNotFoundError")
    assert hint in error.message
    assert error.detail == text


RACK = App(name="blog", root=Path("/srv/blog"), entry=entry_of(EntryKind.RACK, "config.ru"), ruby=Path("/opt/ruby"))


def rack_failure(last):
    text = f"Traceback (most recent call last):\n  config.ru:1:in `require'\n{last}\n"
    report = json.dumps(REPORT | {"python": None, "failure": text})
    with pytest.raises(AppError) as raised:
        examination_of(f"stage loading it\n{report}\n", RACK, (Request(path="/"),), Interface.RACK)
    return raised.value.message


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("LoadError: cannot load such file -- rack", "stackrace install puma"),
        ("LoadError: cannot load such file -- rails", "not installed for /opt/ruby ([app] ruby)"),
        ("Bundler::GemNotFound: Could not find rails-7.1 in locally installed gems", "not installed for /opt/ruby"),
        ("NameError: uninitialized constant Blog", "config.ru: loading it failed: NameError"),
    ],
)
def test_what_a_rack_app_lacks_says_where_it_is_looked_for(last, words):
    assert words in rack_failure(last)


SURVEY = {
    "pages": [], "asked": ["/", "/b", "/c"], "unasked": {"/logout": "it may change something"}, "static": {},
    "static_root": "", "databases": [], "caches": [],
}  # fmt: skip


def test_pages_that_were_answered_count_however_the_crawl_ended():
    (page,) = REPORT["exchanges"]
    survey = json.dumps(REPORT | {"survey": SURVEY, "exchanges": []})
    text = f"{survey}\nprogress 0 3 9.0\npage {json.dumps(page)}\npage {json.dumps(page)}\n"
    whole = finish(f"{text}{survey}\n")
    assert len(whole.exchanges) == 2
    assert whole.exchanges[1].request.headers == (("X", "y"), ("C", "d"))
    assert (whole.cut, whole.survey.asked) == ("", ("/", "/b", "/c"))
    died = finish(text + 'page {"path": "/c', status=-9)
    assert (len(died.exchanges), died.cut) == (2, "the app died (-9)")
    assert finish(text + "Timeout (0:00:05)!\n", status=None).cut == "no answer in time"
    failed = json.dumps(REPORT | {"survey": SURVEY, "exchanges": [], "failure": "Traceback\nSystemExit: 3\n"})
    assert finish(f"{text}{failed}\n").cut == "SystemExit: 3"


def test_progress_is_heard_while_the_process_runs():
    script = """if True:
        import os, sys
        fd = int(sys.argv[1])
        os.write(fd, b'stage x\\nprogress 1 40 8.5\\nprog')
        sys.stdin.read()
        os.write(fd, b'ress 2 40 8.0\\n')
    """
    heard = []

    def hear(*progress):
        heard.append(progress)
        process.stdin.close()

    with tempfile.TemporaryFile() as report:
        command = [sys.executable, "-c", script, str(report.fileno())]
        process = subprocess.Popen(command, pass_fds=(report.fileno(),), stdin=subprocess.PIPE)
        assert _watched(report, hear, math.inf)(process) == 0
    assert heard[0] == (1, 40, 8.5)


def test_a_process_that_takes_longer_is_left_to_its_caller():
    with tempfile.TemporaryFile() as report:
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        with pytest.raises(OverdueError):
            _watched(report, print, 0.0)(process)
        process.communicate()
