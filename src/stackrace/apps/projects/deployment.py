"""What a project's own deployment files start: the one place where they are read.

Procfile, Dockerfile and the scripts it starts, compose and platform files, pyproject.toml's tasks, configurations
of gunicorn, uWSGI and supervisor, systemd's units, .flaskenv. Nothing is run, and no shell ever expands anything.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from .code import content

__all__ = ["DeploymentCommand", "deployment_commands"]

MOST_BYTES = 2**18
"""Of one file."""
MOST_NODES = 20_000
"""Of one YAML document: aliases make a short file endless."""

_COMMAND_KEYS = frozenset({"cmd", "command", "entrypoint", "run_command", "start", "startCommand", "web"})
_VARIABLE_KEYS = frozenset({"environment", "env", "env_variables", "envVars"})

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentCommand:
    """A command line, as it stands in a file."""

    file: Path
    words: Words
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that stand beside it."""
    env_files: tuple[str, ...] = ()
    """Files of variables that are named beside it."""


def deployment_commands(folder: Path) -> tuple[DeploymentCommand, ...]:
    """Return what the deployment files in ``folder``, and in its folders for deployment, start; each once.

    A file that cannot be read, or is not what its name says, counts as none.
    """
    commands: dict[tuple[Path, Words], DeploymentCommand] = {}
    for pattern, read in _READERS.items():
        for path in sorted(folder.glob(pattern)):
            text = _text(path)
            for command in read(path, text) if text else ():
                if command.words:
                    commands.setdefault((path, command.words), command)
    return tuple(commands.values())


def split_words(line: str) -> Words:
    """Return a shell's words, quotes undone; of a line that no shell would take, what stands between blanks."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        return tuple(lexer)
    except ValueError:
        return tuple(line.split())


def _text(path: Path) -> str:
    return (content(path, MOST_BYTES) or b"").decode("utf-8", "replace")


def _command(path: Path, line: str, environment: Mapping[str, str] | None = None) -> DeploymentCommand:
    return DeploymentCommand(file=path, words=split_words(line), environment=environment or {})


def _procfile(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``web: gunicorn app:app``; what answers no requests, such as a worker, is left out."""
    for line in text.splitlines():
        name, colon, command = line.partition(":")
        if colon and not name.strip().startswith(("#", "worker", "release", "beat", "clock")):
            yield _command(path, command)


