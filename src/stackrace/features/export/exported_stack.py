"""A stack as its exported files deploy it: the units' commands as they are, at the paths that they name.

Nothing is rendered here. What systemd would do is done from the units alone: the folders made, the checker run, the
command started with its variables, and ended by its signal.
"""

from __future__ import annotations

import shutil
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...base.errors import LaunchError
from ...deploy.privileges import hand_over
from ...deploy.rendering import Part
from ...deploy.sockets import LOOPBACK
from ...stacks.servers import Endpoint, Hosted, Recipe, Site
from .stage import staged
from .unit_file import FOLDERS, command_words, environment_words, read_unit

__all__ = ["ExportedFiles", "ExportedProcess", "is_free"]

_PORT_WAIT_S = 45.0
"""A unit's port is always the same: a launch waits for the last one's stop, which is given 35 s."""
_POLL_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedProcess:
    """One unit."""

    hop: str
    """The name of its hop in reports, which the original's has too."""
    unit: str
    """Its file's text."""
    listen: Endpoint
    """As the unit's process has it, at the paths of the target."""
    recipe: Recipe
    """The original's, for what no unit says: how its faults look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFiles:
    """An exported folder, and what else is to lie on the machine."""

    folder: Path
    """With the files; a copy of it is used."""
    target: Path
    """Where they belong."""
    mounts: tuple[tuple[Path, Path], ...]
    """The project, the environment and what lies beside them: where they are, and where they belong."""
    processes: tuple[ExportedProcess, ...]
    """The last hop first, as they are started."""
    app: Hosted
    """As the original's host sees it."""
    name: str
    """The folder in /run, /var/log and /var/cache that is theirs."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        """The port of its front."""
        return self.processes[-1].listen.port

    def parts(self, directory: Path) -> tuple[Part, ...]:
        """Lay everything out below ``directory``, ready to be started."""
        self._wait_for_port()
        own = directory / "deploy"
        shutil.copytree(self.folder, own)
        roots = [(directory / "roots" / base.name / self.name, base / self.name) for base in FOLDERS.values()]
        for source, _ in roots:
            _make(source, directory)
        mounts = (*self.mounts, (own, self.target), *roots)
        return tuple(
            self._part(process, number, directory, mounts) for number, process in enumerate(self.processes)
        )

    def _part(
        self, process: ExportedProcess, number: int, directory: Path, mounts: Sequence[tuple[Path, Path]]
    ) -> Part:
        unit = read_unit(process.unit)
        roots = {target: source for source, target in mounts}
        for kind, base in FOLDERS.items():
            for name in (each for line in unit.get(kind, ()) for each in line.split()):
                _make(_outside(base / name, roots), directory)
        place = directory / str(number)
        _make(place, directory)
        # beside its output, where the launcher looks for the last words of what fails
        logs = [
            (place / "logs" / Path(name).name, FOLDERS["LogsDirectory"] / name)
            for line in unit.get("LogsDirectory", ())
            for name in line.split()
        ]
        for source, _ in logs:
            _make(source, directory)
        first = tuple(command_words(line) for line in unit.get("ExecStartPre", ()))
        variables = dict(
            word.partition("=")[::2] for line in unit.get("Environment", ()) for word in environment_words(line)
        )
        listen = process.listen
        if listen.path is not None:
            listen = replace(listen, path=_outside(listen.path, roots))
        else:
            listen = replace(listen, host=LOOPBACK)
        return Part(
            hop=process.hop,
            site=Site(directory=place, listen=listen, settings={}, app=self.app),
            recipe=replace(
                process.recipe,
                command=command_words(unit["ExecStart"][0]),
                files={},
                check=(),
                check_code=0,
                environment=variables,
                stop=signal.Signals[unit["KillSignal"][0]],
                stop_timeout_s=float(unit["TimeoutStopSec"][0]),
            ),
            before=staged((*mounts, *logs), Path(unit["WorkingDirectory"][0])),
            first=first,
        )

    def _wait_for_port(self) -> None:
        """Wait until nobody listens on the front's port any more; LaunchError where somebody else does."""
        until = time.monotonic() + _PORT_WAIT_S
        while not is_free(self.port):
            if time.monotonic() > until:
                raise LaunchError(
                    f"port {self.port}, on which the exported files listen, is taken by another program"
                )
            time.sleep(_POLL_S)


def is_free(port: int) -> bool:
    """Tell whether nobody listens on ``port`` of any address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


def _outside(path: Path, roots: Mapping[Path, Path]) -> Path:
    """Return where this process finds what the exported ones find at ``path``."""
    target = next(target for target in roots if path.is_relative_to(target))
    return roots[target] / path.relative_to(target)


def _make(folder: Path, top: Path) -> None:
    """Make ``folder``, and give all of it below ``top`` to the user that servers run as."""
    missing = [each for each in (folder, *folder.parents) if each.is_relative_to(top) and not each.exists()]
    for each in reversed(missing):
        each.mkdir()
        hand_over(each)
