"""Parcels on their way: each host is sent what it lacks, in pieces."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from ....base.errors import InputError, InterruptedRace, StackraceError
from ....base.process import Background
from ....base.units import SIZE
from ....deploy.preparing import OnPreparing, Preparing, Step
from ..connection import Connection
from ..settings import Member
from . import receiving
from .archive import pieces
from .packing import Packed
from .parcel import Parcel

__all__ = ["ship"]

_T = TypeVar("_T")


def ship(
    connection: Connection, hosts: Sequence[Member], packed: Packed, on_preparing: OnPreparing
) -> Mapping[str, bool]:
    """Send each of ``hosts`` what it lacks; tells by name which are to race from what was sent.

    The others have all of it under the same paths. Raises InputError, with the way out, for what a host cannot
    take, and MemberLost; nothing is started anywhere.
    """
    looks = {host: Background(partial(_named, host, connection, receiving.look, packed.shipment)) for host in hosts}
    seen = {host: each.finish() for host, each in looks.items()}
    if not all(look.same for look in seen.values()):
        packed.refuse_strays()
    lacking = {
        host: [parcel for parcel in packed.shipment.parcels if parcel.digest in look.lacking]
        for host, look in seen.items()
        if look.lacking
    }
    if lacking:
        on_preparing(Preparing(step=Step.SENDING, subject=_subject(lacking)))
    stopped = threading.Event()
    sending = [
        Background(partial(_send, connection, host, packed, parcels, stopped)) for host, parcels in lacking.items()
    ]
    try:
        for each in sending:
            each.finish()
    finally:
        # what arrived of a parcel that was cut off is removed while there is a connection
        stopped.set()
        for each in sending:
            each.wait()
    return {host.name: not look.same for host, look in seen.items()}


def _subject(lacking: Mapping[Member, Sequence[Parcel]]) -> str:
    whole = {parcel.digest: parcel for parcels in lacking.values() for parcel in parcels}
    what = ", ".join(f"{parcel.part} ({SIZE.format(parcel.size_bytes)})" for parcel in whole.values())
    return f"{what} to {', '.join(host.name for host in lacking)}"


def _send(
    connection: Connection, host: Member, packed: Packed, parcels: Sequence[Parcel], stopped: threading.Event
) -> None:
    for parcel in parcels:
        sender = secrets.token_hex(8)
        try:
            offset = 0
            for piece in pieces(packed.contents[parcel.part]):
                if stopped.is_set():
                    raise InterruptedRace("sending was stopped")
                _named(host, connection, receiving.take, parcel.digest, sender, offset, piece)
                offset += len(piece)
            is_whole = _named(host, connection, receiving.keep, parcel.digest, sender)
        except BaseException:
            with suppress(StackraceError):
                connection.call(host, receiving.forget, parcel.digest, sender)
            raise
        if not is_whole:
            raise InputError(
                f"the {parcel.part} changed while it was sent to {host.name}; start again once nobody writes to it"
            )


def _named(host: Member, connection: Connection, function: Callable[..., _T], *args: object) -> _T:
    """Call ``function`` there; errors say where."""
    try:
        return connection.call(host, function, *args)
    except InputError as error:
        error.message = f"{host.name}: {error.message}"
        raise
