"""Find the servers that a deployment's command starts: behind wrappers, shells and scripts, or in Python code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path, PurePosixPath

from ..project_files import ProjectFiles, is_development, is_platform
from .code_starts import PYTHON, development_call, program_file, python_words, server_import, started_by_code
from .deployment_command import DeploymentCommand, interpolated, joined_lines, shown, text_of
from .place import Place
from .served_app import APP_VARIABLES
from .shell import ask_shell

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_RUN, _AROUND, _AS_USER, _BEFORE = "behind run", "changes how it runs", "as another user", "leaves it as it is"
_WRAPPERS = {
    name: kind
    for kind, names in {
        _RUN: "poetry pipenv uv pdm hatch rye conda mamba micromamba pixi dotenv doppler infisical",
        _AROUND: "ddtrace-run newrelic-admin opentelemetry-instrument elasticapm-run scout-apm-run instana-run "
        "taskset numactl nice ionice chrt jemalloc.sh memray py-spy viztracer",
        _AS_USER: "gosu su-exec sudo setpriv runuser s6-setuidgid chpst",
        _BEFORE: "aws-vault bundle catatonit chamber command coverage docker-init dockerize dumb-init env "
        "envconsul envdir exec nohup op setsid stdbuf time timeout tini with-contenv",
    }.items()
    for name in names.split()
}
_WAITS = re.compile(r"(?s:wait[-_]?for.*|.*entrypoint.*)")
"""Names of programs that wait for a service, or prepare an image of somebody else, before they start a command."""
_MAY_START = re.compile(rf"\b(py|{'|'.join(name for name, kind in _WRAPPERS.items() if kind == _RUN)})")
_NO_SERVERS = frozenset({
    "alembic", "apache2", "apache2ctl", "apachectl", "arq", "caddy", "celery", "cron", "django-admin", "dramatiq",
    "echo", "fastapi", "flask", "flower", "haproxy", "httpd", "huey_consumer", "jupyter", "manage.py", "mkdocs",
    "nginx", "node", "nox", "npm", "pnpm", "pytest", "rq", "rqworker", "sleep", "streamlit", "tail", "tox",
    "traefik", "true", "yarn",
})  # fmt: skip
_BUILDERS = frozenset({"make", "just"})
"""Programs whose arguments are names of targets, which may start servers."""
_FOR_DEVELOPMENT = re.compile(r"(.*[-_])?(runserver|devserver|dev|develop|debug)")
"""Targets that start a server for development, as ``manage.py runserver`` does."""
_HAS_PYTHON = re.compile(r"\b(python|pip|uv|poetry)")
_WORDS = re.compile(r"[\w./-]+")
_SOMEBODY = 1000
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SIMPLE = re.compile(r"(?:[\w./:=,@%+-]|\$\w|\$\{\w+(:?-[\w./:-]*)?\}|'[^'\n]*'|\"[^\"`\\\n]*\"|[ \t])*")
"""A line of plain words and variables that every shell reads alike, in case no shell can be run."""
_LINE = re.compile(r"-[a-z]*c")
_VERSION = re.compile(r"-?3(\.\d+)?$")
UNTOLD = "nothing in the project says what {} starts"
_BY_ITSELF = "starts a server in a way of its own"
_NAMED = "it names a server, and starts none with these words and variables"
_ENDS = frozenset({"&&", "||", "|||", ";", "&"})
"""Words that end a command among the arguments of a program that starts several commands."""
_MOST_DEEP = 8


def serves_no_app(program: str) -> bool:
    """Tell whether ``program`` is known to serve no Python app."""
    return program in _NO_SERVERS


def is_known_wrapper(program: str) -> bool:
    """Tell whether ``program`` is known to start the command among its arguments without changing the words."""
    return program in _WRAPPERS


def starts(
    command: DeploymentCommand, project: ProjectFiles, programs: Collection[str]
) -> tuple[list[DeploymentCommand], str]:
    """Return the commands of ``programs`` that ``command`` starts, the last first, and the problem or "".

    Each command is the program's name with its arguments, and has the file and line that start it. An argument that
    only running would tell contains a ``$``. The problem says why the command may start something else, or could
    not be followed. Pass the same ``project`` for all commands of a project: its folders are walked once.
    """
    found = _Search(project=project, programs=frozenset(programs))
    found.follow(command)
    own = [word for word in (*command.words, *found.called) if PurePosixPath(word).name in found.own]
    if own and not found.starts:
        found.problem = found.problem or found.unfollowed(command, own)
    if not found.starts and not found.problem:
        places = (server_import(path, project.root, found.programs) for path in found.code)
        found.problem = next(
            (f"{shown(file, project.root)}:{line} {_BY_ITSELF}" for file, line in filter(None, places)), ""
        )
    return found.starts[::-1], found.problem


def for_development(
    command: DeploymentCommand, project: ProjectFiles, programs: Collection[str]
) -> tuple[str, ...]:
    """Return the framework's own servers for development that ``command`` starts: a place and the call, each."""
    found = _Search(project=project, programs=frozenset(programs))
    found.follow(command)
    return tuple(dict.fromkeys(found.for_development))


