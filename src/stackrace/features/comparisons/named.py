"""Published comparisons as named races: ``historic/NAME`` is a whole, ``historic/NAME/PART`` a part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.errors import InputError
from ...base.text import did_you_mean

if TYPE_CHECKING:
    from ...cli.live_race import Output

_PREFIX = "historic"
_FOLDER = Path(__file__).parent
_FILE = "comparison.toml"
NAMES = tuple(sorted(path.parent.name for path in _FOLDER.glob(f"*/{_FILE}")))
"""Names of all comparisons."""

_WHOLE = {"race_file", "quick", "budget_s", "seed", "store", "html", "as_json", "details"}


def names() -> tuple[str, ...]:
    """Return the names of all comparisons."""
    return tuple(f"{_PREFIX}/{name}" for name in NAMES)


def is_whole(asked: str | Path) -> bool:
    """Return True if ``asked`` is ``historic/NAME``, unless the user has a file at that path.

    Raises InputError listing the names for an unknown one.
    """
    path = Path(asked)
    if path.parent != Path(_PREFIX) or path.is_file():
        return False
    if path.name not in NAMES:
        raise InputError(f"there is no published comparison {path.name!r}; known: {', '.join(NAMES)}")
    return True


def file_of(asked: Path) -> Path | None:
    """Return the race file of ``historic/NAME/PART``, with ``.toml`` or without, None for any other path.

    Raises InputError naming the parts of a comparison without such a part.
    """
    if asked.parent.parent != Path(_PREFIX) or asked.parent.name not in NAMES or asked.exists():
        return None
    files = {path.stem: path for path in (_FOLDER / asked.parent.name).glob("*.toml") if path.name != _FILE}
    stem = asked.name.removesuffix(".toml")
    if stem not in files:
        raise InputError(f"{asked.parent} has no part called {stem!r}{did_you_mean(stem, files)}")
    return files[stem]


def files_of(asked: str | Path) -> tuple[Path, ...]:
    """Return the race files of a comparison's parts."""
    from .reading import read_comparison

    return tuple(part.file for part in read_comparison(Path(asked).name).parts)


def run(asked: Path, given: Mapping[str, Any], output: Output, *, quick: bool) -> None:
    """Run a published comparison again; reject flags that would change it."""
    import click

    from ...cli.request_flags import given_flags
    from .raced_again import rerun_comparison
    from .rerun import Mode

    for other in given_flags(_WHOLE):
        raise click.UsageError(f"{other} would change the comparison {asked}; use it with a race file")
    if given.get("budget_s") is not None and not quick:
        raise click.UsageError(f"--budget needs --quick: stackrace run {asked} --quick --budget 2min")
    asked_of_parts = {name: given[name] for name in ("budget_s", "seed") if given.get(name) is not None}
    rerun_comparison(asked.name, Mode.QUICK if quick else Mode.FULL, output, asked_of_parts)


def show(asked: str, store_url: str | None, form: str | None, html: Path | None) -> None:
    """Show the last run of a comparison again."""
    from ...report.exporter import Format
    from .raced_again import show_comparison

    if form == Format.CSV:
        raise InputError(
            f"--{Format(form).name.lower()} is for single races; a comparison has --json, --markdown and --html"
        )
    show_comparison(Path(asked).name, store_url=store_url, form=None if form is None else Format(form), html=html)
