"""What is here, what a package brings, what is the user's own to get; Ctrl-C leaves no package half installed."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from dataclasses import replace

import pytest

from stackrace.base.errors import InputError, MissingError, MissingItem
from stackrace.base.platforms import Platform
from stackrace.deploy import installation
from stackrace.deploy.installation import installed_version, missing_item, require
from stackrace.stacks.servers import Catalogue, Needs, Recipe, Server, Site
from stackrace.stacks.setting import Interface, Protocol
from stackrace.stacks.stack import ServerSpec
from stackrace.stacks.stack_path import parse_stack

NOWHERE = "no-such-program-anywhere"


class Packaged(Server):
    """Lacks its program, which a package brings."""

    spec = ServerSpec(
        name="packaged", title="Packaged", listens=frozenset({Protocol.HTTP}), hosts=frozenset({Interface.WSGI})
    )
    needs = Needs(apt=("a-package",), binary=NOWHERE)

    def recipe(self, site: Site) -> Recipe:
        """Never asked for."""
        raise NotImplementedError


class Unpackaged(Packaged):
    """Lacks its program, and Debian has none."""

    needs = Needs(binary=NOWHERE, elsewhere="build it from example.org and put it on PATH")


class Here(Unpackaged):
    """A user's own build that is found."""

    needs = Needs(binary="sh", elsewhere="build it from example.org and put it on PATH")


@pytest.mark.parametrize(
    ("entry", "state", "install", "elsewhere"),
    [
        (Packaged(), "missing", "stackrace install packaged", ""),
        (Unpackaged(), "not installed", "", "build it from example.org and put it on PATH"),
    ],
)
def test_the_state_and_the_remedy(entry, state, install, elsewhere):
    item = missing_item(entry)
    assert (item.state, item.install, item.elsewhere) == (state, install, elsewhere)


def test_a_build_of_the_users_own_lacks_nothing():
    assert missing_item(Here()) is None


@pytest.mark.parametrize("entry", [Packaged(), Unpackaged()])
def test_a_stack_that_needs_it_is_refused(entry):
    catalogue = Catalogue({"packaged": entry})
    stack = parse_stack("packaged", catalogue.specs, frozenset({Interface.WSGI}))
    with pytest.raises(MissingError) as raised:
        require(stack, catalogue)
    assert NOWHERE in raised.value.message
    assert "packaged is not installed" in raised.value.message


class Littering(Packaged):
    """Leaves a file in the temporary folder whenever it is asked for its version."""

    def __init__(self, binary):
        self.needs = Needs(binary=binary, version=("-V",))


def test_asking_for_a_version_leaves_nothing_in_the_temporary_folder(tmp_path, monkeypatch):
    program, kept = tmp_path / "littering", tmp_path / "kept"
    program.write_text('#!/bin/sh\ntouch "$TMPDIR/litter"\necho littering 1.2.3\n')
    program.chmod(0o755)
    kept.mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(kept))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert installed_version(Littering("littering")) == "1.2.3"
    assert list(kept.iterdir()) == []


def test_a_race_asks_the_program_and_a_list_the_package(tmp_path, monkeypatch):
    program = tmp_path / "replaced"
    program.write_text("#!/bin/sh\necho replaced 1.2.3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(installation, "_DEBIANS", (str(tmp_path),))
    monkeypatch.setattr(installation, "_debian_versions", lambda *_: {"replaced": "9.9-1"})
    entry = Littering("replaced")
    entry.needs = replace(entry.needs, apt=("replaced",))
    assert (installed_version(entry), installed_version(entry, by_package=True)) == ("1.2.3", "9.9")


APT = """#!/bin/sh
# as apt-get does while dpkg works
trap 'touch {folder}/heard' INT
[ "$1" = update ] && exit
touch {folder}/begun
until [ -e {folder}/go ]; do sleep 0.01; done
touch {folder}/ended
"""


def test_apt_is_told_of_ctrl_c_and_waited_for(tmp_path, monkeypatch):
    program = tmp_path / "apt-get"
    program.write_text(APT.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(installation.os, "geteuid", lambda: 0)

    def interrupt():
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        while not (tmp_path / "heard").exists():
            time.sleep(0.01)
        # longer than subprocess.run is patient
        time.sleep(0.5)
        (tmp_path / "go").touch()

    other = threading.Thread(target=interrupt, daemon=True)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        installation.install_items([MissingItem(name="hello", missing="", packages=("hello",))])
    assert (tmp_path / "ended").exists()
    other.join()


DNF = """#!/bin/sh
echo "$*" >>{folder}/asked
case " $* " in *" gone "*) echo "No match for argument: gone"; exit 1 ;; esac
"""


def test_a_package_that_a_release_lacks_stops_no_other(tmp_path, monkeypatch):
    program = tmp_path / "dnf"
    program.write_text(DNF.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(installation.os, "geteuid", lambda: 0)
    items = [MissingItem(name=name, missing="", packages=(name,)) for name in ("kept", "gone", "other")]
    fedora = Platform(title="Fedora Linux 43", families=("fedora",))
    assert installation.install_items(items, fedora) == {"gone": "No match for argument: gone"}
    asked = [line.rpartition("=False ")[2] for line in (tmp_path / "asked").read_text().splitlines()]
    assert asked == ["gone kept other", "kept", "gone", "other"]
    with pytest.raises(InputError, match=r"^Fedora Linux 43 cannot install gone;") as raised:
        installation.install_items(items[1:2], fedora)
    assert raised.value.detail == "No match for argument: gone"
