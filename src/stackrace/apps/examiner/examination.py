"""The order of an examination: the environment, Django's settings, the callable, the golden answers."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any

from . import installation
from .asgi import AsgiCaller
from .asking import Asking
from .django_facts import django_facts, https_headers
from .hosts import choose_host
from .messages import Caller, Order, Report
from .tracebacks import Tracebacks, own_traceback
from .wsgi import WsgiCaller


def examine(order: Order, stage: Callable[[str], None]) -> Report:
    """Return everything found out, as far as it got; a failure of the app is data."""
    report: Report = {
        "python": installation.facts(),
        "ruby": None,
        "django": None,
        "host": "",
        "exchanges": [],
        "failure": "",
    }
    try:
        _enter(order["root"])
        _examine(order, report, stage)
    except BaseException as error:  # an app may well call sys.exit() while it is imported
        report["failure"] = own_traceback(error)
    return report


def _enter(root: str) -> None:
    os.chdir(root)
    sys.path[:] = [root, *(path for path in sys.path if path not in ("", root))]


def _examine(order: Order, report: Report, stage: Callable[[str], None]) -> None:
    report["host"] = order["host"] or choose_host(["*"])
    added: tuple[tuple[str, str], ...] = ()
    if order["settings"]:
        stage("loading its settings")
        os.environ["DJANGO_SETTINGS_MODULE"] = order["settings"]
        facts = report["django"] = django_facts()
        report["host"] = order["host"] or choose_host(facts["allowed_hosts"])
        added = https_headers(facts)
    stage("importing it")
    application = _application(order["source"])
    tracebacks = Tracebacks()
    stage("starting it up")
    caller: Caller = (AsgiCaller if order["interface"] == "asgi" else WsgiCaller)(application, tracebacks)
    asking = Asking(caller, report["host"], added, stage)
    report["exchanges"] = asking.all_of(order["requests"], follow=order["follow"])
    stage("shutting it down")
    caller.close()


def _application(source: str) -> Any:
    """Run the entry module that the servers will load, and return its callable."""
    entry = types.ModuleType("stackrace_entry")
    sys.modules[entry.__name__] = entry
    exec(compile(source, "stackrace_entry.py", "exec"), entry.__dict__)
    return entry.__dict__["application"]
