"""The configurations of a stack: all combinations of the tuned settings' values that have an effect."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ...base.errors import InputError, StackError
from ...base.numbers import count
from ...base.text import did_you_mean
from ...stacks.setting import Formula, Interface, Setting, SettingValue, Tunable
from ...stacks.stack import BEHIND_ANOTHER, ServerSpec, Stack
from ...stacks.stack_path import parse_stack, setting_text, setting_value, stack_text
from .model import Knob, Values

_MOST = 2000
"""The most configurations of a tuning."""

_ALL = "all"

_Chosen = Mapping[tuple[int, str], SettingValue]
"""Values of settings, by the number of their hop and their name."""


class _Varied(NamedTuple):
    hop: int
    server: str
    setting: Setting
    tunable: Tunable
    values: tuple[SettingValue, ...] = ()
    widens: bool = True
    """True if values beyond these may be tried."""

    @property
    def key(self) -> tuple[int, str]:
        """The hop and the setting's name."""
        return self.hop, self.setting.name

    def __str__(self) -> str:
        return f"{self.server}.{self.setting.name}"

    def is_meant(self, word: str, saves_memory: bool) -> bool:
        """Return True if a word of ``--vary`` means this setting; one that only saves memory must be named."""
        if word in (self.server, _ALL):
            return saves_memory or not self.tunable.memory_only
        return word in (self.setting.name, str(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The tuned settings of a stack, and all its configurations."""

    stack: Stack
    """Stack as the user gave it."""
    cores: int
    varied: Sequence[_Varied]
    knobs: tuple[Knob, ...] = ()
    """One knob for each of ``varied``."""
    configurations: Mapping[Stack, Values] = field(default_factory=dict)
    reserve: tuple[str, ...] = ()
    """Paths of configurations with a value beyond a knob's usual ones."""
    read: Callable[[str], Stack]
    """Function that parses a path."""

    def formula(self) -> tuple[Stack, str, Formula] | None:
        """Return the stack as its server's documentation advises, the setting's name and the formula.

        None if the documentation of the server that hosts the app has no formula.
        """
        host = len(self.stack.hops) - 1
        for setting in self.stack.hops[host].spec.settings:
            formula = setting.tunable.formula if setting.tunable else None
            if formula is not None:
                value = min(formula.value(self.cores), setting.maximum)
                return self.having(self.stack, {(host, setting.name): value}), setting.name, formula
        return None

    def place(self, stack: Stack) -> Values | None:
        """Return the value of each knob in ``stack``, which need not be one of the configurations.

        None if ``stack`` differs from the configurations in anything but the knobs.
        """
        try:
            applying = self.applying([stack.hops[one.hop].settings[one.setting.name] for one in self.varied])
            of_both = [self.having(each, applying).identity for each in (stack, self.stack)]
        except (LookupError, StackError):
            return None
        return self.spelt(applying) if of_both[0] == of_both[1] else None

    def having(self, stack: Stack, chosen: _Chosen) -> Stack:
        """Return ``stack`` with ``chosen`` settings, without those that have no effect.

        Raises StackError if settings contradict each other.
        """
        hops = []
        for i, hop in enumerate(stack.hops):
            given = {name: value for (number, name), value in chosen.items() if number == i}
            idle = hop.spec.idle({**hop.resolved(stack.interface), **given})
            kept = {name: value for name, value in {**hop.chosen, **given}.items() if name not in idle}
            hops.append(replace(hop, chosen=kept))
        return self.read(stack_text(hops))

    def applying(self, values: Sequence[SettingValue]) -> _Chosen:
        """Return the settings that have an effect, from ``values``, one for each of ``varied``."""
        settings = [dict(hop.resolved(self.stack.interface)) for hop in self.stack.hops]
        for one, value in zip(self.varied, values, strict=True):
            settings[one.hop][one.setting.name] = value
        return {
            one.key: value
            for one, value in zip(self.varied, values, strict=True)
            if one.setting.is_tuned(settings[one.hop])
        }

    def spelt(self, applying: _Chosen) -> Values:
        """Return the value of each knob, written as in paths; None if the knob has no effect."""
        values = (applying.get(one.key) for one in self.varied)
        return tuple(None if value is None else setting_text(value) for value in values)


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
    """Return the configurations of ``stack`` on a number of ``cores``.

    Without ``vary``, all tunable settings of the server that hosts the app are tuned, except those in the path.
    ``vary`` names settings (``threads``), those of one server (``SERVER.workers``, ``SERVER``) or ``all``; named
    ones are tuned even if the path sets them. It may list the values to try, too: ``threads=8,16,32``.
    ``saves_memory`` adds settings that only save memory. Raises InputError for a name that is no tunable setting,
    for a value that it does not accept, and if nothing is left to tune.
    """
    varied = _varied(stack, vary, cores, saves_memory)
    knobs = [_knob(one, cores) for one in varied]
    space = Space(
        stack=stack, cores=cores, varied=varied, read=lambda path: parse_stack(path, specs, offered, folder)
    )
    stacks: dict[tuple[object, ...], Stack] = {}
    settings: dict[Stack, Values] = {}

    def take(all_values: Iterable[Sequence[SettingValue]]) -> None:
        for values in all_values:
            applying = space.applying(values)
            try:
                made = space.having(stack, applying)
            except StackError:
                # these values contradict each other
                continue
            if stacks.setdefault(made.identity, made) is made:
                settings[made] = space.spelt(applying)

    usual = [one.values for one in varied]
    if math.prod(map(len, usual)) > 20 * _MOST:
        raise InputError(_too_many(knobs))
    take(product(*usual))
    many = len(stacks)
    if many > _MOST:
        raise InputError(_too_many(knobs))
    wider = [(*values, *map(int, (*knob.below, *knob.above))) for values, knob in zip(usual, knobs, strict=True)]
    if math.prod(map(len, wider)) <= _MOST:
        take(product(*wider))
    used = [i for i in range(len(knobs)) if any(values[i] is not None for values in settings.values())]
    _refuse_idle(stack, [knob for i, knob in enumerate(knobs) if i not in used], vary)
    if many < 2:
        raise InputError(_nothing(stack))
    return replace(
        space,
        varied=[varied[i] for i in used],
        knobs=tuple(knobs[i] for i in used),
        configurations={made: tuple(values[i] for i in used) for made, values in settings.items()},
        reserve=tuple(made.path for made in [*settings][many:]),
    )


def _varied(stack: Stack, vary: Sequence[str], cores: int, saves_memory: bool) -> list[_Varied]:
    everything = [*_tunable(stack)]
    asked: dict[tuple[int, str], tuple[SettingValue, ...]] = {}
    for word in vary:
        name, equals, text = word.partition("=")
        found = [one for one in everything if one.is_meant(name, saves_memory)]
        if not found:
            known = dict.fromkeys(
                each for one in everything for each in (one.setting.name, one.server, str(one), _ALL)
            )
            raise InputError(
                f"--vary {name}: stack {stack.path!r} has no such setting to tune{did_you_mean(name, known)}; "
                f"it has {', '.join(map(str, everything)) or 'none'}"
            )
        if equals and not text:
            raise InputError(f"--vary {word}: give the values to try, as in {name}=8,16,32")
        for one in found:
            asked.setdefault(one.key, ())
            if equals and name not in (one.server, _ALL):
                spelt = (each.strip() for each in text.split(","))
                values = {setting_value(f"--vary {word}: ", one.server, one.setting, each) for each in spelt}
                asked[one.key] = tuple(sorted(values))
    if not vary:
        asked = {one.key: () for one in everything if _is_open(stack, one, saves_memory)}
    return [
        one._replace(values=asked[one.key] or _tried(stack, one, cores), widens=not asked[one.key])
        for one in everything
        if one.key in asked
    ]


def _tunable(stack: Stack) -> Iterator[_Varied]:
    """Yield the tunable settings; the number of a server's copies only if it has no processes itself."""
    for i, hop in enumerate(stack.hops):
        behind = i > 0 and hop.protocol is not None
        copies = BEHIND_ANOTHER if behind and hop.processes is None and stack.hops[i - 1].spec.balances else ()
        for setting in (*hop.spec.settings, *copies):
            if setting.tunable is not None and setting.name in hop.settings:
                yield _Varied(i, hop.server, setting, setting.tunable)


def _is_open(stack: Stack, one: _Varied, saves_memory: bool) -> bool:
    """Return True if a setting is tuned by default: a setting of the host that the path does not set."""
    hop = stack.hops[-1]
    # settings in the user's configuration file stay as they are
    is_given = one.setting.name in hop.chosen or (
        hop.file is not None and hop.origins.get(one.setting.name) == "own"
    )
    return one.hop == len(stack.hops) - 1 and not is_given and one.is_meant(_ALL, saves_memory)


def _tried(stack: Stack, one: _Varied, cores: int) -> tuple[SettingValue, ...]:
    """Return the legal values of a setting that keep the stack's interface."""
    setting = one.setting

    def fits(value: SettingValue) -> bool:
        if setting.implies and setting.implies.get(str(value), stack.interface) is not stack.interface:
            return False
        return isinstance(value, str | bool) or setting.minimum <= value <= setting.maximum

    return tuple(filter(fits, one.tunable.tried(cores))) or (stack.hops[one.hop].settings[setting.name],)


def _knob(one: _Varied, cores: int) -> Knob:
    """Return the knob of a setting, with numbers beyond its values if they may be tried."""
    least, most = one.setting.minimum, one.setting.maximum
    numeric = not any(isinstance(value, str | bool) for value in one.values)
    widens = one.widens and numeric and len(one.values) > 1
    below, above = one.tunable.beyond(cores, least, most) if widens else ((), ())
    return Knob(
        hop=one.hop,
        server=one.server,
        name=one.setting.name,
        values=tuple(map(setting_text, one.values)),
        numeric=numeric,
        below=tuple(map(str, below)),
        above=tuple(map(str, above)),
        # zero often means that the server decides
        least=max(least, 1) if numeric else None,
        most=most if numeric else None,
    )


def _too_many(knobs: Sequence[Knob]) -> str:
    many = math.prod(len(knob.values) for knob in knobs)
    return (
        f"{', '.join(map(str, knobs))} make {count(many)} configurations; tune fewer settings at a time with --vary"
    )


def _refuse_idle(stack: Stack, idle: Sequence[Knob], vary: Sequence[str]) -> None:
    names = {word.partition("=")[0] for word in vary}
    for knob in idle:
        if {knob.name, str(knob)} & names:
            raise InputError(
                f"--vary {knob.name}: it means nothing in stack {stack.path!r}, whose other settings rule it out; "
                "tune those as well, or give them in the path"
            )


def _nothing(stack: Stack) -> str:
    if has := [*_tunable(stack)]:
        return (
            f"stack {stack.path!r}: its path leaves nothing to tune; leave settings out of it, or name those to "
            f"tune with --vary: {', '.join(map(str, has))}"
        )
    more = (
        "" if len(stack.hops) > 1 else f"; behind a front end the number of its copies may be: FRONT/http/{stack}"
    )
    return f"stack {stack.path!r} has no setting that may be tuned{more}"
