"""``stackrace install``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from .options import servers_option

if TYPE_CHECKING:
    from ..base.errors import MissingItem
    from ..race.preparation.installing import InstallPlan
    from ..stacks.servers import Catalogue


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ..race.preparation.installing import installable
    from ..race.request.named_races import known_names
    from ..stacks.servers import catalogue

    names = (*installable(catalogue()), *known_names())
    fitting = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return fitting or [CompletionItem(incomplete, type="file")]


@click.command(
    epilog="""\b
Examples:
  stackrace install nginx apache mod_wsgi
  stackrace install mariadb redis         services that an app may ask for
  stackrace install race.toml             all that this race needs
  stackrace install historic/mod-wsgi-2009 --dry-run
  stackrace install --all                 every server with a package
  stackrace install --all --if-possible   in scripts: succeed without root, too"""
)
@click.argument("names", nargs=-1, metavar="[NAME|RACE.toml]...", shell_complete=_complete)
@click.option("--all", "everything", is_flag=True, help="Install all servers that this system has packages of.")
@click.option("--dry-run", is_flag=True, help="List what would be installed, and install nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; progress goes to stderr.")
@click.option("--if-possible", is_flag=True, help="Without root or password-less sudo: say so and succeed.")
@servers_option
def command(
    names: tuple[str, ...],
    everything: bool,
    dry_run: bool,
    as_json: bool,
    if_possible: bool,
    servers: Path | None,
) -> None:
    """Install what races need: servers, services, and all that a bundled app, a race file or historic/NAME lacks.

    Debian's, Ubuntu's, Fedora's and Alpine's packages need root or password-less sudo; their daemons are not
    started. PyPI's packages go into private environments, never into yours. Python servers need nothing: their
    first race installs them.
    """
    from ..base.errors import InputError, MissingError
    from ..deploy.installation import can_install
    from ..race.preparation.installing import install_plan
    from ..stacks.servers import catalogue

    if not names and not everything:
        raise InputError(
            "name servers, services, bundled apps or a race file, or give --all; see: stackrace stacks"
        )
    known = catalogue().extended(servers)
    words = (*names, *_packaged(known)) if everything else names
    plan = install_plan(words, known, servers)
    if dry_run:
        outcome = _Outcome.LISTED
    elif if_possible and plan.packages and not can_install():
        outcome = _Outcome.FORBIDDEN
    else:
        outcome = _Outcome.INSTALLED
        _install(plan, known, lambda: install_plan(words, known, servers).missing, is_lenient=everything)
    _show(plan, outcome, as_json=as_json)
    if plan.elsewhere and not dry_run:
        raise MissingError("; ".join(map(elsewhere, plan.elsewhere)))


def _packaged(known: Catalogue) -> list[str]:
    """Return the servers that are here or have packages here; name the others."""
    from ..base.platforms import this_platform
    from ..deploy.installation import missing_item

    names = [entry.spec.name for entry in known]
    left_out = [name for name in names if (item := missing_item(known.entries[name])) and item.elsewhere]
    if left_out:
        click.echo(f"left out, without a {this_platform().package}: {', '.join(left_out)}", err=True)
    return [name for name in names if name not in left_out]


def _install(
    plan: InstallPlan, known: Catalogue, look_again: Callable[[], tuple[MissingItem, ...]], *, is_lenient: bool
) -> None:
    """Install what ``plan`` lists; raise MissingError if something is still missing afterwards.

    If ``is_lenient``, packages that this release lacks are only named.
    """
    from ..base.errors import MissingError
    from ..deploy.installation import install_items, not_installed
    from ..race.preparation.installing import install_python
    from .announcer import Announcer

    if plan.packages:
        click.echo(f"installing {' '.join(plan.packages)}", err=True)
        failures = install_items(plan.missing)
        if failures and not is_lenient:
            raise not_installed(failures)
        if failures:
            click.echo(f"left out, as {plan.here.title} lacks a package: {', '.join(failures)}", err=True)
        if still := [item for item in look_again() if item.name not in failures]:
            lacking = ", ".join(item.words for item in still)
            raise MissingError(f"the packages are installed, but this is lacking: {lacking}")
    with Announcer() as announcer:
        install_python(plan.races, known, announcer)


def _show(plan: InstallPlan, outcome: _Outcome, *, as_json: bool) -> None:
    from ..report.exporter import Kind
    from ..report.sheet import as_lines
    from .showing import show_result

    kind: Kind[InstallPlan] = Kind(
        sections=lambda plan: [as_lines(_lines(plan, outcome))], document=lambda plan: _document(plan, outcome)
    )
    show_result(kind, plan, as_json=as_json)


class _Outcome(StrEnum):
    LISTED = auto()
    """Nothing was installed: the plan was only shown."""
    INSTALLED = auto()
    FORBIDDEN = auto()
    """Nothing was installed, because root's rights are missing."""


def _document(plan: InstallPlan, outcome: _Outcome) -> dict[str, object]:
    return {
        "installed": outcome is _Outcome.INSTALLED,
        "missing": [_missing(item) for item in (*plan.missing, *plan.elsewhere)],
        "packages": list(plan.packages),
        "python_packages": list(plan.python),
        "command": plan.command,
    }


def _missing(item: MissingItem) -> dict[str, object]:
    return {
        "name": item.name,
        "missing": item.missing,
        "packages": list(item.packages),
        "elsewhere": item.elsewhere,
    }


def _lines(plan: InstallPlan, outcome: _Outcome) -> Iterator[str]:
    names = ", ".join(item.name for item in plan.missing)
    if outcome is _Outcome.LISTED:
        yield from (f"missing: {item.words}" for item in plan.missing)
        yield f"would run: {plan.command}" if plan.command else f"no {plan.here.package} is missing"
        if plan.python:
            yield f"from PyPI, into private environments: {', '.join(plan.python)}"
        yield from map(elsewhere, plan.elsewhere)
    elif outcome is _Outcome.FORBIDDEN:
        yield f"not installed, for want of root's rights: {names}. Stacks without them can be raced."
    elif names or plan.python:
        system = f"installed: {names}" if names else f"every {plan.here.package} is there"
        yield system + ("; Python's packages are in private environments" if plan.python else "")
    elif not plan.elsewhere:
        yield "nothing to install: every package is there"


def elsewhere(item: MissingItem) -> str:
    """Return a sentence with the source of software that has no package here."""
    from ..base.platforms import this_platform

    return f"{item.name} has no {this_platform().package}; {item.elsewhere}"
