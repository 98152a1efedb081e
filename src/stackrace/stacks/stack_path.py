"""Stack paths: ``FRONT/PROTOCOL/SERVER:SETTING=4`` becomes a checked Stack.

The grammar, with ``/`` over a wire and ``+`` inside the same server::

    stack    = hop { ( "/" protocol "/" | "+" ) hop }
    hop      = server [ "@" version ] [ ":" setting { "," setting } ]
    setting  = name "=" value | "config=" file | "--" option [ "=" value ]

Paths are checked: each hop must forward the protocol that the next one listens to, and the last must host an
interface of the app. So N front ends × M protocols × K servers follow from N + K catalogue entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ..base.errors import StackError
from ..base.text import did_you_mean
from .native_options import CONFIG
from .path_words import HopWords, NativeWords, hops_of, native_words, quoted
from .setting import Interface, Origin, Protocol, Setting, Settings, SettingValue, Socket
from .stack import BEHIND_ANOTHER, Hop, ServerSpec, Stack

_ORDER = (Interface.WSGI, Interface.ASGI, Interface.RACK, Interface.FILES)
"""Order of preference if server and app share several interfaces."""


def parse_stack(
    text: str, specs: Mapping[str, ServerSpec], offered: frozenset[Interface], folder: Path | None = None
) -> Stack:
    """Return the stack that ``text`` describes for an app that offers the interfaces ``offered``.

    ``specs`` is the catalogue by server name; configuration files that the path names, relative to ``folder``, are
    read if ``folder`` is given. Raises StackError naming the unknown word with the most similar known ones, the
    setting out of range, or the link that fails and what would fit.
    """
    _refuse_several(text, specs)
    try:
        return _parsed(text, specs, offered, folder)
    except StackError as error:
        raise StackError(f"stack {text!r}: {error.message}") from error.__cause__


def _parsed(
    text: str, specs: Mapping[str, ServerSpec], offered: frozenset[Interface], folder: Path | None
) -> Stack:
    tokens = hops_of(text)
    chain = [_spec_of(token.server, specs) for token in tokens]
    _check_versions(tokens, chain)
    _check_links(tokens, chain, specs)
    hops = tuple(_hop(tokens, chain, index, folder) for index in range(len(tokens)))
    _check_alone(hops)
    for hop in hops:
        _check_effects(hop)
    _check_forwards(hops)
    interface = _interface(text, hops[-1], offered, specs)
    return Stack(path=stack_text(hops), hops=hops, interface=interface)


def _refuse_several(text: str, specs: Mapping[str, ServerSpec]) -> None:
    """Raise StackError for a list of stacks in place of one stack, which is an easy mistake."""
    stacks = text.split(",")
    if len(stacks) > 1 and all(re.split("[@:/+]", stack.strip())[0] in specs for stack in stacks):
        each = " ".join(f"--stack {stack.strip()}" for stack in stacks)
        raise StackError(f"stack {text!r} is a list; give each by itself, as in {each}")


def _spec_of(name: str, specs: Mapping[str, ServerSpec]) -> ServerSpec:
    if name in specs:
        return specs[name]
    if name == "current":
        raise StackError(
            "what you run today is found in the project's files and races beside the others; "
            "--current FILE names one of them"
        )
    raise unknown_server(name, specs)


def unknown_server(name: str, specs: Mapping[str, ServerSpec]) -> StackError:
    """Return the error for a server that is not among ``specs``, with the right spelling of its version or name."""
    if (written := _PINNED.fullmatch(name)) and written[1] in specs:
        return StackError(f"write {written[1]}@{written[2]} to race that version of {written[1]}")
    return StackError(f"there is no server {name!r}{did_you_mean(name, specs)}")


_VERSION = re.compile(r"(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?")
"""One version of a package. Source: PEP 440, "Public version identifiers", in their normal form."""
_PINNED = re.compile(r"([\w-]+)\s*[=~<>!]=*\s*([^=~<>!\s]+)")
"""A server with its version as pip writes it: name, ``==``, version."""
_EXAMPLE = "23.0.0"


def _check_versions(tokens: Sequence[HopWords], chain: Sequence[ServerSpec]) -> None:
    pinned: dict[str, str] = {}
    for token, spec in zip(tokens, chain, strict=True):
        if token.version is not None:
            check_version(spec, token.version)
            if (other := pinned.setdefault(spec.name, token.version)) != token.version:
                raise StackError(f"{spec.name}@{other} and @{token.version} cannot be in one stack; race two")


def check_version(spec: ServerSpec, version: str) -> None:
    """Raise StackError if no path can name ``version`` of ``spec``. PyPI is not asked whether the version
    exists."""
    given = f"{spec.name}@{version}"
    if not spec.package:
        raise StackError(
            f"{given} cannot be had: {spec.name} is raced in the version that is installed on this machine; "
            f"write {spec.name}, and install the version that you want"
        )
    if not _VERSION.fullmatch(version):
        raise StackError(f"{given} names no version; write one that PyPI has, as in {spec.name}@{_EXAMPLE}")


def _check_links(tokens: Sequence[HopWords], chain: Sequence[ServerSpec], specs: Mapping[str, ServerSpec]) -> None:
    first = chain[0]
    if first.inside:
        hosts = " or ".join(f"{name}+{first.name}" for name in sorted(first.inside))
        raise StackError(f"{first.name} lives inside another server; write {hosts}")
    if Protocol.HTTP not in first.listens:
        fronts = _names(spec for spec in specs.values() if set(spec.forwards) & first.listens)
        raise StackError(f"{first.name} does not speak http to clients; put {fronts} before it")
    for before, after, token in zip(chain, chain[1:], tokens[1:], strict=False):
        if token.protocol is None:
            _check_inside(before, after)
        else:
            _check_wire(before, after, token.protocol, specs)


def _check_inside(before: ServerSpec, after: ServerSpec) -> None:
    if before.name in after.inside:
        return
    remedy = (
        f"it lives inside {' or '.join(sorted(after.inside))}"
        if after.inside
        else f"it is a process of its own: write {before.name}/PROTOCOL/{after.name}"
    )
    raise StackError(f"{after.name} cannot live inside {before.name}; {remedy}")


def _check_wire(before: ServerSpec, after: ServerSpec, protocol: str, specs: Mapping[str, ServerSpec]) -> None:
    link = f"the link {before.name}/{protocol}/{after.name} is impossible:"
    if protocol not in list(Protocol):
        raise StackError(f"{link} there is no protocol {protocol!r}{did_you_mean(protocol, list(Protocol))}")
    if after.inside:
        raise StackError(f"{link} {after.name} lives inside {' or '.join(sorted(after.inside))}, joined by +")
    if not before.forwards:
        raise StackError(f"{link} {before.name} forwards nothing; it must be the last hop")
    shared = sorted(set(before.forwards) & after.listens)
    fitting = f"use {' or '.join(shared)} between them" if shared else "they have no protocol in common"
    if protocol not in before.forwards:
        raise StackError(f"{link} {before.name} does not forward {protocol}; {fitting}")
    if protocol not in after.listens:
        others = _names(spec for spec in specs.values() if protocol in spec.listens)
        would = f"; {others} would" if others else ""
        raise StackError(f"{link} {after.name} does not listen to {protocol}; {fitting}{would}")


def _hop(tokens: Sequence[HopWords], chain: Sequence[ServerSpec], index: int, folder: Path | None) -> Hop:
    token, spec = tokens[index], chain[index]
    behind = index > 0 and token.protocol is not None
    known = {setting.name: setting for setting in (*spec.settings, *(BEHIND_ANOTHER if behind else ()))}
    own = native_words(token, spec, folder)
    chosen = _chosen(spec, known, own)
    asked = _asked(tokens, chain, index)
    defaults = {name: setting.default for name, setting in known.items() if name not in own.reading.computed}
    settings: dict[str, SettingValue] = {**defaults, **asked, **own.reading.settings, **chosen}
    for name in own.reading.computed:
        if name not in settings and known[name].implies:
            raise StackError(
                f"{own.config} gives {own.reading.computed[name]}, which does not say what {spec.name} "
                f"hosts; add {name}={' or '.join(known[name].choices)}"
            )
    _check_spoken(spec, settings, token.protocol)
    if behind:
        protocol, front = Protocol(str(token.protocol)), _front(tokens, chain, index)
        settings["socket"] = _socket(str(settings["socket"]), front, spec, protocol)
        if settings["instances"] != 1 and not front.balances:
            raise StackError(f"{front.name} forwards to one instance only; leave {spec.name}:instances out")
    return Hop(
        spec=spec,
        version=token.version or "",
        protocol=Protocol(token.protocol) if token.protocol else None,
        chosen=chosen,
        settings=settings,
        origins={name: _origin(setting, asked, own, chosen) for name, setting in known.items()},
        options=own.options,
        config=own.config,
        file=own.file,
    )


def _check_alone(hops: Sequence[Hop]) -> None:
    for hop in hops:
        if hop.spec.alone and sum(other.instances for other in hops if other.spec is hop.spec) > 1:
            raise StackError(f"only one {hop.spec.title} can run on a machine; use it once")


def _check_effects(hop: Hop) -> None:
    """Raise StackError for a setting that has no effect beside the others, because the user expects an effect."""
    idle = hop.spec.idle(hop.settings)
    for setting in hop.spec.settings:
        if setting.name in hop.chosen and setting.name in idle:
            beside = next(name for name, values in setting.only.items() if hop.settings[name] not in values)
            fitting = " or ".join(f"{beside}={setting_text(value)}" for value in setting.only[beside])
            raise StackError(
                f"{hop.server}:{setting.name} does nothing with "
                f"{beside}={setting_text(hop.settings[beside])}; use {fitting}, or leave {setting.name} out"
            )


def _check_forwards(hops: Sequence[Hop]) -> None:
    """Raise StackError for a file that forwards in another protocol than the path says, or forwards from the last
    hop."""
    for hop, after in zip(hops, (*hops[1:], None), strict=True):
        wire = hop.file.reading.forwards if hop.file else ""
        if wire and (after is None or after.protocol != wire):
            config = f"{hop.server}:{CONFIG}={quoted(hop.config)}"
            raise StackError(f"{hop.config} forwards by {wire}; write {config}/{wire}/SERVER")


def _check_spoken(spec: ServerSpec, settings: Settings, protocol: str | None) -> None:
    for setting in spec.settings:
        value = settings.get(setting.name)
        spoken = setting.listens.get(value, spec.listens) if isinstance(value, str) else spec.listens
        if protocol is not None and protocol not in spoken:
            raise StackError(
                f"{spec.name}:{setting.name}={value} does not listen to {protocol}, "
                f"only to {' and '.join(sorted(spoken))}"
            )


def _asked(tokens: Sequence[HopWords], chain: Sequence[ServerSpec], index: int) -> Settings:
    """Return the settings that the guest inside hop ``index`` needs in it."""
    has_guest = index + 1 < len(tokens) and tokens[index + 1].protocol is None
    return chain[index + 1].asks if has_guest else {}


def _origin(setting: Setting, asked: Settings, own: NativeWords, chosen: Settings) -> Origin:
    if own.file and setting.name not in chosen and setting not in BEHIND_ANOTHER:
        return Origin.OWN if setting.name in own.reading.said else Origin.DEFAULT
    if chosen.get(setting.name, setting.default) != setting.default:
        return Origin.TUNED
    return Origin.RECOMMENDED if setting.name in asked else setting.origin


def _front(tokens: Sequence[HopWords], chain: Sequence[ServerSpec], index: int) -> ServerSpec:
    """Return the server that forwards to hop ``index``: the nearest one before it that is a process of its own."""
    return next(chain[before] for before in range(index - 1, -1, -1) if tokens[before].protocol is not None)


def _chosen(spec: ServerSpec, known: Mapping[str, Setting], own: NativeWords) -> dict[str, SettingValue]:
    chosen: dict[str, SettingValue] = {}
    for name, value in own.others:
        if name == "version" and name not in known:
            raise StackError(f"a version is written {spec.name}@{value or _EXAMPLE}, before the settings")
        if name not in known:
            way = "; its own options are written --NAME=VALUE" if spec.native and spec.native.in_paths else ""
            raise StackError(f"{spec.name} has no setting {name!r}{did_you_mean(name, known)}{way}")
        if not value:
            raise StackError(f"setting {name!r} needs a value, as in {name}={known[name].default}")
        if name in chosen:
            raise StackError(f"setting {name!r} is given twice")
        chosen[name] = setting_value("", spec.name, known[name], value)
    return chosen


_MOST_DIGITS = 1000


def setting_value(where: str, server: str, setting: Setting, value: str) -> SettingValue:
    """Return the value of ``setting`` that the text ``value`` means; a StackError begins with ``where``."""
    wrong = f"{where}{server}:{setting.name} cannot be {value!r}"
    if isinstance(setting.default, bool):
        if value.lower() in ("on", "true", "yes", "1"):
            return True
        if value.lower() in ("off", "false", "no", "0"):
            return False
        raise StackError(f"{wrong}; write on or off")
    if isinstance(setting.default, int):
        # Python refuses to convert longer ones
        if value.isascii() and value.isdigit() and len(value) < _MOST_DIGITS:
            number = int(value)
            if setting.minimum <= number <= setting.maximum:
                return number
        raise StackError(f"{wrong}; write a number from {setting.minimum} to {setting.maximum}")
    if setting.choices and value not in setting.choices:
        raise StackError(f"{wrong}{did_you_mean(value, setting.choices)}")
    return value


def _socket(asked: str, front: ServerSpec, spec: ServerSpec, protocol: Protocol) -> str:
    """Return the kind of socket; for ``auto``, the listener's first choice that the front end can connect to."""
    shared = [kind for kind in spec.sockets if kind in front.forwards[protocol]]
    if not shared:
        raise StackError(f"{front.name} and {spec.name} share no kind of socket for {protocol}")
    if asked == "auto":
        return shared[0]
    if asked not in shared:
        raise StackError(
            f"{front.name}/{protocol}/{spec.name} cannot use socket={asked}; it can use {' or '.join(shared)}"
        )
    return Socket(asked)


