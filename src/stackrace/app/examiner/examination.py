"""The order of an examination: the environment, Django's settings, the callable, the golden answers."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import time
import types
from importlib.metadata import distributions
from typing import Any

from .asking import Asking
from .callers import AsgiCaller, Tracebacks, WsgiCaller, own_traceback
from .crawl import crawl
from .django_facts import choose_host, django_facts, https_headers, load_settings, routes_web_sockets
from .messages import Caller, Channel, Order, PythonReport, Report
from .survey import object_report, survey
from .writing import Connecting, Writing


def examine(order: Order, channel: Channel) -> Report:
    """Return everything found out, as far as it got; a failure of the app is data."""
    report: Report = {
        "python": _python_facts(),
        "django": None,
        "object": None,
        "lifespan": False,
        "survey": None,
        "host": "",
        "loading": None,
        "exchanges": [],
        "written": [],
        "imported": [],
        "connected": [],
        "pool": None,
        "failure": "",
    }
    try:
        _enter(order["root"])
        _examine(order, report, channel)
    except BaseException as error:  # an app may well call sys.exit() while it is imported
        report["failure"] = own_traceback(error)
    return report


def _enter(root: str) -> None:
    os.chdir(root)
    sys.path[:] = [root, *(path for path in sys.path if path not in ("", root))]


def _examine(order: Order, report: Report, channel: Channel) -> None:
    stage = channel.stage
    begun_s = time.monotonic()
    writing, connecting = Writing(), Connecting()
    writing.watch()
    connecting.watch()

    def note_loading() -> None:
        report["loading"] = {"wall_s": time.monotonic() - begun_s, "cpu_s": time.process_time()}

    report["host"] = order["host"] or choose_host(["*"])
    added: tuple[tuple[str, str], ...] = ()
    if order["settings"]:
        stage("loading its settings")
        os.environ["DJANGO_SETTINGS_MODULE"] = order["settings"]
        load_settings()
        stage("loading its apps and models")
        facts = report["django"] = django_facts()
        report["host"] = order["host"] or choose_host(facts["allowed_hosts"])
        added = https_headers(facts)
    stage("importing it")
    application = _application(order["source"])
    if not order["settings"] and (order["requests"] or order["crawl"]):
        found = object_report(application)
        if found["interface"] not in (order["interface"], ""):
            report["object"] = found
            return
    if order["survey"]:
        stage("listing its pages")
        report["survey"] = survey(application, bool(order["settings"]))
    tracebacks = Tracebacks()
    stage("starting it up")
    caller: Caller
    if order["interface"] == "asgi":
        caller = asgi = AsgiCaller(application, tracebacks, order["most_body_bytes"], order["lifespan"])
        report["lifespan"] = asgi.has_lifespan
    else:
        caller = WsgiCaller(application, tracebacks, order["most_body_bytes"])
    wanted = order["crawl"]
    is_brief = wanted is not None or not order["lifespan"]
    asking = Asking(caller, report["host"], added, stage, order["in_doubt"], briefly=is_brief)
    if wanted is not None:
        crawl(wanted, asking, application, report, channel)
    else:
        report["exchanges"] = asking.all_of(order["requests"], follow=order["follow"], after_first=note_loading)
        if report["django"] is not None and not order["in_doubt"]:
            report["django"]["web_sockets"] = routes_web_sockets()
    report["written"], report["imported"] = writing.files(), _imported()
    report["connected"] = connecting.places()
    report["pool"] = caller.pool()
    stage("shutting it down")
    caller.close()


def _imported() -> list[str]:
    """Return the files of modules that are no part of the interpreter's environment."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    environment = tuple({os.path.join(folder, "") for folder in (sys.prefix, sys.base_prefix)})  # noqa: PTH118
    return [file for file in files if isinstance(file, str) and not file.startswith(environment)]


def _application(source: str) -> Any:
    """Run the entry module that the servers will load, and return its callable."""
    entry = types.ModuleType("stackrace_entry")
    sys.modules[entry.__name__] = entry
    exec(compile(source, "stackrace_entry.py", "exec"), entry.__dict__)
    return entry.__dict__["application"]


def _python_facts() -> PythonReport:
    """Return version, executable, the folders of packages, and the distributions in them."""
    return {
        "version": ".".join(str(part) for part in sys.version_info[:3]),
        "base": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
        "site_packages": _site_packages(),
        "distributions": _distributions(),
    }


def _site_packages() -> list[str]:
    """Return the folders of packages that are really on the path, in the path's order."""
    paths = sysconfig.get_paths()
    candidates = [paths["purelib"], paths["platlib"], *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        candidates.append(site.getusersitepackages())
    known = {os.path.realpath(path) for path in candidates}
    on_path = (path for path in sys.path if os.path.isdir(path) and os.path.realpath(path) in known)  # noqa: PTH112
    return list(dict.fromkeys(on_path))


def _distributions() -> dict[str, str]:
    """Return name → version; of a distribution found twice the first counts, as it does for imports."""
    versions: dict[str, str] = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name:
            versions.setdefault(name, distribution.version)
    return versions
