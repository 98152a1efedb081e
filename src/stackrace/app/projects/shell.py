"""Find the programs that a shell starts: the real shell runs where every program is a recorder.

There it can change nothing on this machine, see ``private_root``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import repeat
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from ...base.files import by_last_parts, is_file, is_folder, is_present, walk
from ...base.process.deadline import LONGEST_S
from ...base.secrets import register_secrets
from ..project_files import ProjectFiles
from .deployment_command import OPEN, text_of

_SCRIPT = Path(__file__).with_name("private_root.py")
_LONGEST_S = 5.0
_FIRST, _STEP = 1_000_003, 97
"""First number that stands for an unknown value, and the step to the next; no other value looks like these."""
_OTHER = 2
"""Number for unknown values in a second run: words that differ between the two runs depend on unknown values."""
_MOST_SCRIPTS = 40
_WORD = re.compile(r"(?<![\w./+~-])[\w./+~-]*\w")
_NAME = re.compile(r"[A-Za-z_][\w.+-]*")
_COMMAND = re.compile(
    r"(?:^|[;&|(`]|\b(?:exec|then|do|else|if|while|until|!)\s)[ \t]*(\.{0,2}/[\w./-]*\w)", re.MULTILINE
)
_GONE_TO = re.compile(r"\bcd\s+[\"']?(/[\w./-]*\w)")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_OPEN = re.compile(r"\$\{(\w+)\?\}")
"""A variable that no file sets, as `deployment_command.interpolated` leaves it: a shell would fail there."""
_DECIDED = re.compile(
    r"\$\{([A-Za-z_]\w*):?[-=+?]|-[nz]\s+\"?\$\{?([A-Za-z_]\w*)"
    r"|(?:^|[;&|(]|\b(?:exec|then|do|else)\s)[ \t]*\"?\$\{?([A-Za-z_]\w*)\}?\"?/",
    re.MULTILINE,
)
"""Places where a script handles an unset variable, or calls a program in a folder that the variable may name."""
_AROUND = re.compile(
    r"(?:^|[;&|(]|\b(?:exec|then|do|else)\s)[ \t]*((?:\"?\$\{?[A-Za-z_]\w*\}?\"?)+)[ \t]+[\w./$]", re.MULTILINE
)
"""Variables in front of a program, which may name a wrapper or be empty."""
_ASSIGNED = re.compile(
    r"(?:^|[\s;&|({])(?:export\s+|local\s+|readonly\s+|declare\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)\+?="
    r"|\bread\s+(?:-\w+\s+)*(\w+)|\bfor\s+(\w+)|\bgetopts\s+\S+\s+(\w+)",
    re.MULTILINE,
)
_SET = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=(.+)", re.MULTILINE)
_SOURCED = re.compile(r"(?:^|[;&|({]|\b(?:then|do|else)\b)[ \t]*(?:\.|source)[ \t]++([^;&|\n]+)", re.MULTILINE)
_OF_SHELLS = frozenset({
    "PWD", "OLDPWD", "HOME", "PATH", "USER", "HOSTNAME", "UID", "EUID", "RANDOM", "LINENO", "SECONDS", "IFS",
    "OPTARG", "OPTIND", "SHELL", "LANG", "TERM", "FUNCNAME", "PPID", "PIPESTATUS", "REPLY", "OSTYPE", "MACHTYPE",
    "DIRSTACK", "SHLVL", "TMPDIR", "BASH_SOURCE", "BASH", "BASH_VERSION", "BASHPID", "NF", "NR",
})  # fmt: skip
_DROPPED = ("PATH", "PWD", "OLDPWD", "SHLVL", "HOME", "_")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    words: tuple[str, ...]
    """Program and arguments; ``$(program)`` or ``$NAME`` stands for a value that only running would tell."""
    variables: Mapping[str, str]
    folder: str
    """Working directory, relative to the project's folder; the path in the image if it is not in the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Calls that a shell made, and the problem if there was one."""

    calls: tuple[_Call, ...] = ()
    """Calls in the order in which they were made."""
    scripts: tuple[Path, ...] = ()
    """The project's scripts that may have been run."""
    problem: str = ""
    """Why the shell could not be run, or what the calls depend on; empty without a problem."""
    is_late: bool = False
    """True if the shell did not end by itself, for example in a loop that restarts a server."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Programs whose output was unknown, by the number that stands for the output."""
    is_refused: bool = False
    """True if this machine offers no way to run a shell without risk."""


