"""Sentences of every report about the race itself: why it ended, what it could show, what each stack had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from ...base.numbers import NOTHING, connections, duration, mebibytes, milliseconds, percent
from ...measure.launch import EndedBy
from ...measure.load import HeldConnections, Load
from ...measure.resources import Enforcement
from ...measure.workload import EVERY_PATH, Likeness, RightAnswers
from ...race.results.race import Ending, Race
from ...race.results.standing import Level, Standing
from ...stacks.stack import original_path
from ...validity.stack_work import debug_on
from ..figures import listed
from .findings import shortfall_words
from .load_sentences import held_words

VOID = "The race is void: these figures show what was measured, not who is better."
"""Sentence beside the figures of a void race."""

_MOST_RESOLUTION = 1.0
"""The largest resolution worth a number: beyond it, the race could not even prove that a stack is twice as fast."""

_LEAST_SHARE = 0.005
"""The smallest share of a race's time worth mentioning."""

_ENFORCED = {
    Enforcement.CGROUP: "a control group",
    Enforcement.AFFINITY: "CPU affinity",
}

_OF_MEMORY = {
    Enforcement.CGROUP: "",
    Enforcement.AFFINITY: " and a resource limit for each process",
}

_LIKENESSES = {
    Likeness.STATUS: "the right status",
    Likeness.LENGTH: "the status and length of the app's own",
    Likeness.EXACT: "every byte of the app's own",
    Likeness.CONTAINS: "the right status and the text",
}

_ENDINGS = {
    Ending.ANSWERED: "The race ended because its question is answered.",
    Ending.BUDGET: "The race ended with its budget.",
    Ending.COMPLETED: "The race ended because all its runs were made.",
    Ending.EXHAUSTED: "The race ended because nothing was left to race.",
    Ending.HOPELESS: "The race ended before its budget was spent, as the rest was unlikely to decide.",
    Ending.INTERRUPTED: "The race was interrupted. This is what it measured.",
    None: "The race has not ended, or was killed. This is what it measured.",
}


def ending(race: Race, standing: Standing) -> str:
    """Return the sentences about why the race ended, and whether its question is answered."""
    if not standing.verdict.valid and race.ending is Ending.ANSWERED:
        return "The race ended because its question seemed to be answered."
    sentence = _ENDINGS[race.ending]
    last = race.launches[-1].shortfall if race.launches else None
    if race.ending is Ending.INTERRUPTED and last is not None and last.ended_by is EndedBy.ERROR:
        sentence = f"The{shortfall_words(last).removeprefix('the')}. This is what it measured."
    if standing.settled or race.ending is Ending.ANSWERED:
        return sentence
    return f"{sentence} Its question is still open."


def notes(race: Race, standing: Standing) -> tuple[str, ...]:
    """Return the notes below every report: the differences it could show, and the conditions of the race."""
    sentences = (
        resolution(race, standing), _limits_note(standing), _ratios_note(standing), _twin(race),
        _held_sentence(race), _resources(race), *_network(race), _resumed(race), _duty(race), *_right_answers(race),
        *race.notes,
    )  # fmt: skip
    return tuple(sentence for sentence in sentences if sentence)


def versions(race: Race, *, short: bool = False) -> str:
    """Name the version of every server and interpreter; of several, unless ``short``, which stacks have each."""
    found: dict[str, dict[str, list[str]]] = {}
    for facts in race.facts:
        for name, version in facts.versions.items():
            found.setdefault(name, {}).setdefault(version, []).append(facts.stack)
    ordered = sorted(found, key=lambda name: name in _INTERPRETERS)
    alike = [version_words({name: next(iter(found[name]))}) for name in ordered if len(found[name]) == 1]
    several = [
        listed([f"{version_words({name: v})}{'' if short else f' ({listed(whose)})'}" for v, whose in each.items()])
        for name, each in found.items()
        if len(each) > 1
    ]
    return f"Versions: {', '.join([*alike, *several])}." if found else ""


_INTERPRETERS = {"python": "Python", "ruby": "Ruby"}


def version_words(versions: Mapping[str, str]) -> str:
    """Write versions by name as ``nginx 1.22.1, Python 3.11.2``."""
    return ", ".join(
        f"{_INTERPRETERS.get(name, name)} {version or '(version unknown)'}" for name, version in versions.items()
    )


def resolution(race: Race, standing: Standing) -> str:
    """Return the sentence about the differences that this race can show, and those that do not matter to it."""
    matters = f"those below {percent(race.difference)} do not matter to it"
    if standing.resolution is None:
        return "Too few launches for limits yet."
    if standing.resolution > _MOST_RESOLUTION:
        return "This race could not even prove that a stack is twice as fast as another."
    return f"This race could not prove differences below {percent(standing.resolution)}; {matters}."


