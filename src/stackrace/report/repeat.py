"""Race file and command that run a race again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from ..base.text import one_line
from ..base.units import DURATION
from ..measure.load import Load
from ..measure.workload import EVERY_PATH, RightAnswer, RightAnswers
from ..race.results.race import Race

COMMAND = "stackrace run race.toml"
"""Command that runs the race file; its seed gives the same shuffled order."""


def race_file(race: Race) -> str:
    """Return the race's question as a race file; the ``[app]`` part is the project's own."""
    budget = f'budget = "{_flag_duration(race.budget_s)}"\n' if race.budget_s else ""
    repeats = "" if race.repeats is None else f"repeats = {race.repeats}\n"
    exhaustive = "exhaustive = true\n" if race.exhaustive else ""
    twin = "" if race.twin or len(race.stacks) < 2 else "twin = false\n"
    return (
        f"# {one_line(race.app)}: keep the [app] part of your own race file\n"
        f"{_workloads(race)}\n{_load(race)}\n"
        f"[race]\nquestion = {_text(race.question.value)}\n"
        f'difference = "{race.difference * 100:g}%"\n'
        f"{budget}{repeats}{exhaustive}{twin}seed = {race.seed}\nstacks = {_lines(race.stacks)}\n"
    )


def _workloads(race: Race) -> str:
    if not race.workloads:
        return f"[workload]\n{_source(race.urls)}{_check(race.checks.get('', {}))}"
    tables = []
    for name, urls in race.workloads.items():
        stacks = f"stacks = {_lines(race.limits[name])}\n" if name in race.limits else ""
        tables.append(f"[workloads.{_toml_key(name)}]\n{_source(urls)}{stacks}{_check(race.checks.get(name, {}))}")
    return "\n".join(tables)


def _source(urls: Sequence[str]) -> str:
    """Return the key for URLs, or for the recorded session of a ``file:`` URL."""
    if len(urls) == 1 and urls[0].startswith("file:"):
        return f"session = {_text(unquote(urlsplit(urls[0]).path))}\n"
    return f"urls = [{', '.join(_text(url) for url in urls)}]\n"


def _check(rules: RightAnswers) -> str:
    if not rules:
        return ""
    if set(rules) == {EVERY_PATH}:
        return f"check = {_rule(rules[EVERY_PATH])}\n"
    pairs = (f"{_text(path)} = {_rule(rule)}" for path, rule in rules.items())
    return f"check = {{ {', '.join(pairs)} }}\n"


def _rule(rule: RightAnswer) -> str:
    return f"{{ contains = {_text(rule.text)} }}" if rule.text else _text(rule.likeness.value)


def _load(race: Race) -> str:
    levels = sorted({load.concurrency for load in race.loads})
    keep_alive = all(load.keep_alive for load in race.loads)
    timeouts = {load.timeout_s for load in race.loads} - {Load(concurrency=1).timeout_s}
    timeout = f'timeout = "{_flag_duration(max(timeouts))}"\n' if timeouts else ""
    # slices have no length of their own
    length = "" if race.repeats is None else _length(race.loads)
    kinds = {"silent": race.loads[0].silent, "idle": race.loads[0].idle} if race.loads else {}
    held = "".join(f"{kind} = {number}\n" for kind, number in kinds.items() if number)
    return f"[load]\nconcurrency = {levels}\nkeep_alive = {str(keep_alive).lower()}\n{timeout}{held}{length}"


def _length(loads: Sequence[Load]) -> str:
    numbers = {load.concurrency: load.requests for load in loads if load.requests is not None}
    if len(set(numbers.values())) == 1:
        return f"requests = {next(iter(numbers.values()))}\n"
    if numbers:
        pairs = (f'"{level}" = {number}' for level, number in numbers.items())
        return f"requests = {{ {', '.join(pairs)} }}\n"
    durations = {load.duration_s for load in loads if load.duration_s is not None}
    return f'duration = "{_flag_duration(max(durations))}"\n' if durations else ""


def _lines(stacks: Sequence[str]) -> str:
    return "[\n" + "".join(f"  {_text(stack)},\n" for stack in stacks) + "]"


def _flag_duration(seconds: float) -> str:
    return DURATION.format(seconds).replace(" ", "")


def _toml_key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else _text(name)


def _text(value: str) -> str:
    """Return ``value`` as a TOML basic string; JSON's escapes are a subset of TOML's."""
    return json.dumps(one_line(value), ensure_ascii=False)
