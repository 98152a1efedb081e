"""A stack that is up: its processes, its logs, and the exact facts to reproduce it."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from ..base.files import files_in, opened
from ..base.process import ask
from ..base.secrets import masked, masked_settings, masked_tail
from ..measure.launch import ChangeFact, SettingFact, StackFacts
from ..measure.probe import abandoned
from ..stacks.native_options import CONFIG
from ..stacks.servers import Catalogue, PythonRuntime, RubyRuntime
from ..stacks.servers.contract import Entry
from ..stacks.servers.site import versions_by_key
from ..stacks.setting import Origin, SettingValue
from ..stacks.stack import Hop, Stack
from ..stacks.stack_path import setting_text
from .confinement import Group
from .environments import package_of, python_version, site_packages
from .installation import installed_version
from .rendering import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A stack that is up."""

    stack: Stack
    host: str
    """Address of the front hop."""
    port: int
    directory: Path
    """Private folder of this launch."""
    parts: tuple[tuple[Part, int], ...]
    """Each process with its pid, those of the last hop first."""
    started_s: float
    """Time when the start began, on CLOCK_MONOTONIC."""
    ready_s: float
    """Seconds from the start until all answers were right."""
    group: Group | None = None
    """Control group of the stack, if it has one."""

    @property
    def hops(self) -> dict[str, tuple[int, ...]]:
        """First process of every instance, by hop name, front first."""
        hops: dict[str, tuple[int, ...]] = {}
        for part, pid in reversed(self.parts):
            hops[part.hop] = (*hops.get(part.hop, ()), pid)
        return hops


def abandoned_by_clients(stacks: Iterable[Running]) -> int:
    """Return the number of connections that ``stacks`` still hold though their clients are gone.

    All stacks are asked for at once, since the kernel takes some 10 ms a question where its table of connections is
    large.
    """
    ends = [part.site.listen for stack in stacks for part, _ in stack.parts]
    ports = {end.port for end in ends if not end.is_unix}
    return abandoned(ports, {str(end.path) for end in ends if end.is_unix})


def ended(code: int) -> str:
    """Return how a process ended, as the end of a sentence, from Python's exit code: negative for a signal."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


OUTPUT = "output.log"
"""File in a process's directory for its standard output and error."""
_SHOWN_BYTES = 16_384


def tail(directory: Path, lines: int = 12) -> str:
    """Return the last ``lines`` of every log below ``directory``, each under its name; empty if all logs are.

    The app's secrets are masked.
    """
    parts = []
    for path in sorted(logs_below(directory)):
        end, is_cut = end_of(path, _SHOWN_BYTES)
        text = end.decode("utf-8", "replace")
        if text := (masked_tail(text) if is_cut else masked(text)).strip():
            last = "\n".join(text.splitlines()[-lines:])
            parts.append(f"{path.relative_to(directory)}:\n{last}")
    return "\n".join(parts)


def logs_below(directory: Path) -> Iterator[Path]:
    """Yield every log below ``directory``."""
    return (path for path in files_in(directory) if path.suffix == ".log")


def end_of(log: Path, most_bytes: int) -> tuple[bytes, bool]:
    """Return the last bytes of ``log``, empty if it is gone, and whether it has more before them."""
    with suppress(OSError), opened(log) as file:
        is_cut = file.seek(max(file.seek(0, os.SEEK_END) - most_bytes, 0)) > 0
        return file.read(most_bytes), is_cut
    return b"", False


_RUN_FOLDER = "RUN"
"""Replacement for the private run directory, whose name differs in every launch."""


def facts_of(running: Running, catalogue: Catalogue) -> StackFacts:
    """Return the facts of a running stack, with ``RUN`` in place of the run directory's changing name.

    Values in configurations and commands, as in ``env = API_TOKEN=…``, may be secrets and are masked.
    """
    configs: dict[str, str] = {}
    commands: list[str] = []
    for part, _ in reversed(running.parts):
        commands.append(_named(running, shlex.join(part.recipe.command)))
        for name, text in part.recipe.files.items():
            if text:
                configs[f"{part.hop}/{name}"] = _named(running, text)
    runtime = running.parts[0][0].site.app.runtime
    if isinstance(runtime, PythonRuntime):
        configs[runtime.entry.name] = runtime.entry.read_text(encoding="utf-8")
    return StackFacts(
        stack=running.stack.path,
        versions=versions_of(running.stack, catalogue, runtime),
        configs=configs,
        commands=tuple(dict.fromkeys(commands)),
        settings=tuple(fact for hop in running.stack.hops for fact in _setting_facts(hop)),
        changes=tuple(fact for hop in running.stack.hops for fact in change_facts(hop)),
    )


def versions_of(stack: Stack, catalogue: Catalogue, runtime: PythonRuntime | RubyRuntime | None) -> dict[str, str]:
    """Return the version of each hop of ``stack``, then of the interpreter, by name; empty where it is unknown."""
    entries = {hop.server: (catalogue.entries[hop.server], hop.settings) for hop in stack.hops}
    if isinstance(runtime, PythonRuntime):
        own = {name: _version(entry, settings, runtime.home) for name, (entry, settings) in entries.items()}
        return {**own, "python": python_version(runtime.home)}
    own = {name: installed_version(entry) for name, (entry, _) in entries.items()}
    if isinstance(runtime, RubyRuntime):
        bundled = {name: version for name, version in runtime.gems.items() if name in own}
        return {**own, **bundled, "ruby": _ruby(runtime.ruby)}
    return own


def _named(running: Running, text: str) -> str:
    return masked_settings(text.replace(str(running.directory), _RUN_FOLDER))


def _version(entry: Entry, settings: Mapping[str, SettingValue], home: Path) -> str:
    versions = (_installed(home).get(package_of(each), "") for each in entry.requirements(settings))
    return next(filter(None, versions), "") or installed_version(entry)


@cache
def _ruby(ruby: Path) -> str:
    # without gems and RUBYOPT: none of the user's code runs
    command = [str(ruby), "--disable=all", "-e", "print RUBY_VERSION"]
    return ask(command).output


@cache
def _installed(home: Path) -> dict[str, str]:
    return versions_by_key({each.name: each.version for each in distributions(path=[str(site_packages(home))])})


def _setting_facts(hop: Hop) -> Iterator[SettingFact]:
    for name, origin in hop.origins.items():
        computed = hop.file.reading.computed if hop.file else {}
        value = setting_text(hop.settings[name]) if name in hop.settings else computed.get(name, "")
        yield SettingFact(hop=hop.server, name=name, value=value, origin=origin)
    if hop.config:
        yield SettingFact(hop=hop.server, name=CONFIG, value=hop.config, origin=Origin.OWN)
    for option in hop.options:
        value = "on" if option.value is None else option.value
        yield SettingFact(hop=hop.server, name=f"--{option.name}", value=masked_settings(value), origin=Origin.OWN)


def change_facts(hop: Hop) -> Iterator[ChangeFact]:
    """Yield the changes to the configuration file that the user gave for ``hop``."""
    for change in hop.file.reading.changes if hop.file else ():
        yield ChangeFact(
            hop=hop.server, key=change.key, theirs=masked_settings(change.theirs), concern=change.concern
        )
