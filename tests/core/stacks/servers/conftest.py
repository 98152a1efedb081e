"""Synthetic sites for every entry of the catalogue, and golden files.

``STACKRACE_UPDATE_GOLDEN=1 pytest tests/core/stacks/servers`` rewrites the golden files; review them with git diff.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from stackrace.stacks.servers import Endpoint, Hosted, PythonRuntime, Recipe, RubyRuntime, Site, catalogue
from stackrace.stacks.setting import Interface, Protocol, SettingValue, Socket
from stackrace.stacks.stack import BEHIND_ANOTHER

GOLDEN = Path(__file__).with_name("golden")
SYNTHETIC = Path("/srv/site")
PROJECT = Path("/srv/project")
PYTHON_HOME = Path("/srv/environment")


def hosted(interface: Interface) -> Hosted:
    """An app that need not exist."""
    runtimes = {
        Interface.FILES: None,
        Interface.RACK: RubyRuntime(ruby=Path("/usr/bin/ruby"), config=PROJECT / "config.ru"),
    }
    python = PythonRuntime(
        module="stackrace_entry",
        entry=Path("/srv/entry/stackrace_entry.py"),
        python=PYTHON_HOME / "bin" / "python",
        home=PYTHON_HOME,
        python_path=(PROJECT,),
        site_packages=(PYTHON_HOME / "lib" / "python3.11" / "site-packages",),
    )
    return Hosted(
        interface=interface,
        root=PROJECT,
        runtime=runtimes.get(interface, python),
        static={"/static/": PROJECT / "assets"},
    )


def endpoint(protocol: Protocol, socket: Socket, number: int = 0) -> Endpoint:
    """Where a hop listens."""
    if socket is Socket.UNIX:
        return Endpoint(protocol=protocol, socket=socket, path=Path(f"/srv/next{number}/socket"))
    return Endpoint(protocol=protocol, socket=socket, port=9000 + number)


@pytest.fixture
def make_site() -> Callable[..., Site]:
    """Return a function that makes a site for the entry called ``name``; settings are given by keyword."""

    def make(
        name: str,
        *,
        directory: Path = SYNTHETIC,
        listen: Endpoint | None = None,
        upstream: tuple[Endpoint, ...] = (),
        guest: str = "",
        guest_settings: Mapping[str, SettingValue] | None = None,
        **chosen: SettingValue,
    ) -> Site:
        spec = catalogue().specs[name]
        alone = not upstream and not guest
        interface = next((kind for kind in Interface if alone and kind in spec.hosts), Interface.WSGI)
        defaults = {setting.name: setting.default for setting in (*spec.settings, *BEHIND_ANOTHER)}
        listen = listen or Endpoint(protocol=Protocol.HTTP, socket=Socket.TCP, port=8000)
        inside = None
        if guest:
            outer = make(guest, directory=directory, listen=listen, **(guest_settings or {}))
            inside = catalogue().guest(guest).fragment(outer)
        return Site(
            directory=directory,
            listen=listen,
            settings=defaults | chosen,
            app=hosted(interface),
            upstream=upstream,
            inside=inside,
        )

    return make


@pytest.fixture
def assert_golden() -> Callable[[str, str], None]:
    """Return a function that compares text with the golden file called ``name``."""

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if os.environ.get("STACKRACE_UPDATE_GOLDEN"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), f"{name}: set STACKRACE_UPDATE_GOLDEN=1 if it is right"

    return compare


@pytest.fixture
def assert_checks() -> Callable[[Site, Recipe], None]:
    """Return a function that has the server check what ``recipe`` wrote; skips where it is not installed."""

    def check(site: Site, recipe: Recipe) -> None:
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        if not shutil.which(recipe.check[0], path=path):
            pytest.skip(f"{recipe.check[0]} is not installed")
        for name, text in recipe.files.items():
            file = site.directory / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        done = subprocess.run(recipe.check, env=os.environ | {"PATH": path}, capture_output=True, text=True)
        assert done.returncode == recipe.check_code, done.stdout + done.stderr
        assert "warn" not in done.stderr.lower(), done.stderr

    return check


@pytest.fixture
def next_hop() -> Callable[..., tuple[Endpoint, ...]]:
    """Return a function that gives the endpoints of ``instances`` copies of a next hop."""

    def hops(protocol: str, socket: Socket = Socket.UNIX, instances: int = 1) -> tuple[Endpoint, ...]:
        return tuple(endpoint(Protocol(protocol), socket, number) for number in range(instances))

    return hops
