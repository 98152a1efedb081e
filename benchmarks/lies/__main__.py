"""Tell a measurement lies, and count how many Stackrace names.

python -m benchmarks.lies [--only NAME …] [--quick] [--json FILE]

Every fault is injected by itself: most into a small real race on this machine, some into recorded inputs. A fault
is named when the check or the kind of failure that it calls for is among what was said. Clean races follow: what is
said of them is a false alarm, unless an independent reading of the machine confirms it. Ends with 0 in any case.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from stackrace.report.words import findings as say

from .clean import Trial, clean_races
from .fault import How, Outcome, play
from .suite import FAMILIES

WIDTH = 24


def main() -> None:
    """Play the suite and print its table."""
    options = command_line()
    outcomes = faults(options)
    trials = [] if options.only else clean(options.quick)
    if outcomes:
        summary(outcomes)
    if trials:
        alarms(trials)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:  # noqa: PTH123 (argparse's own idea of a path)
            rows = {"faults": [row(one) for one in outcomes], "clean": [trial_row(one) for one in trials]}
            json.dump(rows, file, indent=1)


def command_line() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="faults or families; no clean races")
    parser.add_argument("--quick", action="store_true", help="leave out what depends on the clock; one clean race")
    parser.add_argument("--clean", action="store_true", help="the clean races alone")
    parser.add_argument("--json", metavar="FILE", help="write everything there as well")
    return parser.parse_args()


def faults(options: argparse.Namespace) -> list[Outcome]:
    """Inject what was asked for, one fault at a time, and print a line for each."""
    outcomes: list[Outcome] = []
    if options.clean:
        return outcomes
    print(f"{'fault':{WIDTH}} {'how':9} {'named':6} {'s':>5}  expected → said")
    for family, members in FAMILIES.items():
        for fault in members:
            wanted = not options.only or {fault.name, family} & set(options.only)
            if not wanted or (options.quick and fault.how is How.TIMED):
                continue
            outcome = play(fault)
            outcomes.append(outcome)
            print(line(outcome), flush=True)
    return outcomes


def line(outcome: Outcome) -> str:
    """Return an outcome as a row; what was said beside the expected is listed, too."""
    fault = outcome.fault
    verdict = "-" if outcome.skipped else "yes" if outcome.named else "NO"
    said = outcome.skipped or ", ".join(outcome.found) or "nothing"
    return (
        f"{fault.name:{WIDTH}} {fault.how:9} {verdict:6} {outcome.seconds:5.1f}  "
        f"{' or '.join(fault.expects)} → {said}"
    )


def summary(outcomes: Sequence[Outcome]) -> None:
    """Print how many faults were named."""
    played = [one for one in outcomes if not one.skipped]
    named = [one for one in played if one.named]
    print(f"\nnamed: {len(named)} of {len(played)} ({share(len(named), len(played))}; goal: at least 95 %)")
    for how in How:
        of_kind = [one for one in played if one.fault.how is how]
        print(f"  {how}: {sum(one.named for one in of_kind)} of {len(of_kind)}")
    for one in outcomes:
        if one.skipped:
            print(f"  not injected: {one.fault.name}: {one.skipped}")
        elif not one.named:
            print(f"  not named: {one.fault.name} ({one.fault.does})")


def clean(quick: bool) -> list[Trial]:
    """Run the clean races and print a line for each."""
    print(f"\n{'clean race':36} {'slices':>7} {'launches':>9} {'others':>7} {'stolen':>7}  false alarms")
    trials: list[Trial] = []
    for each in clean_races(quick):
        trial = each.run()
        trials.append(trial)
        false = sum(trial.alarmed(kind) for kind in trial.members)
        print(
            f"{trial.name:36} {trial.members['slice']:7} {trial.members['launch']:9} {trial.others:7.1%} "
            f"{trial.stolen:7.1%}  {false}",
            flush=True,
        )
    return trials


def alarms(trials: Sequence[Trial]) -> None:
    """Print the false alarms, and apart from them what was true of the machine."""
    total = sum(sum(trial.members.values()) for trial in trials)
    false = sum(trial.alarmed(kind) for trial in trials for kind in trial.members)
    print(
        f"\nfalse alarms: {false} of {total} slices, launches and races, {share(false, total)} (goal: at most 2 %)"
    )
    pairs = [(one.claimed, one.speed) for trial in trials for one in trial.sights if one.claimed is not None]
    if len(pairs) > 2:
        canary, own = zip(*pairs, strict=True)
        print(f"the canary and the witness's own work agree on the machine's speed with r = "
              f"{statistics.correlation(canary, own):.2f} over {len(pairs)} slices")  # fmt: skip
    told: dict[tuple[bool, str], list[str]] = {}
    for trial in trials:
        for alarm in trial.alarms:
            told.setdefault((alarm.true, say.title(alarm.finding)), []).append(say.seen(alarm.finding))
    for (true, check), seen in sorted(told.items()):
        print(f"  {'true here' if true else 'FALSE'}: {check}, {len(seen)} times, first: {seen[0]}")


def share(part: int, whole: int) -> str:
    """Write a share of a count."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def row(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON has it."""
    fault = outcome.fault
    return {
        "fault": fault.name, "does": fault.does, "how": fault.how, "expects": list(fault.expects),
        "found": dict(outcome.found), "named": outcome.named, "skipped": outcome.skipped,
        "seconds": round(outcome.seconds, 2),
    }  # fmt: skip


def trial_row(trial: Trial) -> dict[str, Any]:
    """Return a clean race as JSON has it."""
    return {
        "race": trial.name, "members": dict(trial.members), "others": trial.others, "stolen": trial.stolen,
        "sights": [asdict(one) for one in trial.sights],
        "alarms": [{"where": one.where, "check": say.title(one.finding), "seen": say.seen(one.finding),
                    "true": one.true} for one in trial.alarms],
    }  # fmt: skip


if __name__ == "__main__":
    main()
