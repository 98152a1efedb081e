"""Sentences about a present deployment in a race: which parts are taken over, changed and left out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...base.numbers import things
from ...base.text import few
from ...report.figures import listed
from ...stacks.native_files import Concern, Weight
from .model import CurrentChange, CurrentDeployment, CurrentGap

_SAME = {
    Concern.VARIABLES: ("variables", "those of [app] env and --env-file"),
    Concern.FOLDER: ("folders", "the folder of --project, and PYTHONPATH of [app] env"),
    Concern.UMASK: ("umask", "the umask of the shell that starts Stackrace"),
}
"""Things that an app gets alike from every stack of a race, and how to change them."""
_MOST_OTHERS = 5


def deployment_title(location: str, *, is_partial: bool) -> str:
    """Return the name of the deployment in a sentence; ``is_partial`` if its workers are not fully known."""
    details = ", ".join(filter(None, ("in part" if is_partial else "", location)))
    return f"Your present deployment ({details})" if details else "Your present deployment"


def taken_over(deployment: CurrentDeployment, raced: str, folder: Path = Path()) -> Iterator[str]:
    """Yield sentences about a deployment: where it was read, its size, and what a race changes and leaves out.

    ``raced`` is the path of its stack; empty if it is not raced. Flags are for a command that is typed where the
    project's folder is ``folder``.
    """
    if raced:
        beside = [file for file in deployment.read if file != deployment.file]
        read = f"{deployment.location}{f' with {listed(beside)}' if beside else ''}"
        yield f"{deployment_title('', is_partial=deployment.is_partial)} was read from {read}: {raced}."
        if deployment.effective:
            most = f": at most {things(deployment.at_once, 'request')} at once" if deployment.at_once else ""
            yield f"It takes effect as {', '.join(deployment.effective)}{most}."
    if deployment.changes and raced:
        yield f"Changed for the race: {'; '.join(_changes(deployment.changes))}."
        concerns = {change.concern for change in deployment.changes}
        if same := [words for concern, words in _SAME.items() if concern in concerns]:
            names, ways = zip(*same, strict=True)
            yield f"No stack has the {listed(names)} among these. Every stack gets the same: {'; '.join(ways)}."
    if deployment.variables:
        paths = (shlex.quote(deployment.reached(file, folder)) for file in deployment.env_files)
        files = " ".join(f"--env-file {path}" for path in paths)
        way = f"{files} gives them to all" if files else "[app] env or --env-file gives them to all"
        yield (
            f"Its files set {few(deployment.variables)} for the app. A stack has them only if the app itself reads "
            f"them from a file; {way}."
        )
    for each in deployment.differences:
        yield f"{each.location} says {each.said}; {each.against}."
    yield from deployment.warnings
    yield from _gaps(deployment.gaps)
    if deployment.others:
        others = listed([deployment.reached(each, folder) for each in deployment.others[:_MOST_OTHERS]])
        first = shlex.quote(deployment.reached(deployment.other_files[0], folder))
        yield f"Other deployments were found in {others} (--current {first})."


def _changes(changes: Sequence[CurrentChange]) -> Iterator[str]:
    lines: dict[tuple[str, str, str, Concern], list[int]] = {}
    for change in changes:
        lines.setdefault((change.file, change.key, change.theirs, change.concern), []).append(change.line)
    for (file, key, theirs, concern), at in lines.items():
        numbers = ",".join(str(line) for line in at if line)
        yield f"{file}{f':{numbers}' if numbers else ''} {key}{f' {theirs}' if theirs else ''} ({concern})"


def _gaps(gaps: Sequence[CurrentGap]) -> Iterator[str]:
    kinds: dict[tuple[str, str, bool], list[CurrentGap]] = {}
    for gap in sorted(gaps, key=lambda gap: gap.weight is not Weight.SIZE):
        kinds.setdefault((gap.file, gap.why, gap.weight is Weight.ASSUMED), []).append(gap)
    for (_, why, is_assumed), (first, *others) in kinds.items():
        more = "".join(f", {f'{gap.line} ' if gap.line else ''}{gap.what}" for gap in others)
        kind_of_gap = "Assumed" if is_assumed else "Not taken over"
        yield f"{kind_of_gap}: {first.location} {first.what}{more}: {why}."
