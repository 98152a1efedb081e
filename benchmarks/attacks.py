"""Attacks on Stackrace: what is made, the command that meets it, and what must come of it. See ``hostile``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from .trials import (
    BUDGET,
    CHECK,
    INIT,
    LINKED,
    RACE,
    RUN,
    TOKEN,
    WSGI,
    Trial,
    deep,
    hanging,
    included,
    kernel_log,
    page,
    partial,
    pipe,
    repository,
    shell,
    silent,
    submodule,
    top,
    variables,
    writer,
)

SOON_S = 20.0
"""Bad input gets its error within five seconds where nothing else runs; two attacks run at once here."""
RACE_S = 240.0
"""No race of an attack takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What is made, what is run over it, and what must come of it."""

    make: Callable[[Trial], list[str]]
    """Makes the project; returns the words of the command."""
    codes: frozenset[int] = frozenset({0, 1, 3})
    hides: str = ""
    """A pattern of what must be said, written, kept or shown nowhere."""
    within_s: float = RACE_S


BAD = frozenset({1, 2, 3, 4})
ANY = frozenset({0, *BAD})
WHATEVER = frozenset(range(256))
WRITING = {
    "init": (INIT, {"codes": frozenset({0})}),
    "run": (RUN, {"codes": frozenset({0, 3})}),
    "load": (["load", "--stack", "waitress", "race.toml", "-n", "50", "--no-ceiling"], {"codes": frozenset({0})}),
    "capacity": (["capacity", "race.toml", "--stack", "waitress", "--p50", "1us", "--no-ceiling"], {}),
    "tune": (["tune", "gunicorn", "--vary", "class", *WSGI, "--python", sys.executable, "-c", "1", *BUDGET], {}),
    "check": (CHECK, {}),
    "install": (["install", "race.toml"], {}),
    "up": (["sh", "-c", 'exec timeout --preserve-status --signal INT 15 "$@" up waitress race.toml'], {}),
    "export": (["export", "race.toml", "waitress", "--to", "../out", "--prove", "--start-only",
                "--listen", "127.0.0.1:{port}"], {}),
}  # fmt: skip
"""Verbs over an app that writes wherever it can, by their names."""
READ = ("uv.toml", "pyproject.toml", "Dockerfile", "compose.yml", "Procfile", ".env", "requirements.txt")
GIT = (".gitignore", ".gitattributes", ".git/info/exclude", ".git/HEAD", ".git/index", ".git/config")
RACE_FILE = '[app]\nwsgi = "app:app"\nprotect = ["{place}"]\n[workload]\nurls = ["/"]\n'
ATTACKS = {
    **{f"writing app: {name}": Attack(make=writer(*words, git=name == "check"), **more)
       for name, (words, more) in WRITING.items()},
    "writing app that spells its path: run": Attack(make=writer(*RUN, whole=True), codes=frozenset({0, 2, 3})),
    "repository's programs: check": Attack(make=repository(top, *CHECK), codes=ANY),
    "repository's programs: run": Attack(make=repository(top, *RUN)),
    "repository's programs: trend": Attack(make=repository(top, "trend"), codes=ANY, within_s=SOON_S),
    "submodule's programs: check": Attack(make=repository(submodule, *CHECK), codes=ANY),
    "partial clone's programs: check": Attack(make=repository(partial, *CHECK), codes=ANY),
    **{f"pipe as {name}: {verb}": Attack(make=repository(pipe(name), *words), codes=ANY,
                                         within_s=90 if verb == "run" else SOON_S)
       for name in GIT for verb, words in (("run", RUN), ("trend", ["trend"]))
       if verb == "run" or name in (".git/HEAD", ".git/config")},
    "pipe included by .git/config: check": Attack(make=repository(included, *CHECK), codes=BAD, within_s=SOON_S),
    **{f"pipe as {name}: init": Attack(make=repository(pipe(name), *INIT), codes=ANY, within_s=SOON_S)
       for name in READ},
    "variable of 300,000 letters: init": Attack(make=page(*INIT, **{"b.env": f"A={'x' * 300_000}"}),
                                                within_s=SOON_S),
    "error of 1,000,000 letters: run": Attack(
        make=page(*RUN, source='raise RuntimeError("a." * 500000 + " ://")'), codes=BAD, within_s=60),
    "200,000 variables: init": Attack(make=variables, codes=ANY, within_s=SOON_S),
    "file of procfs: init": Attack(make=kernel_log, within_s=SOON_S),
    **{f"token in a page's path: {words[0]}": Attack(
        make=page(*words, "--wsgi", "app:app", "--env-file", "t.env", source=LINKED,
                  **{"t.env": f"API_TOKEN={TOKEN}\n"}), hides=TOKEN)
       for words in (["init", "--stdout"], ["run", *RACE, *BUDGET, "--details"])},
    **{f"cluster that is {kind}": Attack(make=silent(kind), codes=BAD, within_s=SOON_S)
       for kind in ("silent", "junk", "endless", "closing")},
    "nginx -v that never ends": Attack(make=hanging, within_s=SOON_S),
    **{f"protect = {place}": Attack(
        make=page("run", "race.toml", *RACE, *BUDGET, **{"race.toml": RACE_FILE.format(place=place)}), codes=ANY)
       for place in ("/", "/proc", "/sys", "/dev")},
    "output that cannot be written": Attack(make=shell('exec "$@" stacks 1</dev/null'), codes=WHATEVER,
                                            within_s=SOON_S),
    "full output": Attack(make=shell('exec "$@" stacks >/dev/full'), codes=WHATEVER, within_s=SOON_S),
    "working folder that is gone": Attack(
        make=shell('cd "$(mktemp -d)"; rmdir "$PWD"; exec "$@" run --budget 20s'), within_s=SOON_S, codes=BAD),
    "TMPDIR=.": Attack(make=shell('TMPDIR=. exec "$@" init --stdout --wsgi app:app --url /'), codes=ANY,
                       within_s=SOON_S),
    "64 descriptors": Attack(make=shell(f'ulimit -n 64; exec "$@" {" ".join(RUN)}'), codes=ANY,
                             hides="lower --concurrency to 1"),
    "1,500 folders deep": Attack(make=deep, codes=ANY),
    "page that sleeps": Attack(
        make=page(*INIT, source='import time\ndef app(e, s):\n    time.sleep(600)\n    yield b""\n'), codes=BAD),
}  # fmt: skip
