"""What exactly a launched stack was: the versions, the configurations and the commands, for whoever repeats it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from ..base.process import run
from ..base.secrets import masked_settings
from ..stacks.facts import ChangeFact, SettingFact, StackFacts
from ..stacks.native_options import CONFIG
from ..stacks.servers import Catalogue, PythonRuntime, RubyRuntime
from ..stacks.servers.contract import Entry
from ..stacks.stack import Hop, Origin, SettingValue
from ..stacks.stack_path import setting_text
from .environments import site_packages
from .installation import installed_version
from .running_stack import Running

__all__ = ["change_facts", "facts_of", "setting_facts"]

RUN_FOLDER = "RUN"
"""Stands for the private run directory, which is another in every launch."""


def facts_of(running: Running, catalogue: Catalogue) -> StackFacts:
    """Return the facts of a running stack, the run directory's changing name replaced by ``RUN``.

    What a configuration or a command sets, as in ``env = API_TOKEN=…``, may be a secret, which is masked.
    """
    configs: dict[str, str] = {}
    commands: list[str] = []
    for part, _ in reversed(running.parts):
        commands.append(_named(running, shlex.join(part.recipe.command)))
        for name, text in part.recipe.files.items():
            if text:
                configs[f"{part.hop}/{name}"] = _named(running, text)
    runtime = running.parts[0][0].site.app.runtime
    home = None
    versions: dict[str, str] = {}
    if isinstance(runtime, PythonRuntime):
        configs[runtime.entry.name] = runtime.entry.read_text(encoding="utf-8")
        home = runtime.home
        versions["python"] = _python(home)
    elif isinstance(runtime, RubyRuntime):
        versions["ruby"] = _ruby(runtime.ruby)
    hops = {hop.server: _version(catalogue.entries[hop.server], hop.settings, home) for hop in running.stack.hops}
    return StackFacts(
        stack=running.stack.path,
        versions={**hops, **versions},
        configs=configs,
        commands=tuple(dict.fromkeys(commands)),
        settings=tuple(fact for hop in running.stack.hops for fact in setting_facts(hop)),
        changes=tuple(fact for hop in running.stack.hops for fact in change_facts(hop)),
    )


def _named(running: Running, text: str) -> str:
    return masked_settings(text.replace(str(running.directory), RUN_FOLDER))


def _version(entry: Entry, settings: Mapping[str, SettingValue], home: Path | None) -> str:
    requirements = () if home is None else entry.requirements(settings)
    versions = [_distribution(home, requirement) for requirement in requirements]
    return next(filter(None, versions), "") or installed_version(entry)


@cache
def _python(home: Path) -> str:
    config = (home / "pyvenv.cfg").read_text(encoding="utf-8")
    line = re.search(r"^version(?:_info)? *= *(\S+)", config, re.MULTILINE)
    return line[1] if line else ""


@cache
def _ruby(ruby: Path) -> str:
    command = [str(ruby), "-e", "print RUBY_VERSION"]
    return run(command).output


@cache
def _distribution(home: Path, requirement: str) -> str:
    """Return the installed version of a requirement's package, empty when it is not there."""
    package = re.sub(r"[-_.]+", "_", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()
    return next((version for name, version in _installed(home) if name == package), "")


def _installed(home: Path) -> Iterator[tuple[str, str]]:
    for folder in site_packages(home).glob("*.dist-info"):
        name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
        yield re.sub(r"[-_.]+", "_", name).lower(), version


def setting_facts(hop: Hop) -> Iterator[SettingFact]:
    """Yield the settings of ``hop`` as the catalogue orders them, then what is in the server's own language."""
    for name, origin in hop.origins.items():
        yield SettingFact(hop=hop.server, name=name, value=_value(hop, name), origin=origin)
    if hop.config:
        yield SettingFact(hop=hop.server, name=CONFIG, value=hop.config, origin=Origin.OWN)
    for option in hop.options:
        value = "on" if option.value is None else option.value
        yield SettingFact(hop=hop.server, name=f"--{option.name}", value=masked_settings(value), origin=Origin.OWN)


def change_facts(hop: Hop) -> Iterator[ChangeFact]:
    """Yield what had to be changed in the configuration file that ``hop`` has from the user."""
    for change in hop.file.reading.changes if hop.file else ():
        yield ChangeFact(
            hop=hop.server, key=change.key, theirs=masked_settings(change.theirs), concern=change.concern
        )


def _value(hop: Hop, name: str) -> str:
    if name in hop.settings:
        return setting_text(hop.settings[name])
    return hop.file.reading.computed.get(name, "") if hop.file else ""
