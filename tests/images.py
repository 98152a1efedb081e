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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests import no_namespaces

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CERTIFICATES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
"""Variables with the file of certificates that this machine believes."""
_FORBID = "/run/no_namespaces.py"
_MOUNTS = """
set -e
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
        self, *arguments: str, user: str = "", volumes: Mapping[Path, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the image with ``arguments`` as ``docker run`` does; ``volumes`` are folders by their place in it."""
        forbidden = ["/usr/bin/python3", _FORBID]
        words = [*forbidden, *self.entrypoint, *(arguments or self.command)]
        volumes = {**(volumes or {}), Path(no_namespaces.__file__): _FORBID}
        return self._enter(words, user or self.user, volumes)

    def _enter(self, words: list[str], user: str, volumes: Mapping[Path, str]) -> subprocess.CompletedProcess[str]:
        variables, volumes = dict(self.environment), dict(volumes)
        for name in _CERTIFICATES:
            if given := os.environ.get(name):
                volumes[Path(given)] = "/run/certificates.pem"
                variables[name] = "/run/certificates.pem"
        mounts = [_MOUNTS]
        for source, place in volumes.items():
            make = "mkdir -p" if source.is_dir() else "touch"
            quoted = shlex.quote(str(source)), shlex.quote(f".{place}")
            mounts.append(f"{make} {quoted[1]}; mount --bind {quoted[0]} {quoted[1]}\n")
        chroot = ["chroot", f"--userspec={user}", "--groups=", str(self.root)]
        inside = ["env", "-i", f"--chdir={self.folder}", *(f"{name}={value}" for name, value in variables.items())]
        script = f"{''.join(mounts)}cd /\nexec {shlex.join([*chroot, *inside, *words])}\n"
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "image", str(self.root)],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def take(self, name: str, words: str, stages: Mapping[str, Path]) -> None:
        """Take one step; ``stages`` are the files of other stages, by name."""
        match name:
            case "FROM":
                _debian(self.root, re.fullmatch(r"debian:(\w+)-slim", words)[1])
                self.environment["PATH"] = _PATH
            case "RUN":
                done = self._enter(["sh", "-c", words], self.user, {})
                assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
            case "COPY":
                stage, source, target = re.fullmatch(r"--from=(\S+) (\S+) (\S+)", words).groups()
                shutil.copytree(
                    stages[stage] / source.lstrip("/"), self._place(target), dirs_exist_ok=True, symlinks=True
                )
            case "ENV":
                self.environment |= dict(word.split("=", 1) for word in shlex.split(words))
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


def built(dockerfile: str, root: Path, stages: Mapping[str, Path]) -> Image:
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