def unknown(text: str) -> bool:
    """Tell whether ``text`` contains a value that only running would tell."""
    return "$" in text


def _is_shell_script(text: str) -> bool:
    return text.startswith("#!") and bool(re.search(r"\b(ba|da|a|k)?sh\b", text.partition("\n")[0]))


def ask_shell(
    words: Sequence[str], variables: Mapping[str, str], place: Place, of_interest: Callable[[str], bool]
) -> Heard:
    """Run ``words``, which start a shell or a script, with ``variables`` in ``place``, and return the calls.

    Nothing is run if neither the words, nor the scripts and variables that they name, are ``of_interest``. Raises
    nothing: a failure is the ``problem`` of the result.
    """
    open_words = {name: OPEN for word in words for name in _OPEN.findall(word)}
    words, variables = [_OPEN.sub(r"${\1}", word) for word in words], {**open_words, **variables}
    if not place.read(words, variables, of_interest):
        return Heard()
    given, open_ones = variables, {name: value for name, value in variables.items() if unknown(value)}
    variables = {name: value for name, value in variables.items() if not unknown(value)}
    unset = place.bare(variables.keys() | open_ones.keys())
    bare = [*open_ones, *unset]
    numbers = {name: str(_FIRST + _STEP * number) for number, name in enumerate(bare)}
    # an unknown value may stand where a program is called
    place.programs.update(numbers.values())
    run = ({**variables, **numbers}, _FIRST + _STEP * len(bare), _STEP)
    other = ({**variables, **dict.fromkeys(bare, str(_OTHER))}, _OTHER, 0)
    # if both runs are surely needed, they run in parallel
    first, *compared = place.ask(words, run, other) if bare else place.ask(words, run)
    programs = {PurePosixPath(call.words[0]).name for call in first.calls}
    called = [name for name in unset if numbers[name] in programs]
    if called:
        # the variable stands for a wrapper of the server, and may be empty
        return ask_shell(words, {**given, **dict.fromkeys(called, "")}, place, of_interest)
    known = {**{number: f"${name}" for name, number in numbers.items()}, **first.sources}
    if first.is_refused or not known:
        return first
    second = compared[0] if compared else place.ask(words, other)[0]
    pairs = _paired(first, second)
    if pairs is None:
        what = " and ".join(dict.fromkeys(known.values()))
        problem = f"what it starts hangs on {what}, which only running it would tell"
        # run again with these variables unset, as they are in the shell
        return replace(place.ask(words, (variables, _FIRST, _STEP))[0], problem=problem, is_late=False)
    calls = (_compared(a, b, known, unset) for a, b in pairs)
    return replace(first, calls=tuple(calls))


def _shape(call: _Call) -> tuple[str, int]:
    return call.words[0], len(call.words)


def _paired(first: Heard, second: Heard) -> list[tuple[_Call, _Call]] | None:
    """Return each call of one run with its counterpart in the other; None if the runs call different programs.

    The order may differ, since some calls may run in the background. An endless loop is cut at different points.
    """
    left: dict[tuple[str, int], list[_Call]] = {}
    for call in reversed(second.calls):
        left.setdefault(_shape(call), []).append(call)
    pairs = [(call, same.pop()) for call in first.calls if (same := left.get(_shape(call)))]
    is_alike = len(pairs) == len(first.calls) == len(second.calls)
    is_alike |= first.is_late and second.is_late and left.keys() == {*map(_shape, first.calls)}
    return pairs if is_alike else None


