"""Why a race that tunes has no answer, and what would give one."""

from __future__ import annotations

from ....base.numbers import count
from ....base.verdict import usual_refusal
from ....race.results.race import Ending, Race
from ....report.words import findings
from ..model import OF_NEEDS, Tuned, Unfit, tuning_of
from ..nearest import none_within
from .words import infeasible

__all__ = ["LEAST_PROOF", "unproved"]

LEAST_PROOF = 2
"""Launches of the tuned stack that must be believed: of one alone nobody knows how far the next is from it."""


def unproved(race: Race, found: Tuned) -> str:
    """Return why what was found is no answer; empty where it is one."""
    if not found.stack:
        return _nothing(race, found)
    if found.launches >= LEAST_PROOF:
        return ""
    advice = "give a longer --budget" if race.ending is Ending.BUDGET else f"see: stackrace report {race.id}"
    return f"only one launch of {found.stack} could be believed, which proves nothing; {_refused(race) or advice}"


def _nothing(race: Race, found: Tuned) -> str:
    tuning = tuning_of(race)
    assert tuning is not None
    beyond = [one for one in found.infeasible if one.kind in OF_NEEDS and tuning.limits.exceeded(one.needs)]
    if beyond:
        others = len(beyond) < len(found.infeasible)
        summary = f". {infeasible(tuning, found.infeasible)}".rstrip(".") if others else ""
        return none_within(tuning.stack, tuning.limits, beyond) + summary
    if any(one.kind is Unfit.RATE for one in found.infeasible):
        return "no configuration keeps up with the rate of the goal; give a lower one"
    return f"no configuration gave a believable measurement; {_refused(race) or f'see: stackrace report {race.id}'}"


def _refused(race: Race) -> str:
    """Say how many slices were refused, and why most of them; empty where none was."""
    verdicts = [one.verdict for launch in race.launches for one in launch.slices]
    usual = usual_refusal(verdicts)
    if usual is None:
        return ""
    refused = sum(not each.valid for each in verdicts)
    many = f"{count(refused)} of {count(len(verdicts))} slices were refused"
    return f"{many}, most of them for {findings.title(usual)}: {findings.warning(usual)}"
