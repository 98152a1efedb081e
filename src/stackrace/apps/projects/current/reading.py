"""A start of a server as it is read: its variables, its options, and the files that these name."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ....model.last_parts import by_last_parts
from ....model.own import CommandLine, OwnReading, Weight
from ....model.stack import ServerSpec
from ..deployment_command import line_with, text_of
from ..places import ProjectFiles
from ..shell import unknown
from ..starts import Start
from .asking import Asked, ask_server
from .hop import ReadHop
from .options import options_in, set_value, take
from .process_variables import process_variables, read_variables

__all__ = ["read_hop"]

_UNKNOWN = "only running it would tell its value"
_UNREAD = "Stackrace cannot read such a file: its settings are missing"
_NO_FILE = "there is no such file in the project"
_MORE = re.compile(r"\$\w*(ARG|OPT|FLAG|PARAM|EXTRA)[A-Z_]*")
"""A variable by itself that holds options, by its name."""
_READS = re.compile(r"environ|getenv|\$\(\w+\)")
"""How files read variables."""
_SECTION = re.compile(r":(\w+)$")


def read_hop(
    start: Start,
    spec: ServerSpec,
    line: CommandLine,
    project: ProjectFiles,
    python: Path | None = None,
    problem: str = "",
) -> ReadHop:
    """Return what ``start`` starts in the ``project``, as far as a path can say it.

    ``problem`` says why that may be something else.
    """
    hop = ReadHop(start, spec, line, project.root)
    if problem:
        hop.gap(start.words[0], problem, Weight.SIZE)
    _take_variables(hop)
    arguments = hop.variables.get(line.arguments, "") if line.arguments else ""
    if unknown(arguments):
        hop.gap(line.arguments, _UNKNOWN, Weight.SIZE)
        arguments = ""
    # a verb, as fastapi dev has, is an option or nothing
    words = (line.verbs.get(word, word) if place == 0 else word for place, word in enumerate(start.words[1:]))
    options = list(options_in((*shlex.split(arguments), *_known(hop, filter(None, words))), line))
    for name, value in options:
        if value and _is_read(hop, name, value):
            _take_options(hop, project, name, value)
    for name, value in options:
        take(hop, name, value)
    _take_file(hop, project, python)
    _take_workers(hop)
    for wrapper in start.wrappers:
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
    prefix = hop.line.prefix
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
    line = hop.line
    section = _SECTION.search(value)
    is_other = name == line.file_option and section is not None and section[1] != hop.spec.name
    return name in line.reads and (name != line.file_option or is_other)


def _take_options(hop: ReadHop, project: ProjectFiles, option: str, named: str) -> None:
    """Take the options in a configuration file, with the file and the line as their place."""
    read = hop.line.reads[option]
    path = _config_named(named, hop, project) if read else None
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
        hop.at = file, _line_of(text.splitlines(), name)
        if "_" in name:
            hop.gap(name, f"{hop.spec.title}'s command line has no option for it")
        elif value is not None and ("%" in value or "$(" in value):
            hop.gap(f"{name} {value}", _UNKNOWN)
        else:
            take(hop, name, value)
    hop.at = None


def _take_file(hop: ReadHop, project: ProjectFiles, python: Path | None) -> None:
    """Take the configuration file that the command names, or that the server finds by itself."""
    line, language = hop.line, hop.language
    named = hop.seen.get(line.file_option, "") if line.file_option else ""
    if not language.file or not (named or line.found) or _is_read(hop, line.file_option, named):
        return
    path = _config_named(named or line.found, hop, project)
    if path is None:
        if named and not unknown(named):
            hop.gap(f"--{line.file_option} {named}", _NO_FILE, Weight.SIZE)
        return
    hop.config = str(path.relative_to(hop.root))
    try:
        reading = language.reading(text_of(path), path, hop.root)
    except (OSError, ValueError):
        # whoever parses the path says it
        reading = OwnReading()
    hop.file_settings, hop.said = reading.settings, reading.said
    lines = text_of(path).splitlines()
    for change in reading.changes:
        hop.at = hop.config, change.line or _line_of(lines, change.key)
        hop.change(change.key, change.theirs, change.concern)
    for gap in reading.not_taken:
        hop.at = hop.config, gap.line
        hop.gap(gap.what, gap.why, gap.weight)
    hop.at = None
    for name, expression in reading.computed.items():
        # a word that no setting has
        if (value := _quoted(expression)) and name not in hop.settings:
            hop.at = hop.config, line_with(re.escape(value), text_of(path))
            set_value(hop, name, name, value, f"{name} = {value}")
            hop.at = None
    if asked := ask_server(hop, path, python):
        _take_answers(hop, reading, asked)
    else:
        _take_as_read(hop, lines, reading)


def _quoted(expression: str) -> str:
    """Return the text that an expression is; nothing for one that must be computed."""
    with suppress(ValueError, SyntaxError):
        value = ast.literal_eval(expression)
        return value if isinstance(value, str) else ""
    return ""


def _take_answers(hop: ReadHop, reading: OwnReading, asked: Asked) -> None:
    """Take what the server makes of its file: what hangs on the deployment's variables becomes a setting."""
    theirs, races = asked
    effective, kept = (hop.line.effective(each) for each in asked)
    hop.file_settings = kept
    for name, value in effective.items():
        # a path says its class, which decides what it can host, and what stands in files that a race leaves out
        is_to_be_said = value != kept.get(name) or value != reading.settings.get(name, value)
        is_to_be_said |= name == "class" and name in reading.computed
        if is_to_be_said and name not in hop.settings:
            hop.settings[name] = value
    for name in reading.computed.keys() - effective.keys() - hop.settings.keys() - {*reading.settings}:
        hop.at = hop.config, 0
        hop.gap(f"{name} = {reading.computed[name]}", "Stackrace does not know what it comes to", Weight.SIZE)
        hop.at = None
    decided = {change.key for change in reading.changes}
    for key in sorted(theirs.keys() | races.keys()):
        if theirs.get(key) != races.get(key) and key not in decided and not _is_setting(hop, key, asked):
            hop.gap(key, "it hangs on variables that the deployment sets, and a race does not: add [app] env")


