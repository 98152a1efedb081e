"""Proof of exported files: they are verified, started unchanged, asked, stopped, and raced against the original."""

from __future__ import annotations

import json
import math
import re
import shutil
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...app.environment import app_environment
from ...base.errors import InputError, LaunchError, RefusedError
from ...base.files import remove_tree
from ...base.verdict import Effect
from ...cli.stdio import StatusLine
from ...deploy.launcher import Launcher
from ...deploy.local_machine import LocalMachine
from ...deploy.machine import Sides
from ...deploy.privileges import hand_over, unprivileged
from ...deploy.rendering import Part
from ...deploy.running_stack import Running, tail
from ...deploy.sockets import LOOPBACK, listeners
from ...measure.engine.visitor import questions
from ...measure.launch import Launch
from ...race.events import BlockEnded, Event, Sink
from ...race.judge.looks import LOOKS
from ...race.preparation.prepared import plan_of
from ...race.preparation.set_up import Deployment
from ...race.request.request import RaceRequest
from ...race.run.runner import run as run_race
from ...report.words.findings import shortfall_words
from ...stacks.servers import PythonRuntime, Site
from ...stacks.stack import Side
from .equivalence import Equivalence, Proof, Reloaded, UntilKnown, equivalence_of
from .export import Export
from .export_files import exported_files, write_files
from .layout import Process
from .reload import reloaded
from .stage import staged
from .systemd_units import FOLDERS, read_unit, words_of

_SYSTEMD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""PATH of a unit's process. Source: systemd.exec(5), Environment Variables Set or Propagated."""
_ANYWHERE = ("0.0.0.0", "127.0.0.1")
_FIRST_FREE_PORT = 1024
_PORT_WAIT_S = 45.0
"""Longest wait for a unit's port, which never changes: the last launch has 35 s to stop."""
_POLL_S = 0.05
_PATIENCE_S = 90.0
_BUDGET_S = 180.0
_HEALTHCHECK = re.compile(r"^HEALTHCHECK [^\n]*\\\n\s*CMD (\[.*\])$", re.MULTILINE)


class _ProofError(LaunchError):
    exit_code = 1


def proven(
    export: Export,
    deployment: Deployment,
    request: RaceRequest,
    *,
    race: bool,
    difference: float | None,
    budget_s: float | None,
) -> Proof:
    """Prove the files of ``export`` while everything is set up, and show the progress.

    With ``race`` they are raced as in ``request``. Raises InputError if nothing can be proven here, LaunchError
    with the log of what went wrong, RefusedError if no block had valid slices of both.
    """
    line = StatusLine()

    def heard(event: Event) -> None:
        if isinstance(event, BlockEnded):
            line.print_line(f"racing them against the original: {event.block} blocks", " …")

    prover = _prover(export, deployment)
    line.print_line("starting the exported files", " …")
    proof = prover.start()
    if race:
        line.print_line("racing them against the original", " …")
        if difference is None:
            difference = request.difference if export.race is None else export.race.difference
        asked = replace(
            request, repeats=None, run_requests=None, run_requests_at={}, run_s=None, twin=False, exhaustive=False,
            difference=difference, budget_s=budget_s or _BUDGET_S,
        )  # fmt: skip
        proof = replace(proof, equivalence=prover.race(asked, heard))
    line.clear()
    return proof


def started(export: Export, deployment: Deployment) -> Running:
    """Start the files of ``export`` as their units say; raises InputError or LaunchError if they do not start."""
    return _prover(export, deployment).launcher().launch(export.stack)


