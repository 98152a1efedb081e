"""Which servers a deployment's command starts in the end: behind wrappers, shells and scripts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path, PurePosixPath

from .code_starts import PYTHON, console_scripts, python_words, started_by_code
from .deployment_command import DeploymentCommand, interpolated, text_of
from .places import ProjectFiles, is_development, is_platform
from .shell import Place, ask_shell

__all__ = ["Start", "Started", "starts"]

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_RUN_BY = frozenset({
    "poetry", "pipenv", "uv", "pdm", "hatch", "rye", "conda", "mamba", "micromamba", "pixi", "dotenv", "doppler",
    "infisical",
})  # fmt: skip
"""Programs that start another one behind the word ``run``."""
_MAY_START = re.compile(rf"\b(py|{'|'.join(sorted(_RUN_BY))})")
"""Python, its programs, and what runs them."""
_AROUND = frozenset({
    "ddtrace-run", "newrelic-admin", "opentelemetry-instrument", "elasticapm-run", "scout-apm-run", "instana-run",
    "taskset", "numactl", "nice", "ionice", "chrt", "jemalloc.sh", "memray", "py-spy", "viztracer",
})  # fmt: skip
"""Programs around a server that change how it runs."""
_OTHER_USER = frozenset({"gosu", "su-exec", "sudo", "setpriv", "runuser", "s6-setuidgid", "chpst"})
_BEFORE = frozenset({
    "aws-vault", "catatonit", "chamber", "command", "coverage", "docker-init", "dockerize", "dumb-init", "env",
    "envconsul", "envdir", "exec", "nohup", "op", "setsid", "stdbuf", "time", "timeout", "tini", "with-contenv",
}) | _OTHER_USER  # fmt: skip
"""Programs that start another one and leave it as it is."""
_WAITS = re.compile(r"wait(-|_)?for.*|.*entrypoint.*")
"""What waits for something else first, or prepares an image of somebody else's."""
_NO_SERVERS = frozenset({
    "alembic", "apache2", "apache2ctl", "apachectl", "caddy", "celery", "cron", "django-admin", "dramatiq",
    "echo", "fastapi", "flask", "flower", "haproxy", "httpd", "huey_consumer", "jupyter", "manage.py", "mkdocs",
    "nginx", "node", "nox", "npm", "pnpm", "pytest", "rq", "rqworker", "sleep", "streamlit", "tail", "tox",
    "traefik", "true", "yarn",
})  # fmt: skip
"""What images start beside servers."""
_HAS_PYTHON = re.compile(r"\b(python|pip|uv|poetry)")
_SOMEBODY = 1000
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SIMPLE = re.compile(r"(?:[\w./:=,@%+-]|\$\w|\$\{\w+(:?-[\w./:-]*)?\}|'[^'\n]*'|\"[^\"`\\\n]*\"|[ \t])*")
"""Words that every shell takes as they stand, and variables, for where none can be asked."""
_VERSION = re.compile(r"-?3(\.\d+)?$")
_NAMED = "it names a server, and starts none with these words and variables"
_ENDS = frozenset({"&&", "||", "|||", ";", "&"})
"""What ends a command among the words of a program that starts several."""
_MOST_DEEP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start of a program that answers requests."""

    command: DeploymentCommand
    """Where it stands: the file and line of a script, where one starts it."""
    words: tuple[str, ...]
    """The program's name, and what stands behind it; what only running would tell has a ``$``."""
    variables: Mapping[str, str]
    """Those of the process."""
    folder: str = ""
    wrappers: tuple[str, ...] = ()
    """The programs around it that change how it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What a command starts."""

    starts: tuple[Start, ...] = ()
    """The last first."""
    problem: str = ""
    """Why it may be something else, or could not be asked."""


