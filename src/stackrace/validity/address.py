"""Does a name lead where its reader thinks it does?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..base.verdict import Effect, Finding
from .declaration import Declaration, Made

__all__ = ["Destination", "address"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a load is sent."""

    name: str
    """The URL's host."""
    dialled: str
    """The address that the engine connects to."""
    answers: bool = True
    """Whether somebody accepts connections there."""
    others: tuple[str, ...] = ()
    """The name's further addresses at which somebody accepts connections."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    """Variables (``http_proxy``) by which other clients would take another way to this host, with their values."""


@Declaration(
    id="address",
    number=35,
    title="address",
    made=(Made.START,),
    effects=(Effect.WARNS, Effect.INVALIDATES),
    threshold={"several": "one address", "elsewhere": "one address", "proxy": "the same way"},
    rule="one address that answers, no proxy",
    seen={
        "several": "{name} accepts connections at {others:list}, too; the load goes to {dialled}",
        "elsewhere": "{name} accepts connections at {others:list}, but not at {dialled}, where the load would go",
        "proxy": "other clients reach {name} through {proxy} ({variable}); the load goes there directly",
    },
    remedy={
        "several": "name the address you mean: {dialled} or {first}",
        "elsewhere": "name it: {first}",
        "proxy": "unset {variable}, or add {name} to no_proxy, before you compare with other clients",
    },
    source="RFC 6761 section 6.3; RFC 6724; curl(1), ENVIRONMENT",
)
def address(destination: Destination) -> Finding | None:
    """The host name has several addresses, or other clients reach it through a proxy.

    ``localhost`` is 127.0.0.1 and ::1, and two programs may listen there; who compares by name may compare two
    servers, or two network stacks. Where only an address that is not dialled accepts connections, the load is
    refused: all of it would fail. A race dials 127.0.0.1, never a name.
    """
    if destination.others:
        case = "several" if destination.answers else "elsewhere"
        return address.finding(
            effect=Effect.WARNS if destination.answers else Effect.INVALIDATES,
            case=case,
            cure=case,
            name=destination.name,
            others=destination.others,
            dialled=destination.dialled,
            first=f"[{destination.others[0]}]" if ":" in destination.others[0] else destination.others[0],
        )
    if not destination.proxies:
        return None
    variable, proxy = next(iter(destination.proxies.items()))
    return address.finding(case="proxy", cure="proxy", name=destination.name, variable=variable, proxy=proxy)
