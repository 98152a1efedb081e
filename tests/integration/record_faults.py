"""Provokes faults for real and keeps what the checks saw of them, for tests/core/validity/test_recorded.py.

    python -m tests.integration.record_faults [NAME…]

Takes a minute, loads nothing but loopback. ``ports-exhausted`` needs root: it gets a network namespace of its
own with twenty ports. Review what it says with git diff.
"""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace

from tests.core.validity.recording import of_launch, of_observation, write
from tests.integration.scripted import CORES, COUNTED, WORKLOAD, here_of, launcher_of, servers_of, serving, stack_of

from stackrace.deploy.guard import Guard
from stackrace.measure.launch import Launch, Slice
from stackrace.measure.load import Load
from stackrace.measure.resources import Resources
from stackrace.report.words import findings as say
from stackrace.stacks.servers import catalogue
from stackrace.validity.observation import LaunchView, Observation
from stackrace.validity.registry import examine, examine_launch, examine_run

STANDS_FOR = "waitress"
"""The catalogue's entry that a scripted server is kept as."""

SLICES = {
    "access-log": (
        "a server prints a line for every request",
        "Handler.log_message = lambda self, *_: print('GET / HTTP/1.1 200, and more of it', flush=True)",
        Load(concurrency=20, duration_s=2.0),
    ),
    "asked-twice": (
        "an app counts each request twice, as if a front end had asked it twice",
        COUNTED + "def do_GET(self):\n    counting.cell[0] += 2\n    answer(self)\nHandler.do_GET = do_GET\n",
        Load(concurrency=2, duration_s=1.0),
    ),
    "never-asked": (
        "an app counts one request in four, as if a cache answered the others",
        COUNTED
        + "turn = __import__('itertools').count()\n"
        + "def do_GET(self):\n    counting.cell[0] += next(turn) % 4 == 0\n    answer(self)\n"
        + "Handler.do_GET = do_GET\n",
        Load(concurrency=2, duration_s=1.0),
    ),
    "surplus": (
        "a server sends more than its Content-Length says",
        "answer = Handler.do_GET\n"
        "def do_GET(self):\n    answer(self)\n    self.wfile.write(b'and more')\nHandler.do_GET = do_GET\n",
        Load(concurrency=2, duration_s=1.0),
    ),
    "short-backlog": (
        "a server with a queue of two that accepts ten times a second, each request on a connection of its own",
        "Listener.request_queue_size = 2\naccept = Listener.get_request\n"
        "Listener.get_request = lambda self: (time.sleep(0.1), accept(self))[1]\n",
        Load(concurrency=30, keep_alive=False, duration_s=4.0),
    ),
    "slowing": (
        "a server that waits 5 ms per request, and 10 ms after six seconds of twelve",
        "begun = time.monotonic()\nanswer = Handler.do_GET\n"
        "def do_GET(self):\n    time.sleep(0.02 if time.monotonic() - begun > 6 else 0.005)\n    answer(self)\n"
        "Handler.do_GET = do_GET\n",
        Load(concurrency=4, duration_s=12.0),
    ),
    "sound": ("a server without fault", "", Load(concurrency=4, duration_s=1.0)),
}

LAUNCHES = {
    "watcher": ("a server of Python that holds an inotify", "import ctypes; ctypes.CDLL(None).inotify_init1(0)"),
    "leak": (
        "a server that keeps 200 kB of every request",
        "kept = []\nanswer = Handler.do_GET\n"
        "def do_GET(self):\n    kept.append(os.urandom(200_000))\n    time.sleep(0.02)\n    answer(self)\n"
        "Handler.do_GET = do_GET\n",
    ),
    "sound-launch": ("a server without fault", "answer = Handler.do_GET\n"),
}


def place(guard, script):
    """Return this machine as a place for one scripted server, and its stack."""
    servers = servers_of({"scripted": serving(script)})
    return here_of(launcher_of(guard, servers)), stack_of("scripted", servers)