def starts(command: DeploymentCommand, project: ProjectFiles, programs: Collection[str]) -> Started:
    """Return which of ``programs`` the command starts in the ``project``, by its code, too.

    All commands of a project share one: its folders are walked once.
    """
    found = _Search(command=command, project=project, programs=frozenset(programs))
    found.follow(command.words, command.variables, command.folder, 0)
    own = [word for word in command.words if PurePosixPath(word).name in found.own]
    if own and not found.starts:
        found.problem = found.problem or found.unfollowed(own)
    return Started(starts=tuple(reversed(found.starts)), problem=found.problem)


class _Search:
    def __init__(self, *, command: DeploymentCommand, project: ProjectFiles, programs: frozenset[str]) -> None:
        self.command, self.project, self.programs = command, project, programs
        self.starts: list[Start] = []
        self.problem = ""
        self.wrappers: tuple[str, ...] = ()
        self.user = 0
        self.own = console_scripts(project.root).keys()

    def follow(self, words: Sequence[str], variables: Mapping[str, str], folder: str, depth: int) -> None:
        """Note what ``words`` start, by whatever they start in between."""
        before = self.wrappers
        words, variables = self._unwrapped(list(words), dict(variables))
        if words and depth < _MOST_DEEP:
            if words[0] in self.programs:
                self._note(words, variables, folder)
            elif PurePosixPath(words[0]).name in _SHELLS or self._script(words[0]):
                self._ask(words, variables, folder, depth)
            else:
                for started in started_by_code(self.command, words, self.project.root):
                    self.command, own = started, self.command
                    self._note(started.words, variables, folder)
                    self.command = own
                if not self.starts and not depth:
                    self._follow_inside(words, variables, folder)
        self.wrappers = before

    def _follow_inside(self, words: Sequence[str], variables: Mapping[str, str], folder: str) -> None:
        """Note what stands behind an unknown program that may start it, as a runner of several commands."""
        place = next((place for place, word in enumerate(words) if self._program(word) in self.programs), None)
        if place:
            self.wrappers += (PurePosixPath(words[0]).name,)
            behind = takewhile(lambda word: word not in _ENDS, words[place + 1 :])
            self._note([self._program(words[place]), *behind], variables, folder)
        else:
            self.problem = self.problem or self.unfollowed(words)

    def unfollowed(self, words: Sequence[str]) -> str:
        """Return why nobody knows what an image's program starts; empty for one that serves no app of Python's."""
        name, path = PurePosixPath(words[0]).name, self.command.image or self.command.file
        is_image = self.command.image is not None or "file" in path.name.lower()
        if PYTHON.fullmatch(name) or name in _NO_SERVERS:
            return ""
        if name not in self.own and not (is_image and _HAS_PYTHON.search(text_of(path))):
            return ""
        if is_development(self.command.document or path, self.project.root):
            return ""
        return f"nothing in the project says what {name} starts"

    def _unwrapped(self, words: list[str], variables: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """Return the words behind programs that only start others, and the variables that these set."""
        while words:
            name = self._program(words[0])
            if match := _ASSIGNMENT.fullmatch(words[0]):
                variables[match[1]] = match[2]
                words = words[1:]
                continue
            if PYTHON.fullmatch(name):
                return self._of_python(words), variables
            if name in _SHELLS or name in self.programs or self._script(words[0]):
                return [name if name in self.programs else words[0], *words[1:]], variables
            is_wrapper = name in _AROUND | _BEFORE or (name in _RUN_BY and "run" in words) or _WAITS.fullmatch(name)
            place = self._behind(words) if is_wrapper else None
            if place is None:
                return words, variables
            variables |= {match[1]: match[2] for word in words[1:place] if (match := _ASSIGNMENT.fullmatch(word))}
            self.wrappers += (name,) if name in _AROUND else ()
            self.user = _SOMEBODY if name in _OTHER_USER else self.user
            words = words[place:]
        return words, variables

    def _behind(self, words: Sequence[str]) -> int | None:
        """Return where the program stands that a wrapper starts."""
        if "--" in words[:-1]:
            return words.index("--") + 1
        first = words.index("run") + 1 if PurePosixPath(words[0]).name in _RUN_BY else 1
        return next((place for place in range(first, len(words)) if self._is_program(words[place], words)), None)

    def _is_program(self, word: str, words: Sequence[str]) -> bool:
        name = self._program(word)
        known = self.programs | self.own | _SHELLS | _AROUND | _BEFORE | _RUN_BY
        return name in known or bool(PYTHON.fullmatch(name)) or self._script(word) is not None

    def _program(self, word: str) -> str:
        """Return the program's own name, without the version that distributions put behind it."""
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

    def _script(self, word: str) -> Path | None:
        """Return the shell script of the project that ``word`` names."""
        is_one = "/" in word or word.endswith(".sh") or word in self.command.copies
        return self._place(self.command.folder).script(word) if is_one else None

    def _place(self, folder: str) -> Place:
        command = self.command
        return Place(project=self.project, file=command.file, folder=folder, copies=command.copies, user=self.user)

    def _ask(self, words: Sequence[str], variables: Mapping[str, str], folder: str, depth: int) -> None:
        is_line = PurePosixPath(words[0]).name in _SHELLS and words[1:2] == ["-c"] and len(words) > 2
        line = words[2] if is_line else ""
        is_simple = bool(line) and _SIMPLE.fullmatch(line)
        if is_simple and "$" not in line:
            self.follow(_split(line), variables, folder, depth + 1)
            return
        heard = ask_shell(words, variables, self._place(folder), self._may_start)
        if heard.is_refused and is_simple and len(words) == 3:
            self.follow([interpolated(word, variables) for word in _split(line)], variables, folder, depth + 1)
            return
        if not is_line and not heard.scripts and not depth and len(words) > 1:
            self.problem = self.problem or self.unfollowed(words[1:])
        before = len(self.starts)
        command = self.command
        # a loop may call the same a thousand times
        for call in {(call.words, call.folder): call for call in heard.calls}.values():
            self.command = _located(command, call.words, heard.scripts, self.project.root)
            self.follow(call.words, call.variables, call.folder, depth + 1)
        self.command = command
        has_come = heard.is_late and len(self.starts) > before
        if not has_come and self._speaks_of_one((*words, *map(text_of, heard.scripts))):
            self.problem = self.problem or heard.problem or (_NAMED if not heard.calls else "")

    def _may_start(self, text: str) -> bool:
        """Tell whether a text names what may start one of the programs: a script that only waits does not."""
        return self._speaks_of_one([text]) or bool(_MAY_START.search(text))

    def _speaks_of_one(self, texts: Sequence[str]) -> bool:
        """Tell whether one of the programs is named at all: other scripts are of no interest."""
        return any(program in text for text in texts for program in self.programs)

    def _note(self, words: Sequence[str], variables: Mapping[str, str], folder: str) -> None:
        start = Start(
            command=self.command,
            words=tuple(words),
            variables=variables,
            folder=folder,
            wrappers=self.wrappers,
        )
        # a loop may start the same again
        self.starts = [each for each in self.starts if each.words != start.words] + [start]


def _split(line: str) -> list[str]:
    words = shlex.split(line)
    return words[1:] if words[:1] == ["exec"] else words


def _located(
    command: DeploymentCommand, words: Sequence[str], scripts: Sequence[Path], root: Path
) -> DeploymentCommand:
    """Return ``command`` with the file and line of the script that calls ``words``, as far as its text shows it."""
    name = PurePosixPath(words[0]).name
    said = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    best, most = None, 0
    for script in scripts:
        for number, line in enumerate(text_of(script).splitlines(), 1):
            if said.search(line) and not line.lstrip().startswith("#"):
                alike = 1 + sum(word in line for word in words[1:])
                if alike >= most:
                    best, most = (script, number), alike
    if best is None:
        return command
    # a platform has front ends of its own, whichever script its file names
    known_by = command.document or (command.file if is_platform(command.file, root) else None)
    return replace(command, file=best[0], line=best[1], document=known_by)