class _Search:
    def __init__(self, *, project: ProjectFiles, programs: frozenset[str]) -> None:
        self.project, self.programs = project, programs
        self.starts: list[DeploymentCommand] = []
        self.problem = ""
        self.code: list[Path] = []
        """The project's Python programs that are run."""
        self.user = 0
        self.own = project.console_scripts.keys()
        self.called: list[str] = []
        """Programs that scripts and shell lines call, and that could not be followed to a server."""
        self.for_development: list[str] = []
        """Frameworks' own servers for development that are started: place and call."""

    def follow(self, command: DeploymentCommand, depth: int = 0) -> None:
        """Record the servers that ``command`` starts, directly or through other programs."""
        command = self._unwrapped(command)
        if not command.words or depth >= _MOST_DEEP:
            return
        if command.words[0] in self.programs:
            self._note(command)
        elif PurePosixPath(command.words[0]).name in SHELLS or self._script(command, command.words[0]):
            self._ask(command, depth)
        else:
            path = program_file(command, self.project)
            if path is not None:
                self._follow_code(command, path)
            self._note_development(command, path)
            self.called.append(command.words[0])
            if PurePosixPath(command.words[0]).name in _BUILDERS:
                if any(map(_FOR_DEVELOPMENT.fullmatch, command.words[1:])):
                    return
                self.problem = self.problem or f"Stackrace does not read what {shlex.join(command.words)} starts"
            elif not self.starts and not self.problem and not depth:
                self._follow_inside(command)

    def _follow_code(self, command: DeploymentCommand, path: Path) -> None:
        """Record the servers that the Python program at ``path`` starts, or that it starts one in its own way."""
        # a package's program often is no more than an import
        modules = sorted({*path.parent.glob("*.py")} - {path}) if path.name == "__main__.py" else ()
        program, *words = command.words
        is_program = not PYTHON.fullmatch(PurePosixPath(program).name)
        has_verbs = is_program and any(not word.startswith("-") for word in words)
        for started in (started for file in (path, *modules) for started in started_by_code(command, file)):
            # nobody knows which subcommand of a program starts the server that reloads changed code
            if has_verbs and "--reload" in started.words:
                self.problem = self.problem or f"{path.relative_to(self.project.root)} {_BY_ITSELF}"
            else:
                self._note(started)
        if not self.starts and self._speaks_of_one([text_of(path)]):
            self.problem = self.problem or f"{path.relative_to(self.project.root)} {_BY_ITSELF}"
        self.code.append(path)

    def _note_development(self, command: DeploymentCommand, path: Path | None) -> None:
        program, *rest = command.words
        file, line, call = command.file, command.line, ""
        if PurePosixPath(program).name in APP_VARIABLES and "run" in rest:
            call = f"{PurePosixPath(program).name} run"
        elif "runserver" in rest:
            call = "runserver"
        elif path is not None and (found := development_call(path)):
            file, (line, call) = path, found
        if call:
            place = shown(file, self.project.root) + (f":{line}" if line else "")
            self.for_development.append(f"{place} starts a server for development ({call})")

    def _note(self, command: DeploymentCommand) -> None:
        # a loop may start the same again
        self.starts = [each for each in self.starts if each.words != command.words] + [command]

    def _follow_inside(self, command: DeploymentCommand) -> None:
        """Record a server among the arguments of an unknown program, such as a runner of several commands."""
        words = command.words
        place = next((place for place, word in enumerate(words) if self._program(word) in self.programs), None)
        if place:
            behind = takewhile(lambda word: word not in _ENDS, words[place + 1 :])
            wrappers = (*command.wrappers, PurePosixPath(words[0]).name)
            self._note(replace(command, words=(self._program(words[place]), *behind), wrappers=wrappers))
        else:
            self.problem = self.problem or self.unfollowed(command, words)

    def unfollowed(self, command: DeploymentCommand, words: Sequence[str]) -> str:
        """Return the problem that no file says what ``words`` start; empty if it serves no Python app."""
        name, path = PurePosixPath(words[0]).name, command.image or command.file
        is_image = command.image is not None or "file" in path.name.lower()
        if PYTHON.fullmatch(name) or name in _NO_SERVERS or name in _WRAPPERS:
            return ""
        if name not in self.own and not (is_image and _HAS_PYTHON.search(text_of(path))):
            return ""
        if is_development(command.document or path, self.project.root):
            return ""
        return UNTOLD.format(name)

    def _unwrapped(self, command: DeploymentCommand) -> DeploymentCommand:
        """Return the command behind its wrappers, with the variables that the wrappers set."""
        words, variables, wrappers = [*command.words], command.variables, command.wrappers
        while words:
            name = self._program(words[0])
            place = self._behind(command, words, name)
            if not place:
                words = self._of_python(words) if PYTHON.fullmatch(name) else words
                words[0] = name if name in self.programs else words[0]
                break
            variables |= {match[1]: match[2] for word in words[:place] if (match := _ASSIGNMENT.fullmatch(word))}
            kind = _WRAPPERS.get(name)
            wrappers += (name,) if kind == _AROUND else ()
            self.user = _SOMEBODY if kind == _AS_USER else self.user
            words = words[place:]
        return replace(command, words=tuple(words), environment=variables, defaults={}, wrappers=wrappers)

    def _behind(self, command: DeploymentCommand, words: Sequence[str], name: str) -> int:
        """Return the index in ``words`` of the program that the wrapper ``name`` starts; 0 if it is no wrapper."""
        if _ASSIGNMENT.fullmatch(words[0]):
            return 1
        is_run = _WRAPPERS.get(name) == _RUN
        is_wrapper = "run" in words if is_run else name in _WRAPPERS or _WAITS.fullmatch(name)
        if not is_wrapper or name in self.programs or self._script(command, words[0]):
            return 0
        if "--" in words[:-1]:
            return words.index("--") + 1
        places = range(words.index("run") + 1 if is_run else 1, len(words))
        return next((place for place in places if self._is_program(command, words[place])), 0)

    def _is_program(self, command: DeploymentCommand, word: str) -> bool:
        name = self._program(word)
        is_known = any(name in known for known in (self.programs, self.own, SHELLS, _WRAPPERS))
        return is_known or bool(PYTHON.fullmatch(name)) or self._script(command, word) is not None

    def _program(self, word: str) -> str:
        name = PurePosixPath(word).name
        plain = _VERSION.sub("", name)
        return plain if plain in self.programs else name

    def _of_python(self, words: list[str]) -> list[str]:
        """Return ``python -m gunicorn.app.wsgiapp`` and ``python /venv/bin/gunicorn`` as the program itself."""
        match python_words(words):
            case ["-m", module, *rest] if (package := module.partition(".")[0]) in self.programs:
                return [package, *rest]
            case [path, *rest] if (name := PurePosixPath(path).name) in self.programs:
                return [name, *rest]
        return words

    def _script(self, command: DeploymentCommand, word: str) -> Path | None:
        is_one = "/" in word or word.endswith(".sh") or word in command.copies
        return self._place(command).script(word) if is_one else None

    def _place(self, command: DeploymentCommand) -> Place:
        file, folder, copies = command.file, command.folder, command.copies
        return Place(project=self.project, file=file, folder=folder, copies=copies, user=self.user)

    def _ask(self, command: DeploymentCommand, depth: int) -> None:
        words, variables = command.words, command.variables
        # as in bash -lc
        is_line = len(words) > 2 and bool(_LINE.fullmatch(words[1])) and PurePosixPath(words[0]).name in SHELLS
        line = words[2] if is_line else ""
        is_simple = bool(line) and _SIMPLE.fullmatch(line)
        if is_simple and "$" not in line:
            self.follow(replace(command, words=_split(line)), depth + 1)
            return
        # services of several documents may start the same command
        place = (command.file, command.folder, _items(command.copies), self.user)
        question = (words, _items(variables), place, self.programs)
        heard = self.project.heard.get(question)
        if heard is None:
            heard = ask_shell(words, variables, self._place(command), self._may_start)
            self.project.heard[question] = heard
        if heard.is_refused and is_simple and len(words) == 3:
            plain = tuple(interpolated(word, variables) for word in _split(line))
            self.follow(replace(command, words=plain), depth + 1)
            return
        if not is_line and not heard.scripts and not depth and len(words) > 1:
            self.problem = self.problem or self.unfollowed(command, words[1:])
        before = len(self.starts)
        # a loop may call the same a thousand times
        for call in {(call.words, call.folder): call for call in heard.calls}.values():
            called = _located(command, call.words, heard.scripts, self.project.root)
            self.follow(
                replace(called, words=call.words, environment=call.variables, folder=call.folder), depth + 1
            )
        has_come = heard.is_late and len(self.starts) > before
        if not has_come and self._speaks_of_one((*words, *map(text_of, heard.scripts))):
            self.problem = self.problem or heard.problem or (_NAMED if not heard.calls else "")

    def _may_start(self, text: str) -> bool:
        """Tell whether ``text`` names one of the programs, or a program that may start one."""
        is_known = self._speaks_of_one([text]) or bool(_MAY_START.search(text))
        return is_known or any(word in self.own for word in _WORDS.findall(text))

    def _speaks_of_one(self, texts: Sequence[str]) -> bool:
        """Tell whether any of ``texts`` names one of the programs."""
        return any(program in text for text in texts for program in self.programs)


def _items(table: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(table.items()))


def _split(line: str) -> tuple[str, ...]:
    words = tuple(shlex.split(line))
    return words[1:] if words[:1] == ("exec",) else words


def _located(
    command: DeploymentCommand, words: Sequence[str], scripts: Sequence[Path], root: Path
) -> DeploymentCommand:
    """Return ``command`` with file and line of the script line most like ``words``; unchanged without one."""
    name = PurePosixPath(words[0]).name
    said = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    best, most = None, 0
    for script in scripts:
        for number, line in joined_lines(text_of(script), "#"):
            if said.search(line) and not line.startswith("#"):
                alike = 1 + sum(word in line for word in words[1:])
                if alike >= most:
                    best, most = (script, number), alike
    if best is None:
        return command
    # a platform's file stays the document: the platform adds front ends, whatever script the file names
    known_by = command.document or (command.file if is_platform(command.file, root) else None)
    return replace(command, file=best[0], line=best[1], document=known_by)
