"""What logs say: of a stack that is up, and why an app does not load."""

import os
from pathlib import Path

import pytest

from stackrace.base.files import size_of
from stackrace.base.process import deadline
from stackrace.deploy import startup
from stackrace.deploy.running_stack import logs_below, tail
from stackrace.deploy.shutdown import _complaints
from stackrace.deploy.startup import awaited_cause, cause, has_logged


def test_a_folder_that_vanishes_while_logs_are_read_holds_nothing(tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "error.log").write_text("why\n", encoding="utf-8")
    (tmp_path / "vanishing").mkdir()
    scandir = os.scandir

    def removing(folder):
        if str(folder).endswith("vanishing"):
            Path(folder).rmdir()
        return scandir(folder)

    for look in (tail, size_of, lambda folder: list(logs_below(folder))):
        (tmp_path / "vanishing").mkdir(exist_ok=True)
        with monkeypatch.context() as patched:
            patched.setattr(os, "scandir", removing)
            assert look(tmp_path) in ("kept/error.log:\nwhy", 4, [tmp_path / "kept" / "error.log"])


def test_nothing_waits_for_what_has_no_end(tmp_path):
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "zero.log").symlink_to("/dev/zero")
    (tmp_path / "error.log").write_text("why\n", encoding="utf-8")
    assert tail(tmp_path) == "error.log:\nwhy"
    assert not _complaints(logs_below(tmp_path))


PLAIN = """\
Traceback (most recent call last):
  File "/srv/entry.py", line 9, in <module>
    import shop
ModuleNotFoundError: No module named 'shop'
"""

MOD_WSGI = """\
[Mon Nov 23 20:02:37.206490 2026] [wsgi:error] [pid 7:tid 27] mod_wsgi (pid=7): Failed to exec Python script file '/e.py'.
[Mon Nov 23 20:02:37.206490 2026] [wsgi:error] [pid 7:tid 27] [remote 127.0.0.1:47960] Traceback (most recent call last):
[Mon Nov 23 20:02:37.206500 2026] [wsgi:error] [pid 18:tid 9] [remote 127.0.0.1:9] mod_wsgi (pid=18): Failed to exec
[Mon Nov 23 20:02:37.206682 2026] [wsgi:error] [pid 7:tid 27] [remote 127.0.0.1:47960]     import shop
[Mon Nov 23 20:02:37.206701 2026] [wsgi:error] [pid 7:tid 27] [remote 127.0.0.1:47960] django.core.exceptions.ImproperlyConfigured: SECRET_KEY is empty
"""  # noqa: E501

MOD_PYTHON = """\
[Mon Nov 23 20:03:10.927963 2026] [:error] [pid 3:tid 3] [client ::1] PythonHandler here: Traceback (most recent call last):
[Mon Nov 23 20:03:10.928015 2026] [:error] [pid 3:tid 3] [client ::1] PythonHandler here:   File "/e.py", line 9\\n    import shop
[Mon Nov 23 20:03:10.928018 2026] [:error] [pid 3:tid 3] [client ::1] PythonHandler here: KeyError: 'SHOP'
"""  # noqa: E501

PASSENGER = """\
App 30159 output: Traceback (most recent call last):
App 30159 output:   File "/e.py", line 9, in <module>
App 30159 output: import shop
App 30159 output: KeyError
App 30159 output: : 
App 30159 output: 'SHOP'
[ E 2026-11-23 Implementation.cpp:221 ]: Could not spawn process for application /srv: The application process ended
"""  # noqa: W291 (as it writes them)

RUBY = """\
config.ru:1:in `block in <main>': the shelf: is empty (KeyError)
\tfrom config.ru:1:in `eval'
Apache/2.4 (Debian)
"""

