"""Connections that are refused, dropped, starved or never served."""

from __future__ import annotations

from tests.core.validity.healthy import healthy, load, result

from .apart import in_namespace
from .fault import Fault, How, fault, recorded
from .racing import told


def _apart(name: str, does: str, *expects: str) -> Fault:
    return fault(name, does, *expects, inject=lambda: in_namespace(name))


FAULTS: tuple[Fault, ...] = (
    told("silent-close", "closes after 20 answers without a word", "reconnects"),
    told("starved", "half of the connections wait", "fairness", seconds=3.0),
    told("hang-some", "every fourth connection hangs", "timeouts", seconds=2.0),
    told("hang-all", "all connections hang after 50 answers", "unfinished requests", "timeouts", timeout_s=10.0),
    told("tiny-backlog", "listen(1) before 64 clients", "listen overflows", "SYN retransmits",
         concurrency=(64,), seconds=2.0),
    told("few-clients", "lets 4 of 16 clients in", "established connections", "listen overflows",
         concurrency=(16,), seconds=2.0),
    told("few-files", "has file descriptors for a few clients only", "descriptors exhausted", "timeouts",
         "established connections", concurrency=(32,), seconds=2.5),
    told("lumpy-connect", "some answers come a second late", "latency lumps",
         seconds=4.0, timeout_s=5.0, how=How.TIMED),
    recorded("close-ignored", "a connection carries two requests although each was to close it", "close ignored",
             seen=healthy(load=load(keep_alive=False), result=result(connections_opened=10_000))),
    _apart("few-ports", "500 connections, 200 ports", "ephemeral ports"),
    _apart("ports-held", "three of four ports in TIME_WAIT before the start", "ports in TIME_WAIT"),
    _apart("ports-exhausted", "no port comes back, each request takes one", "ports exhausted"),
    _apart("short-queue", "somaxconn 16 before 100 clients", "accept queue"),
    _apart("few-descriptors", "256 files for 250 connections", "file descriptors"),
)  # fmt: skip
