"""``stackrace init``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from ...base.errors import InputError
from ...base.numbers import things
from ...base.units import DURATION
from ...cli.options import Quantity, schema_option
from ...cli.request_flags import PROJECT_OPTIONS, RequestFlags, request_flags


@click.command(
    epilog="""\b
Examples:
  stackrace init                          write race.toml for the app in this folder
  stackrace init --env-file .env          for an app that needs the variables in .env
  stackrace init --wsgi 'shop:create_app()' --output races/shop.toml
  stackrace init --time 2min              for a site of many pages, or of slow ones
  stackrace init --stdout                 print it instead
  stackrace init --json | jq .pages       what was found, for a program
  stackrace init --schema > race.schema.json   for editors that complete and check race.toml"""
)
@click.argument("words", nargs=-1, metavar="")
@request_flags(*PROJECT_OPTIONS)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write. Default: race.toml in the app's folder.",
)
@click.option(
    "--time",
    "time_s",
    metavar="TIME",
    type=Quantity(DURATION),
    default="25s",
    help="Time to spend on asking for pages, once the app is loaded. Default: 25s.",
)
@click.option(
    "--sitemap",
    metavar="PATH",
    help="Path of the site's sitemap, or of an index. Default: those in robots.txt, or /sitemap.xml.",
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists. Default: refuse.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the race file and write nothing.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print what was found as one JSON document and write nothing."
)
@schema_option("stackrace.race.request.race_file_schema:schema", of="race.toml")
def command(
    words: tuple[str, ...],
    flags: RequestFlags,
    output: Path | None,
    time_s: float,
    sitemap: str | None,
    force: bool,
    to_stdout: bool,
    as_json: bool,
) -> None:
    """Write a race file for the app in this folder, with comments on everything that was found.

    The app is asked for the pages of its sitemaps, its URL configuration and, if these are few, its home page's
    links: the most telling first, a few of each view. What it writes goes to copies. Why pages are not raced stands
    in comments.
    """
    from ...base.text import printable
    from ...cli.announcer import Announcer
    from ...cli.stdio import refuse_unwritable
    from ...race.preparation.pages import Crawling
    from ...race.request.request import RaceRequest
    from .project_survey import hidden, survey_project
    from .race_file_text import document, race_file_text

    if words:
        raise InputError(_misplaced_message(words[0]))
    if to_stdout and as_json:
        raise click.UsageError("--stdout and --json contradict each other; give one of them")
    request = flags.over(RaceRequest(folder=Path.cwd()))
    file = output or request.folder / "race.toml"
    writes = not (to_stdout or as_json)
    if writes:
        refuse_unwritable("--output", file)
    if writes and file.exists() and not force:
        raise InputError(f"{file} exists; overwrite it with --force, or write elsewhere with --output")
    crawling = Crawling(time_s=time_s, sitemap=_path(sitemap))
    with Announcer() as say:
        survey = survey_project(request, say, crawling)
    if as_json:
        click.echo(document(survey))
        return
    text = race_file_text(survey, request, file.absolute().parent)
    if to_stdout:
        click.echo(text, nl=False)
        return
    write_race_file(text, file)
    raced = survey.raced
    click.echo(_written(file, len(raced)))
    for group in hidden(survey, raced):
        pages = f"{things(len(group.pages), 'page')}, such as {printable(group.example)}"
        click.echo(f"Not raced: {pages}: {printable(group.reason)}")
    if not raced:
        click.echo("No page answered with success; the reasons stand in the file.", err=True)


def _written(file: Path, pages: int) -> str:
    """Return a sentence that says what was written, and what to do next."""
    then = f"stackrace run {file}" if pages else "name pages in it that answer with success"
    return f"{file} is written: {things(pages, 'page')} to race. Next: {then}"


def _misplaced_message(word: str) -> str:
    from ...app.projects.detection import flags_named
    from ...base.text import url_meant

    if flags := flags_named(word, Path.cwd()):
        meant = f"did you mean {flags[0]}?"
    elif url_meant(word):
        meant = "it looks at an app in a folder; name that with --project FOLDER"
    elif word.endswith(".toml"):
        meant = f"to write there, give --output {quote(word)}"
    else:
        meant = f"name the app's folder with --project {quote(word)}, or the file to write with --output race.toml"
    return f"init takes no word without a flag, so not {word!r}; {meant}"


def _path(sitemap: str | None) -> str:
    """Return the path of the sitemap, which is given as a path or a URL; raises InputError for anything else."""
    from ...app.examiner.crawl import path_of

    path = path_of((sitemap or "").encode())
    if sitemap is not None and not path:
        raise InputError(f"--sitemap {sitemap!r} is no path of this site; give it as in /sitemap.xml")
    return path


def write_race_file(text: str, file: Path) -> None:
    """Write the file completely or not at all: it may replace a file that somebody has edited."""
    from ...cli.signals import uncut

    target = file.resolve()
    is_plain = target.is_file() or not target.exists()
    draft = target.with_name(f".{target.name}.draft") if is_plain else target
    try:
        with uncut(draft):
            draft.write_text(text, encoding="utf-8")
            if draft != target:
                draft.replace(target)
    except OSError as error:
        if draft != target:
            draft.unlink(missing_ok=True)
        raise InputError(f"--output {file} cannot be written: {error.strerror}; name another place") from error
