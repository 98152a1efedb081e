"""The variables of a shell script, line by line: under a condition that nobody can tell, a value is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .shell_values import UNKNOWN, expanded, whole_words

__all__ = ["ScriptVariables"]

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_DEFAULT = re.compile(r"\$\{(\w+):?=([^{}]*)\}")
"""As ``: ${WORKERS:=3}`` has it."""
_VARIABLE = re.compile(r"\$\{?(\w+)(?::?-)?\}?")
_ENDS_WAY = frozenset({";;", ";&", ";;&"})
_SEPARATORS = frozenset({";", "&&", "||", "|", "&"}) | _ENDS_WAY
_OPENS = frozenset({"if", "case", "for", "while", "until", "select"})
_CLOSES = frozenset({"fi", "esac", "done"})
_STRUCTURE = _OPENS | _CLOSES | {"then", "do", "else", "elif", "{", "}"}
_TESTS = frozenset({"[", "[[", "test"})
_SUCCEEDS = frozenset({"cd", "export", "echo", "set", "true", ":"})


@dataclass(slots=True)
class _Block:
    """An ``if``, ``case`` or loop that is open."""

    before: dict[str, str]
    holds: bool | None
    """Whether the way at hand is gone; None where nobody can tell."""
    ways: list[dict[str, str]] = field(default_factory=list)
    """The variables at the end of each way that may be gone."""
    is_settled: bool = False
    """Whether one of the ways so far is gone in any case."""


class ScriptVariables:
    """Which variables a script has, as far as that can be known without running it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Start with the variables of ``environment``."""
        self._now = dict(environment)
        self._open: list[_Block] = []

    def known(self) -> dict[str, str]:
        """Return the variables as they are now, those that nobody can tell as UNKNOWN."""
        return dict(self._now)

    def read(self, words: Sequence[str]) -> None:
        """Take in one line."""
        joint, outcome = "", None
        for command, following in _commands(tuple(whole_words(words))):
            while command and command[0] in _STRUCTURE:
                self._structure(command.pop(0), command)
            if self._open and command and command[0].endswith(")") and "(" not in command[0]:
                # a pattern of case
                self._open[-1].holds = True if command.pop(0) == "*)" else None
            is_gone = {"&&": outcome, "||": None if outcome is None else not outcome}.get(joint, True)
            if is_gone is not False:
                self._assign(command, is_certain=is_gone is True)
                outcome = self._outcome(command)
            if following in _ENDS_WAY and self._open:
                self._end_way()
            joint = following

    def _structure(self, word: str, rest: list[str]) -> None:
        if word in _OPENS:
            self._open.append(_Block(dict(self._now), self._outcome(rest) if word == "if" else None))
            if word in ("case", "for", "select"):
                place = rest.index("in") + 1 if "in" in rest else len(rest)
                del rest[: place if word == "case" else len(rest)]
        elif word in ("else", "elif") and self._open:
            self._end_way()
            self._open[-1].holds = True if word == "else" else self._outcome(rest)
        elif word in _CLOSES and self._open:
            self._close()

    def _end_way(self) -> None:
        block = self._open[-1]
        if not block.is_settled and block.holds is not False:
            block.ways.append(self._now)
        block.is_settled |= block.holds is True
        block.holds = None
        self._now = dict(block.before)

    def _close(self) -> None:
        self._end_way()
        block = self._open.pop()
        ways = block.ways if block.is_settled else [*block.ways, block.before]
        for name in dict.fromkeys(name for way in ways for name in way):
            values = {way.get(name) for way in ways}
            value = next(iter(values)) if len(values) == 1 else None
            self._now[name] = UNKNOWN if value is None else value

    def _outcome(self, command: Sequence[str]) -> bool | None:
        """Tell whether a command succeeds, as ``[ -z "$NAME" ]`` does; None where nobody can tell."""
        match command:
            case [("[" | "[[" | "test"), ("-z" | "-n") as how, word, *rest] if rest in ([], ["]"], ["]]"]):
                name = _VARIABLE.fullmatch(word)
                value = expanded(self._now.get(name[1], ""), self._now) if name else None
                return None if value is None else (not value) == (how == "-z")
        is_plain = bool(command) and (command[0] in _SUCCEEDS or bool(_ASSIGNMENT.fullmatch(command[0])))
        return True if is_plain else None

    def _assign(self, command: Sequence[str], *, is_certain: bool) -> None:
        for name, value in _assigned(command):
            new = expanded(value, self._now)
            is_known = new is not None and (is_certain or self._now.get(name) == new)
            self._now[name] = new if new is not None and is_known else UNKNOWN
        for match in (found for word in command if (found := _DEFAULT.fullmatch(word))):
            if not self._now.get(match[1]):
                self._now[match[1]] = expanded(match[2], self._now) or UNKNOWN


def _commands(words: Sequence[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the simple commands of a line, each with what stands behind it."""
    command: list[str] = []
    for word in words:
        if word in _SEPARATORS:
            yield command, word
            command = []
        else:
            command.append(word)
    yield command, ""


def _assigned(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what a command assigns, if it does nothing else."""
    kept = [word for word in command if word not in ("export", "local", "readonly", "declare", "-x")]
    pairs = [_ASSIGNMENT.fullmatch(word) for word in kept]
    if all(pairs):
        yield from ((pair[1], pair[2]) for pair in pairs if pair)
