"""A start of a server as it is read: its variables, its options, and the files that these name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from ....model.own import Weight
from ..deployment_command import text_of
from ..shell import unknown
from .asking import Asked, ask_server
from .config_file import ConfigReading, config_named, config_reading, line_of, unknown_variables
from .hop import ReadHop
from .invocations import Invocation
from .options import options_in, set_value, take
from .process_variables import process_variables

__all__ = ["read_hop"]

_UNKNOWN = "only running it would tell its value"
_UNREAD = "Stackrace cannot read such a file: its settings are missing"
_NO_FILE = "there is no such file in the project"
_MORE = re.compile(r"\$\w*(ARG|OPT|FLAG|PARAM|EXTRA)[A-Z_]*")
"""A variable by itself that holds options, by its name."""
_READS = re.compile(r"environ|getenv|\$\(\w+\)")
"""How files read variables."""
_SECTION = re.compile(r":(\w+)$")


def read_hop(invocation: Invocation, root: Path, python: Path | None = None) -> ReadHop:
    """Return what ``invocation`` starts in the project at ``root``, as far as a path can say it."""
    hop = ReadHop(invocation, root)
    if invocation.problem:
        hop.gap(invocation.program, invocation.problem, Weight.SIZE)
    line = invocation.line
    hop.variables = invocation.variables
    _take_variables(hop)
    arguments = hop.variables.get(line.arguments, "") if line.arguments else ""
    if unknown(arguments):
        hop.gap(line.arguments, _UNKNOWN, Weight.SIZE)
        arguments = ""
    options = list(options_in((*shlex.split(arguments), *_known(hop, invocation.words)), invocation))
    for name, value in options:
        if value and _is_read(hop, name, value):
            _take_options(hop, name, value)
    for name, value in options:
        take(hop, name, value)
    hop.said = _take_file(hop, python)
    _take_workers(hop)
    for wrapper in invocation.wrappers:
        hop.gap(wrapper, "a race starts the server by itself, without this program")
    hop.gaps += process_variables(hop)
    return hop


def _known(hop: ReadHop, words: Iterable[str]) -> Iterator[str]:
    """Yield the words but for those of which nobody knows whether they are options."""
    for word in words:
        if unknown(word.partition("=")[0]) and (word.startswith("-") or _MORE.search(word)):
            hop.gap(word, _UNKNOWN, Weight.SIZE)
        else:
            yield word


def _take_variables(hop: ReadHop) -> None:
    """Take the variables that stand for options; one that no setting is known for might be no option at all."""
    prefix = hop.invocation.line.prefix
    known = hop.known_settings.keys() | hop.language.refuses.keys()
    for variable, value in hop.variables.items() if prefix else ():
        name = variable.removeprefix(prefix).lower().replace("_", "-")
        if not variable.startswith(prefix):
            continue
        if name in known:
            take(hop, name, value)
        else:
            hop.gap(variable, f"it stands for --{name}, which Stackrace takes from a command only")


def _is_read(hop: ReadHop, name: str, value: str) -> bool:
    """Tell whether an option names a file whose options are to be read, because a path cannot name it."""
    line = hop.invocation.line
    section = _SECTION.search(value)
    is_other = name == line.file_option and section is not None and section[1] != hop.invocation.spec.name
    return name in line.reads and (name != line.file_option or is_other)


def _take_options(hop: ReadHop, option: str, named: str) -> None:
    """Take the options in a configuration file, with the file and the line as their place."""
    read = hop.invocation.line.reads[option]
    path = config_named(named, hop.invocation, hop.root) if read else None
    if read is None or path is None:
        hop.gap(f"--{option} {named}", _NO_FILE if read else _UNREAD, Weight.SIZE)
        return
    text, section = text_of(path), _SECTION.search(named)
    try:
        pairs = read(text, section[1] if section else "")
    except (ValueError, RecursionError):
        hop.gap(f"--{option} {named}", _UNREAD, Weight.SIZE)
        return
    file = str(path.relative_to(hop.root))
    for name, value in pairs:
        hop.at = file, line_of(text.splitlines(), name)
        if "_" in name:
            hop.gap(name, f"{hop.invocation.spec.title}'s command line has no option for it")
        elif value is not None and ("%" in value or "$(" in value):
            hop.gap(f"{name} {value}", _UNKNOWN)
        else:
            take(hop, name, value)
    hop.at = None


def _take_file(hop: ReadHop, python: Path | None) -> frozenset[str]:
    """Take the configuration file that the command names, or that the server finds by itself.

    Returns the settings of which the file says something.
    """
    line, language = hop.invocation.line, hop.language
    named = hop.seen.get(line.file_option, "") if line.file_option else ""
    if not language.file or not (named or line.found) or _is_read(hop, line.file_option, named):
        return frozenset()
    path = config_named(named or line.found, hop.invocation, hop.root)
    if path is None:
        if named and not unknown(named):
            hop.gap(f"--{line.file_option} {named}", _NO_FILE, Weight.SIZE)
        return frozenset()
    hop.config = str(path.relative_to(hop.root))
    reading = config_reading(path, hop.root, language)
    hop.file_settings = reading.known
    hop.changes += reading.changes
    hop.gaps += reading.gaps
    if asked := ask_server(hop, path, python):
        _take_answers(hop, reading, asked)
    else:
        _take_as_read(hop, path, reading)
    return reading.said


def _take_answers(hop: ReadHop, reading: ConfigReading, asked: Asked) -> None:
    """Take what the server makes of its file: what hangs on the deployment's variables becomes a setting."""
    theirs, races = asked
    effective, kept = (hop.invocation.line.effective(each) for each in asked)
    hop.file_settings = kept
    for name, value in effective.items():
        # a path says its class, which decides what it can host, and what stands in files that a race leaves out
        is_to_be_said = value != kept.get(name) or value != reading.known.get(name, value)
        is_to_be_said |= name == "class" and name in reading.computed
        if is_to_be_said and name not in hop.settings:
            hop.settings[name] = value
    for key in sorted(theirs.keys() | races.keys()):
        if theirs.get(key) != races.get(key) and key not in reading.decided and not _is_setting(hop, key, asked):
            hop.gap(key, "it hangs on variables that the deployment sets, and a race does not: add [app] env")