def _twin(race: Race) -> str:
    if not race.twin:
        return ""
    return f"{race.twin} ran twice, under two names, as a check on the race."


def _held_sentence(race: Race) -> str:
    found: dict[str, list[HeldConnections]] = {}
    for launch in race.launches:
        for slice_ in launch.slices:
            if slice_.result.held is not None:
                found.setdefault(original_path(launch.stack), []).append(slice_.result.held)
    words = held_words(race.loads[0], found) if found else ""
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _resources(race: Race) -> str:
    allotted = race.cores
    had = _cores(allotted.stack_cores)
    enforced = _ENFORCED[allotted.enforced]
    if allotted.memory_bytes is not None:
        had += f" and had at most {mebibytes(allotted.memory_bytes)} MiB of memory"
        enforced += _OF_MEMORY[allotted.enforced]
    same = "the same core" + ("" if len(allotted.stack_cores) == 1 else "s")
    engine = same if allotted.stack_cores == allotted.generator_cores else _cores(allotted.generator_cores)
    on = f" of {listed(hosts)}" if (hosts := _machines(race)) else ""
    sent = f"The load engine ran on {engine}."
    if senders := _senders(race):
        away = [f"{name} ({milliseconds(way_s)} ms away)" for name, way_s in senders.items()]
        sent = f"The load came from {listed(away)}; latencies include that way."
    return f"Each stack ran on {had}{on} (set by {enforced}). {sent}"


def _network(race: Race) -> Iterator[str]:
    """Yield a sentence about the speed and the losses of each network path between an engine and a host."""
    for path in race.network:
        trip = f"{milliseconds(path.round_trip_s)} ms there and back"
        trips = f"{trip} (p99 {milliseconds(path.round_trip_p99_s)} ms)"
        there = f"{mebibytes(path.engine_takes_bytes_per_s)} MiB/s to {path.engine}"
        back = f"{mebibytes(path.engine_sends_bytes_per_s)} MiB/s to {path.host}"
        again = f"under such a load {percent(path.loss)} of the segments were sent again"
        yield f"Between {path.engine} and {path.host} before the race: {trips}, {there}, {back}; {again}."


def _machines(race: Race) -> tuple[str, ...]:
    return tuple(sorted({launch.machine for launch in race.launches} - {""}))


def _senders(race: Race) -> dict[str, float]:
    """Return the machines that sent the load, with their round trip in seconds; none for the stacks' own."""
    ways_s: dict[str, float] = {}
    for share in (s for launch in race.launches for slice_ in launch.slices for s in slice_.result.engines):
        ways_s[share.name] = max(share.round_trip_s, ways_s.get(share.name, 0.0))
    return dict(sorted(ways_s.items()))


def heading(level: Level) -> str:
    """Return the heading of a level's standing."""
    clean = "" if any(row.errors for row in level.rows) else ", no errors"
    return f"Standing {level.where}, latencies in ms{clean}"


def _cores(numbers: Sequence[int]) -> str:
    return f"core{'' if len(numbers) == 1 else 's'} {listed(numbers) or NOTHING}"


def _resumed(race: Race) -> str:
    if not race.resumed:
        return ""
    often = {1: "once", 2: "twice"}.get(race.resumed, f"{race.resumed} times")
    cut = sum(launch.cut_short for launch in race.launches)
    left_out = f"; left out: {of(cut, 'launch')} of interrupted blocks, which were repeated" if cut else ""
    return f"The race was resumed {often}{left_out}."


def _right_answers(race: Race) -> Iterator[str]:
    for name, rules in race.checks.items():
        listed = "; ".join(f"{_pages(path, rules)}: {_LIKENESSES[rule.likeness]}{_quoted(rule.text)}"
                           for path, rule in rules.items())  # fmt: skip
        yield f"What a right answer {f'of {name} ' if name else ''}had to have: {listed}."


def _pages(path: str, rules: RightAnswers) -> str:
    if path != EVERY_PATH:
        return path
    return "all pages" if len(rules) == 1 else "all other pages"


def _quoted(text: str) -> str:
    return f" \N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}" if text else ""


def _duty(race: Race) -> str:
    spent = race.duty
    if spent is None or spent.total_s <= 0:
        return ""
    parts = {
        "slices": spent.slices_s,
        "slices at other levels": spent.sides_s,
        "starting": spent.starting_s,
        "warming up": spent.warming_s,
        "load and rest before slices": spent.rewarming_s + spent.resting_s,
        "waiting until other programs left its cores": spent.waiting_s,
        "the probe around slices": spent.probing_s,
        "stopping": spent.stopping_s,
        "calibrating the load engine": spent.calibrating_s,
        "all else": spent.other_s,
    }
    shares = {what: seconds / spent.total_s for what, seconds in parts.items()}
    listed = ", ".join(f"{percent(share)} {what}" for what, share in shares.items() if share >= _LEAST_SHARE)
    since = " since the last interruption" if race.resumed else ""
    return f"Where the {duration(spent.total_s)}{since} went: {listed}."


