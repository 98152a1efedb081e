"""What a host does with parcels when the coordinator says so: look what it has, take pieces, keep what is whole."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ....base.errors import BreakdownError, InputError
from ....base.foreign import said_by
from ....base.units import SIZE
from ....deploy.copies import CACHE, shortage
from ..leased import refuse_busy
from .archive import Content, digest_of
from .parcel import Parcel, Part, Shipment
from .rehoming import base_for
from .slots import parcel_file, shipped_folder

__all__ = ["Look", "forget", "keep", "look", "take"]

SPARE_BYTES = 64 * 2**20
"""What has to be free beside it: a race writes, too."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What this host has of a shipment."""

    same: bool
    """Whether all of it is here under the paths that it has on the coordinator."""
    lacking: tuple[str, ...] = ()
    """The digests of parcels that have to be sent."""


def look(shipment: Shipment) -> Look:
    """Tell what of ``shipment`` is here; nothing is written.

    Raises InputError where it could not be raced here: another race is, the disk is full, or the interpreter for
    its environment is missing.
    """
    refuse_busy()
    if all(_is_here(parcel, shipment) for parcel in shipment.parcels):
        return Look(same=True)
    if shipment.interpreter is not None:
        base_for(shipment.interpreter)
    lacking = [parcel for parcel in shipment.parcels if not parcel_file(parcel.digest).is_file()]
    _refuse_full(shipment, lacking)
    return Look(same=False, lacking=tuple(parcel.digest for parcel in lacking))


def _is_here(parcel: Parcel, shipment: Shipment) -> bool:
    """Tell whether the files of ``parcel`` are here under their own paths, with the same content."""
    follow = parcel.part is Part.ENVIRONMENT
    if not all(os.path.lexists(name) for name in parcel.names):
        return False
    try:
        return digest_of(Content(names=parcel.names, roots=shipment.folders, follow=follow))[0] == parcel.digest
    except InputError:
        return False


def _refuse_full(shipment: Shipment, lacking: list[Parcel]) -> None:
    folder = shipped_folder()
    # each is kept as it came, and unpacked; what an earlier race unpacked goes only afterwards
    needed = sum(parcel.size_bytes for parcel in (*lacking, *shipment.parcels)) + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(
            f"there is no room for the project: {SIZE.format(needed)} are needed, and {SIZE.format(free)} are free "
            f"in {folder}; free some, or set {CACHE} of the worker to a folder with more room"
        )


def take(digest: str, sender: str, offset: int, piece: bytes) -> None:
    """Write the next piece of a parcel, which begins at ``offset``.

    Raises InputError where there is no room, or where a race has begun here meanwhile; BreakdownError where a piece
    before it is missing.
    """
    refuse_busy()
    path = _arriving(digest, sender)
    try:
        with path.open("r+b" if offset else "wb") as file:
            if file.seek(0, os.SEEK_END) != offset:
                raise BreakdownError(f"a part of what was sent is missing in {path}; start again")
            file.write(piece)
    except OSError as error:
        way_out = shortage(path.parent, CACHE)
        raise InputError(f"what is sent cannot be kept in {path.parent}: {said_by(error)}{way_out}") from error


def keep(digest: str, sender: str) -> bool:
    """Keep the parcel that has arrived; tells whether it is the one of ``digest``, else it is gone."""
    path = _arriving(digest, sender)
    with path.open("rb") as file:
        is_whole = hashlib.file_digest(file, "sha256").hexdigest() == digest
    if is_whole:
        path.rename(parcel_file(digest))
    else:
        path.unlink()
    return is_whole


def forget(digest: str, sender: str) -> None:
    """Remove what arrived of a parcel that does not come to its end."""
    _arriving(digest, sender).unlink(missing_ok=True)


def _arriving(digest: str, sender: str) -> Path:
    """Return where a parcel is until it is whole; two senders of the same one do not meet."""
    if not _DIGEST.fullmatch(digest) or not sender.isalnum():
        raise InputError(f"{digest} from {sender} is no parcel of a race")
    return parcel_file(f"{digest}.{sender}")
