"""Every chain that the catalogue's entries make, by the grammar of stacks: what the integration tests launch.

Pure: it looks at specifications only, so that an entry added by anybody is in it from its first day.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stackrace.base.errors import StackError
from stackrace.stacks.setting import Interface, Protocol, Socket
from stackrace.stacks.stack import ServerSpec
from stackrace.stacks.stack_path import parse_stack

Specs = Mapping[str, ServerSpec]


def last_hops(specs: Specs, offered: frozenset[Interface]) -> list[str]:
    """Return every way to end a stack: a server that hosts the app, or one with a guest that does."""
    ends = []
    for name, spec in specs.items():
        if spec.hosts & offered:
            ends += [f"{outer}+{name}" for outer in sorted(spec.inside)] or [name]
    return sorted(ends)


def single_hops(specs: Specs, offered: frozenset[Interface]) -> list[str]:
    """Return every stack of one process: the app's host meets the clients itself."""
    return [end for end in last_hops(specs, offered) if Protocol.HTTP in _outer(specs, end).listens]


def two_hops(specs: Specs, offered: frozenset[Interface]) -> list[str]:
    """Return every front end × protocol × last hop that is legal, each over the socket it prefers."""
    return [
        path
        for front, spec in specs.items()
        for protocol in spec.forwards
        for end in last_hops(specs, offered)
        if is_legal(path := f"{front}/{protocol}/{end}", specs, offered)
    ]


def spanning(paths: Sequence[str]) -> list[str]:
    """Return those of ``paths``, of two hops, that hold every link of all of them: what a front end sends, and what
    a last hop is sent. A fault of either shows behind any other."""
    rest, chosen = {path: _links(path) for path in paths}, []
    while missing := set().union(*rest.values()).difference(*map(_links, chosen)):
        chosen.append(max(rest, key=lambda path: len(rest[path] & missing)))
    return chosen


def _links(path: str) -> set[tuple[str, str]]:
    front, protocol, end = path.split("/")
    return {(front, protocol), (protocol, end)}


def balanced(specs: Specs, offered: frozenset[Interface]) -> list[str]:
    """Return one stack with three instances for each protocol of each front end that balances."""
    return [
        _with(path, "instances=3")
        for path in _one_each(two_hops(specs, offered))
        if specs[path.split("/")[0]].balances
    ]


def over_tcp(specs: Specs, offered: frozenset[Interface]) -> list[str]:
    """Return one stack with a TCP socket for each protocol of each front end that would prefer a unix one."""
    chains = []
    for path in _one_each(two_hops(specs, offered)):
        asked = _with(path, "socket=tcp")
        preferred = parse_stack(path, specs, offered).processes[-1][0].settings["socket"]
        if preferred == Socket.UNIX and is_legal(asked, specs, offered):
            chains.append(asked)
    return chains


def both(specs: Specs, offered: frozenset[Interface]) -> list[str]:
    """Return one stack for each protocol of each front end: over TCP, and with three instances if it balances."""
    many = {path.rpartition(":")[0] for path in balanced(specs, offered)}
    return [f"{path},instances=3" if path.rpartition(":")[0] in many else path for path in over_tcp(specs, offered)]


def is_legal(path: str, specs: Specs, offered: frozenset[Interface]) -> bool:
    """Tell whether the grammar accepts ``path``."""
    try:
        parse_stack(path, specs, offered)
    except StackError:
        return False
    return True


def _outer(specs: Specs, end: str) -> ServerSpec:
    return specs[end.split("+")[0]]


def _one_each(paths: Sequence[str]) -> Iterator[str]:
    """The first chain of each front end and protocol whose last hop is a server without a guest."""
    seen = set()
    for path in paths:
        front, protocol, end = path.split("/")
        if (front, protocol) not in seen and "+" not in end:
            seen.add((front, protocol))
            yield path


def _with(path: str, setting: str) -> str:
    head, slash, end = path.rpartition("/")
    return f"{head}{slash}{end}:{setting}"