def _dockerfile(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ENTRYPOINT and CMD, the last of each; a script among their words is read, too."""
    last: dict[str, Words] = {}
    environment: dict[str, str] = {}
    for line in re.sub(r"\\\s*\n", " ", text).splitlines():
        instruction, _, rest = line.strip().partition(" ")
        if instruction.upper() in ("ENTRYPOINT", "CMD"):
            last[instruction.upper()] = _exec_form(rest.strip())
        elif instruction.upper() == "ENV":
            environment |= _assignments(rest)
    entrypoint, command = last.get("ENTRYPOINT", ()), last.get("CMD", ())
    if entrypoint or command:
        yield DeploymentCommand(file=path, words=(*entrypoint, *command), environment=environment)
    for word in (*entrypoint, *command):
        yield from _started_script(path, word, environment)


def _exec_form(text: str) -> Words:
    if text.startswith("["):
        try:
            words = json.loads(text)
            return tuple(str(word) for word in words) if isinstance(words, list) else ()
        except ValueError:
            pass
    return split_words(text)


def _assignments(text: str) -> dict[str, str]:
    """Read ``A=1 B="2"``, or ``A 1``."""
    pairs = dict(word.split("=", 1) for word in split_words(text) if "=" in word)
    name, _, value = text.strip().partition(" ")
    return pairs or ({name: value.strip()} if value else {})


def _started_script(path: Path, word: str, environment: Mapping[str, str]) -> Iterator[DeploymentCommand]:
    """Read the script of the project that an image starts as ``/app/start.sh``."""
    name = Path(word).name
    if not name or ("/" not in word and not name.endswith(".sh")):
        return
    for script in (path.parent / name, path.parent / "scripts" / name, path.parent / "bin" / name):
        text = _text(script)
        if text.startswith("#!") and "sh" in text.partition("\n")[0]:
            for command in _shell_script(script, text):
                yield DeploymentCommand(file=script, words=command.words, environment=environment)
            return


def _shell_script(path: Path, text: str) -> Iterator[DeploymentCommand]:
    for line in re.sub(r"\\\s*\n", " ", text).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield _command(path, line)


def _loaded(path: Path, text: str) -> object:
    """Return a document of YAML, JSON or TOML; None for what is none."""
    import yaml

    load = {".json": json.loads, ".toml": tomllib.loads}.get(path.suffix, yaml.safe_load)
    with suppress(ValueError, RecursionError, yaml.YAMLError):
        document: object = load(text)
        return document
    return None


def _document(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read the values of keys such as ``command``, wherever they stand."""
    waiting, looked_at = [_loaded(path, text)], 0
    while waiting and looked_at < MOST_NODES:
        node = waiting.pop(0)
        looked_at += 1
        if isinstance(node, list):
            waiting += node
        if not isinstance(node, dict):
            continue
        waiting += node.values()
        beside = DeploymentCommand(
            file=path, words=(), environment=dict(_variables(node)), env_files=tuple(_env_files(node))
        )
        for key in _COMMAND_KEYS & node.keys():
            value = node[key]
            if isinstance(value, str):
                yield replace(beside, words=split_words(value))
            elif isinstance(value, list) and all(isinstance(word, str) for word in value):
                yield replace(beside, words=tuple(value))


def _variables(node: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    """Yield ``environment`` of compose files and its like: a table, lines ``A=1``, or tables of key and value."""
    for key in _VARIABLE_KEYS & node.keys():
        match node[key]:
            case dict() as table:
                yield from ((str(name), str(value)) for name, value in table.items() if value is not None)
            case list() as entries:
                for entry in entries:
                    match entry:
                        case str() if "=" in entry:
                            yield tuple(entry.split("=", 1))  # type: ignore[misc]
                        case {"key": name, "value": value}:
                            yield str(name), str(value)


def _env_files(node: Mapping[object, object]) -> Iterator[str]:
    named = node.get("env_file")
    for entry in named if isinstance(named, list) else [named]:
        match entry:
            case str(path) | {"path": str(path)}:
                yield path


def _pyproject(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read [tool.fastapi] entrypoint, and the tasks of task runners."""
    document = _loaded(path, text)
    tool = document.get("tool") if isinstance(document, dict) else None
    if not isinstance(tool, dict):
        return
    fastapi = tool.get("fastapi")
    if isinstance(fastapi, dict) and isinstance(entrypoint := fastapi.get("entrypoint"), str):
        yield DeploymentCommand(file=path, words=("fastapi", "run", "--entrypoint", entrypoint))
    for runner, key in (("pdm", "scripts"), ("poe", "tasks"), ("taskipy", "tasks"), ("rye", "scripts")):
        tasks = tool.get(runner)
        tasks = tasks.get(key) if isinstance(tasks, dict) else None
        for task in tasks.values() if isinstance(tasks, dict) else ():
            line = task.get("cmd") if isinstance(task, dict) else task
            if isinstance(line, str):
                yield _command(path, line)


def _gunicorn(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read wsgi_app, chdir and worker_class of gunicorn.conf.py, where they are written out."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    settings = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }
    if "wsgi_app" in settings:
        flags = {"chdir": "--chdir", "worker_class": "--worker-class"}
        given = [word for key, flag in flags.items() if key in settings for word in (flag, settings[key])]
        yield DeploymentCommand(file=path, words=("gunicorn", *given, settings["wsgi_app"]))


def _ini(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``command =`` of supervisor, ``ExecStart=`` of systemd, and uWSGI's own options."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in parser.sections():
        options = dict(parser.items(section))
        for key in ("command", "execstart"):
            if options.get(key):
                yield _command(path, options[key], _assignments(options.get("environment") or ""))
        if section == "uwsgi":
            words = (word for key, value in options.items() for word in (f"--{key}", value or ""))
            yield DeploymentCommand(file=path, words=("uwsgi", *words))


def _flaskenv(path: Path, text: str) -> Iterator[DeploymentCommand]:
    variables = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    app = variables.get("FLASK_APP", "").strip().strip("\"'")
    if app:
        yield DeploymentCommand(file=path, words=("flask", "--app", app, "run"))


_READERS: Mapping[str, Callable[[Path, str], Iterator[DeploymentCommand]]] = {
    "pyproject.toml": _pyproject,
    "Procfile": _procfile,
    "gunicorn.conf.py": _gunicorn,
    "*/gunicorn.conf.py": _gunicorn,
    "Dockerfile": _dockerfile,
    "Containerfile": _dockerfile,
    "*.Dockerfile": _dockerfile,
    "Dockerfile.*": _dockerfile,
    "docker/**/Dockerfile": _dockerfile,
    "compose/**/Dockerfile": _dockerfile,
    "deploy*/**/Dockerfile": _dockerfile,
    "*compose*.y*ml": _document,
    "app.y*ml": _document,
    "heroku.yml": _document,
    "render.y*ml": _document,
    "fly.toml": _document,
    "railway.toml": _document,
    "railway.json": _document,
    "uwsgi.ini": _ini,
    "*/uwsgi.ini": _ini,
    "supervisord*.conf": _ini,
    "deploy*/*.conf": _ini,
    "deploy*/*.service": _ini,
    "*.service": _ini,
    ".flaskenv": _flaskenv,
}
"""By the pattern of the files' names."""
