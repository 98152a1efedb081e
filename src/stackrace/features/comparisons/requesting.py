"""What each part asks to be raced: its race file, with what cannot run here left out and said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...base.errors import MissingError, StackraceError
from ...race.request.race_file import read_race_file
from ...race.request.request import RaceRequest, WorkloadRequest
from .model import Comparison, Part
from .rerun import Mode

__all__ = ["PartRequest", "part_request"]

Check = Callable[[str], object]
"""Raises StackraceError for a stack path that cannot be raced here; its result is not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRequest:
    """A part's race."""

    request: RaceRequest
    left_out: tuple[str, ...] = ()
    """A sentence for each stack that cannot run here."""


def part_request(comparison: Comparison, part: Part, mode: Mode, check: Check) -> PartRequest:
    """Return what ``part`` asks for: the author's protocol, or, quick, every cell within its budget.

    Stacks that ``check`` refuses are left out, and originals of techniques that are gone come in beside their
    substitutes where it accepts them. Raises MissingError when no stack is left, SpecError as the race file's
    reader.
    """
    request = read_race_file(part.file, lambda path: None)
    request = _with_originals(comparison, request, check)
    kept, left_out = _sorted_out(request.stacks or (), check)
    if not kept:
        raise MissingError(f"none of the stacks of {part.file.name} can be raced here", detail="\n".join(left_out))
    request = _only(request, kept)
    return PartRequest(request=_quick(request, part) if mode is Mode.QUICK else request, left_out=left_out)


def _quick(request: RaceRequest, part: Part) -> RaceRequest:
    """What fits the part's quick budget: interleaved slices, or shorter runs, at most so many of each."""
    if part.quick_repeats is not None:
        return replace(
            request,
            repeats=part.quick_repeats,
            run_requests=part.quick_requests,
            run_requests_at={},
            run_s=None,
            budget_s=part.quick_s,
        )
    return replace(
        request,
        repeats=None,
        run_requests=None,
        run_requests_at={},
        run_s=None,
        budget_s=part.quick_s,
        slice_s=part.quick_slice_s,
        exhaustive=True,
    )


def _sorted_out(paths: Sequence[str], check: Check) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kept: list[str] = []
    left_out: list[str] = []
    for path in paths:
        try:
            check(path)
        except StackraceError as error:
            left_out.append(f"{path} is left out: {error.message}")
        else:
            kept.append(path)
    return tuple(kept), tuple(left_out)


def _with_originals(comparison: Comparison, request: RaceRequest, check: Check) -> RaceRequest:
    """Put each original that can be raced here beside its substitute."""
    beside: dict[str, str] = {}
    for technique in comparison.techniques.values():
        if technique.original and _sorted_out([technique.original], check)[0]:
            beside[technique.path] = technique.original

    def widened(paths: Sequence[str]) -> tuple[str, ...]:
        # two techniques may have the same original
        return tuple(dict.fromkeys(each for path in paths for each in (path, beside.get(path)) if each is not None))

    workloads = tuple(
        replace(workload, stacks=None if workload.stacks is None else widened(workload.stacks))
        for workload in request.workloads
    )
    return replace(request, stacks=widened(request.stacks or ()), workloads=workloads)


def _only(request: RaceRequest, kept: tuple[str, ...]) -> RaceRequest:
    """Return ``request`` with these stacks only, and without workloads that none of them is left for."""
    workloads = [_limited(workload, kept) for workload in request.workloads]
    return replace(
        request, stacks=kept, workloads=tuple(workload for workload in workloads if workload.stacks != ())
    )


def _limited(workload: WorkloadRequest, kept: tuple[str, ...]) -> WorkloadRequest:
    if workload.stacks is None:
        return workload
    return replace(workload, stacks=tuple(path for path in workload.stacks if path in kept))