def _prover(export: Export, deployment: Deployment) -> _Prover:
    _refuse_impossible(export)
    folder, files = deployment.guard.directory / "exported", exported_files(export)
    remove_tree(folder)
    folder.mkdir()
    write_files(folder, files)
    # the variables of .env.example and none of this shell's; the place of byte code is not set by the files
    variables = app_environment(deployment.examined.app, {})
    variables.pop("DJANGO_SETTINGS_MODULE", None)
    environment = {**variables, "PATH": _SYSTEMD_PATH}
    units = [read_unit(files[f"systemd/{process.unit}"]) for process in export.processes]
    return _Prover(
        export=export, deployment=deployment, files=files, folder=folder, environment=environment, units=units
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prover:
    """Starter of the exported files, in place of those that a launch would render.

    Nothing is rendered here. The units alone say what systemd would do, at the paths that they name: create the
    folders, run the checker, start the command with its variables, and end it by its signal.
    """

    export: Export
    deployment: Deployment
    """Deployment of the original."""
    files: Mapping[str, str]
    folder: Path
    """Folder with the files; each launch uses a copy."""
    environment: Mapping[str, str]
    """Environment that systemd would give the processes."""
    units: Sequence[Mapping[str, Sequence[str]]]
    """Directives of the processes' units, in their order."""

    def mounts(self, files: Path) -> dict[Path, Path]:
        """Return the paths on the target with their present paths; ``files`` are a copy of the exported ones."""
        export, target = self.export, self.export.target
        runtime = self.deployment.launcher.host_for(export.stack).runtime
        environment = {target.venv: runtime.home} if isinstance(runtime, PythonRuntime) else {}
        app = self.deployment.examined.app.root
        return {target.app: app, **environment, **export.shared_folders, target.files: files}

    def machine(self) -> LocalMachine:
        """Return this machine, where the files run."""
        return replace(self.deployment, launcher=self.launcher()).machine()

    def launcher(self) -> Launcher:
        """Return a launcher that starts the files."""
        return replace(self.deployment.launcher, laid_out=(self.port, self.parts), environment=self.environment)

    @property
    def port(self) -> int:
        """Port of the front."""
        return self.export.target.port

    def parts(self, directory: Path) -> tuple[Part, ...]:
        """Lay everything out below ``directory``, ready to start; LaunchError if the port stays taken."""
        port, until = self.port, time.monotonic() + _PORT_WAIT_S
        while port in listeners():
            if time.monotonic() > until:
                raise LaunchError(f"port {port}, on which the exported files listen, is taken by another program")
            time.sleep(_POLL_S)
        own = directory / "deploy"
        shutil.copytree(self.folder, own)
        name = self.export.target.name
        roots = {base / name: directory / "roots" / base.name / name for base in FOLDERS.values()}
        for source in roots.values():
            _make(source, directory)
        mounts = {**self.mounts(own), **roots}
        pairs = zip(self.export.processes, self.units, strict=True)
        return tuple(self._part(*pair, directory / str(number), mounts) for number, pair in enumerate(pairs))

    def _part(
        self, process: Process, unit: Mapping[str, Sequence[str]], files: Path, mounts: Mapping[Path, Path]
    ) -> Part:
        named = {
            kind: [base / name for line in unit.get(kind, ()) for name in line.split()]
            for kind, base in FOLDERS.items()
        }
        # beside its output, where the launcher looks for the end of logs
        logs = {folder: files / "logs" / folder.name for folder in named["LogsDirectory"]}
        inside = [_host_path(folder, mounts) for folders in named.values() for folder in folders]
        for folder in (*inside, files, *logs.values()):
            _make(folder, files.parent)
        variables = (word for line in unit.get("Environment", ()) for word in words_of(line, dollar="$"))
        listen, stack = process.site.listen, self.export.stack
        if listen.path is not None:
            listen = replace(listen, path=_host_path(listen.path, mounts))
        else:
            listen = replace(listen, host=LOOPBACK)
        return Part(
            # the original's process has the same name in reports
            hop=stack.process_names[stack.processes.index(process.hops)],
            site=Site(directory=files, listen=listen, settings={}, app=self.deployment.launcher.host_for(stack)),
            # values that no unit has are the original's, such as patterns of its faults
            recipe=replace(
                process.recipe,
                command=words_of(unit["ExecStart"][0]),
                files={},
                check=(),
                check_code=0,
                environment=dict(word.partition("=")[::2] for word in variables),
                stop=signal.Signals[unit["KillSignal"][0]],
                stop_timeout_s=float(unit["TimeoutStopSec"][0]),
            ),
            before=staged({**mounts, **logs}, Path(unit["WorkingDirectory"][0])),
            first=tuple(map(words_of, unit.get("ExecStartPre", ()))),
        )

    def start(self) -> Proof:
        """Verify, start, ask and stop the files; raises _ProofError with the log of what went wrong."""
        self._require(
            "the exported files cannot be laid where they belong; a proof needs mount namespaces for that, which "
            "containers mostly forbid: run it on a host",
            ["true"],
            staged(self.mounts(self.folder), Path("/")),
        )
        verified = self._verified()
        machine, stack = self.machine(), self.export.stack
        failure = machine.launch(stack, math.inf).failure
        if failure is not None:
            raise _ProofError(
                f"the exported files do not work, and nothing was written: {failure.message}. They get the "
                "variables of .env.example only: give those that are missing with --env-file or [app] env",
                detail=failure.log,
            )
        running = machine.running(stack)
        try:
            self._health(running)
            reloads = tuple(self._reloads(machine, running))
        finally:
            complaints = machine.retire([stack]).finish().complaints
        for complaint in complaints.values():
            raise _ProofError(f"the exported files do not stop: {complaint.message}", detail=complaint.log)
        if self.port in listeners():
            raise _ProofError(f"port {self.port} is still listened on after the stop")
        return Proof(
            units_verified=verified,
            checkers=tuple(process.name for process in self.export.processes if process.check),
            questions=sum(len(workload.requests) for workload in self.deployment.workloads),
            ready_s=running.ready_s,
            container_healthy=True,
            reloads=reloads,
        )

    def race(self, request: RaceRequest, sink: Sink) -> Equivalence:
        """Race the files against the original; raises RefusedError if no block had valid slices of both."""
        stack = self.export.stack
        plan = plan_of(request, self.deployment)
        sides = (stack.on(Side.ORIGINAL), stack.on(Side.EXPORTED))
        race = replace(plan.race, loads=plan.race.loads[-1:], limits={}, left_out=(), unserved=())
        plan = replace(plan, race=race, most_blocks=LOOKS[-1]).among(sides)
        machine = Sides({Side.ORIGINAL: self.deployment.machine(), Side.EXPORTED: self.machine()})
        race = run_race(plan, machine, sink, scheduling=UntilKnown(stack, race.difference))
        result = equivalence_of(race, stack, race.difference)
        if result.ratio is None:
            raise RefusedError(
                "the exported files were started and answered rightly, but not raced: no block had valid slices of "
                "both sides. `stackrace doctor` finds what disturbs here; --start-only leaves the race out",
                detail="\n".join(dict.fromkeys(_failures(race.launches))),
            )
        return result

    def _require(
        self, why: str, command: Sequence[str], before: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> None:
        """Run ``command`` with the words ``before`` it; raises _ProofError with ``why`` if it fails."""
        result = self.deployment.guard.view.run(
            [*before, *unprivileged(), *command],
            folder=Path("/"),
            environment={**self.environment, **(variables or {})},
            timeout_s=_PATIENCE_S,
        )
        if result.code:
            raise _ProofError(why, detail=result.output)

    def _verified(self) -> int | None:
        """Let systemd verify the units, if it is installed; return their number."""
        program = shutil.which("systemd-analyze")
        if program is None:
            return None
        units = sorted(str(self.export.target.files / name) for name in self.files if name.startswith("systemd/"))
        before = staged(self.mounts(self.folder), Path("/"))
        self._require("systemd-analyze rejects the units", [program, "verify", "--man=no", *units], before)
        return len(units)

    def _health(self, running: Running) -> None:
        checks = {
            "the unit's": map(words_of, self.units[-1].get("ExecStartPost", ())),
            "the container's": map(json.loads, _HEALTHCHECK.findall(self.files["Dockerfile"])),
        }
        before = staged(self.mounts(running.directory / "deploy"), Path("/"))
        for whose, commands in checks.items():
            for command in commands:
                self._require(f"{whose} health check fails although the answers are right", command, before)

    def _reloads(self, machine: LocalMachine, running: Running) -> Iterator[Reloaded]:
        workload = self.deployment.workloads[0]
        asked = questions(workload)
        question = next((pair for pair in asked if pair[0].path == self.export.page.path), asked[0])
        for number, unit in enumerate(self.units):
            part, _ = running.parts[number]
            if not (lines := unit.get("ExecReload", ())):
                continue
            reload = partial(self._reload, part, lines)
            try:
                yield reloaded(machine, running.stack, number, reload, workload.host, question)
            except _ProofError:
                raise
            except LaunchError as error:
                raise _ProofError(error.message, detail=tail(part.site.directory)) from error

    def _reload(self, part: Part, lines: Sequence[str], pid: int) -> None:
        for line in lines:
            words = [word.replace("$MAINPID", str(pid)) for word in words_of(line.removeprefix("+"))]
            self._require(f"the reload of {part.hop} fails", words, part.before, part.recipe.environment)


def _host_path(path: Path, mounts: Mapping[Path, Path]) -> Path:
    target = next(target for target in mounts if path.is_relative_to(target))
    return mounts[target] / path.relative_to(target)


def _make(folder: Path, top: Path) -> None:
    """Create ``folder``, and give everything of it below ``top`` to the user that servers run as."""
    missing = [each for each in (folder, *folder.parents) if each.is_relative_to(top) and not each.exists()]
    for each in reversed(missing):
        each.mkdir()
        hand_over(each)


def _refuse_impossible(export: Export) -> None:
    target = export.target
    if target.host not in _ANYWHERE:
        raise InputError(
            f"a proof loads this machine over loopback, where files for {target.host} do not listen; prove them "
            f"with --listen 0.0.0.0:{target.port}"
        )
    if target.port < _FIRST_FREE_PORT:
        raise InputError(
            f"a proof has no root's rights, which port {target.port} needs; prove the files with --listen "
            f"{target.host}:8080"
        )
    if target.port in listeners():
        raise InputError(
            f"port {target.port}, on which the exported files listen, is taken by another program; end it, or give "
            f"another: --listen {target.host}:{target.port % 65535 + 1}"
        )


def _failures(launches: Iterable[Launch]) -> Iterator[str]:
    for launch in launches:
        if launch.failure is not None:
            yield f"{launch.stack}: {launch.failure.message}"
        if launch.shortfall is not None:
            yield f"{launch.stack}: {shortfall_words(launch.shortfall)}"
        for finding in (finding for slice_ in launch.slices for finding in slice_.verdict.findings):
            if finding.effect is Effect.INVALIDATES:
                yield f"{launch.stack}: {finding.check}"