def _is_setting(hop: ReadHop, key: str, asked: Asked) -> bool:
    effective = hop.line.effective
    return any(effective({key: each[key]}) != effective({}) for each in asked if key in each)


def _take_as_read(hop: ReadHop, lines: Sequence[str], reading: OwnReading) -> None:
    """Take what of a file's settings can be told without the server, and name the rest."""
    for name, expression in reading.computed.items():
        named = re.fullmatch(r"\$\((\w+)\)", expression)
        value = hop.variables.get(named[1], "") if named else ""
        if name in hop.settings:
            continue
        if value and not unknown(value):
            set_value(hop, name, name, value, f"{name} = {value}")
        elif hop.variables and any(map(_READS.search, lines)):
            hop.at = hop.config, _line_of(lines, name)
            hop.gap(f"{name} = {expression}", _UNKNOWN, Weight.SIZE)
            hop.at = None
        else:
            hop.computed.add(name)
    hop.gaps += read_variables(hop, lines)


def _take_workers(hop: ReadHop) -> None:
    """Take WEB_CONCURRENCY where neither the command nor the file says how many workers there are."""
    option, number = hop.line.workers, hop.variables.get("WEB_CONCURRENCY", "")
    setting = hop.known_settings.get(option, "")
    if not number or not setting or setting in hop.settings or setting in hop.said:
        return
    if unknown(number):
        hop.gap("WEB_CONCURRENCY", _UNKNOWN, Weight.SIZE)
    else:
        set_value(hop, setting, option, number, f"WEB_CONCURRENCY={number}")


def _config_named(name: str, hop: ReadHop, project: ProjectFiles) -> Path | None:
    """Return the file of the ``project`` that a command calls ``name``."""
    root, inside, beside = hop.root, hop.folder, hop.command.file.parent
    if name == hop.line.found:
        # a server looks for it only where it is started
        bases = [inside, root] if hop.start.folder else [root, beside]
        return by_last_parts(name, [base for base in bases if base.is_relative_to(root)], Path.is_file)
    name = name.removeprefix("file:").partition("\n")[0]
    if name.startswith("python:"):
        name = name.removeprefix("python:").replace(".", "/") + ".py"
    name, command = _SECTION.sub("", name), hop.command
    copied = project.copied(name, command.copies, command.image or command.file)
    return copied or project.named(name, [inside, root, beside])


def _line_of(lines: Sequence[str], key: str) -> int:
    """Return the line that sets ``key``, with dashes or underscores; 0 where none does."""
    spelled = re.compile(rf"\s*{'[-_]'.join(map(re.escape, re.split('[-_]', key)))}\b\s*[:=]?")
    return next((number for number, line in enumerate(lines, 1) if spelled.match(line)), 0)
