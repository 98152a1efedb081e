"""Stacks with faults that only a whole launch shows, for real: strangers, watchers, complaints, hidden retries."""

import socket

import pytest
from tests.integration.scripted import COUNTED, WORKLOAD, here_of, launcher_of, servers_of, serving, stack_of

from stackrace.base.verdict import Effect
from stackrace.deploy.installation import missing_item
from stackrace.deploy.shutdown import inspect, stop
from stackrace.deploy.sockets import listeners
from stackrace.measure.launch import Launch
from stackrace.measure.load import Load
from stackrace.report.words import findings as say
from stackrace.stacks.servers import catalogue
from stackrace.validity.observation import Complaint, LaunchView
from stackrace.validity.registry import examine, examine_launch

SCRIPTS = {
    "good": "",
    "watching": "import ctypes; ctypes.CDLL(None).inotify_init1(0)",
    "reloading": "subprocess.Popen(['sleep', '1000'], env=dict(os.environ, RUN_MAIN='true'))",
    "complaining": """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
held = []
try:
    while True:
        held.append(open(os.devnull))
except OSError as error:
    print(error, flush=True)
del held
""",
    "telling": "Handler.log_message = lambda self, *_: print('GET / HTTP/1.1 200, and more of it', flush=True)",
    "counted": COUNTED
    + """
def do_GET(self):
    counting.cell[0] += 1
    answer(self)
Handler.do_GET = do_GET
""",
    "dropping": COUNTED
    + """
def do_GET(self):
    counting.cell[0] += 1
    if counting.cell[0] % 3:
        answer(self)
    else:
        self.close_connection = True
Handler.do_GET = do_GET
""",
}


NGINX = catalogue().entries["nginx"]
SERVERS = servers_of({name: serving(extra) for name, extra in SCRIPTS.items()}, nginx=NGINX)


@pytest.fixture
def launcher(guard):
    return launcher_of(guard, SERVERS)


@pytest.fixture
def here(launcher):
    return here_of(launcher)


def stack(path):
    return stack_of(path, SERVERS)


def ended(here, name, load=None):
    """Launch a stack, load it if told so, retire it; return what was seen of both."""
    one = stack(name)
    assert here.launch(one, 120.0).failure is None
    seen = here.load(one, WORKLOAD, load, 0.0) if load else None
    return seen, here.retire([one]).finish().aftermaths[one.path]


def found(name, after):
    view = LaunchView(stack=stack(name), launch=Launch(id="", block=0, stack=name), aftermath=after)
    return {say.title(finding): finding.effect for finding in examine_launch(view).findings}


def test_a_sound_stack_leaves_nothing(here):
    _, after = ended(here, "good")
    assert (after.strangers, after.reloaders, dict(after.complaints)) == ((), (), {})
    assert (after.listeners_left, after.processes_left) == ((), 0)
    assert after.started_s > 0 < after.disk_free_bytes < after.disk_bytes


def test_another_program_on_the_same_port_is_a_stranger(launcher, guard):
    running = launcher.launch(stack("good"))
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", running.port))
        other.listen()
        leaving = inspect(guard, running, (), listeners())
        stop(guard, [running])
        after = leaving.afterwards(guard, listeners())
    assert after.strangers == (running.port,)
    assert after.listeners_left == ()
    assert found("good", after)["leftover listener"] is Effect.INVALIDATES


def test_a_listener_that_outlives_its_stack_is_known_by_its_socket(launcher, guard):
    running = launcher.launch(stack("good"))
    try:
        after = inspect(guard, running, (), listeners()).afterwards(guard, listeners())
        assert after.listeners_left == (running.port,)
        assert after.processes_left == 1
    finally:
        stop(guard, [running])


@pytest.mark.parametrize(
    ("name", "mark"),
    [("watching", "inotify"), pytest.param("reloading", "RUN_MAIN=true", marks=pytest.mark.exhaustive)],
)
def test_who_watches_files_is_named(here, name, mark):
    _, after = ended(here, name)
    assert mark in after.reloaders[0]
    assert found(name, after)["reloader"] is Effect.WARNS


def test_logs_tell_of_files_that_ran_out(here):
    _, after = ended(here, "complaining")
    assert after.complaints == {Complaint.NO_FILES: 1}
    assert found("complaining", after)["descriptors exhausted"] is Effect.INVALIDATES


def test_a_line_for_every_answer_is_an_access_log(here):
    load = Load(concurrency=2, requests=100)
    told, _ = ended(here, "telling", load)
    silent, _ = ended(here, "good", load)
    assert told.log_bytes >= 100 * 32
    assert silent.log_bytes == 0
    assert "access log" in {say.title(finding) for finding in examine(told).findings}


def test_an_app_that_counts_is_asked_as_often_as_the_client_asked(here):
    seen, _ = ended(here, "counted", Load(concurrency=2, requests=100))
    assert seen.result.counts.ok == 100
    # the first may be under way already when the count begins, more of them where the machine is busy
    assert abs(seen.served - 100) <= 4 + passed_meanwhile(seen)
    assert "hidden retries" not in {say.title(finding) for finding in examine(seen).findings}


def passed_meanwhile(seen):
    """Return how many requests may have passed between the beginnings of the load and of the app's own count."""
    return 2 * seen.count_offset_s * seen.result.throughput_per_s


@pytest.mark.exhaustive
@pytest.mark.skipif(missing_item(NGINX), reason="nginx is not installed")
def test_retries_that_nginx_keeps_to_itself_show(here):
    for _ in range(10):
        seen, _ = ended(here, "nginx/http/dropping:instances=2", Load(concurrency=2, requests=1000))
        # what was not counted from the beginning proves nothing
        if passed_meanwhile(seen) < 0.05 * seen.result.counts.scheduled:
            break
    assert seen.served > 1.2 * seen.result.counts.scheduled
    hidden = [finding for finding in examine(seen).findings if say.title(finding) == "hidden retries"]
    assert [finding.effect for finding in hidden] == [Effect.INVALIDATES]