def _interface(text: str, last: Hop, offered: frozenset[Interface], specs: Mapping[str, ServerSpec]) -> Interface:
    spec = last.spec
    implied = [
        setting.implies[value]
        for setting in spec.settings
        if isinstance(value := last.settings.get(setting.name), str) and value in setting.implies
    ]
    hosted = frozenset(implied) or spec.hosts
    for interface in _ORDER:
        if interface in hosted & offered:
            return interface
    if spec.hosts <= {Interface.FILES}:
        first = _first(offered)
        what = "sends no files" if first is Interface.FILES else "hosts no application"
        raise StackError(
            f"{spec.name} {what} itself; end the chain with a server that does, "
            f"as in {text}{_ending(spec, first, specs)}"
        )
    raise StackError(
        f"{spec.name} hosts {_names(hosted)} {'with these settings' if implied else 'here'}, "
        f"but the app is {_names(offered)}; use {_hosting(spec, offered, specs)}"
    )


def _hosting(spec: ServerSpec, offered: frozenset[Interface], specs: Mapping[str, ServerSpec]) -> str:
    """Return in words which servers can host the app: ``spec`` with another setting first, then all others."""
    first = _first(offered)
    others = sorted(way for other in specs.values() if other is not spec for way in other.hosting(first))
    return _listed([*spec.hosting(first), *others])


