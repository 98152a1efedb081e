"""Where what was sent is kept on this host, and unpacked for a race.

In a folder of the cache lie the parcels that were sent, by their digests, and a place for each project that was
raced. A place stays when files change, since layered environments are made for paths. A race holds the lock of
its place; the project's files are unpacked anew for each, as an app may have written to them, the environment only
where it changed. Source: flock(2), rename(2).
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ....base.errors import InputError
from ....base.foreign import said_by
from ....base.removal import remove_tree
from ....deploy.app_files import Relocation
from ....deploy.copies import CACHE, shortage, write_out
from ....deploy.environments import cache_folder
from ....deploy.privileges import private_folder
from ....deploy.project_files import hand_over_below
from .moved import in_texts
from .parcel import Part, Shipment
from .rehoming import base_for, rehome
from .texts import relocate_below
from .unpacking import unpack

__all__ = ["UNUSED_DAYS", "parcel_file", "shipped_folder", "unpacked"]

UNUSED_DAYS = 30
"""A project that nobody raced for so long is removed, as templates of services are."""
_LEFT_S = 86400.0
"""A parcel that belongs to no project was cut off so long ago, or belongs to a race that never began."""
_PART = ".part"
_LOCK = ".lock"
_HELD = ".json"
"""The file beside a place that says what it holds; without it, whatever is there is half of something."""

Held = dict[str, str]


def shipped_folder() -> Path:
    """Return the folder for all of it, which is made where it is missing, for us and the apps alone.

    Raises InputError where it cannot be written.
    """
    folder = cache_folder() / "shipped"
    try:
        private_folder(folder, served=True)
        for name in ("parcels", "projects"):
            (folder / name).mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"the cache {folder} cannot be written: {said_by(error)}; set {CACHE}") from error
    # an absolute link within the project's own view would lead out of it
    return folder.resolve()


def parcel_file(digest: str) -> Path:
    """Return where the parcel of ``digest`` is kept."""
    return shipped_folder() / "parcels" / digest


@contextmanager
def unpacked(shipment: Shipment) -> Iterator[Relocation]:
    """Unpack what was sent, and yield where it is; it stays there for the next race, but for nobody else meanwhile.

    Raises InputError where there is no room, and for an archive that leads out of its place.
    """
    projects = shipped_folder() / "projects"
    with _locked(projects, shipment.slot) as place:
        relocation = Relocation(place, dict(shipment.roots))
        try:
            _lay_out(shipment, relocation, place)
        except OSError as error:
            raise InputError(
                f"the project cannot be unpacked in {place}: {said_by(error)}{shortage(projects, CACHE)}"
            ) from error
        finally:
            for ending in (_PART, f"-environment{_PART}"):
                remove_tree(_beside(place, ending))
        _sweep(projects)
        yield relocation


@contextmanager
def _locked(projects: Path, slot: str) -> Iterator[Path]:
    """Hold the first place for ``slot`` that no other race on this machine holds."""
    for number in range(1, 100):
        place = projects / (slot if number == 1 else f"{slot}-{number}")
        with _beside(place, _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield place
            return
    raise InputError("a hundred other races hold this project here; wait for their end")


def _lay_out(shipment: Shipment, relocation: Relocation, place: Path) -> None:
    base = None if shipment.interpreter is None else base_for(shipment.interpreter)
    wanted = {parcel.part.value: parcel.digest for parcel in shipment.parcels}
    wanted |= {} if base is None else {"base": str(base)}
    held = _held(place)
    _beside(place, _HELD).unlink(missing_ok=True)
    part, kept = _beside(place, _PART), _beside(place, f"-environment{_PART}")
    for folder in (part, kept):
        remove_tree(folder)
        folder.mkdir()
    homes = [relocation.below(home).relative_to(place) for home in shipment.homes]
    environment = shipment.parcel(Part.ENVIRONMENT)
    stays = all(held.get(key) == wanted.get(key) for key in (Part.ENVIRONMENT.value, "base"))
    if environment is not None and stays and all(os.path.lexists(place / home) for home in homes):
        _move(homes, place, kept)
    elif environment is not None:
        stays = False
        unpack(parcel_file(environment.digest), kept)
        if shipment.interpreter is not None and base is not None:
            home = relocation.below(shipment.interpreter.home).relative_to(place)
            rehome(kept / home, relocation, shipment.interpreter, base)
    for parcel in shipment.parcels:
        os.utime(parcel_file(parcel.digest))
        if parcel.part is not Part.ENVIRONMENT:
            unpack(parcel_file(parcel.digest), part)
    _move(homes, kept, part)
    remove_tree(place)
    part.rename(place)
    relocate_below(in_texts(relocation))
    hand_over_below(place)
    # times say nothing of what changed, so byte code would be taken for that of the new files
    _clear(_byte_code(place), [_byte_code(place / home) for home in homes] if stays else [])
    # written now, it is not written back by the kernel during a slice
    write_out(place)
    _beside(place, _HELD).write_text(json.dumps(wanted), encoding="utf-8")
    for digest in set(held.values()) - set(wanted.values()):
        _drop(place.parent, digest)


def _move(homes: list[Path], source: Path, target: Path) -> None:
    for home in homes:
        if os.path.lexists(source / home):
            (target / home).parent.mkdir(parents=True, exist_ok=True)
            (source / home).rename(target / home)


def _beside(place: Path, ending: str) -> Path:
    return place.with_name(place.name + ending)


def _held(place: Path) -> Held:
    """Return what ``place`` holds, whole: digests by part; empty where nothing is known."""
    with suppress(OSError, ValueError):
        said: Any = json.loads(_beside(place, _HELD).read_text(encoding="utf-8"))
        if isinstance(said, Mapping):
            return {str(key): str(value) for key, value in said.items()}
    return {}


def _byte_code(folder: Path) -> Path:
    """Return where byte code of files in ``folder`` is kept. Source: Python, PYTHONPYCACHEPREFIX."""
    return (cache_folder() / "pycache").joinpath(*folder.parts[1:])


def _clear(folder: Path, but: list[Path]) -> None:
    """Remove ``folder``, but for the folders ``but``."""
    for place in folder.iterdir() if folder.is_dir() else ():
        if not place.is_dir():
            place.unlink()
        elif not any(path.is_relative_to(place) for path in but):
            remove_tree(place)
        elif place not in but:
            _clear(place, but)


def _drop(projects: Path, digest: str) -> None:
    """Remove a parcel that no project holds any more."""
    if not any(digest in _held(path.with_suffix("")).values() for path in projects.glob(f"*{_HELD}")):
        with suppress(OSError):
            (projects.parent / "parcels" / digest).unlink(missing_ok=True)


def _sweep(projects: Path) -> None:
    """Remove projects that nobody raced for long, and parcels that belong to none; what is locked is in use."""
    now = time.time()
    for held in projects.glob(f"*{_HELD}"):
        # another race may sweep at the same time
        with suppress(OSError):
            if held.stat().st_mtime < now - UNUSED_DAYS * 86400:
                _sweep_one(held.with_suffix(""))
    with suppress(OSError):
        named = {digest for path in projects.glob(f"*{_HELD}") for digest in _held(path.with_suffix("")).values()}
        for path in (projects.parent / "parcels").iterdir():
            with suppress(OSError):
                if path.name not in named and path.stat().st_mtime < now - _LEFT_S:
                    path.unlink()


def _sweep_one(place: Path) -> None:
    with _beside(place, _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        _beside(place, _HELD).unlink(missing_ok=True)
        remove_tree(place)
        remove_tree(_byte_code(place))
