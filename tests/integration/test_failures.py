"""Servers that misbehave, for real: each becomes its stack's result, and nothing is left running."""

import os
import re
import signal
import socket
import time
from dataclasses import replace

import pytest
from tests.integration.scripted import (
    HALF_ASLEEP,
    WORKLOAD,
    Scripted,
    here_of,
    launcher_of,
    servers_of,
    serving,
    stack_of,
)

from stackrace.app.examination import Exchange
from stackrace.app.examiner.messages import Reply
from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.shutdown import stop
from stackrace.deploy.sockets import free_port
from stackrace.deploy.wrong_answers import KnownAnswers
from stackrace.measure.launch import FailureKind
from stackrace.measure.load import Load
from stackrace.measure.workload import LARGE_HEAD, Request, Workload
from stackrace.report.words.findings import seen
from stackrace.validity.answers import unexpected_status, wrong_body

SCRIPTS = {
    "good": serving(),
    "half-asleep": HALF_ASLEEP,
    "crashes": "import sys; print('no more cheese', file=sys.stderr); sys.exit(3)",
    "hangs": "import time; time.sleep(1000)",
    "workers-die": """
import os, sys, time
while True:
    if os.fork() == 0:
        time.sleep(0.2)
        import nowhere
    os.wait()
""",
    "workers-die-silently": """
import os, sys, time
while True:
    if os.fork() == 0:
        time.sleep(0.1)
        os._exit(1)
    os.wait()
""",
    "some-workers-die": serving("if os.fork() == 0: sys.exit('busy')\nos.wait()"),
    "asks-git": serving(
        "for _ in range(9): subprocess.run(['sleep', '0.1'])\nimport traceback\n"
        "try: import nowhere\nexcept ImportError: traceback.print_exc()\ntime.sleep(0.2)"
    ),
    "wrong-body": serving(body=b"jello"),
    "wrong-status": serving(status=503),
    "endless": serving(
        "def do_GET(self):\n    self.send_response(200)\n    self.end_headers()\n"
        "    while True: self.wfile.write(b'x' * 65_536)\nHandler.do_GET = do_GET"
    ),
    "large-head": serving(
        "end = Handler.end_headers\n"
        "Handler.end_headers = lambda self: (*(self.send_header('X', 'y') for _ in range(1000)), end(self))"
    ),
}
NOT_GOING = {
    "stubborn": serving("signal.signal(signal.SIGTERM, signal.SIG_IGN)"),
    "littering": serving("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"),
}


CRASHING = """
import os
with open(os.environ["STARTS"], "a+") as starts:
    starts.write("x")
    starts.seek(0)
    if len(starts.read()) <= {times}:
        os.abort()
"""
RARELY = {name: CRASHING.format(times=times) + serving() for name, times in {"once": 1, "again": 2}.items()}


SERVERS = servers_of(
    SCRIPTS,
    **{name: Scripted(name, script, stop_timeout_s=1.0) for name, script in NOT_GOING.items()},
    **{name: Scripted(name, script, rare_crashes=(signal.SIGABRT,)) for name, script in RARELY.items()},
    often=Scripted("often", RARELY["once"]),
)


@pytest.fixture
def launcher(guard):
    return launcher_of(guard, SERVERS)


def stack(name):
    return stack_of(name, SERVERS)


@pytest.mark.parametrize(
    ("name", "timeout_s", "kind", "words", "last_words"),
    [
        ("crashes", 60, FailureKind.NOT_STARTED, "exit code 3", "no more cheese"),
        ("hangs", 1, FailureKind.NOT_READY, "does not listen", ""),
        (
            "workers-die",
            60,
            FailureKind.NOT_STARTED,
            "the workers of workers-die end at start",
            "No module named 'nowhere'",
        ),
        ("workers-die-silently", 60, FailureKind.NOT_STARTED, "the workers of workers-die-silently end", ""),
        ("wrong-body", 60, FailureKind.WRONG_ANSWER, "differs from the app's own", ""),
        ("wrong-status", 60, FailureKind.WRONG_ANSWER, "status 503", ""),
        ("endless", 60, FailureKind.WRONG_ANSWER, "an answer that does not end", ""),
        ("large-head", 60, FailureKind.WRONG_ANSWER, f"an answer that {LARGE_HEAD}", ""),
    ],
)
@pytest.mark.usefixtures("soon_blamed")
def test_a_stack_that_does_not_come_up_says_why_and_leaves_nothing(
    launcher, guard, name, timeout_s, kind, words, last_words
):
    with pytest.raises(LaunchFailed) as failed:
        launcher.launch(stack(name), timeout_s=timeout_s)
    assert failed.value.failure.kind is kind
    assert words in failed.value.failure.message
    assert last_words in failed.value.failure.log
    assert list(guard.directory.glob("l*")) == []