def told(verdict):
    """Return the findings that are not about this machine's weather."""
    from tests.core.validity.test_recorded import WEATHER

    return {say.title(one): one.effect.value for one in verdict.findings if say.title(one) not in WEATHER}


def record_slice(name):
    how, script, load = SLICES[name]
    with Guard() as guard:
        here, stack = place(guard, script)
        assert here.launch(stack, 20.0).failure is None
        seen = here.load(stack, WORKLOAD, load, 0.0)
        here.retire([stack]).finish()
    path = stack_of(STANDS_FOR, catalogue())
    findings = told(examine(replace(seen, stack=path)))
    write(name, how, findings, of_observation(seen, STANDS_FOR))


def record_launch(name):
    how, script = LAUNCHES[name]
    with Guard() as guard:
        here, stack = place(guard, script)
        assert here.launch(stack, 20.0).failure is None
        slices = []
        for index in range(8):
            seen = here.load(stack, WORKLOAD, Load(concurrency=2, duration_s=1.0), 0.0)
            slices.append(Slice(index=index, load=seen.load, result=seen.result, usage=seen.usage))
        retired = here.retire([stack]).finish()
    launch = Launch(id="", block=0, stack=STANDS_FOR, slices=tuple(slices), memory=retired.memory["scripted"])
    path = stack_of(STANDS_FOR, catalogue())
    view = LaunchView(stack=path, launch=launch, aftermath=retired.aftermaths["scripted"])
    findings = told(examine_launch(view))
    write(name, how, findings, of_launch(view))


def record_stopped_generator():
    """An engine that is stopped for a second in four, in a process of its own."""
    load = Load(concurrency=400, rate_per_s=200.0, poisson=True, seed=5, duration_s=4.0)
    seen = _alone(load, stop_after_s=1.5, stopped_s=1.0)
    findings = told(examine_run(seen))
    write(
        "stopped-generator", "the engine's process was stopped for a second in four", findings, of_observation(seen)
    )


def record_ports_exhausted():
    """Forty connections where there are twenty ports: in a network namespace of its own."""
    here = [sys.executable, "-m", "tests.integration.record_faults", "--within"]
    narrow = "ip link set lo up && sysctl -qw net.ipv4.ip_local_port_range='50000 50019' && exec \"$@\""
    subprocess.run(["unshare", "--net", "sh", "-c", narrow, "sh", *here], check=True)


def within():
    seen = _alone(Load(concurrency=40, duration_s=1.0))
    findings = told(examine_run(seen))
    write("ports-exhausted", "forty connections with twenty ports", findings, of_observation(seen))


def _alone(load, stop_after_s=0.0, stopped_s=0.0):
    """Load a server outside of any stack, as `stackrace load` does; return what was seen."""
    import signal

    from stackrace.measure.engine.engine import run
    from stackrace.measure.engine.histogram import slow
    from stackrace.measure.probe import difference, read_machine

    port = 41733
    server = subprocess.Popen([sys.executable, "-c", serving("Listener.request_queue_size = 100"), str(port)])
    try:
        time.sleep(1)
        before = read_machine()
        if stopped_s:
            stopper = f"sleep {stop_after_s}; kill -STOP {os.getpid()}; sleep {stopped_s}; kill -CONT {os.getpid()}"
            threading.Thread(target=subprocess.run, args=(["sh", "-c", stopper],)).start()
        result = run(address=("127.0.0.1", port), workload=WORKLOAD, load=load, cores=CORES[-1:])
        machine = difference(before, read_machine())
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    return Observation(
        stack=None,
        load=load,
        result=result,
        usage=(),
        machine=machine,
        cores=Resources(stack_cores=CORES, generator_cores=CORES[-1:]),
        slow=slow(result.histogram),
    )


OTHERS = {"stopped-generator": record_stopped_generator, "ports-exhausted": record_ports_exhausted}

if __name__ == "__main__":
    for name in sys.argv[1:] or [*SLICES, *LAUNCHES, *OTHERS]:
        if name in SLICES:
            record_slice(name)
        elif name in LAUNCHES:
            record_launch(name)
        elif name == "--within":
            within()
        else:
            OTHERS[name]()
