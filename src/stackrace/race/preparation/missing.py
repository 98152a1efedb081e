"""What ``stackrace install`` is given: servers, services, bundled apps, race files, published comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...app.bundle import BUNDLES
from ...base.errors import InputError, Lack
from ...base.text import did_you_mean, nearest
from ...deploy.installation import lack_of, missing_from
from ...stacks.servers import Catalogue
from ...stacks.servers.catalogue import GONE
from ...stacks.services import services
from ..request.named_races import file_of, known_names, source_of
from ..request.race_file import read_race_file
from ..request.request import RaceRequest
from .choosing import asked
from .needs import distinct, lacks_of
from .race_file import read_request

__all__ = ["Wanted", "installable", "wanted"]


_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
"""What a package of PyPI may be called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be installed."""

    lacks: tuple[Lack, ...] = ()
    """What is not here, each once."""
    races: tuple[RaceRequest, ...] = ()
    """Races, and bundled apps as races, whose Python packages are wanted as well."""


def installable(known: Catalogue) -> tuple[str, ...]:
    """Return every name that can be installed, files and comparisons apart."""
    return (*known.entries, *services(), *BUNDLES)


def wanted(words: Iterable[str], known: Catalogue, servers: Path | None = None) -> Wanted:
    """Return what ``words`` lack here; ``servers`` is a folder with the user's own, for race files.

    Raises InputError naming the nearest for a word that stands for nothing, SpecError for a wrong race file.
    """
    parts = [_wanted(word, known, servers) for word in words]
    return Wanted(
        lacks=distinct(lack for part in parts for lack in part.lacks),
        races=tuple(race for part in parts for race in part.races),
    )


def _wanted(word: str, known: Catalogue, servers: Path | None) -> Wanted:
    if word in known.entries:
        return Wanted(lacks=_of(lack_of(known.entries[word])))
    if word in services():
        return Wanted(lacks=_of(services()[word].lack()))
    if word in BUNDLES:
        return _of_races([RaceRequest(folder=Path.cwd(), bundled=word, stacks=())], known)
    if not Path(word).is_file() and word.partition(":")[0].partition("/")[0] in known.entries:
        (stack,) = asked([word], known)
        return Wanted(lacks=missing_from(stack, known))
    return _of_races(_races(word, known, servers), known)


def _of(lack: Lack | None) -> tuple[Lack, ...]:
    return () if lack is None else (lack,)


def _of_races(races: Sequence[RaceRequest], known: Catalogue) -> Wanted:
    lacks = (lack for race in races for lack in lacks_of(race, known.extended(race.servers)))
    return Wanted(lacks=distinct(lacks), races=tuple(races))


def _races(word: str, known: Catalogue, servers: Path | None) -> list[RaceRequest]:
    """Return what a comparison, a part of one, or a race file asks for."""
    if (source := source_of(word)) is not None:
        return [read_race_file(file, lambda path: None) for file in source.files_of(word)]
    if gone := next((gone for gone in GONE if gone.name == word), None):
        raise InputError(gone.sentence)
    file = file_of(Path(word))
    if not file.is_file() and file.suffix != ".toml":
        names = (*installable(known), *known_names())
        raise InputError(f"there is no server, service, bundled app or race file {word!r}{_meant(word, names)}")
    return [read_request(file, servers, recordings=False)]


def _meant(word: str, names: Sequence[str]) -> str:
    """Return what to do instead of installing ``word``, which is nothing of ours, to stand behind that."""
    if nearest(word, names) or not _PACKAGE.fullmatch(word):
        return did_you_mean(word, names)
    return (
        f"; this installs servers and services of races (see: stackrace stacks). What your app imports belongs "
        f"into the app's own environment: pip install {word}"
    )
