"""Options and configuration files in a server's own language, as parts of a stack's path."""

from __future__ import annotations

import pytest

from stackrace.base.errors import StackError
from stackrace.stacks.native_files import Concern, GivenOption
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface, Origin
from stackrace.stacks.stack_path import parse_stack

SPECS = catalogue().specs
BOTH = frozenset({Interface.WSGI, Interface.ASGI})
SPEAKING = sorted(name for name, spec in SPECS.items() if spec.native and spec.native.in_paths)


def test_an_option_is_kept_as_it_is_and_names_the_stack():
    path = "gunicorn:workers=4,--worker-tmp-dir=/dev/shm,--reuse-port"
    stack = parse_stack(path, SPECS, BOTH)
    assert stack.path == path
    assert stack.hops[0].options == (
        GivenOption(name="worker-tmp-dir", value="/dev/shm"),
        GivenOption(name="reuse-port", value=None),
    )


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("gunicorn:--bind=:80", "gunicorn's --bind cannot be given: Stackrace decides about it (address)"),
        ("gunicorn:--daemon", "(process)"),
        ("gunicorn:--user=root", "(user)"),
        ("gunicorn:--log-file=x", "(logs)"),
        ("gunicorn:--pid=x", "(process)"),
        ("gunicorn:--bin=:80", "(address)"),
        ("gunicorn:--workers=4", "write workers=… instead"),
        ("gunicorn:-w=4", "in its long form"),
        ("uvicorn:--port=80", "(address)"),
        ("granian:--reload", "(process)"),
        ("hypercorn:--daemon", "(process)"),
        ("daphne:--endpoint=x", "(address)"),
        ("waitress:--listen=*:80", "(address)"),
        ("uwsgi:--uid=0", "(user)"),
        ("uwsgi:--daemonize=x", "(process)"),
        ("uwsgi:--workers=4", "write processes=… instead"),
        ("nginx:--listen=80/http/gunicorn", "(address)"),
        ("nginx:--add_header='a; b'/http/gunicorn", "its value holds one of"),
        ("uwsgi:--env=a\nhttp=:80", "holds a line break or another control character"),
        ("gunicorn:--env=a\0", "holds a line break or another control character"),
        ("cheroot:--x=1", "cheroot takes no words of its own language here; its settings: threads"),
        ("uvicorn:config=x", "uvicorn takes no configuration file here"),
        ("gunicorn:config=", "needs a value, as in config=gunicorn.conf.py"),
        ("gunicorn:config=a,config=b", "given twice"),
    ],
)
def test_what_would_break_the_measuring_is_refused_by_name(path, words):
    with pytest.raises(StackError) as raised:
        parse_stack(path, SPECS, BOTH)
    assert words in raised.value.message


@pytest.mark.parametrize("name", SPEAKING)
def test_every_word_that_stands_for_a_setting_names_one(name):
    settings = {setting.name for setting in SPECS[name].settings}
    native = SPECS[name].native
    assert {row.setting.name for row in native.rows if row.setting} <= settings


GUNICORN = """
import multiprocessing

bind = "0.0.0.0:8000"
workers = multiprocessing.cpu_count() * 2 + 1
threads = 8
max_requests = 1000
accesslog = "/var/log/access.log"
user = "www-data"


def post_fork(server, worker):
    timeout = 5
"""


def parsed(tmp_path, name, text, path):
    (tmp_path / name).write_text(text)
    return parse_stack(path, SPECS, BOTH, tmp_path)


def test_a_file_of_gunicorns_says_what_its_settings_are(tmp_path):
    stack = parsed(tmp_path, "g.py", GUNICORN, "gunicorn:config=g.py,keep_alive=5")
    assert stack.path == "gunicorn:keep_alive=5,config=g.py"
    (hop,) = stack.hops
    assert (hop.settings["class"], hop.settings["threads"], hop.settings["max_requests"]) == ("gthread", 8, 1000)
    assert (hop.settings["timeout"], hop.settings["keep_alive"]) == (30, 5)
    assert "workers" not in hop.settings and hop.processes is None
    assert hop.closes_because == ""
    assert hop.file.reading.computed == {"workers": "multiprocessing.cpu_count() * 2 + 1"}
    assert (hop.origins["threads"], hop.origins["keep_alive"]) == (Origin.OWN, Origin.TUNED)
    assert hop.origins["timeout"] is Origin.DEFAULT
    assert {(change.key, change.concern) for change in hop.file.reading.changes} == {
        ("bind", Concern.ADDRESS),
        ("user", Concern.USER),
        ("accesslog", Concern.LOGS),
    }


@pytest.mark.parametrize(
    ("text", "kind", "interface"),
    [
        ("", "sync", Interface.WSGI),
        ("worker_class = 'uvicorn.workers.UvicornWorker'", "uvicorn", Interface.ASGI),
        ("worker_class = 'asgi'", "asgi", Interface.ASGI),
        ("threads = 2", "gthread", Interface.WSGI),
    ],
)
def test_the_class_in_the_file_decides_the_interface(tmp_path, text, kind, interface):
    stack = parsed(tmp_path, "g.py", text, "gunicorn:config=g.py")
    assert (stack.hops[0].settings["class"], stack.interface) == (kind, interface)


@pytest.mark.parametrize(
    ("name", "text", "path", "words"),
    [
        ("g.py", "workers = (", "gunicorn:config=g.py", "g.py cannot be used: line 1"),
        ("g.py", "worker_class = CLASS", "gunicorn:config=g.py", "does not say what gunicorn hosts; add class="),
        ("g.py", "worker_class = 'my.Worker'", "gunicorn:config=g.py", "add class=sync or"),
        ("u.ini", "processes = 4", "uwsgi:config=u.ini", "it has no section [uwsgi]"),
        ("g.py", "", "gunicorn:config=other.py", "other.py cannot be read: No such file or directory"),
        ("g.py", "#" * 300_000, "gunicorn:config=g.py", "more than 256 KiB"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path, name, text, path, words):
    with pytest.raises(StackError) as raised:
        parsed(tmp_path, name, text, path)
    assert words in raised.value.message


UWSGI = """
# production
[uwsgi]
http = :8000
processes = %k
threads = 2
chdir = /srv/app
module = shop.wsgi:application
uid = www-data
daemonize = /var/log/uwsgi.log
harakiri = 30
lazy-apps = true
env = CONFIG=%d
[other]
processes = 9
"""


def test_a_file_of_uwsgis_says_what_its_settings_are(tmp_path):
    (hop,) = parsed(tmp_path, "u.ini", UWSGI, "uwsgi:config=u.ini").hops
    assert (hop.settings["threads"], hop.settings["harakiri"], hop.settings["lazy_apps"]) == (2, 30, True)
    assert (hop.settings["http"], hop.origins["http"]) == ("router", Origin.OWN)
    assert hop.file.reading.computed == {"processes": "%k"}
    assert [change.key for change in hop.file.reading.changes] == [
        "http", "chdir", "module", "uid", "daemonize", "env",
    ]  # fmt: skip
