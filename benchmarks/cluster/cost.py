"""What the coordinator spends on many engines while they send."""

from __future__ import annotations

from .machines import inside, laboratory

ENGINES = 8
COPIES = 25
"""Each engine stands for so many, to see what 200 would cost."""
GOAL = 0.02


def cost() -> bool:
    """Print the coordinator's share of a core with 8 engines and with 200; tells whether 8 stay below 2 %."""
    with laboratory() as lab:
        # the coordinator has a core of its own, as it has a machine of its own
        scheduler, host = lab.machine("scheduler"), lab.machine("host", cores="1")
        engines = [lab.machine(f"engine-{number}", cores="1") for number in range(ENGINES)]
        address = lab.cluster(scheduler, {"engine": engines, "stack": [host]})
        few, many = (inside(scheduler, "cost", address, copies) for copies in (1, COPIES))
    print("the coordinator while slices of 0.6 s are measured")
    for found in (few, many):
        goal = "   (goal: under 2 %)" if found is few else "   (8 processes, which stand for 25 each)"
        print(f"  {found['engines']:3} engines   {100 * found['share']:6.2f} % of a core, "
              f"{1e3 * found['per_slice_s']:.1f} ms of CPU a slice of {found['slice_s']:.2f} s{goal}")  # fmt: skip
    return few["share"] < GOAL
