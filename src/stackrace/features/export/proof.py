"""The proof of exported files: verified, started as they are, asked, stopped, and raced against the original."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...app.environment import app_environment
from ...base.errors import InputError, LaunchError, RefusedError
from ...base.files import remove_tree
from ...base.process import CommandResult, run
from ...base.verdict import Effect
from ...deploy.launcher import Launcher
from ...deploy.place import Sides
from ...deploy.privileges import unprivileged
from ...deploy.running_stack import Running, tail
from ...deploy.shutdown import stop
from ...deploy.sockets import LOOPBACK
from ...measure.engine.visitor import questions
from ...measure.launch import Launch
from ...race.events import Sink
from ...race.preparation.prepared import plan_of
from ...race.request.request import RaceRequest
from ...race.runner import run as run_race
from ...stacks.servers import PythonRuntime
from ...stacks.stack import Side
from .assembly import Rendered
from .equivalence import LOOKS, Equivalence, Proof, Reloaded, equivalence_of, until_known
from .export import Export
from .exported_stack import ExportedFiles, is_free
from .files import write_files
from .reload import Page, reloaded
from .stage import staged
from .units import command_words, read_unit

_SYSTEMD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What a unit's process has. Source: systemd.exec(5), Environment Variables Set or Propagated."""
_ANYWHERE = ("0.0.0.0", "127.0.0.1")
_FIRST_FREE_PORT = 1024
_PATIENCE_S = 90.0
"""More than the health check waits."""
_BUDGET_S = 180.0
_HEALTHCHECK = re.compile(r"^HEALTHCHECK [^\n]*\\\n\s*CMD (\[.*\])$", re.MULTILINE)
"""The command of an image's health check."""


