"""An image without a daemon: a root that mmdebstrap makes, in which the steps of a Dockerfile are taken.

Each ``RUN`` is a shell in the root, as of ``docker build``; commands run in it as of ``docker run``: process 1 of a
namespace, some devices, and Docker's own filter of system calls. It needs root and Debian's archive.
Source: docs.docker.com/reference/dockerfile; mmdebstrap(1); unshare(1); chroot(1).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests import no_namespaces

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CERTIFICATES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
"""Variables with the file of certificates that this machine believes."""
_CONTAINER = """
mount -t tmpfs container /mnt
mkdir /mnt/upper /mnt/work
mount -t overlay -o "lowerdir=$1,upperdir=/mnt/upper,workdir=/mnt/work" container "$1"
touch "$1/.dockerenv"
"""
"""What a container writes goes with it."""
_MOUNTS = """
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=755 devices dev
for each in null zero full random urandom tty; do touch dev/$each; mount --bind /dev/$each dev/$each; done
ln -s /proc/self/fd dev/fd
mkdir dev/shm
mount -t tmpfs -o mode=1777 shm dev/shm
for each in /etc/resolv.conf /etc/hosts; do
  if [ -e "$each" ]; then touch ".$each"; mount --bind "$each" ".$each"; fi
done
"""
_PRINT = "docker() { printf '%s\\0' \"$@\"; }\n"
_TMPFS = "mode=1777,noexec,nosuid,nodev"
"""Options that Docker gives a tmpfs."""
_OPTIONS = ArgumentParser("docker run")
for _name in ("--rm", "--read-only"):
    _OPTIONS.add_argument(_name, action="store_true")
for _names in (("-v", "--volume"), ("-e", "--env"), ("--tmpfs",)):
    _OPTIONS.add_argument(*_names, action="append", default=[])
_OPTIONS.add_argument("--user", default="")
_OPTIONS.add_argument("image")
_OPTIONS.add_argument("arguments", nargs=REMAINDER)


def steps(dockerfile: str) -> Iterator[tuple[str, str]]:
    """Yield each instruction of a Dockerfile with its words; comments are left out, lines are joined."""
    text = re.sub(r"^\s*#.*\n", "", dockerfile, flags=re.MULTILINE).replace("\\\n", " ")
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, words = line.partition(" ")
        yield name, words.strip()


def last_stage(dockerfile: str) -> list[tuple[str, str]]:
    """Return the steps that follow the last FROM, and that one."""
    found = list(steps(dockerfile))
    return found[max(number for number, (name, _) in enumerate(found) if name == "FROM") :]


@dataclass
class Image:
    """What a Dockerfile makes."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "0:0"
    folder: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def run(
        self, *arguments: str, user: str = "", volumes: Mapping[Path, str] | None = None, mounts: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run the image with ``arguments`` as ``docker run`` does; ``volumes`` are folders by their place in it.

        A place may end in ``:ro``. ``mounts`` are further lines for the shell that mounts.
        """
        words = [*self.entrypoint, *(arguments or self.command)]
        start = f"{mounts}exec {shlex.join([sys.executable, no_namespaces.__file__])}"
        return self._enter(words, user or self.user, volumes or {}, _CONTAINER, start)

    def docker_run(self, line: str, folder: Path, volumes: Path, user: int) -> subprocess.CompletedProcess[str]:
        """Run the image as ``user`` of this machine does with a line ``docker run …`` in ``folder``.

        Named volumes are folders in ``volumes``; a new one has what the image has at its place.
        """
        asked = ["sh", "-c", f"{_PRINT}{line}"]
        words = subprocess.check_output(asked, cwd=folder, user=user, group=user, text=True).split("\0")
        said = _OPTIONS.parse_args(words[1:-1])
        given = {}
        for name, place in (each.split(":", 1) for each in said.volume):
            if not name.startswith("/") and not (volumes / name).exists():
                subprocess.check_call(["cp", "-a", self._place(place.partition(":")[0]), volumes / name])
            given[volumes / name] = place
        mounts = [f"mount -t tmpfs -o {_TMPFS} tmpfs {shlex.quote(f'.{each}')}\n" for each in said.tmpfs]
        mounts += ['mount -o remount,bind,ro "$1"\n'] if said.read_only else []
        container = replace(self, environment=self.environment | dict(each.split("=", 1) for each in said.env))
        return container.run(*said.arguments, user=said.user, volumes=given, mounts="".join(mounts))

    def _enter(
        self, words: list[str], user: str, volumes: Mapping[Path, str], layer: str = "", start: str = "exec"
    ) -> subprocess.CompletedProcess[str]:
        variables = {"HOME": "/root" if user.startswith(("0", "root")) else "/"} | self.environment
        volumes = dict(volumes)
        for name in _CERTIFICATES:
            if given := os.environ.get(name):
                volumes[Path(given)] = "/run/certificates.pem"
                variables[name] = "/run/certificates.pem"
        mounts = ["set -e", layer, _MOUNTS]
        for source, (place, _, mode) in ((source, place.partition(":")) for source, place in volumes.items()):
            make = "mkdir -p" if source.is_dir() else "touch"
            quoted = shlex.quote(str(source)), shlex.quote(f".{place}")
            mounts.append(f"{make} {quoted[1]}; mount --bind {quoted[0]} {quoted[1]}\n")
            mounts.append(f"mount -o remount,bind,ro {quoted[1]}\n" if mode == "ro" else "")
        chroot = ["chroot", f"--userspec={user}", "--groups=", str(self.root)]
        inside = ["env", "-i", f"--chdir={self.folder}", *(f"{name}={value}" for name, value in variables.items())]
        script = f"{''.join(mounts)}{start} {shlex.join([*chroot, *inside, *words])}\n"
        apart = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child"]
        command = [*apart, "sh", "-c", script, "image", str(self.root)]
        return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def take(self, name: str, words: str, stages: Mapping[str, Image]) -> None:
        """Take one step; ``stages`` are other stages and images, by name."""
        match name:
            case "FROM" if words in stages:
                subprocess.check_call(["cp", "-a", stages[words].root, self.root])
                self.__dict__ |= vars(stages[words]) | {"root": self.root}
            case "FROM":
                _debian(self.root, re.fullmatch(r"debian:(\w+)-slim", words)[1])
                self.environment = {"PATH": _PATH}
            case "RUN":
                done = self._enter(["sh", "-c", words], self.user, {})
                assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
            case "COPY":
                stage, source, target = re.fullmatch(r"--from=(\S+) (\S+) (\S+)", words).groups()
                self._place(target).mkdir(parents=True, exist_ok=True)
                copy = [
                    "cp",
                    "-a",
                    "--remove-destination",
                    f"{stages[stage]._place(source)}/.",
                    self._place(target),
                ]
                subprocess.check_call(copy)
            case "ENV":
                self.environment = self.environment | dict(word.split("=", 1) for word in shlex.split(words))
            case "USER":
                self.user = words
            case "WORKDIR":
                self.folder = words
                self._place(words).mkdir(parents=True, exist_ok=True)
            case "VOLUME":
                assert self._place(words).is_dir()
            case "ENTRYPOINT":
                self.entrypoint = json.loads(words)
            case "CMD":
                self.command = json.loads(words)
            case _:
                raise AssertionError(f"{name} is not known here")

    def _place(self, path: str) -> Path:
        return self.root / path.lstrip("/")


def built(dockerfile: str, root: Path, stages: Mapping[str, Image]) -> Image:
    """Build the last stage of ``dockerfile`` in the new folder ``root``; skips the test where that cannot be."""
    if os.geteuid() or not shutil.which("mmdebstrap"):
        pytest.skip("an image needs root's rights and mmdebstrap")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    image = Image(root)
    for name, words in last_stage(dockerfile):
        image.take(name, words, stages)
    return image


def _debian(root: Path, release: str) -> None:
    """Make a small Debian as its image is: without manuals, and without the archives of its packages."""
    dump = subprocess.check_output(["apt-config", "dump", "--no-empty"], text=True)
    ways = [line for line in dump.splitlines() if line.startswith("Acquire::")]
    options = [*ways, 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; };']
    left_out = [f"path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
    command = [
        "mmdebstrap",
        "--quiet",
        "--mode=root",
        "--variant=minbase",
        *(f"--aptopt={each}" for each in options),
    ]
    command += [f"--dpkgopt={each}" for each in left_out]
    done = subprocess.run([*command, release, root], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