PASSENGERS_RUBY = (
    "]: Could not spawn process: The application encountered the following error: no (Shop::ShelfError)\n"
)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (PLAIN, "ModuleNotFoundError: No module named 'shop'"),
        (MOD_WSGI, "django.core.exceptions.ImproperlyConfigured: SECRET_KEY is empty"),
        (MOD_PYTHON + "Traceback (most recent call last):\nserver.errors.HaltServer: 3\n", "KeyError: 'SHOP'"),
        (MOD_PYTHON, "KeyError: 'SHOP'"),
        (PASSENGER, "KeyError: 'SHOP'"),
        (RUBY, "KeyError: the shelf: is empty"),
        (PASSENGERS_RUBY, "Shop::ShelfError: no"),
        ("Traceback (most recent call last):\n  File", ""),
        ("all is well (so far)\n", ""),
        ("", ""),
    ],
)
def test_the_reason_is_the_exception_that_the_log_ends_with(tmp_path, log, reason):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "error.log").write_text(log)
    assert cause(tmp_path) == reason


@pytest.mark.parametrize(
    "follow_up",
    [
        "RuntimeError: populate() isn't reentrant",
        "django.core.exceptions.AppRegistryNotReady: Apps aren't loaded yet.",
        "ImportError: cannot import name 'a' from partially initialized module 'shop' (most likely circular)",
        "ImportError: cannot load module more than once per process",
        "ImportError: PyO3 modules may only be initialized once per interpreter process",
        "sqlalchemy.exc.InvalidRequestError: Table 'book' is already defined for this MetaData instance.",
    ],
)
def test_an_error_that_only_loading_again_causes_does_not_hide_the_first(tmp_path, follow_up):
    again = f"Traceback (most recent call last):\n  load()\n{follow_up}\n"
    (tmp_path / "error.log").write_text(PLAIN + again + again)
    assert cause(tmp_path) == "ModuleNotFoundError: No module named 'shop'"
    (tmp_path / "error.log").write_text(MOD_WSGI + again)
    assert cause(tmp_path) == "django.core.exceptions.ImproperlyConfigured: SECRET_KEY is empty"
    (tmp_path / "error.log").write_text(again)
    assert cause(tmp_path) == follow_up


def test_an_error_that_may_follow_another_is_the_reason_if_only_the_server_says_more(tmp_path):
    own = "ImportError: cannot import name 'a' from partially initialized module 'shop'"
    halted = "Traceback (most recent call last):\nserver.errors.HaltServer: 3\n"
    (tmp_path / "error.log").write_text(f"Traceback (most recent call last):\n  load()\n{own}\n{halted}")
    assert cause(tmp_path) == own


def test_a_symbol_that_another_build_of_python_lacks_is_explained(tmp_path):
    log = (
        "Traceback (most recent call last):\n  import _ssl\nImportError: _ssl.so: undefined symbol: _PyModule_Add\n"
    )
    (tmp_path / "error.log").write_text(log)
    assert cause(tmp_path).endswith("_PyModule_Add" + startup._OTHER_BUILD)


def test_words_are_looked_for_in_all_that_was_logged(tmp_path):
    (tmp_path / "error.log").write_text(MOD_WSGI)
    assert has_logged(tmp_path, ("is mended", "Failed to exec"))
    assert not has_logged(tmp_path, ("is mended",))
    assert not has_logged(tmp_path, ())


class Writer:
    """A clock on which a server writes the next line of its log whenever somebody sleeps."""

    def __init__(self, log, lines):
        self.log, self.lines, self.now = log, list(lines), 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        if self.lines:
            with self.log.open("a") as file:
                file.write(self.lines.pop(0))


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (PLAIN, "ModuleNotFoundError: No module named 'shop'"),
        (MOD_WSGI, "django.core.exceptions.ImproperlyConfigured: SECRET_KEY is empty"),
        ("(1) failed to start application\n", ""),
    ],
)
def test_a_server_that_lives_on_is_heard_until_it_has_said_why(tmp_path, monkeypatch, log, reason):
    first, *others = log.splitlines(keepends=True)
    (tmp_path / "error.log").write_text(first)
    clock = Writer(tmp_path / "error.log", others)
    for module in (startup, deadline):
        monkeypatch.setattr(module, "time", clock)
    assert awaited_cause(tmp_path) == reason
    assert not clock.lines
    assert clock.now < 600.0