def _compared(call: _Call, other: _Call, known: Mapping[str, str], unset: Sequence[str]) -> _Call:
    """Return ``call`` with each part that differs from ``other`` replaced by the name of the unknown value."""
    words = (_named(a, b, known) for a, b in zip(call.words, other.words, strict=True))
    others = other.variables
    variables = {name: _named(value, others.get(name, ""), known) for name, value in call.variables.items()}
    return replace(
        call,
        words=tuple(words),
        variables={name: value for name, value in variables.items() if name not in unset or value != f"${name}"},
    )


def _named(text: str, other: str, known: Mapping[str, str]) -> str:
    if text == other:
        return text
    named = re.sub("|".join(sorted(known, key=len, reverse=True)), lambda match: known[match[0]], text)
    if "$" in named:
        return named
    # the unknown value was used in a computation
    return text if not known else f"$(({', '.join(dict.fromkeys(known.values()))}))"


class Place:
    """File system that a command sees, with the paths of its image or machine.

    It contains the project at its places, its scripts, and recorders for all programs that the command names.
    """

    def __init__(
        self,
        *,
        project: ProjectFiles,
        file: Path,
        folder: str = "",
        copies: Mapping[str, str] = MappingProxyType({}),
        user: int = 0,
    ) -> None:
        """Take the command's ``file``, its working directory ``folder`` and the ``copies`` of its image, if any."""
        self.project, self.root = project, project.root
        self.file, self.folder, self.copies, self.user = file, folder, copies, user
        near = (file.parent, *file.parents[1:4])
        inside = [folder for folder in near if folder.is_relative_to(self.root)] or [self.root]
        # an image is built in the folder that has most of what it copies
        brought = [source.lstrip("/") for source in copies.values()]
        self.contexts = sorted(inside, key=lambda folder: -sum(is_present(folder / each) for each in brought))
        self.places: dict[str, str] = {}
        """Paths relative to the project, by their path in the place."""
        self.scripts: dict[Path, None] = {}
        self.programs: set[str] = set()
        self.tools: set[str] = set()
        self.texts: list[str] = []
        """The command's words and the scripts."""
        for target, source in copies.items():
            self._copy(target, source)

    def script(self, word: str) -> Path | None:
        """Return the project's shell script at the path ``word`` of the place; None if there is no such script."""
        path = self.named(word)
        return path if path in self.scripts else None

    def read(self, words: Sequence[str], variables: Mapping[str, str], of_interest: Callable[[str], bool]) -> bool:
        """Collect the programs and scripts that ``words``, and the files and variables named in them, may call.

        Return whether any text that was read is ``of_interest``.
        """
        self.texts, texts, known, asked = [*words], [*words], set(), set()
        values = [*variables.items()]
        for text in texts:
            named = self._read_text(text) if len(self.scripts) < _MOST_SCRIPTS else []
            sourced = {PurePosixPath(word).name for line in _SOURCED.findall(text) for word in _WORD.findall(line)}
            for path in (path for path in dict.fromkeys(named) if path not in known):
                known.add(path)
                content = text_of(path)
                if path in self.scripts or path.name in sourced:
                    self.texts.append(content)
                    texts.append(content)
                # variables may come from any file
                values += _SET.findall(content)
            asked |= {*_VARIABLE.findall(text)}
            texts += [value for name, value in values if name in asked]
            values = [(name, value) for name, value in values if name not in asked]
        if not any(map(of_interest, texts)):
            return False
        for folder in (self.folder, *(each for text in self.texts for each in _GONE_TO.findall(text))):
            self._folder(folder)
        self.places.setdefault(str(self.root), ".")
        for value in variables.values():
            self._read_text(value)
        return True

    def bare(self, known: AbstractSet[str]) -> list[str]:
        """Return the variables that the texts read but neither set nor check, and that are not ``known``."""
        text = "\n".join(self.texts)
        matches = [match for found in (_DECIDED, _ASSIGNED) for match in found.finditer(text)]
        said = {name for match in matches for name in match.groups()}
        read = dict.fromkeys(_VARIABLE.findall(text))
        said |= {name for words in _AROUND.findall(text) for name in _VARIABLE.findall(words)}
        return [name for name in read if name not in said | known | _OF_SHELLS]

    def ask(self, words: Sequence[str], *runs: tuple[Mapping[str, str], int, int]) -> list[Heard]:
        """Run ``words`` once for each of ``runs``, in parallel: variables and two numbers for unknown values."""
        stamps = tuple(text_of(path) for path in self.scripts)
        asked = [json.dumps(self._asked(words, *run), sort_keys=True) for run in runs]
        with ThreadPoolExecutor(len(runs)) as pool:
            return [self._heard(answer) for answer in pool.map(_answered, asked, repeat(stamps))]

    def _asked(
        self, words: Sequence[str], variables: Mapping[str, str], first: int, step: int
    ) -> Mapping[str, object]:
        # a folder from the image is absolute
        cwd = str(self.root / self.folder)
        return {
            "folder": str(self.root),
            "places": self.places,
            "scripts": [str(path.relative_to(self.root)) for path in self.scripts],
            "programs": sorted(str(Path(cwd, name)) if "/" in name else name for name in self.programs),
            "tools": sorted(str(Path(cwd, name)) for name in self.tools),
            "argv": self._placed(words),
            "env": {"HOME": "/root", **variables, "PATH": _PATH},
            "cwd": cwd,
            "user": self.user,
            "numbers": [first, step],
            "most_s": _LONGEST_S,
        }

    def _placed(self, words: Sequence[str]) -> list[str]:
        """Return the words with a script's path in place of its name, unless the name is a path in the place."""
        root = self.root
        path = self.project.named(words[0], [root / self.folder, root, self.file.parent])
        is_placed = any(f"{words[0]}/".startswith(f"{place}/") for place in self.places)
        if path is None or path not in self.scripts:
            return list(words)
        place = words[0] if is_placed else str(path)
        # a script without a shebang is run by the calling shell, which on platforms is bash
        return [place, *words[1:]] if text_of(path).startswith("#!") else ["bash", place, *words[1:]]

    def _heard(self, answer: Mapping[str, object]) -> Heard:
        if "error" in answer:
            problem = f"a shell cannot be asked here: {answer['error']}"
            return Heard(scripts=tuple(self.scripts), problem=problem, is_refused=True)
        calls, sources = [], {}
        for each in answer["calls"]:  # type: ignore[attr-defined]
            program, *words = each["argv"]
            if each["number"] is not None:
                said = " ".join([PurePosixPath(program).name, *words])
                sources[str(each["number"])] = f"$({said})"
            if each["is_program"]:
                variables = {name: value for name, value in each["env"].items() if name not in _DROPPED}
                register_secrets(variables)
                calls.append(_Call(words=(program, *words), variables=variables, folder=self._inside(each["cwd"])))
        said = str(answer["said"]).strip().rpartition("\n")[2].strip()
        problem = ""
        if answer["is_late"]:
            problem = f"it does not end within {_LONGEST_S:g} s"
        elif not calls and (said or answer["code"]):
            last = re.sub(r"/\.stackrace/(real/)?", "", said)
            problem = f"it ends with {answer['code']} here, and starts nothing{f': {last}' if last else ''}"
        return Heard(
            calls=tuple(calls),
            scripts=tuple(self.scripts),
            problem=problem,
            is_late=bool(answer["is_late"]),
            sources=sources,
        )

    def _inside(self, folder: str) -> str:
        for place, name in sorted(self.places.items(), key=lambda pair: -len(pair[0])):
            if PurePosixPath(folder).is_relative_to(place):
                whole = os.path.normpath(PurePosixPath(name, PurePosixPath(folder).relative_to(place)))
                return "" if whole == "." else whole
        return folder

    def _copy(self, target: str, source: str) -> None:
        """Record that an image has ``source`` of the project at ``target``."""
        if not target.startswith("/") or "$" in target:
            return
        for context in self.contexts:
            path = Path(os.path.normpath(context / source.lstrip("/")))
            if path.is_relative_to(self.root) and is_present(path):
                place = PurePosixPath(target)
                known = self.places.get(str(place))
                is_inside = target.endswith("/") or str(place) == self.folder
                is_inside = is_inside or (known is not None and is_folder(self.root / known))
                place /= path.name if is_inside and is_file(path) else ""
                self.places[str(place)] = str(path.relative_to(self.root))
                return

    def _folder(self, place: str) -> None:
        """Record the project's folder for a folder of the image, by its last parts; else the project itself."""
        if place.startswith("/") and not any(PurePosixPath(place).is_relative_to(each) for each in self.places):
            inside = by_last_parts(place, [self.root], is_folder)
            self.places[place] = str(inside.relative_to(self.root)) if inside else "."

    def _read_text(self, text: str) -> list[Path]:
        """Record the programs and scripts that ``text`` names, and return the project's files that it names."""
        found: dict[str, list[Path]] = {}
        for word in dict.fromkeys(_WORD.findall(text)):
            near = [
                self.root / name
                for place, name in self.places.items()
                if place.endswith(f"/{word}") or place.startswith(f"{word}/")
            ]
            if _NAME.fullmatch(word) and not word.endswith(".sh"):
                self.programs.add(word)
            elif path := self.named(word):
                # a loop may run all files of a folder, though hardly of the project or the build folder
                inside = () if path in (*self.contexts, self.root) else next(walk(path), ("", (), ()))[2]
                near += [path, *(path / name for name in sorted(inside)[:_MOST_SCRIPTS])]
            found[word] = [path for path in near if is_file(path)]
            self.scripts |= dict.fromkeys(filter(_is_script, found[word]))
        # a program that is not in the project may be made with the image
        self.programs |= {word for word in _COMMAND.findall(text) if not found.get(word)}
        return [path for paths in found.values() for path in paths]

    def named(self, word: str) -> Path | None:
        """Record the program, script or folder that ``word`` names; return its path in the project, else None."""
        root, parts = self.root, PurePosixPath(word)
        is_program = parts.parent.name in ("bin", "sbin")
        path = self.copied(word)
        if path is None and (path := self.project.named(word, [*self.contexts, root])):
            if is_program and not _is_script(path):
                path = None
            elif parts.is_absolute():
                self.places[str(parts)] = str(path.relative_to(root))
        if path is not None and is_file(path) and _is_script(path):
            self.scripts.setdefault(path)
        elif is_program and self._has_scripts(parts.parent):
            self.programs.add(word)
        elif is_program:
            self.tools.add(str(parts.parent))
            self.programs.add(parts.name)
        elif path is not None and is_file(path) and (os.access(path, os.X_OK) or text_of(path).startswith("#!")):
            self.programs.add(word)
        return path if path is not None and is_present(path) else None

    def _has_scripts(self, folder: PurePosixPath) -> bool:
        inside = [] if folder.is_absolute() else [each / folder for each in self.contexts]
        return any(is_folder(each) and not is_present(each / "activate") for each in inside)

    def copied(self, word: str) -> Path | None:
        """Return the project's path for a path in the image, even if no file is there; None if none matches."""
        whole = os.path.normpath(PurePosixPath(self.folder or "/", word))
        if whole in self.places and is_file(self.root / self.places[whole]):
            return self.root / self.places[whole]
        for place, name in sorted(self.places.items(), key=lambda pair: -len(pair[0])):
            if PurePosixPath(word).is_relative_to(place):
                inside = self.root / name / PurePosixPath(word).relative_to(place)
                # a base image may set a WORKDIR, which is unknown here
                if place != "/" or is_present(inside):
                    return inside
        return None


def _is_script(path: Path) -> bool:
    text = text_of(path)
    return _is_shell_script(text) or (path.suffix == ".sh" and not text.startswith("#!"))


@lru_cache(maxsize=8192)
def _answered(asked: str, stamps: tuple[str, ...]) -> Mapping[str, object]:
    """Return the answer of ``private_root``; ``stamps``, the scripts' texts, keep answers of old texts apart."""
    try:
        command = [sys.executable, "-I", "-S", str(_SCRIPT)]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, cwd="/", timeout=2 * LONGEST_S)
        answer: Mapping[str, object] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"error": str(error) or "no answer"}
    return answer
