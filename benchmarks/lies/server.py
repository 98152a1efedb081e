"""Servers that change while they are measured, or do not do what they could."""

from __future__ import annotations

from tests.core.validity.healthy import stack_of

from stackrace.measure.launch import Launch
from stackrace.validity.observation import Aftermath, LaunchView
from stackrace.validity.registry import examine_launch

from .fault import Fault, Found, How, fault, in_race, in_verdict
from .racing import liar, runs, told


def _serial() -> Found:
    return in_race(runs(liar("serial"), concurrency=(2, 8), seconds=1.0, repeats=2))


def _full() -> Found:
    aftermath = Aftermath(disk_bytes=20 * 2**30, disk_free_bytes=2**30)
    launch = Launch(id="0", block=0, stack="gunicorn")
    return in_verdict(examine_launch(LaunchView(stack=stack_of("gunicorn"), launch=launch, aftermath=aftermath)))


FAULTS: tuple[Fault, ...] = (
    told("slower", "each request takes longer than the one before", "not steady", seconds=7.0, how=How.TIMED),
    told("leak", "keeps 4 KiB of every request", "memory grows", seconds=8.0, how=How.TIMED),
    told("more-processes", "another child twice a second", "memory grows", seconds=8.0, how=How.TIMED),
    told("asks-twice", "asks the app again for every other request", "hidden retries"),
    told("log-flood", "2 kB of log per request", "logs grow", seconds=2.0),
    told("never-ready", "listens and never answers", "never became ready", budget_s=15.0),
    told("dies-at-start", "ends at its start", "did not start"),
    told("dies-under-load", "ends after 500 requests", "died under load"),
    fault("disk-full", "1 GiB of 20 is left for logs", "disk nearly full", inject=_full, how=How.REPLAYED),
    fault("serial", "a lock lets one request in at a time", "unused CPU", inject=_serial, how=How.TIMED),
)
