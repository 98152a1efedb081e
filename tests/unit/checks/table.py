"""All checks by the numbers of the method: what each is called, when it is made, what it does, and the way out.

The order is the method's. ``docs/checks.md`` is written from this table. What a check looks at, and its source, are
in the docstring of its function, and only there.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

__all__ = ["CHECKS", "NUMBERS", "Check", "Made"]

NUMBERS = range(1, 39)
"""Of the method's checks; those without a number came out of experience since."""


class Made(StrEnum):
    """When a check is made."""

    START = "before the start"
    SLICE = "slice"
    RUN = "slice, run"
    """Also of ``stackrace load``."""
    LAUNCH = "launch"
    RACE = "race"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: the method's ``number`` (0 for none), its findings' name, and the function, as module and name."""

    number: int
    name: str
    function: str
    made: Made
    threshold: str
    effect: str
    remedy: str

    @property
    def made_by(self) -> Callable[..., object]:
        """The function itself."""
        module, _, name = self.function.partition(".")
        found: Callable[..., object] = getattr(import_module(f"stackrace.checks.{module}"), name)
        return found

    @property
    def seen(self) -> str:
        """What it looks at: the first sentence of its function's docstring."""
        return re.sub(r"\s+", " ", self._told.split("\n\n", 1)[0]).strip()

    @property
    def source(self) -> str:
        """Where it comes from; "none needed" where it speaks for itself."""
        return re.sub(r"\s+", " ", self._told.partition("Source:")[2]).strip().rstrip(".")

    @property
    def _told(self) -> str:
        return inspect.getdoc(self.made_by) or ""


def _check(number: int, name: str, function: str, made: Made, threshold: str, effect: str, remedy: str) -> Check:
    return Check(
        number=number,
        name=name,
        function=function,
        made=made,
        threshold=threshold,
        effect=effect,
        remedy=remedy,
    )


_START, _SLICE, _RUN, _LAUNCH, _RACE = Made.START, Made.SLICE, Made.RUN, Made.LAUNCH, Made.RACE
_W, _R, _I = "warns", "redoes", "invalidates"
_WI, _WR = f"{_W}, {_I}", f"{_W}, {_R}"
_REFUSES = "refuses"

_OWN_CORE = "give the engine a core of its own, or more of them"
_SLOWER = "raise the server's backlog and net.core.somaxconn; or fewer connections"
_QUIET = "a machine with dedicated CPUs, a quieter hour"
_MORE_PORTS = "keep connections; a wider net.ipv4.ip_local_port_range, tcp_tw_reuse"
_LOGS = "the server's logs; fewer connections"
_NO_CACHE = "switch off what keeps answers between, or declare it (cache=on)"

