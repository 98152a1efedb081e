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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import repeat
from pathlib import Path, PurePosixPath

from ...base.process.deadline import LONGEST_S
from ...base.secrets import register_secrets
from .deployment_command import OPEN, text_of
from .place import Place

_SCRIPT = Path(__file__).with_name("private_root.py")
_LONGEST_S = 5.0
_FIRST, _STEP = 1_000_003, 97
"""First number that stands for an unknown value, and the step to the next; no other value looks like these."""
_OTHER = 2
"""Number for unknown values in a second run: words that differ between the two runs depend on unknown values."""
_OPEN = re.compile(r"\$\{(\w+)\?\}")
"""A variable that no file sets, as `deployment_command.interpolated` leaves it: a shell would fail there."""
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
    first, *compared = _ask(place, words, run, other) if bare else _ask(place, words, run)
    programs = {PurePosixPath(call.words[0]).name for call in first.calls}
    called = [name for name in unset if numbers[name] in programs]
    if called:
        # the variable stands for a wrapper of the server, and may be empty
        return ask_shell(words, {**given, **dict.fromkeys(called, "")}, place, of_interest)
    known = {**{number: f"${name}" for name, number in numbers.items()}, **first.sources}
    if first.is_refused or not known:
        return first
    second = compared[0] if compared else _ask(place, words, other)[0]
    pairs = _paired(first, second)
    if pairs is None:
        what = " and ".join(dict.fromkeys(known.values()))
        problem = f"what it starts hangs on {what}, which only running it would tell"
        # run again with these variables unset, as they are in the shell
        return replace(_ask(place, words, (variables, _FIRST, _STEP))[0], problem=problem, is_late=False)
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


def _ask(place: Place, words: Sequence[str], *runs: tuple[Mapping[str, str], int, int]) -> list[Heard]:
    """Run ``words`` once for each of ``runs``, in parallel: variables and two numbers for unknown values."""
    stamps = tuple(text_of(path) for path in place.scripts)
    asked = [json.dumps(_asked(place, words, *run), sort_keys=True) for run in runs]
    with ThreadPoolExecutor(len(runs)) as pool:
        return [_heard(place, answer) for answer in pool.map(_answered, asked, repeat(stamps))]


def _asked(
    place: Place, words: Sequence[str], variables: Mapping[str, str], first: int, step: int
) -> Mapping[str, object]:
    # a folder from the image is absolute
    cwd = str(place.root / place.folder)
    return {
        "folder": str(place.root),
        "places": place.places,
        "scripts": [str(path.relative_to(place.root)) for path in place.scripts],
        "programs": sorted(str(Path(cwd, name)) if "/" in name else name for name in place.programs),
        "tools": sorted(str(Path(cwd, name)) for name in place.tools),
        "argv": _placed(place, words),
        "env": {"HOME": "/root", **variables, "PATH": _PATH},
        "cwd": cwd,
        "user": place.user,
        "numbers": [first, step],
        "most_s": _LONGEST_S,
    }


def _placed(place: Place, words: Sequence[str]) -> list[str]:
    """Return the words with a script's path in place of its name, unless the name is a path in the place."""
    root = place.root
    path = place.project.named(words[0], [root / place.folder, root, place.file.parent])
    is_placed = any(f"{words[0]}/".startswith(f"{each}/") for each in place.places)
    if path is None or path not in place.scripts:
        return list(words)
    called = words[0] if is_placed else str(path)
    # a script without a shebang is run by the calling shell, which on platforms is bash
    return [called, *words[1:]] if text_of(path).startswith("#!") else ["bash", called, *words[1:]]


def _heard(place: Place, answer: Mapping[str, object]) -> Heard:
    if "error" in answer:
        problem = f"a shell cannot be asked here: {answer['error']}"
        return Heard(scripts=tuple(place.scripts), problem=problem, is_refused=True)
    calls, sources = [], {}
    for each in answer["calls"]:  # type: ignore[attr-defined]
        program, *words = each["argv"]
        if each["number"] is not None:
            said = " ".join([PurePosixPath(program).name, *words])
            sources[str(each["number"])] = f"$({said})"
        if each["is_program"]:
            variables = {name: value for name, value in each["env"].items() if name not in _DROPPED}
            register_secrets(variables)
            calls.append(_Call(words=(program, *words), variables=variables, folder=_inside(place, each["cwd"])))
    said = str(answer["said"]).strip().rpartition("\n")[2].strip()
    problem = ""
    if answer["is_late"]:
        problem = f"a trial of it, with a recorder in place of each program, does not end within {_LONGEST_S:g} s"
    elif not calls and (said or answer["code"]):
        last = re.sub(r"/\.stackrace/(real/)?", "", said)
        problem = f"it ends with {answer['code']} here, and starts nothing{f': {last}' if last else ''}"
    return Heard(
        calls=tuple(calls),
        scripts=tuple(place.scripts),
        problem=problem,
        is_late=bool(answer["is_late"]),
        sources=sources,
    )


def _inside(place: Place, folder: str) -> str:
    for above, name in sorted(place.places.items(), key=lambda pair: -len(pair[0])):
        if PurePosixPath(folder).is_relative_to(above):
            whole = os.path.normpath(PurePosixPath(name, PurePosixPath(folder).relative_to(above)))
            return "" if whole == "." else whole
    return folder


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
