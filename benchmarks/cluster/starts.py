"""Whether engines begin together: their true moments are known, as the lab set their clocks apart itself."""

from __future__ import annotations

from statistics import quantiles

from .machines import inside, laboratory

TIMES = 200
DELAY_S = 0.01
"""On each way; a round trip takes 20 ms."""
AHEAD_S = {"near": 77, "far": 5000}
GOAL_S = 0.005


def starts(times: int = TIMES) -> bool:
    """Begin a load so often on two engines, and print by how much they were apart; tells whether the goal holds."""
    with laboratory() as lab:
        scheduler, host = lab.machine("scheduler"), lab.machine("host")
        near = lab.machine("near", cores="1", ahead_s=AHEAD_S["near"])
        far = lab.machine("far", cores="1", ahead_s=AHEAD_S["far"], delay_s=DELAY_S)
        address = lab.cluster(scheduler, {"engine": [near, far], "stack": [host]})
        found = inside(scheduler, "starts", address, times)
    apart, errors, bounds = [], [], []
    for start in found:
        off = {name: one["offset_s"] - AHEAD_S[name] for name, one in start.items()}
        true = {name: one["late_s"] + off[name] for name, one in start.items()}
        apart.append(max(true.values()) - min(true.values()))
        errors += [abs(each) for each in off.values()]
        bounds += [one["bound_s"] for one in start.values()]
    p99 = quantiles(apart, n=100)[98]
    within = sum(error <= bound for error, bound in zip(errors, bounds, strict=True))
    print(
        f"{len(found)} starts of two engines, clocks {AHEAD_S['far']} s and {AHEAD_S['near']} s ahead, 20 ms away"
    )
    print(f"  truly apart: median {_ms(quantiles(apart, n=2)[0])}, p99 {_ms(p99)}, most {_ms(max(apart))}"
          f"   (goal: p99 at most {_ms(GOAL_S)})")  # fmt: skip
    print(f"  offsets: off by {_ms(max(errors))} at most, within their bound {within} of {len(errors)} times")
    return p99 <= GOAL_S


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"
