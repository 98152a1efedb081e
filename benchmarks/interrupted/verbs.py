"""The verbs as they are run here, and what each may leave."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One verb with its arguments; ``{port}`` and the like stand for what is known later."""

    words: str
    endless_s: float = 0.0
    """Until when it is ended at random; 0 for one that ends itself, which is measured once."""
    codes: tuple[int, ...] = (0,)
    """Exit codes when nobody ends it."""
    ended: tuple[int, ...] = (130,)
    """Exit codes of one that was ended."""
    makes: str = ""
    """The file that it writes in its folder."""
    races: bool = False
    """Whether it needs races in the store."""
    couch: bool = False
    """Whether it needs a CouchDB."""
    installs: bool = False
    """Whether it has an empty cache of environments each time."""


_APP = f"--wsgi tiny:app --python {sys.executable}"
_RUN = f"run {_APP} --stack waitress --stack cheroot -c 5 --no-twin"

VERBS = {
    "run": Verb(words=f"{_RUN} --repeats 1 --requests 100 --html report.html", codes=(0, 3),
                makes="report.html"),
    "resume": Verb(words="run --resume {unfinished} --html report.html", codes=(0, 3),
                   makes="report.html", races=True),
    "up": Verb(words=f"up waitress {_APP}", endless_s=5.0, ended=(0, 130)),
    "load": Verb(words="load http://127.0.0.1:{port}/ -c 5 -d 1s", ended=(0, 130)),
    "load-stack": Verb(words="load race.toml --stack waitress -c 5 -d 2s", ended=(0, 130)),
    "capacity": Verb(words="capacity http://127.0.0.1:{port}/ --p99 50ms", endless_s=20.0, codes=(0, 1, 3)),
    "doctor": Verb(words="doctor", codes=(0, 1)),
    "compare": Verb(words="compare before.json after.json", codes=(0, 1)),
    "report": Verb(words="report", races=True),
    "report-html": Verb(words="report --html report.html", makes="report.html", races=True),
    "report-list": Verb(words="report --list"),
    "stacks": Verb(words="stacks"),
    "web": Verb(words="web --port {free}", endless_s=3.0, ended=(0, 130), races=True),
    "install-dry": Verb(words="install --all --dry-run"),
    "install": Verb(words="install race.toml", installs=True),
    "publish": Verb(words="publish {finished} http://{couch}/races{free} --create", races=True, couch=True),
    "fetch": Verb(words="fetch http://{couch}/races --store sqlite:///fetched.sqlite3", races=True, couch=True,
                  makes="fetched.sqlite3"),
    "history": Verb(words="history", races=True),
    "name": Verb(words="name {finished} before-the-upgrade", races=True),
    "init": Verb(words=f"init {_APP} --output made.toml", makes="made.toml"),
    "completion": Verb(words="completion bash"),
}  # fmt: skip
"""Name → verb."""
