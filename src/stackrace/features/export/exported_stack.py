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
from dataclasses import dataclass, replace
from pathlib import Path

from ...base.errors import LaunchError
from ...deploy.privileges import hand_over
from ...deploy.rendering import Part
from ...deploy.sockets import LOOPBACK
from ...stacks.servers import Hosted, Site
from .export import Export
from .stage import staged
from .units import FOLDERS, command_words, environment_words

_PORT_WAIT_S = 45.0
"""A unit's port is always the same: a launch waits for the last one's stop, which is given 35 s."""
_POLL_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFiles:
    """An exported folder, and what else is to lie on the machine."""

    folder: Path
    """With the files; a copy of it is used."""
    export: Export
    units: tuple[Mapping[str, Sequence[str]], ...]
    """What the units of its processes say, in their order."""
    mounts: tuple[tuple[Path, Path], ...]
    """The project, the environment and what lies beside them: where they are, and where they belong."""
    app: Hosted
    """As the original's host sees it."""

    @property
    def port(self) -> int:
        """The port of its front."""
        return self.export.target.port

    def parts(self, directory: Path) -> tuple[Part, ...]:
        """Lay everything out below ``directory``, ready to be started."""
        self._wait_for_port()
        own = directory / "deploy"
        shutil.copytree(self.folder, own)
        name, target = self.export.target.name, self.export.target.files
        roots = [(directory / "roots" / base.name / name, base / name) for base in FOLDERS.values()]
        for source, _ in roots:
            _make(source, directory)
        mounts = (*self.mounts, (own, target), *roots)
        return tuple(self._part(number, directory, mounts) for number in range(len(self.units)))

    def _part(self, number: int, directory: Path, mounts: Sequence[tuple[Path, Path]]) -> Part:
        process, unit = self.export.processes[number], self.units[number]
        roots = {target: source for source, target in mounts}
        for kind, base in FOLDERS.items():
            for name in _names(unit, kind):
                _make(_outside(base / name, roots), directory)
        place = directory / str(number)
        _make(place, directory)
        # beside its output, where the launcher looks for the last words of what fails
        logs = [
            (place / "logs" / Path(name).name, FOLDERS["LogsDirectory"] / name)
            for name in _names(unit, "LogsDirectory")
        ]
        for source, _ in logs:
            _make(source, directory)
        first = tuple(command_words(line) for line in unit.get("ExecStartPre", ()))
        variables = dict(
            word.partition("=")[::2] for line in unit.get("Environment", ()) for word in environment_words(line)
        )
        listen, stack = process.site.listen, self.export.stack
        if listen.path is not None:
            listen = replace(listen, path=_outside(listen.path, roots))
        else:
            listen = replace(listen, host=LOOPBACK)
        return Part(
            # the original's has the same name in reports
            hop=stack.process_names[stack.processes.index(process.hops)],
            site=Site(directory=place, listen=listen, settings={}, app=self.app),
            # what no unit says is the original's: how its faults look
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


def _names(unit: Mapping[str, Sequence[str]], kind: str) -> list[str]:
    """Return the folders that a directive of that ``kind`` names."""
    return [name for line in unit.get(kind, ()) for name in line.split()]


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
