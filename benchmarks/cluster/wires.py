"""What narrow and bad wires do to a race: they are measured before it, and what fills them counts nowhere."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from tests.features.cluster.racing import RUNS, slices_of
from tests.features.cluster.racing import race as raced

from stackrace.race.preparation.prepared import prepared

from .inside import race
from .machines import laboratory

STACKS = ("gunicorn", "waitress")
NARROW = 500_000
"""Bytes per second, headers included, of the wire to one engine."""
LOSS = 0.02
DELAY_S = 0.005


def wires() -> bool:
    """Race over a narrow wire and a bad one, and print what was seen of them; tells whether it is right."""
    with tempfile.TemporaryDirectory() as folder, prepared(replace(race(Path(folder)), stacks=STACKS)):
        pass
    with laboratory() as lab:
        lab.scheduler = lab.machine("scheduler")
        narrow = lab.machine("narrow", cores="1", bytes_per_s=NARROW)
        bad = lab.machine("bad", cores="1", delay_s=DELAY_S, loss=LOSS)
        lab.address = lab.cluster(lab.scheduler, {"engine": [narrow, bad], "stack": [lab.machine("host")]})
        document = raced(lab, *RUNS, "--url", "/ten-kilobytes/")
    paths = {path["engine"]: path for path in document["race"]["network"]}
    rates = [paths["narrow"][f"engine_{way}_bytes_per_s"] for way in ("takes", "sends")]
    trips = [paths[name]["round_trip_s"] for name in ("narrow", "bad")]
    lost = paths["bad"]["retransmits"] / paths["bad"]["segments_sent"]
    slices = slices_of(document)
    full = [one for one in slices if "network-full" in {finding["id"] for finding in one["findings"]}]
    counting = sum(one["valid"] for one in full)
    is_said = any("Between narrow and host" in note for note in document["words"]["notes"])
    goals = {
        f"a wire of {NARROW:,} bytes/s takes and sends {rates[0]:,.0f} and {rates[1]:,.0f}": all(
            0.8 * NARROW < rate < 1.2 * NARROW for rate in rates
        ),
        f"round trips of {1000 * trips[0]:.1f} ms and, delayed, {1000 * trips[1]:.1f} ms": (
            trips[0] < 2 * DELAY_S <= trips[1]
        ),
        f"{100 * lost:.1f} % are sent again over a wire that loses {100 * LOSS:.0f} %": LOSS / 2 < lost < 1,
        f"{len(full)} of {len(slices)} slices filled the narrow wire, {counting} of them count": (
            bool(full) and not counting
        ),
        "the report says what lies between narrow and host": is_said,
    }
    for what, is_right in goals.items():
        print(f"{what}   ({'right' if is_right else 'WRONG'})", flush=True)
    return all(goals.values())