def _first(offered: frozenset[Interface]) -> Interface:
    return next(interface for interface in _ORDER if interface in offered)


def _ending(front: ServerSpec, interface: Interface, specs: Mapping[str, ServerSpec]) -> str:
    """Return the end that completes the path of ``front``: a guest inside it, else a server that it can forward
    to."""
    hosts = [spec for spec in specs.values() if interface in spec.suggested_for]
    guests = [f"+{host.name}" for host in hosts if front.name in host.inside]
    wires = [f"/{wire}/{host.name}" for host in hosts for wire in front.forwards if wire in host.listens]
    return next(iter(guests + wires), "/PROTOCOL/SERVER")


def _names(things: Iterable[ServerSpec | Interface]) -> str:
    return _listed(sorted(thing.name if isinstance(thing, ServerSpec) else str(thing) for thing in things))


def _listed(names: Sequence[str]) -> str:
    return " or ".join(names).replace(" or ", ", ", max(len(names) - 2, 0))


def stack_text(hops: Sequence[Hop]) -> str:
    """Return the path of ``hops`` as `parse_stack` reads it, with the settings that were given."""
    parts = []
    for index, hop in enumerate(hops):
        joint = "" if not index else f"/{hop.protocol}/" if hop.protocol else "+"
        settings = ",".join(_settings(hop))
        version = f"@{hop.version}" if hop.version else ""
        parts.append(f"{joint}{hop.server}{version}{':' + settings if settings else ''}")
    return "".join(parts)


def _settings(hop: Hop) -> Iterator[str]:
    for name, value in hop.chosen.items():
        yield f"{name}={setting_text(value)}"
    if hop.config:
        yield f"{CONFIG}={quoted(hop.config)}"
    for option in hop.options:
        yield f"--{option.name}" if option.value is None else f"--{option.name}={quoted(option.value)}"


def setting_text(value: SettingValue) -> str:
    """Return a setting's value as a path writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