def _limits_note(standing: Standing) -> str:
    if standing.resolution is None:
        return ""
    rows = [row for level in standing.levels for row in level.rows]
    if any(row.ratio.low is None for row in rows):
        none = " A stack without a tier left the race." if any(row.tier is None for row in rows) else ""
        return f"Limits are missing where launches were too few, or limits too wide to tell anything.{none}"
    return ""


def _ratios_note(standing: Standing) -> str:
    if standing.resolution is None:
        return ""
    return "A stack is in a later tier if its limits are below 1. With 95 % confidence no such order is false."


def of(number: int, thing: str) -> str:
    """Return a number of things: ``1 launch``, ``3 launches``."""
    plural = f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number} {thing if number == 1 else plural}"


_DEBUG = (
    "Debug mode is on: these are not the figures of production. Set DEBUG = False, FLASK_DEBUG=0, or debug=False, "
    "and race again."
)

_SHORT_ENDINGS = {
    Ending.ANSWERED: "answered",
    Ending.BUDGET: "budget spent",
    Ending.COMPLETED: "all runs made",
    Ending.EXHAUSTED: "nothing left to race",
    Ending.HOPELESS: "given up",
    Ending.INTERRUPTED: "interrupted",
    None: "not ended",
}

_MOST_URLS = 3


def debug(race: Race) -> str:
    """Return the sentence that the app ran in debug mode; empty if it did not."""
    found = any(
        finding.check == debug_on.declaration.id
        for launch in race.launches
        for slice_ in launch.slices
        for finding in slice_.verdict.findings
    )
    return _DEBUG if found else ""


def raced(race: Race) -> str:
    """Return the sentences about the raced app and URLs, the number of launches, the time, and the machine."""
    app = f"{race.app} ({race.entry})" if race.entry else race.app
    launches = of(sum(not launch.cut_short for launch in race.launches), "launch")
    took = duration(race.elapsed_s)
    runs = "" if race.repeats is None else f"{of(race.repeats, 'run')} of each, "
    size = f"{of(len(race.stacks), 'stack')} at {_levels(race.loads)}, {runs}{launches} in {took}"
    return f"Raced: {app}, {_asked(race)}: {size} ({_SHORT_ENDINGS[race.ending]}). {_machine(race)}"


_MOST_LEVELS = 6


def _levels(loads: Sequence[Load]) -> str:
    usual = all(load.pace == f"c={load.concurrency}" for load in loads)
    held = f" beside {loads[0].held} ones" if loads and loads[0].held else ""
    if usual and len(loads) == 1:
        return connections(loads[0].concurrency) + held
    names = [str(load.concurrency) if usual else load.pace for load in loads[:_MOST_LEVELS]]
    more = [f"{len(loads) - _MOST_LEVELS} more"] if len(loads) > _MOST_LEVELS else []
    return listed([*names, *more]) + (" connections" if usual else "") + held


def _asked(race: Race) -> str:
    if not race.workloads:
        return _urls(race.urls)
    names = [f"{name} ({_urls(urls[:1])})" if urls else name for name, urls in race.workloads.items()]
    return _first_few(names)


def _urls(urls: Sequence[str]) -> str:
    return _first_few([_url(url) for url in urls])


def _url(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name if url.startswith("file:") else url


def _first_few(names: Sequence[str]) -> str:
    more = [f"{len(names) - _MOST_URLS} more"] if len(names) > _MOST_URLS else []
    return listed([*names[:_MOST_URLS], *more])


def _machine(race: Race) -> str:
    hosts = _machines(race)
    system, *_ = race.host.system.split(" (")  # without its code name
    where = listed(hosts) if hosts else f"{race.host.cpu}, {system}"
    stacks, engine = _cores(race.cores.stack_cores), _cores(race.cores.generator_cores)
    return f"Stacks on {stacks}, load engine on {engine} of {where}."


def left_out(race: Race) -> str:
    """Return the sentence about the stacks that could not be raced here, grouped by reason; empty if all could."""
    by_reason = sorted(race.left_out, key=lambda each: each.reason)
    groups = (
        f"{' and '.join(each.stack for each in group)} ({reason})"
        for reason, group in groupby(by_reason, key=lambda each: each.reason)
    )
    return f"Left out: {'; '.join(groups)}." if race.left_out else ""
