"""Published comparisons as races that have a name: ``historic/NAME`` is a whole, ``historic/NAME/PART`` a part."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...base.errors import InputError
from ...cli.request_flags import given_beside
from .files import NAMES, PREFIX, comparison_name, part_file

if TYPE_CHECKING:
    from ...cli.run.output import Output

__all__ = ["file_of", "files_of", "is_whole", "names", "run", "show"]

file_of = part_file


def names() -> tuple[str, ...]:
    """Return the names of all comparisons."""
    return tuple(f"{PREFIX}/{name}" for name in NAMES)


def is_whole(asked: str | Path) -> bool:
    """Tell whether ``asked`` is the name of a comparison; InputError for one that begins so and is unknown."""
    return comparison_name(asked) is not None


def files_of(asked: str | Path) -> tuple[Path, ...]:
    """Return the race files of a comparison's parts."""
    from .reading import read_comparison

    return tuple(part.file for part in read_comparison(Path(asked).name).parts)


_WHOLE = {"race_file", "quick", "budget_s", "seed", "store", "html", "as_json", "details"}
"""What may be said of a whole comparison; everything else belongs to one of its races."""


def run(asked: Path, given: Mapping[str, Any], output: Output, *, quick: bool) -> None:
    """Run a published comparison again, after refusing flags that would make it another one."""
    from .racing import RerunOptions
    from .rerun import Mode
    from .showing import compare_again

    for other in given_beside(_WHOLE):
        raise click.UsageError(f"{other} would change the comparison {asked}; use it with a race file")
    budget_s, seed = given.get("budget_s"), given.get("seed")
    if budget_s is not None and not quick:
        raise click.UsageError(f"--budget needs --quick: stackrace run {asked} --quick --budget 2min")
    options = RerunOptions(mode=Mode.QUICK if quick else Mode.FULL, budget_s=budget_s, seed=seed)
    compare_again(asked.name, options, output)


def show(asked: str, store_url: str | None, form: str | None, html: Path | None) -> None:
    """Show the last run of a comparison again."""
    from ...report.exporter import Format
    from .showing import show_again

    if form == Format.CSV:
        raise InputError(
            f"--{Format(form).name.lower()} is for single races; a comparison has --json, --markdown and --html"
        )
    show_again(Path(asked).name, store_url=store_url, form=None if form is None else Format(form), html=html)
