"""Apps for the published comparisons only: the rungs of the 2009 cost ladder, and a Rails app."""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...app.app import Entry, EntryKind
from ...app.bundle import Bundled
from ...base.errors import MissingItem
from ...base.platforms import SystemPackages, this_platform
from ...base.process import ask

_BUNDLED = Path(__file__).with_name("bundled")


_Needs = Mapping[tuple[str, str], str]
"""Programs, files and Ruby gems by kind and name, with their Debian packages."""


def _python_headers() -> _Needs:
    """Return the headers of Debian's own Python; any other Python includes them."""
    folder = Path(sysconfig.get_path("include"))
    return {("file", str(folder / "Python.h")): "python3-dev"} if folder.parts[1:2] == ("usr",) else {}


_GEMS = {
    "railties": "ruby-railties",
    "activerecord": "ruby-activerecord",
    "actionpack": "ruby-actionpack",
    "actionpack-page_caching": "ruby-actionpack-page-caching",
    "sqlite3": "ruby-sqlite3",
    "mysql2": "ruby-mysql2",
    "dalli": "ruby-dalli",
}

NEEDS: Mapping[str, _Needs] = {
    "ladder": {
        # mysqlclient has no Linux wheels
        ("program", "mariadb_config"): "libmariadb-dev",
        ("program", "pkg-config"): "pkg-config",
        # for compiling packages without wheels
        ("program", "gcc"): "gcc",
        ("file", "/usr/include/stdio.h"): "libc6-dev",
        **_python_headers(),
    },
    "rails": {("program", "ruby"): "ruby", **{("gem", gem): package for gem, package in _GEMS.items()}},
}
"""Requirements for building or running each app."""


def _missing(name: str) -> MissingItem | None:
    """Return the app's missing requirements. Without Ruby every gem is missing."""
    gems = _missing_gems([each for kind, each in NEEDS[name] if kind == "gem"])

    def is_missing(kind: str, each: str) -> bool:
        match kind:
            case "program":
                return shutil.which(each) is None
            case "file":
                return not Path(each).exists()
        return each in gems

    absent = {need: package for need, package in NEEDS[name].items() if is_missing(*need)}
    missing = ", ".join(f"no {kind} {each}" for kind, each in absent)
    packages = SystemPackages(apt=tuple(absent.values()))
    return this_platform().missing_item(name, missing, packages) if absent else None


_MISSING = "puts ARGV.reject { |name| Gem::Specification.find_all_by_name(name).any? }"


def _missing_gems(names: Sequence[str]) -> frozenset[str]:
    ruby = shutil.which("ruby")
    if not names or ruby is None:
        return frozenset(names)
    # only the machine's own gems count
    environment = {name: value for name, value in os.environ.items() if name != "RUBYLIB"}
    command = [str(Path(ruby).absolute()), "--disable=rubyopt", "-e", _MISSING, "--", *names]
    result = ask(command, environment=environment)
    return frozenset(names if result.code else set(names).intersection(result.output.split()))


def ladder(environment: Mapping[str, str]) -> Bundled:
    """Return the app of the cost ladder, with the needs of its rungs; LADDER_RUNGS may select a single one."""
    root = _BUNDLED / "ladder"
    rungs = ("string", "memcached", "mysql-c", "mysqldb", "sqlalchemy", "mix")
    pages = ("/static/hello.txt", *(f"/{rung}/" for rung in rungs))
    whole = Bundled(
        name="ladder",
        root=root,
        entry=Entry(kind=EntryKind.WSGI, target="ladder.wsgi:application"),
        urls=pages,
        pages=pages,
        prepare=(("python", "-m", "ladder.prepare"),),
        static={"/static/": root / "static"},
        services=("mariadb", "memcached"),
        missing_item=partial(_missing, "ladder"),
    )
    if environment.get("LADDER_RUNGS") != "string":
        return whole
    # the rung without a lookup needs no services, drivers or preparation
    return replace(
        whole,
        urls=pages[:2],
        prepare=(),
        services=(),
        missing_item=lambda: None,
        packages="requirements-string.txt",
    )


def rails(environment: Mapping[str, str]) -> Bundled:
    """Return the Rails app."""
    return Bundled(
        name="rails",
        root=_BUNDLED / "rails",
        entry=Entry(kind=EntryKind.RACK, target="config.ru"),
        urls=("/plain/", "/sqlite/1", "/cached/1"),
        pages=("/plain/", "/sqlite/1", "/mysql/1", "/cached/1", "/memcached/1"),
        # Rails' own frames would push the message out of the shown part
        prepare=(("ruby", "--backtrace-limit=8", "prepare.rb"),),
        static={},
        environment={"RAILS_ENV": "production", "RACK_ENV": "production"},
        missing_item=partial(_missing, "rails"),
        public="public",
    )