def test_what_is_installed_before_a_start_is_not_part_of_it(launcher, guard):
    installed = []

    def install(stack):
        hosted = launcher.host_for(stack)
        time.sleep(0.5)
        installed.append(time.monotonic())
        return hosted

    servers = servers_of({"ready": serving()})
    running = replace(launcher, catalogue=servers, host_for=install).launch(stack_of("ready", servers))
    assert running.started_s >= installed[0]
    assert stop(guard, [running]) == {}


def test_a_start_that_a_known_fault_of_the_server_ends_is_made_again(launcher, guard, tmp_path):
    starts = tmp_path / "starts"
    patient = replace(launcher, environment={**launcher.environment, "STARTS": str(starts)})
    assert stop(guard, [patient.launch(stack("once"))]) == {}
    assert starts.read_text() == "xx"


@pytest.mark.parametrize(("name", "times"), [("again", 2), ("often", 1)])
def test_no_start_is_made_a_third_time_nor_again_for_an_unknown_fault(launcher, guard, tmp_path, name, times):
    starts = tmp_path / "starts"
    patient = replace(launcher, environment={**launcher.environment, "STARTS": str(starts)})
    with pytest.raises(LaunchFailed, match="SIGABRT at start"):
        patient.launch(stack(name))
    assert starts.read_text() == "x" * times
    assert list(guard.directory.glob("l*")) == []


@pytest.fixture
def stranger(launcher, guard):
    """The port of somebody who answers all that a stack is asked, and rightly."""
    running = launcher.launch(stack("good"))
    yield running.port
    assert stop(guard, [running]) == {}


def test_who_listens_at_a_stacks_port_already_is_not_taken_for_it(launcher, guard, stranger):
    with pytest.raises(LaunchFailed, match="another program does"):
        launcher.launch(stack("good"), port=stranger)
    assert len(list(guard.directory.glob("l*"))) == 1


def test_a_port_that_another_took_meanwhile_is_replaced(launcher, guard, stranger, monkeypatch):
    given = iter([stranger, free_port()])
    monkeypatch.setattr("stackrace.deploy.launcher.free_port", lambda: next(given))
    running = launcher.launch(stack("good"))
    assert running.port != stranger
    assert stop(guard, [running]) == {}


def test_a_port_that_another_has_and_does_not_listen_on_is_replaced(launcher, guard, monkeypatch):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        held = holder.getsockname()[1]
        given = iter([held, free_port()])
        monkeypatch.setattr("stackrace.deploy.launcher.free_port", lambda: next(given))
        running = launcher.launch(stack("good"))
        assert running.port != held
        assert stop(guard, [running]) == {}


@pytest.mark.parametrize("name", ["asks-git", "some-workers-die"])
def test_programs_that_an_app_asks_at_start_and_single_workers_may_end(launcher, guard, name):
    assert stop(guard, [launcher.launch(stack(name))]) == {}


def test_a_server_that_dies_later_is_noticed_and_its_log_says_why(launcher, guard):
    running = launcher.launch(stack("good"))
    assert launcher.failure_of(running) is None
    ((part, pid),) = running.parts
    with (part.site.directory / "output.log").open("a") as log:
        log.write("Traceback (most recent call last):\nMemoryError: no more cheese\n[7] [INFO] Shutting down\n")
    os.kill(pid, signal.SIGKILL)
    while launcher.failure_of(running) is None:
        pass
    failure = launcher.failure_of(running)
    assert failure.kind is FailureKind.DIED
    assert failure.message == "good was ended by SIGKILL: MemoryError: no more cheese"
    assert "Shutting down" in failure.log
    assert stop(guard, [running]) == {}


@pytest.mark.parametrize(("name", "words"), [("stubborn", "did not end"), ("littering", "left processes behind")])
def test_a_server_that_does_not_go_is_killed_and_named(launcher, guard, name, words):
    running = launcher.launch(stack(name))
    complaints = stop(guard, [running])
    assert complaints[name].kind is FailureKind.NOT_STOPPED
    assert words in complaints[name].message
    ((_, pid),) = running.parts
    assert guard.status([pid])[pid].alive == ()
    assert not running.directory.exists()


LIMIT_S = 5.0
"""Enough for five answers on any machine."""


def test_a_run_against_a_server_that_hangs_is_cut_off_and_accounts_for_every_request(launcher):
    here = here_of(launcher)
    asleep = stack("half-asleep")
    assert here.launch(asleep, 120.0).failure is None
    load = Load(concurrency=2, requests=1000, timeout_s=900.0)
    begun_s = time.monotonic()
    result = here.load(asleep, WORKLOAD, load, 0.0, LIMIT_S).result
    assert time.monotonic() - begun_s >= LIMIT_S
    counts = result.counts
    assert (counts.ok, counts.errors, counts.in_flight) == (5, 0, 2)
    assert counts.scheduled == counts.ok + counts.in_flight + counts.unsent == 1000
    assert here.retire([asleep]).finish().complaints == {}


def test_several_stacks_run_and_stop_side_by_side(launcher, guard):
    up = [launcher.launch(stack("good")), launcher.launch(stack("good"))]
    assert up[0].port != up[1].port
    assert stop(guard, up) == {}


