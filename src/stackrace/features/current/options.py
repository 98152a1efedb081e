"""Read the start of a server: its variables, its options, and the files that these name.

The server itself evaluates its configuration file, with the deployment's variables and without them. The file is
the user's program, so it runs where it can change nothing and has no network; the app is not loaded.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from ...app.project_files import ProjectFiles
from ...app.projects.deployment_command import NO_FILE, DeploymentCommand, line_with, shown, text_of
from ...app.projects.place import Place
from ...app.projects.shell import unknown
from ...base.files import by_last_parts, is_file, is_folder
from ...base.process.view import ProtectedView
from ...stacks.native_files import Concern, FileReading, Weight
from ...stacks.native_options import NativeOptions
from ...stacks.setting import SettingValue
from ...stacks.stack import ServerSpec
from .hop import UNKNOWN, ReadHop

_LONGEST_S = 10.0
_UNREAD = "Stackrace cannot read such a file: its settings are missing"
_MORE = re.compile(r"\$\{?\w*(ARG|OPT|FLAG|PARAM|EXTRA)[A-Z_]*(\?\})?")
"""A variable whose name says that it holds options."""
_READS = re.compile(r"environ|getenv|\$\(\w+\)")
_WORKERS = "WEB_CONCURRENCY"
_SECTION = re.compile(r":(\w+)$")
_DECIDING = re.compile(
    "LD_PRELOAD|MALLOC_\\w+|PYTHON(OPTIMIZE|MALLOC|MALLOCSTATS|ASYNCIODEBUG|DEVMODE|TRACEMALLOC|FAULTHANDLER|"
    "_GIL|_JIT|UNBUFFERED_STDERR|PROFILEIMPORTTIME|NODEBUGRANGES)|GOMAXPROCS|(OMP|OPENBLAS|MKL)_NUM_THREADS"
)
_READ = re.compile(r"""(?:environ(?:\.get)?|getenv|env|config)[(\[\s]+["'](\w+)["']|\$\((\w+)\)""")


def read_hop(
    command: DeploymentCommand,
    spec: ServerSpec,
    native: NativeOptions,
    project: ProjectFiles,
    python: Path | None = None,
    problem: str = "",
    environment: Mapping[str, str] = MappingProxyType({}),
    packages: Collection[str] = (),
) -> ReadHop:
    """Return the server that ``command`` starts in the ``project`` as a hop, as far as a stack path can hold it.

    ``problem`` says why the command may start something else; ``environment`` has the variables of a race,
    ``packages`` are the names of those in the app's environment; empty if unknown.
    """
    hop = ReadHop(command, spec, native, project, environment)
    if problem:
        hop.gap(command.words[0], problem, Weight.SIZE)
    _take_variables(hop)
    arguments = hop.command.variables.get(native.arguments, "") if native.arguments else ""
    if unknown(arguments):
        hop.gap(native.arguments, UNKNOWN, Weight.SIZE)
        arguments = ""
    # a subcommand, such as dev of fastapi, stands for an option or is left out
    words = (native.verbs.get(word, word) if index == 0 else word for index, word in enumerate(command.words[1:]))
    options = list(_options_in((*shlex.split(arguments), *_known(hop, filter(None, words))), native))
    for name, value in options:
        if value and _is_read(hop, name, value):
            _take_options(hop, name, value)
    for name, value in options:
        hop.take(name, value)
    _take_file(hop, python)
    _take_workers(hop)
    _take_surroundings(hop)
    hop.go_without(packages)
    for wrapper in command.wrappers:
        hop.gap(wrapper, "a race starts the server by itself, without this program")
    for name in filter(_DECIDING.fullmatch, hop.command.variables):
        miss_variable(hop, name, said_at(hop, name))
    return hop


def _known(hop: ReadHop, words: Iterable[str]) -> Iterator[str]:
    """Yield the words, except unknown values that may be options; these become gaps."""
    for word in words:
        if unknown(word.partition("=")[0]) and (word.startswith("-") or _MORE.search(word)):
            hop.gap(word, UNKNOWN, Weight.SIZE)
        else:
            yield word


def _take_variables(hop: ReadHop) -> None:
    """Read the variables that stand for options; a variable without a known setting becomes a gap."""
    prefix = hop.native.prefix
    for variable, value in hop.command.variables.items() if prefix else ():
        name = variable.removeprefix(prefix).lower().replace("_", "-")
        if not variable.startswith(prefix):
            continue
        row = hop.native.row(name)
        if row.setting is not None or row.concern is not None:
            hop.take(name, value)
        else:
            hop.gap(variable, f"it stands for --{name}, which Stackrace takes from a command only")


def _is_read(hop: ReadHop, name: str, value: str) -> bool:
    """Tell whether an option names a file whose options must be read here, because a stack path cannot name it."""
    native = hop.native
    section = _SECTION.search(value)
    is_other = name == native.file_option and section is not None and section[1] != hop.spec.name
    return native.row(name).names_file and (name != native.file_option or is_other)


def _take_options(hop: ReadHop, option: str, named: str) -> None:
    read = hop.native.row(option).reads
    path = _config_named(named, hop) if read else None
    if read is None or path is None:
        hop.gap(f"--{option} {named}", NO_FILE if read else _UNREAD, Weight.SIZE)
        return
    text, section = text_of(path), _SECTION.search(named)
    try:
        pairs = read(text, section[1] if section else "")
    except (ValueError, RecursionError):
        hop.gap(f"--{option} {named}", _UNREAD, Weight.SIZE)
        return
    file = str(path.relative_to(hop.root))
    for name, value in pairs:
        hop.at = file, line_of(text, name)
        if "_" in name:
            hop.gap(name, f"{hop.spec.title}'s command line has no option for it")
        elif "%" in (value or ""):
            hop.gap(f"{name} {value}", UNKNOWN)
        else:
            hop.take(name, value)
    hop.at = None


def _take_file(hop: ReadHop, python: Path | None) -> None:
    native = hop.native
    named = hop.seen.get(native.file_option, "") if native.file_option else ""
    if not native.file or not (named or native.default_file) or _is_read(hop, native.file_option, named):
        return
    path = _config_named(named or native.default_file, hop)
    if path is None:
        if named and not unknown(named):
            hop.gap(f"--{native.file_option} {named}", NO_FILE, Weight.SIZE)
        return
    hop.config = str(path.relative_to(hop.root))
    text = text_of(path)
    try:
        reading = native.read(text, path, hop.root)
    except (OSError, ValueError):
        # parsing the stack path reports the error
        reading = FileReading()
    hop.file_settings, hop.said = reading.settings, reading.said
    for change in reading.changes:
        hop.at = hop.config, change.line or line_of(text, change.key)
        hop.change(change.key, change.theirs, change.concern)
    hop.at = None
    for gap in reading.omissions:
        hop.gap(gap.what, gap.why, gap.weight, (shown(gap.file, hop.root) if gap.file else hop.config, gap.line))
    for name, expression in reading.computed.items():
        # a quoted word, such as a class, that is no known value of the setting
        if (value := _quoted(expression)) and name not in hop.settings:
            hop.at = hop.config, line_with(re.escape(value), text)
            hop.set_value(name, name, value, f"{name} = {value}")
            hop.at = None
    if asked := _ask_server(hop, path, python):
        _take_answers(hop, reading, asked)
    else:
        _take_as_read(hop, text, reading)


def _quoted(expression: str) -> str:
    with suppress(ValueError, SyntaxError):
        value = ast.literal_eval(expression)
        return value if isinstance(value, str) else ""
    return ""


_Asked = tuple[Mapping[str, SettingValue], Mapping[str, SettingValue]]
"""Settings by the file's own names: with the deployment's variables, and with those of a race."""


def _ask_server(hop: ReadHop, path: Path, python: Path | None) -> _Asked | None:
    """Return the settings that the server of ``hop`` reads from the file at ``path``; None if it cannot be run.

    ``python`` is the app's interpreter; None if unknown.
    """
    script = hop.native.inspector
    if script is None:
        return None
    folder = hop.root / hop.command.folder
    ours = hop.environment
    known = {**ours} | {name: value for name, value in hop.command.variables.items() if not unknown(value)}
    both = (tuple(sorted(each.items())) for each in (known, ours))
    command = (str(python or sys.executable), str(script), str(path))
    below = folder if is_folder(folder) else hop.root
    theirs, races = (_answer(command, hop.root, below, variables, text_of(path)) for variables in both)
    return None if theirs is None or races is None else (theirs, races)


@lru_cache(maxsize=64)
def _answer(
    command: tuple[str, ...], root: Path, folder: Path, variables: tuple[tuple[str, str], ...], stamp: str
) -> Mapping[str, SettingValue] | None:
    """Return the JSON object in the last line of output; None on failure.

    ``stamp``, the text of the file that is read, only makes a changed file a new key of the cache.
    """
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "TMPDIR": "/dev/shm", **dict(variables)}
    try:
        view = ProtectedView(sealed=root)
        done = view.run(command, folder=folder, environment=environment, timeout_s=_LONGEST_S)
        answer = json.loads(done.output.rpartition("\n")[2]) if not done.code else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return answer if isinstance(answer, dict) else None


def _take_answers(hop: ReadHop, reading: FileReading, asked: _Asked) -> None:
    """Take over the server's own reading of its file: values that depend on variables become settings or gaps."""
    theirs, races = asked
    effective, kept = (hop.native.effective(each) for each in asked)
    hop.file_settings = kept
    for name, value in effective.items():
        # a stack path needs the class, which decides what can be hosted, and values from files that a race lacks
        is_to_be_said = value != kept.get(name) or value != reading.settings.get(name, value)
        is_to_be_said |= name == "class" and name in reading.computed
        if is_to_be_said and name not in hop.settings:
            hop.settings[name] = value
    for name in reading.computed.keys() - effective.keys() - hop.settings.keys() - {*reading.settings}:
        what = f"{name} = {reading.computed[name]}"
        hop.gap(what, "Stackrace does not know what it comes to", Weight.SIZE, (hop.config, 0))
    # the race decides these keys anyway, even if their defaults depend on variables
    decided = {change.key for change in reading.changes} | hop.native.decided_keys.keys()
    for key in sorted(theirs.keys() | races.keys()):
        if theirs.get(key) != races.get(key) and key not in decided and not _is_setting(hop, key, asked):
            hop.gap(key, "it hangs on variables that the deployment sets, and a race does not: add [app] env")


def _is_setting(hop: ReadHop, key: str, asked: _Asked) -> bool:
    effective = hop.native.effective
    return any(effective({key: each[key]}) != effective({}) for each in asked if key in each)


def _take_as_read(hop: ReadHop, text: str, reading: FileReading) -> None:
    for name, expression in reading.computed.items():
        named = re.fullmatch(r"\$\((\w+)\)", expression)
        value = hop.command.variables.get(named[1], "") if named else ""
        if name in hop.settings:
            continue
        if value and not unknown(value):
            hop.set_value(name, name, value, f"{name} = {value}")
        elif _READS.search(expression) or (hop.command.variables and _READS.search(text)):
            hop.gap(f"{name} = {expression}", UNKNOWN, Weight.SIZE, (hop.config, line_of(text, name)))
        else:
            hop.computed.add(name)
    for number, line in enumerate(text.splitlines(), 1):
        for read in map(max, set(_READ.findall(line))):
            if read in hop.command.variables and not line.lstrip().startswith(("#", ";")):
                miss_variable(hop, read, (hop.config, number))


def _take_workers(hop: ReadHop) -> None:
    number = hop.command.variables.get(_WORKERS, "")
    row = next((row for row in hop.native.rows if row.variable == _WORKERS), None)
    if not number or row is None or row.setting is None or row.setting.name in {*hop.settings, *hop.said}:
        return
    if unknown(number):
        hop.gap(_WORKERS, UNKNOWN, Weight.SIZE)
    else:
        hop.set_value(row.setting.name, row.long[0], number, f"{_WORKERS}={number}")


def _take_surroundings(hop: ReadHop) -> None:
    """Record the working directory and umask that the deployment's documents set for the process."""
    command = hop.command
    said = (
        ("WorkingDirectory|directory|working_dir|workingDir", command.folder, Concern.FOLDER),
        ("UMask|umask", command.umask, Concern.UMASK),
    )
    for keys, value, concern in said:
        written = re.compile(rf"^[ \t-]*({keys})[ \t]*[:=][ \t]*[-\"']?{re.escape(value)}[\"']?[ \t]*$")
        for path in _documents(command) if value else ():
            lines = enumerate(text_of(path).splitlines(), 1)
            if found := next(((n, key[1]) for n, line in lines if (key := written.match(line))), None):
                hop.at = shown(path, hop.root), found[0]
                hop.change(found[1], value, concern)
                hop.at = None
                break


def _documents(command: DeploymentCommand) -> Iterable[Path]:
    """Return the files that describe ``command``, each once."""
    return dict.fromkeys(filter(None, (command.file, *command.documents, command.document, command.image)))


def _config_named(name: str, hop: ReadHop) -> Path | None:
    root, inside, near, command = hop.root, hop.folder, hop.command.file.parent, hop.command
    image = Place(
        project=hop.project, file=command.image or command.file, folder=command.folder, copies=command.copies
    )
    if name == hop.native.default_file:
        # a server searches its default file only in its working directory
        copied = image.copied(str(PurePosixPath(command.folder or "/", name))) if command.copies else None
        bases = [inside, root] if command.folder else [root, near]
        if copied is not None and is_file(copied):
            return copied
        return by_last_parts(name, [base for base in bases if base.is_relative_to(root)], is_file)
    name = name.removeprefix("file:").partition("\n")[0]
    if name.startswith("python:"):
        name = name.removeprefix("python:").replace(".", "/") + ".py"
    name = _SECTION.sub("", name)
    copied = image.copied(name)
    return copied if copied and is_file(copied) else hop.project.named(name, [inside, root, near])


def line_of(text: str, key: str) -> int:
    """Return the line of a configuration that sets ``key``; 0 if no line does."""
    return line_with(rf"^\s*{'[-_]'.join(map(re.escape, re.split('[-_]', key)))}\b", text)


def miss_variable(hop: ReadHop, name: str, location: tuple[str, int], before: str = "") -> None:
    """Record that the deployment sets the variable ``name`` at ``location``, and a race does not."""
    if name in hop.environment:
        return
    why = f'the deployment sets this variable, and a race does not: add [app] env = {{ {name} = "…" }}'
    hop.gap(name, before + why, location=location)


def said_at(hop: ReadHop, name: str) -> tuple[str, int]:
    """Return file and line where the deployment's files first set the variable ``name``, else the command's."""
    for path in _documents(hop.command):
        if number := line_with(rf"(?<![\w$]){name}[\"']?\s*[=: ]", text_of(path)):
            return shown(path, hop.root), number
    return hop.location


def uses(hop: ReadHop, name: str) -> bool:
    """Tell whether a file of the deployment uses the value of the variable ``name``."""
    texts = map(text_of, (*_documents(hop.command), *([hop.root / hop.config] if hop.config else ())))
    return any(re.search(rf"\$[({{]?{name}\b|environ\W+{name}\b|getenv\W+{name}\b", text) for text in texts)


def _options_in(words: Iterable[str], native: NativeOptions) -> Iterator[tuple[str, str | None]]:
    """Yield the options in ``words``: long names without dashes, with values or None; other words are left out."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word in ("-", "--"):
            if option := _file_option(word, native):
                yield option, word
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and len(name) > 1 and name[0] in native.by_name:
            # -w4
            name, value, equals = name[0], name[1:] + (equals + value if equals else ""), "="
        name = native.row(name).long[0] if len(name) == 1 and name in native.by_name else name
        name = name.replace("_", "-") if native.underscores and "$" not in name else name
        if equals:
            yield name, value
        elif native.row(name).is_switch or not rest or rest[0].startswith("--"):
            yield name, None
        else:
            yield name, rest.pop(0)


def _file_option(word: str, native: NativeOptions) -> str:
    """Return the option that a bare configuration file stands for, as in ``uwsgi a.ini``; empty for other words."""
    if not native.file_suffix:
        return ""
    suffix = re.sub(r":\w+$", "", word).rpartition(".")[2]
    return suffix if f".{suffix}" == native.file_suffix or native.row(suffix).names_file else ""