def _is_setting(hop: ReadHop, key: str, asked: Asked) -> bool:
    effective = hop.invocation.line.effective
    return any(effective({key: each[key]}) != effective({}) for each in asked if key in each)


def _take_as_read(hop: ReadHop, path: Path, reading: ConfigReading) -> None:
    """Take what of a file's settings can be told without the server, and name the rest."""
    file, lines = str(path.relative_to(hop.root)), text_of(path).splitlines()
    for name, expression in reading.computed.items():
        named = re.fullmatch(r"\$\((\w+)\)", expression)
        value = hop.variables.get(named[1], "") if named else ""
        if name in hop.settings:
            continue
        if value and not unknown(value):
            set_value(hop, name, name, value, f"{name} = {value}")
        elif hop.variables and _READS.search(text_of(path)):
            hop.at = file, line_of(lines, name)
            hop.gap(f"{name} = {expression}", _UNKNOWN, Weight.SIZE)
            hop.at = None
    hop.gaps += unknown_variables(file, lines, hop.variables)


def _take_workers(hop: ReadHop) -> None:
    """Take WEB_CONCURRENCY where neither the command nor the file says how many workers there are."""
    option, number = hop.invocation.line.workers, hop.variables.get("WEB_CONCURRENCY", "")
    setting = hop.known_settings.get(option, "")
    if not number or not setting or setting in hop.settings or setting in hop.said:
        return
    if unknown(number):
        hop.gap("WEB_CONCURRENCY", _UNKNOWN, Weight.SIZE)
    else:
        set_value(hop, setting, option, number, f"WEB_CONCURRENCY={number}")
