"""What all tests share: nothing of theirs lands in the user's own folders, and the command is at hand."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from _pytest import runner
from hypothesis import HealthCheck, settings
from tests.tls import Certificate, make_certificate
from tests.warm import Warm

from stackrace.base import secrets
from stackrace.race.preparation import set_up

STACKRACE = Path(sys.executable).with_name("stackrace")
BRIEF = (sys.executable, Path(__file__).with_name("brief.py"))

# no clock decides a property, and no dice whether a run passes; --hypothesis-profile=thorough searches on
settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=300)
settings.register_profile("usual", settings.get_profile("thorough"), derandomize=True, max_examples=40)
settings.load_profile("usual")

# also where the environment says otherwise, as in many images: rewriting all assertions takes ten seconds
sys.dont_write_bytecode = False

# threads that spin for each other on cores that others use take ten times as long as one does alone
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# threads of tests read the environment, and must not find a variable gone that they have just seen
runner._update_current_test_var = lambda *_: None

# what a shell runs in the background ignores Ctrl-C, and so would all that tests start to be interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)


if "PYTEST_XDIST_WORKER" in os.environ:
    # a race with priority raises its whole session, which would also hold whatever the caller's shell runs beside
    os.setsid()

TESTS = Path(__file__).parent
FIRST = ("repository/test_features.py", "features/cluster", "e2e", "integration")
"""Where few tests take long: many short ones fill up the end, when workers would wait for the last long one."""


def pytest_collection_modifyitems(items):
    """Put what takes long first."""
    places = {}
    for item in items:
        path = item.path.relative_to(TESTS).as_posix()
        places[item] = next((number for number, start in enumerate(FIRST) if path.startswith(start)), len(FIRST))
    items.sort(key=places.__getitem__)


@pytest.fixture(scope="session", autouse=True)
def private_folders(tmp_path_factory):
    """Keep results and environments in a folder of the test run; downloads stay in uv's own cache.

    Environments and templates are shared by all workers, who wait for each other's as users' races do.
    """
    root = tmp_path_factory.mktemp("xdg")
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    patch = pytest.MonkeyPatch()
    patch.setenv("UV_CACHE_DIR", os.environ.get("UV_CACHE_DIR") or str(cache / "uv"))
    patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
    patch.setenv("XDG_DATA_HOME", str(root / "data"))
    patch.delenv("STACKRACE_STORE", raising=False)
    # as if `uv run` had not started the tests: uv is the one beside their interpreter
    patch.delenv("UV", raising=False)
    # where it is set, as in many images, every one of some thousand processes would compile what it imports
    patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    # stacks of one test would leave all others nothing for minutes
    patch.setattr(set_up, "can_raise", lambda: False)
    yield root
    while _warm:
        _warm.pop().close()
    patch.undo()


@pytest.fixture(autouse=True)
def nothing_learnt(monkeypatch):
    """Forget what other tests taught this process of secrets."""
    monkeypatch.setattr(secrets, "_known", secrets._Known())


@pytest.fixture(autouse=True)
def interruptible():
    """Take out what Hypothesis calls when garbage is collected: a KeyboardInterrupt that comes there is lost."""
    gc.callbacks[:] = [each for each in gc.callbacks if not each.__module__.startswith("hypothesis")]


_warm: list[Warm] = []
"""The process that runs commands, once there was one."""


def calling(*program):
    """Return a function that runs ``program`` as a user would, and returns the finished process with its text."""

    def call(*arguments, cwd=None, timeout=1800, **environment):
        if not _warm:
            _warm.append(Warm())
        variables, words = os.environ | environment, list(map(str, arguments))
        if _warm[0].fits(variables):
            return _warm[0].run([str(program[-1]), *words], cwd, variables, timeout)
        return subprocess.run(
            [*map(str, program), *words],
            cwd=cwd,
            env=variables,
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )

    return call


@pytest.fixture
def stackrace():
    """Run the command as a user would."""
    return calling(STACKRACE)


@pytest.fixture
def brief():
    """Run the command, its races of slices bounded by their work: see tests/brief.py."""
    return calling(*BRIEF)


@pytest.fixture
def temporary():
    """A folder for temporary files, of the test's own: whatever is left there is left by the test."""
    # short, since the paths of unix sockets are; open to the user that servers run as
    folder = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def new_store(tmp_path_factory) -> Path:
    """The file of a new store, to be copied."""
    # imported here: most of those who load this file need no store
    from stackrace.store import open_store

    path = tmp_path_factory.mktemp("store") / "races.sqlite3"
    open_store(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> Certificate:
    """A self-signed certificate for localhost with its key."""
    return make_certificate(tmp_path_factory.mktemp("tls"))