@pytest.mark.usefixtures("soon_blamed")
def test_the_app_itself_is_asked_again_before_a_stack_is_blamed(guard):
    """A stack says what the app itself says by now: it races on, held to the length that still repeats."""
    asked = []

    def app(requests):
        asked.extend(requests)
        said = [Reply(status=200, headers=(), body=body) for body in (b"hello", b"jello")]
        return [Exchange(request=request, first=said[0], second=said[1]) for request in requests]

    launcher = launcher_of(guard, SERVERS, known=KnownAnswers(app))
    here = here_of(launcher)
    changed = stack("wrong-body")
    assert here.launch(changed, 60.0).failure is None
    observation = here.load(changed, WORKLOAD, Load(concurrency=1, requests=20), 0.0)
    assert (observation.result.counts.ok, observation.changing) == (20, ("GET /",))
    assert len(asked) == 1
    here.retire([changed]).finish()


CHANGING = """
turn = __import__("itertools").count()
def changed(self):
    self.send_response(200)
    self.send_header("Content-Length", "5")
    self.end_headers()
    self.wfile.write(b"jello" if next(turn) > 9 else b"hello")
Handler.do_GET = changed
"""


def test_a_page_that_changes_under_load_is_asked_for_again(guard):
    def app(requests):
        said = Reply(status=200, headers=(), body=b"jello")
        return [Exchange(request=request, first=said, second=said) for request in requests]

    servers = servers_of({"changing": serving(CHANGING)})
    here = here_of(launcher_of(guard, servers, known=KnownAnswers(app)))
    changing = stack_of("changing", servers)
    assert here.launch(changing, 60.0).failure is None
    load = Load(concurrency=1, requests=20)
    first, second = (here.load(changing, WORKLOAD, load, 0.0) for _ in range(2))
    assert first.result.counts.failed["body"] == first.wrongly_accused > 0
    assert second.result.counts.ok == 20
    here.retire([changing]).finish()


WRONG_UNDER_LOAD = """
import threading
under_way, lock = set(), threading.Lock()
PAGES = {"/a": b"page a", "/b": b"page b, which is longer"}
def mixed_up(self):
    with lock:
        under_way.add(self)
    time.sleep(0.01)
    others = [other.path for other in list(under_way) if other.path != self.path]
    with lock:
        under_way.discard(self)
    self.send_response(503 if BUSY and others else 200)
    body = PAGES[others[0] if others and not BUSY else self.path]
    self.send_header("Content-Length", str(len(body)))
    self.end_headers()
    self.wfile.write(body)
Handler.do_GET = mixed_up
"""


@pytest.mark.parametrize(
    ("busy", "check", "cause"),
    [(False, wrong_body, "it got the answer to GET /"), (True, unexpected_status, "status 503 where")],
)
def test_answers_that_are_wrong_only_under_load_are_named(guard, busy, check, cause):
    servers = servers_of({"mixing": serving(f"BUSY = {busy}\n{WRONG_UNDER_LOAD}")})
    pages = [("/a", b"page a"), ("/b", b"page b, which is longer")]
    workload = Workload(
        requests=tuple(Request(path=path) for path, _ in pages),
        answers=tuple(replace(WORKLOAD.answers[0], body=body) for _, body in pages),
    )
    here = here_of(launcher_of(guard, servers, workloads_for=lambda stack: (workload,)))
    mixing = stack_of("mixing", servers)
    assert here.launch(mixing, 60.0).failure is None
    observation = here.load(mixing, workload, Load(concurrency=4, requests=40), 0.0)
    here.retire([mixing]).finish()
    wrong = [target for target in observation.result.targets if target.counts.errors]
    *pages, since = observation.wrongs
    assert {page.split(" (")[0] for page in pages} == {
        f"{target.name} {target.counts.errors} of {target.counts.scheduled}" for target in wrong
    }
    assert all(cause in page for page in pages)
    assert (observation.wrong_status, observation.wrong_server[:8]) == ((503, "BaseHTTP") if busy else (0, ""))
    assert re.fullmatch(r"the first error after [0-9.]+ s", since)
    assert "; ".join(observation.wrongs) in seen(check(observation))


ONCE = """
turn = __import__("itertools").count()
answer = Handler.do_GET
def once(self):
    if next(turn) == 9:
        self.send_error(500)
    else:
        answer(self)
Handler.do_GET = once
"""


def test_an_error_that_does_not_come_again_is_said_to(guard):
    servers = servers_of({"failing": serving(ONCE)})
    here = here_of(launcher_of(guard, servers))
    failing = stack_of("failing", servers)
    assert here.launch(failing, 60.0).failure is None
    observation = here.load(failing, WORKLOAD, Load(concurrency=2, requests=40), 0.0)
    here.retire([failing]).finish()
    assert observation.wrongs[0] == "GET / 1 of 40 (asked again, it answered rightly)"