CHECKS: tuple[Check, ...] = (
    _check(1, "generator busy", "generator.generator_busy", _RUN, "85 % of a core", _I, _OWN_CORE),
    _check(2, "generator waited", "generator.generator_waited", _RUN, "5 %; 15 % of the time", _WI, _OWN_CORE),
    _check(3, "lag", "open_loop.lag", _RUN, "p99 over max(100 µs, 5 % of p50)", _I, f"{_OWN_CORE}; a lower rate"),
    _check(4, "dead time", "littles_law.dead_time", _RUN, "2 %; 5 %", _WI, f"{_OWN_CORE}; fewer connections"),
    _check(5, "overload", "open_loop.overload", _RUN, "0.5 % of what was offered", _I, "a lower rate"),
    _check(5, "pool limit", "open_loop.pool_limit", _RUN, "none", _W, "more connections"),
    _check(6, "arrivals", "arrivals.arrivals", _RUN, "D over max(0.01, 1.95/√N)", _I, f"{_OWN_CORE}; a lower rate"),
    _check(
        7, "unused CPU", "stack.unused_cpu", _SLICE, "20 % idle", _W, "more workers; look for a lock, a backend"
    ),
    _check(
        8, "engine ceiling", "generator.engine_ceiling", _RUN, "70 %; 90 % of it", _WI, "a heavier page, more cores"
    ),
    _check(9, "shared cores", "cores.shared_cores", _SLICE, "none shared", _W, "a machine with more cores"),
    _check(9, "shared cores", "preflight.shared_cores", _START, "none shared", _W, "a machine with more cores"),
    _check(9, "shared threads", "preflight.shared_threads", _START, "on different cores", _W, "--engine-cores"),
    _check(10, "steal", "machine.steal", _RUN, "1 %; 5 % of the machine", _WR, _QUIET),
    _check(11, "foreign CPU", "machine.foreign_cpu", _SLICE, "3 %; 10 % of the machine", _WR, "end what else runs"),
    _check(11, "pressure", "machine.pressure", _SLICE, "5 %; 15 % of the slice", _WR, "end what else runs"),
    _check(11, "idle stacks busy", "cores.idle_stacks_busy", _SLICE, "2 % of a core", _W, "reloaders, threads"),
    _check(12, "throttled", "machine.throttled", _RUN, "0; 1 % of the time", _WI, "cpusets instead of quotas"),
    _check(13, "machine speed", "speed.machine_speed", _SLICE, "10 %; 25 %", _WR, _QUIET),
    _check(13, "CPU frequency", "speed.cpu_frequency", _SLICE, "5 %; 15 %", _WR, "a fixed frequency"),
    _check(13, "overheated", "speed.overheated", _SLICE, "none", _R, "cooling; a lower fixed frequency"),
    _check(14, "swapping", "machine.swapping", _RUN, "0; 1 MiB", _WI, "fewer workers, more memory"),
    _check(14, "memory budget", "preflight.memory_budget", _START, "room for all", f"{_W}, {_REFUSES}", "--memory"),
    _check(14, "major faults", "machine.major_faults", _SLICE, "10/s", _W, "a longer warm-up, more memory"),
    _check(15, "listen overflows", "network.listen_overflows", _RUN, "0; 0.1 % of connections", _WI, _SLOWER),
    _check(15, "accept queue", "preflight.accept_queue", _START, "somaxconn", _W, "raise net.core.somaxconn"),
    _check(16, "SYN retransmits", "network.syn_retransmits", _RUN, "none", _W, _SLOWER),
    _check(16, "latency lumps", "network.latency_lumps", _RUN, "three at 1, 3 or 7 s", _W, _SLOWER),
    _check(17, "retransmits", "network.retransmits", _RUN, "0.1 % of segments", _W, "fewer workers, more cores"),
    _check(
        18, "ephemeral ports", "preflight.ephemeral_ports", _START, "as many as there are", _REFUSES, _MORE_PORTS
    ),
    _check(18, "ports exhausted", "supplies.ports_exhausted", _RUN, "none", _I, _MORE_PORTS),
    _check(18, "ports exhausted", "leftovers.logs_complain_of_ports", _LAUNCH, "none", _I, "socket=unix"),
    _check(19, "ports in TIME_WAIT", "preflight.time_wait", _START, "50 % of ports", _W, "wait a minute"),
    _check(20, "file descriptors", "preflight.file_descriptors", _START, "2·C + 64", _REFUSES, "ulimit -n"),
    _check(20, "descriptors exhausted", "supplies.descriptors_exhausted", _RUN, "none", _I, "ulimit -n"),
    _check(20, "descriptors exhausted", "leftovers.logs_complain_of_files", _LAUNCH, "none", _I, "ulimit -n"),
    _check(21, "established connections", "connections.established", _RUN, "exactly C", _I, _SLOWER),
    _check(22, "fairness", "connections.fairness", _RUN, "Jain 0.8", _W, "threads for all, asynchronous workers"),
    _check(
        23, "reconnects", "connections.reconnects", _RUN, "0.1 % of answers", _W, "a class that keeps, or --close"
    ),
    _check(24, "close ignored", "connections.close_ignored", _RUN, "1 % of answers", _I, "keep connections"),
    _check(
        25, "unexpected status", "answers.unexpected_status", _SLICE, "0; 0.1 % of answers", _WI, "the app's log"
    ),
    _check(25, "failures", "answers.failures", _SLICE, "0; 1 % of requests", _WI, _LOGS),
    _check(25, "nothing right", "answers.nothing_right", _SLICE, "one right answer", _I, _LOGS),
    _check(
        26, "timeouts", "answers.timeouts", _SLICE, "none", _W, "fewer connections, more workers, longer slices"
    ),
    _check(26, "unfinished requests", "answers.timeouts", _SLICE, "none in p99", _W, "longer slices"),
    _check(27, "wrong body", "answers.wrong_body", _SLICE, "none", _I, "race a page that repeats"),
    _check(28, "answer sizes", "races.answer_sizes", _RACE, "2 % and 256 bytes", _W, "compare them: curl -i"),
    _check(28, "bytes unaccounted", "answers.bytes_unaccounted", _RUN, "0; 0.1 % of bytes", _WI, "curl -v"),
    _check(28, "books unbalanced", "answers.books_unbalanced", _RUN, "none", _I, "report it: the engine's fault"),
    _check(29, "nonces lost", "caches.nonces_lost", _RUN, "none", _I, _NO_CACHE),
    _check(29, "cached answers", "caches.cached_answers", _RUN, "none", _I, _NO_CACHE),
    _check(29, "stale dates", "caches.stale_dates", _RUN, "0; 0.1 % of answers", _WI, _NO_CACHE),
    _check(30, "hidden retries", "retries.hidden_retries", _SLICE, "1 % and 2·C", _I, "no retries in front ends"),
    _check(30, "retries", "retries.retries", _RUN, "0.1 % of requests", _W, "longer keep-alive, or --close"),
    _check(31, "not steady", "steady.not_steady", _RUN, "1 % with p < 0.01", _W, "a longer warm-up"),
    _check(31, "not steady", "growth.launch_not_steady", _LAUNCH, "1 % with p < 0.01", _W, "a longer warm-up"),
    _check(32, "memory grows", "growth.memory_grows", _LAUNCH, "1 % per second of load", _W, "look for a leak"),
    _check(32, "logs grow", "written.logs_grow", _SLICE, "1 MiB/s", _W, "access_log=off; look into the logs"),
    _check(32, "disk nearly full", "preflight.disk_nearly_full", _START, "80 %, under 10 GiB left", _W, "TMPDIR"),
    _check(32, "disk nearly full", "growth.disk_nearly_full", _LAUNCH, "80 %, under 10 GiB left", _W, "TMPDIR"),
    _check(33, "leftover listener", "leftovers.leftover_listener", _LAUNCH, "none", _I, "ss -ltnp, and end it"),
    _check(33, "leftover processes", "leftovers.leftover_processes", _LAUNCH, "killed; living", _WI, "end them"),
    _check(34, "debug mode", "stack.debug_on", _SLICE, "off", _W, "DEBUG = False"),
    _check(34, "other configuration", "configuration.other_configuration", _LAUNCH, "as declared", _W, "its log"),
    _check(34, "access log", "written.access_log", _SLICE, "32 bytes per answer", _W, "the app's LOGGING"),
    _check(34, "reloader", "configuration.reloader", _LAUNCH, "none", _W, "DEBUG, --reload"),
    _check(
        35, "address", "address.address", _START, "one address, no proxy", f"{_W}, {_REFUSES}", "name the address"
    ),
    _check(36, "carry-over", "races.carry_over", _RACE, "p < 0.01", _W, "longer slices, [race] repeats"),
    _check(37, "twins differ", "races.twins_differ", _RACE, "any difference", _I, "race again, in a quieter hour"),
    _check(37, "canary drifts", "races.canary_drifts", _RACE, "10 %", _WI, _QUIET),
    _check(38, "clock stepped", "clocks.clock_stepped", _RUN, "50 ms", _W, "no pauses, migrations, ntpdate"),
    _check(38, "unstable clock", "clocks.unstable_clock", _RUN, "none", _W, "clocksource=tsc"),
)
