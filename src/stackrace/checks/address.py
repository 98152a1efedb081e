"""Does a name lead where its reader thinks it does?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model.verdict import Effect, Finding

__all__ = ["Dialling", "address"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialling:
    """Where a load is sent: the URL's host ``name``, the address ``dialled`` and whether it ``answers``.

    ``others`` are the name's further addresses at which somebody accepts connections. ``proxies`` are variables
    (``http_proxy``) by which other clients would take another way to this host, with their values.
    """

    name: str
    dialled: str
    answers: bool = True
    others: tuple[str, ...] = ()
    proxies: Mapping[str, str] = field(default_factory=dict)


def address(seen: Dialling) -> Finding | None:
    """The host is a name with several addresses, or one that other clients reach through a proxy.

    ``localhost`` is 127.0.0.1 and ::1, and two programs may listen there; who compares by name may compare two
    servers, or two network stacks. Where only an address that is not dialled accepts connections, the load is
    refused: all of it would fail. A race dials 127.0.0.1, never a name.

    Source: RFC 6761 section 6.3 on localhost; RFC 6724 on the order of addresses; curl(1), ENVIRONMENT, on proxies.
    """
    if seen.others:
        first = f"[{seen.others[0]}]" if ":" in seen.others[0] else seen.others[0]
        what = f"accepts connections at {', '.join(seen.others)}"
        return Finding(
            check="address",
            effect=Effect.WARNS if seen.answers else Effect.INVALIDATES,
            seen=f"{seen.name} {what}, too; the load goes to {seen.dialled}"
            if seen.answers
            else f"{seen.name} {what}, but not at {seen.dialled}, where the load would go",
            threshold="one address",
            remedy=f"name the address you mean: {seen.dialled} or {first}" if seen.answers else f"name it: {first}",
        )
    if not seen.proxies:
        return None
    variable, value = next(iter(seen.proxies.items()))
    return Finding(
        check="address",
        effect=Effect.WARNS,
        seen=f"other clients reach {seen.name} through {value} ({variable}); the load goes there directly",
        threshold="the same way",
        remedy=f"unset {variable}, or add {seen.name} to no_proxy, before you compare with other clients",
    )
