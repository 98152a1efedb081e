"""The configurations of a stack: every setting that may be tuned, in every value that means something there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from ...base.errors import InputError, StackError
from ...base.numbers import count
from ...base.text import did_you_mean
from ...stacks.stack import BEHIND_ANOTHER, Hop, Interface, ServerSpec, Setting, SettingValue, Stack
from ...stacks.stack_path import parse_stack, setting_text, setting_value, stack_text
from ...stacks.tunable import Formula
from .model import Knob

_MOST = 2000
"""More configurations than this are refused: nobody can say what was tried."""

_ALL = "all"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads paths, for what an app offers."""

    specs: Mapping[str, ServerSpec]
    offered: frozenset[Interface]
    folder: Path | None

    def with_settings(self, stack: Stack, chosen: Mapping[tuple[int, str], SettingValue]) -> Stack:
        hops = [
            _with(hop, stack.interface, {n: v for (i, n), v in chosen.items() if i == index})
            for index, hop in enumerate(stack.hops)
        ]
        return parse_stack(stack_text(hops), self.specs, self.offered, self.folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What is tuned of a stack, and all its configurations."""

    stack: Stack
    """As it was given."""
    reader: _Reader
    cores: int
    knobs: tuple[Knob, ...]
    stacks: tuple[Stack, ...]
    settings: Mapping[str, tuple[str | None, ...]]
    """By path of each of ``stacks`` its value of each knob, None where the knob means nothing there."""
    reserve: frozenset[str] = frozenset()
    """The paths of those with a value beyond the usual ones of a knob."""


def _with(hop: Hop, interface: Interface, given: Mapping[str, SettingValue]) -> Hop:
    """Return ``hop`` with what is ``given``, without what then does nothing."""
    idle = hop.spec.idle({**hop.resolved(interface), **given})
    chosen = {**hop.chosen, **given}
    return replace(hop, chosen={name: value for name, value in chosen.items() if name not in idle})


def space_of(
    stack: Stack,
    specs: Mapping[str, ServerSpec],
    offered: frozenset[Interface],
    *,
    cores: int,
    vary: Sequence[str] = (),
    saves_memory: bool = False,
    folder: Path | None = None,
) -> Space:
    """Return the configurations of ``stack`` on so many ``cores``.

    Without ``vary``, the tunable settings of the server that hosts the app, but for those that the path itself
    gives. ``vary`` names settings (``threads``), those of one server (``SERVER.workers``, ``SERVER``) or ``all``;
    named ones are tuned even if the path gives them. It may give the values to try, too: ``threads=8,16,32``.
    ``saves_memory`` adds settings that only save memory. Raises InputError for a name that is no tunable setting,
    for a value that it does not take, and where nothing is left to tune.
    """
    names = [word.partition("=")[0] for word in vary]
    chosen = _chosen(stack, names, saves_memory)
    asked = _asked(stack, chosen, vary)
    tried = [
        (index, setting, asked.get((index, setting.name)) or _tried(stack, index, setting, cores))
        for index, setting in chosen
    ]
    knobs = tuple(_knob(stack, one, cores, widens=(one[0], one[1].name) not in asked) for one in tried)
    if math.prod(len(values) for _, _, values in tried) > 20 * _MOST:
        raise InputError(_too_many(knobs))
    reader = _Reader(specs, offered, folder)
    stacks: dict[tuple[object, ...], Stack] = {}
    settings: dict[str, tuple[str | None, ...]] = {}

    def take(all_values: Iterable[Sequence[SettingValue]]) -> None:
        for values in all_values:
            one = _configuration(stack, tried, values, reader)
            if one is not None and one[0].identity not in stacks:
                stacks[one[0].identity] = one[0]
                settings[one[0].path] = one[1]

    take(product(*(values for _, _, values in tried)))
    if len(stacks) > _MOST:
        raise InputError(_too_many(knobs))
    usual = len(stacks)
    beyond = [[*values, *map(int, (*k.below, *k.above))] for (_, _, values), k in zip(tried, knobs, strict=True)]
    if math.prod(map(len, beyond)) <= _MOST:
        take(product(*beyond))
    space = _without_idle(
        Space(
            stack=stack,
            reader=reader,
            cores=cores,
            knobs=knobs,
            stacks=tuple(stacks.values()),
            settings=settings,
            reserve=frozenset([*settings][usual:]),
        ),
        names,
    )
    if usual < 2:
        raise InputError(_nothing(stack))
    return space


def _knob(stack: Stack, tried: tuple[int, Setting, tuple[SettingValue, ...]], cores: int, *, widens: bool) -> Knob:
    """Return a knob with its values, and where it ``widens``, those beyond them."""
    index, setting, values = tried
    numeric = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    below, above = (
        setting.tunable.beyond(cores, setting.minimum, setting.maximum)
        if setting.tunable and numeric and widens and len(values) > 1
        else ((), ())
    )
    return Knob(
        hop=index,
        server=stack.hops[index].server,
        name=setting.name,
        values=tuple(map(setting_text, values)),
        numeric=numeric,
        below=tuple(map(str, below)),
        above=tuple(map(str, above)),
        # zero often means that the server decides
        least=max(setting.minimum, 1) if numeric else None,
        most=setting.maximum if numeric else None,
    )


def _asked(
    stack: Stack, chosen: Sequence[tuple[int, Setting]], vary: Sequence[str]
) -> dict[tuple[int, str], tuple[SettingValue, ...]]:
    """Return the values that ``vary`` itself gives, by hop and setting."""
    found: dict[tuple[int, str], tuple[SettingValue, ...]] = {}
    for word in vary:
        name, equals, text = word.partition("=")
        if not equals:
            continue
        if not text:
            raise InputError(f"--vary {word}: give the values to try, as in {name}=8,16,32")
        for i, setting in chosen:
            if name not in (setting.name, f"{stack.hops[i].server}.{setting.name}"):
                continue
            server = stack.hops[i].server
            values = {setting_value(f"--vary {word}: ", server, setting, each.strip()) for each in text.split(",")}
            found[i, setting.name] = tuple(sorted(values))
    return found


def _without_idle(space: Space, vary: Sequence[str]) -> Space:
    """Return ``space`` without knobs that mean nothing in any configuration; refuses those that were named."""
    used = [any(values[i] is not None for values in space.settings.values()) for i in range(len(space.knobs))]
    idle = [knob for knob, is_used in zip(space.knobs, used, strict=True) if not is_used]
    named = [knob for knob in idle if {knob.name, f"{knob.server}.{knob.name}"} & set(vary)]
    if named:
        raise InputError(
            f"--vary {named[0].name}: it means nothing in stack {space.stack.path!r}, whose other settings rule it "
            "out; tune those as well, or give them in the path"
        )
    return replace(
        space,
        knobs=tuple(knob for knob in space.knobs if knob not in idle),
        settings={
            path: tuple(value for value, is_used in zip(values, used, strict=True) if is_used)
            for path, values in space.settings.items()
        },
    )


def _nothing(stack: Stack) -> str:
    has = [f"{stack.hops[i].server}.{s.name}" for i in range(len(stack.hops)) for s in _tunable(stack, i)]
    if has:
        return (
            f"stack {stack.path!r}: its path leaves nothing to tune; leave settings out of it, or name those to "
            f"tune with --vary: {', '.join(has)}"
        )
    more = (
        "" if len(stack.hops) > 1 else f"; behind a front end the number of its copies may be: FRONT/http/{stack}"
    )
    return f"stack {stack.path!r} has no setting that may be tuned{more}"


def formula_of(space: Space) -> tuple[Stack, str, Formula] | None:
    """Return the stack as its server's documentation advises it, the setting's name and the formula, if any."""
    host = len(space.stack.hops) - 1
    for setting in space.stack.hops[host].spec.settings:
        formula = setting.tunable.formula if setting.tunable else None
        if formula is not None:
            value = min(formula.value(space.cores), setting.maximum)
            return space.reader.with_settings(space.stack, {(host, setting.name): value}), setting.name, formula
    return None


def place_of(space: Space, stack: Stack) -> tuple[str | None, ...] | None:
    """Return the value of each knob in ``stack``, which need not be one of those tried.

    None where it differs from the configurations in anything else: then it has no place among them.
    """
    if len(stack.hops) != len(space.stack.hops):
        return None
    given = {(k.hop, k.name): space.stack.hops[k.hop].settings[k.name] for k in space.knobs}
    try:
        of_both = [space.reader.with_settings(each, given).identity for each in (stack, space.stack)]
    except StackError:
        return None
    return tuple(_value(stack, knob) for knob in space.knobs) if of_both[0] == of_both[1] else None


def _value(stack: Stack, knob: Knob) -> str | None:
    if knob.hop >= len(stack.hops) or stack.hops[knob.hop].server != knob.server:
        return None
    hop = stack.hops[knob.hop]
    setting = next((one for one in (*hop.spec.settings, *BEHIND_ANOTHER) if one.name == knob.name), None)
    if setting is None or not setting.is_tuned(hop.resolved(stack.interface)):
        return None
    return None if knob.name not in hop.settings else setting_text(hop.settings[knob.name])


def _chosen(stack: Stack, vary: Sequence[str], saves_memory: bool) -> list[tuple[int, Setting]]:
    """Return the settings to tune with the number of their hop."""
    everything = [(i, setting) for i in range(len(stack.hops)) for setting in _tunable(stack, i)]
    if not vary:
        host = len(stack.hops) - 1
        return [
            (i, setting)
            for i, setting in everything
            if i == host
            and setting.name not in stack.hops[i].chosen
            # what a configuration file of the user's decides is used as it is
            and (stack.hops[i].file is None or stack.hops[i].origins.get(setting.name) != "own")
            and not _idle(setting, saves_memory)
        ]
    wanted = list[tuple[int, Setting]]()
    for word in vary:
        found = [
            (i, s)
            for i, s in everything
            if word in _names(stack.hops[i].server, s.name)
            and (word not in (stack.hops[i].server, _ALL) or not _idle(s, saves_memory))
        ]
        if not found:
            known = dict.fromkeys(name for i, s in everything for name in _names(stack.hops[i].server, s.name))
            raise InputError(
                f"--vary {word}: stack {stack.path!r} has no such setting to tune{did_you_mean(word, known)}; "
                f"it has {', '.join(f'{stack.hops[i].server}.{s.name}' for i, s in everything) or 'none'}"
            )
        wanted += [one for one in found if one not in wanted]
    return sorted(wanted, key=everything.index)


def _idle(setting: Setting, saves_memory: bool) -> bool:
    """Tell whether it only saves memory, and nobody wants that."""
    return bool(setting.tunable and setting.tunable.memory_only and not saves_memory)


def _names(server: str, name: str) -> tuple[str, ...]:
    return name, server, f"{server}.{name}", _ALL


def _tunable(stack: Stack, index: int) -> Iterator[Setting]:
    """Yield the settings of a hop that may be tuned; copies of a server only where it has no processes itself."""
    hop = stack.hops[index]
    behind = index > 0 and hop.protocol is not None
    for setting in (*hop.spec.settings, *(BEHIND_ANOTHER if behind else ())):
        if setting.tunable is None or setting.name not in hop.settings:
            continue
        if setting in BEHIND_ANOTHER and (hop.processes is not None or not stack.hops[index - 1].spec.balances):
            continue
        yield setting


def _tried(stack: Stack, index: int, setting: Setting, cores: int) -> tuple[SettingValue, ...]:
    """Return the values of a setting that are legal, and that host the app by the stack's interface."""
    assert setting.tunable is not None
    values = setting.tunable.tried(cores)
    if setting.implies:
        values = tuple(v for v in values if setting.implies.get(str(v), stack.interface) is stack.interface)
    numbers = (v for v in values if not isinstance(v, int) or isinstance(v, bool))
    in_range = {v for v in values if isinstance(v, int) and setting.minimum <= v <= setting.maximum} | set(numbers)
    return tuple(v for v in values if v in in_range) or (stack.hops[index].settings[setting.name],)


def _configuration(
    stack: Stack,
    tried: Sequence[tuple[int, Setting, tuple[SettingValue, ...]]],
    values: Sequence[SettingValue],
    reader: _Reader,
) -> tuple[Stack, tuple[str | None, ...]] | None:
    """Return the stack with these values, and those that mean something; None where they contradict each other."""
    wanted = {(i, setting.name): value for (i, setting, _), value in zip(tried, values, strict=True)}
    applying: dict[tuple[int, str], SettingValue] = {}
    for i, setting, _ in tried:
        own = {
            **stack.hops[i].resolved(stack.interface),
            **{name: v for (hop, name), v in wanted.items() if hop == i},
        }
        if setting.is_tuned(own):
            applying[i, setting.name] = wanted[i, setting.name]
    try:
        made = reader.with_settings(stack, applying)
    except StackError:
        return None
    spelt = (applying.get((i, setting.name)) for i, setting, _ in tried)
    return made, tuple(None if value is None else setting_text(value) for value in spelt)


def _too_many(knobs: Sequence[Knob]) -> str:
    many = math.prod(len(knob.values) for knob in knobs)
    names = ", ".join(f"{knob.server}.{knob.name}" for knob in knobs)
    return f"{names} make {count(many)} configurations; tune fewer settings at a time with --vary"