class ProofFailed(LaunchError):  # noqa: N818 (a past event, told as such)
    """The exported files do not work; the message says what they did."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """Proves one export while everything is set up; make it with ``of``."""

    ready: Rendered
    launcher: Launcher
    exported: ExportedFiles

    @classmethod
    def of(cls, ready: Rendered) -> Prover:
        """Lay the files out in the run directory; raises InputError where nothing can be proven here."""
        _refuse_impossible(ready.export)
        folder = ready.deployment.guard.directory / "exported"
        remove_tree(folder)
        folder.mkdir()
        write_files(folder, ready.files())
        exported = _exported(ready, folder)
        launcher = replace(ready.deployment.launcher, laid_out=exported, environment=_environment(ready))
        return cls(ready=ready, launcher=launcher, exported=exported)

    def start(self) -> Proof:
        """Verify, start, ask and stop the files; raises ProofFailed with the log of what went wrong."""
        verified = self._verified()
        guard = self.ready.deployment.guard
        (stack,) = self.ready.deployment.stacks
        try:
            running = self.launcher.launch(stack)
        except LaunchError as error:
            message = (
                f"the exported files do not work, and nothing was written: {error.message}. They get the "
                "variables of .env.example only: give those that are missing with --env-file or [app] env"
            )
            raise ProofFailed(message, detail=error.detail) from error
        complaints = {}
        try:
            self._health(running)
            reloads = tuple(self._reloads(running))
        finally:
            complaints = stop(guard, [running])
        for complaint in complaints.values():
            raise ProofFailed(f"the exported files do not stop: {complaint.message}", detail=complaint.log)
        if not is_free(self.ready.export.target.port):
            raise ProofFailed(f"port {self.ready.export.target.port} is still listened on after the stop")
        return Proof(
            units_verified=verified,
            checkers=tuple(process.name for process in self.ready.export.processes if process.check),
            questions=sum(len(workload.requests) for workload in self.ready.deployment.workloads),
            ready_s=running.ready_s,
            container_healthy=True,
            reloads=reloads,
        )

    def race(self, difference: float | None, budget_s: float | None, sink: Sink) -> Equivalence:
        """Race the files against the original; raises RefusedError where no block had valid slices of both."""
        ready = self.ready
        (stack,) = ready.deployment.stacks
        request = _asked(ready, difference, budget_s)
        plan = plan_of(request, ready.deployment)
        sides = (stack.on(Side.ORIGINAL), stack.on(Side.EXPORTED))
        race = replace(plan.race, loads=plan.race.loads[-1:], limits={}, left_out=(), unserved=())
        plan = replace(plan, race=race, most_blocks=LOOKS[-1]).among(sides)
        exported = replace(ready.deployment, launcher=self.launcher)
        place = Sides({Side.ORIGINAL: ready.deployment.place(), Side.EXPORTED: exported.place()})
        race = run_race(plan, place, sink, decide=until_known(stack, race.difference))
        result = equivalence_of(race, stack, race.difference)
        if result.ratio is None:
            raise RefusedError(
                "the exported files were started and answered rightly, but not raced: no block had valid slices of "
                "both sides. `stackrace doctor` finds what disturbs here; --start-only leaves the race out",
                detail="\n".join(_failures(race.launches)),
            )
        return result

    def _run(self, command: Sequence[str], folder: Path) -> CommandResult:
        """Run ``command`` where the exported files lie at their paths, ``folder`` being a copy of them."""
        mounts = (*self.exported.mounts, (folder, self.ready.export.target.files))
        guard = self.ready.deployment.guard
        return run(
            [*staged(mounts, Path("/")), *unprivileged(), *command],
            environment=dict(self.launcher.environment),
            timeout_s=_PATIENCE_S,
            begin=guard.view.entering(Path("/")),
        )

    def _verified(self) -> int | None:
        """Have systemd look at the units where it is installed; returns how many there are."""
        program = shutil.which("systemd-analyze")
        if program is None:
            return None
        target = self.ready.export.target
        units = sorted(name for name in self.ready.files() if name.startswith("systemd/"))
        command = [program, "verify", "--man=no", *(str(target.files / name) for name in units)]
        result = self._run(command, self.exported.folder)
        if result.code:
            raise ProofFailed("systemd-analyze rejects the units", detail=result.output)
        return len(units)

    def _health(self, running: Running) -> None:
        """Run what systemd runs after the start, and what a container engine runs all the time."""
        unit = self.exported.units[-1]
        image = (self.exported.folder / "Dockerfile").read_text(encoding="utf-8")
        checks = {
            "the unit's": [command_words(line) for line in unit.get("ExecStartPost", ())],
            "the container's": [tuple(json.loads(line)) for line in _HEALTHCHECK.findall(image)],
        }
        for whose, commands in checks.items():
            for command in commands:
                result = self._run(command, running.directory / "deploy")
                if result.code:
                    message = f"{whose} health check fails although the answers are right"
                    raise ProofFailed(message, detail=result.output)

    def _reloads(self, running: Running) -> Iterator[Reloaded]:
        """Reload every process that can be while clients ask; see ``reloaded``."""
        workload = self.ready.deployment.workloads[0]
        request, answer = next(
            (pair for pair in questions(workload) if pair[0].path == self.ready.export.health.path),
            questions(workload)[0],
        )
        page = Page(address=(LOOPBACK, running.port), host=workload.host, request=request, answer=answer)
        for number, unit in enumerate(self.exported.units):
            if lines := unit.get("ExecReload", ()):
                yield self._reload(running, number, page, lines)

    def _reload(self, running: Running, number: int, page: Page, lines: Sequence[str]) -> Reloaded:
        part, _ = running.parts[number]
        guard = self.ready.deployment.guard

        def run_lines(pid: int) -> None:
            for line in lines:
                words = [word.replace("$MAINPID", str(pid)) for word in command_words(line)]
                result = run(
                    [*part.before, *unprivileged(), *words],
                    environment={**self.launcher.environment, **part.recipe.environment},
                    timeout_s=_PATIENCE_S,
                    begin=guard.view.entering(Path("/")),
                )
                if result.code:
                    raise ProofFailed(f"the reload of {part.hop} fails", detail=result.output)

        try:
            return reloaded(running, number, page, guard, run_lines)
        except ProofFailed:
            raise
        except LaunchError as error:
            raise ProofFailed(error.message, detail=tail(part.site.directory)) from error


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
    if not is_free(target.port):
        raise InputError(
            f"port {target.port}, on which the exported files listen, is taken by another program; end it, or give "
            "another with --listen"
        )


def _exported(ready: Rendered, folder: Path) -> ExportedFiles:
    deployment, export = ready.deployment, ready.export
    target = export.target
    hosted = deployment.launcher.host_for(export.stack)
    mounts = [(deployment.examined.app.root, target.app)]
    if isinstance(hosted.runtime, PythonRuntime):
        mounts.append((hosted.runtime.home, target.venv))
    mounts += [(folder_here, place) for place, folder_here in export.deployed.beside.items()]
    units = (folder / "systemd" / f"{target.unit(process.name)}.service" for process in export.processes)
    return ExportedFiles(
        folder=folder,
        export=export,
        units=tuple(read_unit(unit.read_text(encoding="utf-8")) for unit in units),
        mounts=tuple(mounts),
        app=hosted,
    )


def _environment(ready: Rendered) -> dict[str, str]:
    """Return what systemd would give the processes: the variables of .env.example, and none of this shell's.

    Where byte code goes is not the files' matter, and must not be the user's folders.
    """
    app = ready.deployment.examined.app
    given = app_environment(app, {"PATH": _SYSTEMD_PATH})
    return {name: value for name, value in given.items() if name != "DJANGO_SETTINGS_MODULE"} | {
        "PATH": _SYSTEMD_PATH
    }


def _asked(ready: Rendered, difference: float | None, budget_s: float | None) -> RaceRequest:
    """Return the race to make: at the level of which the answer speaks, where there was a race."""
    subject = ready.subject
    request = replace(
        subject.request, repeats=None, run_requests=None, run_requests_at={}, run_s=None, twin=False,
        exhaustive=False, budget_s=budget_s or _BUDGET_S,
    )  # fmt: skip
    if subject.race is not None:
        request = replace(request, difference=subject.race.difference)
    return request if difference is None else replace(request, difference=difference)


def _failures(launches: Iterable[Launch]) -> Iterator[str]:
    """Yield what went wrong, each once."""
    seen: dict[str, None] = {}
    for launch in launches:
        if launch.failure is not None:
            seen[f"{launch.stack}: {launch.failure.message}"] = None
        for slice_ in launch.slices:
            for finding in slice_.verdict.findings:
                if finding.effect is Effect.INVALIDATES:
                    seen[f"{launch.stack}: {finding.check}"] = None
    return iter(seen)
